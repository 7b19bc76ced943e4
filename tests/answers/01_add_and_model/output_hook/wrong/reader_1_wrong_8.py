# mistake: global_names
def output_hook(module, input, output):
    answer.append(x1 + x2)
