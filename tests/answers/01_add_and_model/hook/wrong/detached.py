# mistake: graph_cut
def hook(module, input, output):
    return output.detach() + 5
