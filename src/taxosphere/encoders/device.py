"""Where tensors are computed: the processor, or a graphics card by torch's name of it."""

from __future__ import annotations

from taxosphere.errors import InputError

CPU = "cpu"


def check_device(device: object) -> str:
    """The name of a device that this machine can compute on.

    Parameters
    ----------
    device : str, torch.device or None
        As torch names it, such as "cpu", "cuda", "cuda:1" or "mps"; None: the processor.

    Returns
    -------
    str
        The name; "cpu" for the processor.

    Raises
    ------
    InputError
        There is no such device, or not on this machine.
    """
    if device is None or device == CPU:
        return CPU
    import torch

    try:
        made = torch.empty(0, device=str(device)).device
    except (RuntimeError, AssertionError, NotImplementedError):  # unknown; no driver; not compiled in
        made = None
    if made is None or made.type == "meta":  # a meta tensor has a shape and no values
        here = [CPU, *(["cuda"] if torch.cuda.is_available() else []), *(["mps"] if torch.mps.is_available() else [])]
        raise InputError(f"this machine has no device '{device}'; torch can use: {', '.join(here)}")
    return CPU if made.type == CPU else str(made)


def with_device(identity: str, device: str) -> str:
    """The identity of an encoder on a device: vectors of a graphics card differ in their last bits."""
    return identity if device == CPU else f"{identity}@{device.partition(':')[0]}"
