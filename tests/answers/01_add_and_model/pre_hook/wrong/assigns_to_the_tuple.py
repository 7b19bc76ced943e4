# mistake: item_assignment
def pre_hook(module, input):
    input[0] = input[0].clone()
    answer.append(input[0])
    answer.append(input[1])
