def output_hook(module, input, output):
    x1, x2 = input
    answer.clear()
    answer.extend([x1, x2, output])
