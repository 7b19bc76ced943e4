store = lambda value: answer.append(value)

def pre_hook(layer, values):
    first, *rest = values
    print("got", len(values), "inputs")
    store(first)
    store(*rest)
