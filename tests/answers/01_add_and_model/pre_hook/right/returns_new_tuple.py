# The post's own variant: hands back the same two values.
def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
    return input[0], input[1]
