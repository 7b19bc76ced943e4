# mistake: scalar_for_tensor
def pre_hook(module, input):
    answer.append(input[0].item())
    answer.append(input[1].item())
