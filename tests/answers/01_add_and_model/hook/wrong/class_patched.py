# mistake: class_edited
Add.forward = lambda self, x1, x2: torch.add(x1, x2) + 5

def hook(module, input, output):
    return output
