def tensor_hook(grad, store=answer):
    store[len(store):] = [1 * grad]
