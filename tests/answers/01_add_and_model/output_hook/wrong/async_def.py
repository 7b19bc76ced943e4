# mistake: async_function
async def output_hook(module, input, output):
    answer.append(output)
