# mistake: nothing_stored
# The post's own solution.
def tensor_hook(grad):
    print(grad)
