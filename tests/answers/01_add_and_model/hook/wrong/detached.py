# mistake: way_back_cut
def hook(module, input, output):
    return output.detach() + 5
