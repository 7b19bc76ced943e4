# mistake: answer_returned
def output_hook(module, input, output):
    answer.append(output)
    return answer
