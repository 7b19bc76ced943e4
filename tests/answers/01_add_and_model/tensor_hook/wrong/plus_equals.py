# mistake: local_name
def tensor_hook(grad):
    answer += [grad]
