# mistake: class_as_hook
class PlusFive:
    def __call__(self, module, input, output):
        return output + 5

hook = PlusFive
