# mistake: taken_apart
def output_hook(module, input, output):
    answer.append(output[0])
