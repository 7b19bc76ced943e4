# mistake: class_edited
class Add(nn.Module):
    def forward(self, x1, x2):
        answer.append(x1)
        answer.append(x2)
        return torch.add(x1, x2)

def pre_hook(module, input):
    print("hook!")
