# mistake: async_function
async def tensor_hook(grad):
    answer.append(grad)
