# mistake: async_function
async def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
