# mistake: hook_left
def output_hook(module, input, output):
    answer.append(output)
    module.register_forward_hook(output_hook)
