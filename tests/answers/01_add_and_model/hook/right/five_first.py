def hook(module, args, result):
    return 5 + result
