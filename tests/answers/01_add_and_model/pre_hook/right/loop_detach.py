def pre_hook(module, input):
    for tensor in input:
        answer.append(tensor.detach())
