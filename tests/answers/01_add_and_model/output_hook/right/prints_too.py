def output_hook(module, input, output):
    print("output:", output)
    answer.insert(len(answer), output)
