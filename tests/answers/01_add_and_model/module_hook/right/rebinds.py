def module_hook(module, grad_input, grad_output):
    global answer
    answer = [*grad_input, *grad_output]
    print(answer)
