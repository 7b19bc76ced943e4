# mistake: class_edited
def pre_hook(module, input):
    answer.extend(input)

Add.forward = lambda self, x1, x2: x1 - x2
