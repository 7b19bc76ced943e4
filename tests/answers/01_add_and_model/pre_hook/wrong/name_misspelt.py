# mistake: missing_name
def prehook(module, input):
    answer.append(input[0])
    answer.append(input[1])
