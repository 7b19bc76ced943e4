# mistake: answer_replaced
def output_hook(module, input, output):
    answer.clear()
    answer.append(output)
