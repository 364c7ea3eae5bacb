"""Two towers that share a space (CLIP, SigLIP and their kin), through transformers, from a folder or the hub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taxosphere.encoders.device import CPU, with_device
from taxosphere.encoders.weights import Weights
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor


_TEXTS_AT_ONCE = 64


class TwoTowers:
    """The image tower, with the text tower of the same space in `texts`. Weights are loaded at first use."""

    def __init__(self, weights: Weights, device: str = CPU) -> None:
        self.weights = weights
        self.device = device
        self.name = weights.name
        self.identity = with_device(f"clip:{weights.identity}:1", device)
        self.dim = shared_dim(weights.folder)

    @cached_property
    def texts(self) -> TextTower:
        return TextTower(self)

    @cached_property
    def model(self) -> Any:
        from transformers import AutoModel

        return self._load(AutoModel).eval().to(self.device)

    @cached_property
    def _processor(self) -> Any:
        from transformers import AutoImageProcessor

        return self._load(AutoImageProcessor)

    @cached_property
    def tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return self._load(AutoTokenizer)

    def _load(self, kind: Any) -> Any:
        from taxosphere.encoders.loading import without_progress_bars

        try:
            return without_progress_bars(lambda: kind.from_pretrained(self.weights.folder, local_files_only=True))
        except (OSError, ValueError, ImportError) as error:
            first = str(error).strip().splitlines()[0]
            raise TaxosphereError(f"{self.weights.folder}: the image encoder cannot be loaded: {first}") from error

    def embed(self, images: Sequence[Image]) -> Floats:
        import torch

        with torch.inference_mode():
            pixels = self._processor(images=list(images), return_tensors="pt")
            return _rows(self.model.get_image_features(**pixels.to(self.device)))


class TextTower:
    """The text side as a text encoder."""

    def __init__(self, towers: TwoTowers) -> None:
        self._towers = towers
        self.name = towers.name
        self.dim = towers.dim

    def encode(self, texts: Sequence[str]) -> Floats:
        import torch

        distinct = list(dict.fromkeys(texts))
        parts = [np.zeros((0, self.dim), np.float32)]
        with torch.inference_mode():
            for start in range(0, len(distinct), _TEXTS_AT_ONCE):
                rows = _rows(
                    self._towers.model.get_text_features(**self._tokens(distinct[start : start + _TEXTS_AT_ONCE]))
                )
                parts.append(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
        place = {text: row for row, text in enumerate(distinct)}
        return np.concatenate(parts)[[place[text] for text in texts]] if texts else parts[0]

    def _tokens(self, texts: list[str]) -> dict[str, Tensor]:
        config = self._towers.model.config
        # SigLIP was trained on texts padded to their full length, with the padding in image_model.
        full = "siglip" in config.model_type
        limit = config.text_config.max_position_embeddings
        padding = "max_length" if full else True
        tokens = self._towers.tokenizer(texts, padding=padding, truncation=True, max_length=limit, return_tensors="pt")
        return {
            name: value.to(self._towers.device) for name, value in tokens.items() if name == "input_ids" or not full
        }


def _rows(output: Any) -> Floats:
    """Vectors (n, dim); newer versions of transformers wrap them."""
    import torch

    vectors: Tensor = output if isinstance(output, torch.Tensor) else output.pooler_output
    return vectors.float().cpu().numpy()


def shared_dim(folder: Path) -> int:
    """Length of the vectors that both towers give, from the folder's config."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError("missing or broken, so this is not a folder of encoder weights", path) from None
    text, vision = config.get("text_config"), config.get("vision_config")
    if not isinstance(text, dict) or not isinstance(vision, dict):
        raise InputError("names no text and vision tower, so this is no encoder for images", path)
    # SigLIP has no projection: its towers are equally wide (768 where the file leaves it out).
    dim = config.get("projection_dim") or text.get("projection_size") or vision.get("hidden_size")
    return int(dim) if dim else 512 if config.get("model_type") == "clip" else 768
