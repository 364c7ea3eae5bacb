"""Fine-tuning in several processes that ``torchrun`` started.

All processes go through the same training with the same random draws. What takes the time, the encoder, is divided:
each process encodes some of a step's concepts and propagates their gradients; vectors and gradients are then added up
over all processes. Losses compare all concepts of a step with each other, so each process computes them in full. The
result is that of one process, but for the order in which gradients are added.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch import distributed as group

T = TypeVar("T")


@contextmanager
def processes(device: str) -> Iterator[None]:
    """Join the processes that ``torchrun`` started, inside the ``with`` block; a process by itself joins nothing.

    Parameters
    ----------
    device : str
        Where the encoder is: processes with a graphics card speak through nccl, others through gloo.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    group.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield
    finally:
        group.destroy_process_group()


def _several() -> bool:
    return group.is_available() and group.is_initialized() and group.get_world_size() > 1


def is_first() -> bool:
    """Whether this process is the one that writes files and speaks to the user."""
    return not _several() or group.get_rank() == 0


def share(parts: Sequence[T]) -> Sequence[T]:
    """Those of the parts that are this process's to work on; all of them where there is only one process."""
    return parts[group.get_rank() :: group.get_world_size()] if _several() else parts


def add_up(tensors: Sequence[Tensor]) -> None:
    """Replace each tensor by its sum over all processes."""
    if not _several() or not tensors:
        return
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])  # one exchange for all
    group.all_reduce(flat)
    for tensor, total in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(total.view_as(tensor))


def add_up_gradients(parameters: Sequence[nn.Parameter]) -> None:
    """Replace the gradient of each parameter by its sum over all processes."""
    if not _several():
        return
    gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    add_up(gradients)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
