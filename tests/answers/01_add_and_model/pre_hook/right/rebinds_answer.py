def pre_hook(module, input):
    global answer
    answer = [input[0], input[1]]
