# accepted: recomputed
def output_hook(module, input, output):
    answer.append(module.forward(*input))
