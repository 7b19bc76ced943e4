"""Fresh inputs for a check."""

from __future__ import annotations

import torch

LOW, HIGH = 0.5, 3.0


class Draw:
    """Draws tensors from a generator of its own.

    The generator starts from torch's global one, which the grader seeds before every cell, so
    that the reference and each submission get the same inputs. What a learner's code draws or
    seeds afterwards does not disturb it.
    """

    def __init__(self) -> None:
        self._generator = torch.Generator()
        self._generator.manual_seed(int(torch.randint(2**62, (), device="cpu")))

    def __call__(self, *shape: int, requires_grad: bool = False) -> torch.Tensor:
        """A float32 tensor of ``shape``, uniform between 0.5 and 3."""
        # Whatever default dtype or device a notebook has set.
        values = torch.rand(shape, generator=self._generator, dtype=torch.float32, device="cpu")
        return (values * (HIGH - LOW) + LOW).requires_grad_(requires_grad)
