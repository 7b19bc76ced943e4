# mistake: stored_twice
def output_hook(module, input, output):
    answer.append(output)
    answer.extend([output])
