# mistake: missing_name
def tensor_hook(grad):
    answer += [grad]
