# mistake: hook_left
def hook(module, input, output):
    module.register_forward_hook(hook)
    return output + 5
