# mistake: no_attribute
def pre_hook(module, input):
    answer.push(input[0])
    answer.push(input[1])
