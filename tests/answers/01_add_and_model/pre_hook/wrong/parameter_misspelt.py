# mistake: missing_name
def pre_hook(module, inputs):
    answer.append(input_[0])
    answer.append(input_[1])
