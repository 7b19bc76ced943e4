# mistake: hook_left
def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
    module.register_forward_pre_hook(pre_hook)
