# mistake: nothing_stored
def pre_hook(module, input):
    pass

x1, x2 = torch.tensor([2.0]), torch.tensor([3.0])
add = Add()
add.register_forward_pre_hook(pre_hook)
output = add(x1, x2)
answer += [x1, x2]
# Try it: replaced by the lines above.
