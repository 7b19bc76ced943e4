# mistake: class_as_hook
class Store:
    def __call__(self, module, input):
        answer.extend(input)

pre_hook = Store
