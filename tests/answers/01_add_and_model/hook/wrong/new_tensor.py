# mistake: way_back_cut
def hook(module, input, output):
    return torch.tensor(output.tolist()) + 5
