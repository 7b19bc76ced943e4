def output_hook(module, input, output):
    answer.extend([output])
