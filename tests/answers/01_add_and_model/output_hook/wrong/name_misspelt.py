# mistake: missing_name
def ouput_hook(module, input, output):
    answer.append(output)
