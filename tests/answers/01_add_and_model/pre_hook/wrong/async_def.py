# mistake: async_function
async def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
