"""What the functions of this folder do with arguments that are not quite what they compute with."""

from collections.abc import Sequence

import torch
from torch import Tensor


def floating(x: Tensor) -> Tensor:
    """x itself, or whole numbers in torch's default dtype.

    Results come back in the dtype of the argument, where an integer one would cut off every decimal.
    """
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def known(what: str, name: str, names: Sequence[str]) -> None:
    """Refuse a name that would otherwise fall through to the last branch."""
    if name not in names:
        raise ValueError(f"there is no {what} '{name}'; known: {', '.join(names)}")
