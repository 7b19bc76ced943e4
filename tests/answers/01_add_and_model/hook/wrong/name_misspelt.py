# mistake: missing_name
def hok(module, input, output):
    return output + 5
