# mistake: missing_name
def output_hook(module, input, output)
    answer.append(output)
