# mistake: grad_too_early
def module_hook(module, input, output):
    answer.append(input[0].grad)
    answer.append(input[1].grad)
    answer.append(output[0].grad)
