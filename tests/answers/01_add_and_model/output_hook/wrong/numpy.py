# mistake: array_for_tensor
def output_hook(module, input, output):
    answer.append(output.numpy())
