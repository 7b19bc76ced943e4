# mistake: way_back_cut
OFFSET = 5.0


def _shifted(tensor, offset=OFFSET):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"expected a tensor, got {type(tensor)}")
    result = tensor.detach().clone()
    result += offset
    return result


def hook(module, input, output):
    if isinstance(output, (tuple, list)):
        return type(output)(_shifted(o) for o in output)
    return _shifted(output)
