# mistake: local_name
def output_hook(module, input, output):
    answer = answer + [output]
