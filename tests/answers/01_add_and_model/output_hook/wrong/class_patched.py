# mistake: class_edited
def output_hook(module, input, output):
    print("seen:", output)

def forward(self, x1, x2):
    output = torch.add(x1, x2)
    answer.append(output)
    return output

Add.forward = forward
