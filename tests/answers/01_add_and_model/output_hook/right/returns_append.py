def output_hook(module, args, result):
    return answer.append(result)
