# mistake: async_function
async def hook(module, input, output):
    return output + 5
