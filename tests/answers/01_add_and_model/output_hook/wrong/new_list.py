# mistake: answer_replaced
def output_hook(module, input, output):
    global answer
    answer = [output]
