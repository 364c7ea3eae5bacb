"""The text encoders a model can use, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from taxosphere.encoders import weights
from taxosphere.encoders.cache import VectorCache, default_folder
from taxosphere.encoders.text import precomputed
from taxosphere.encoders.text.transformer import Arrays, TransformerEncoder
from taxosphere.errors import InputError
from taxosphere.typing import CountProgress, Floats

_WORTH_STORING = 16  # encoding a handful takes less time than writing it safely
_STORE_EVERY = 1024  # a kill in the middle of a long run loses at most this many texts


class TextEncoder(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Floats:
        """One unit row per text."""


def description(encoder: TextEncoder) -> dict[str, object]:
    """What tells one encoder from another, whatever machine it is on."""
    inner = getattr(encoder, "inner", encoder)
    return {key: getattr(inner, key) for key in ("name", "dim", "max_tokens", "prefix") if hasattr(inner, key)}


class CachedEncoder:
    """A transformer encoder that asks the disk first and loads its weights only for texts never seen."""

    def __init__(self, inner: TransformerEncoder, folder: Path) -> None:
        self.inner = inner
        self.name = inner.name
        self.dim = inner.dim
        self._folder = folder
        self._cache = VectorCache(folder, inner.identity, inner.dim)

    def with_weights(self, tuned: Arrays) -> CachedEncoder:
        """The encoder as it is on disk but for these weights; its vectors are kept apart from others."""
        return CachedEncoder(self.inner.with_weights(tuned), self._folder)

    @property
    def tuned(self) -> Arrays:
        return self.inner.tuned

    def encode(self, texts: Sequence[str], *, progress: CountProgress | None = None) -> Floats:
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get(distinct)
        # Longest texts last, so that each stored part is made of texts of like length.
        missing = sorted((text for text in distinct if text not in known), key=len)
        for start in range(0, len(missing), _STORE_EVERY):
            part = missing[start : start + _STORE_EVERY]
            before = len(known)

            def report(done: int, _: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + done, len(distinct))

            vectors = self.inner.encode(part, progress=report)
            if len(missing) >= _WORTH_STORING:
                self._cache.put(part, vectors)
            known.update(zip(part, vectors, strict=True))
        return np.stack([known[text] for text in texts]) if texts else np.zeros((0, self.dim), np.float32)


Trainable = TransformerEncoder | CachedEncoder


def trainable(encoder: TextEncoder) -> Trainable:
    """The encoder, if it is one with weights that can be fine-tuned."""
    if not isinstance(encoder, TransformerEncoder | CachedEncoder):
        raise InputError(f"'{encoder.name}' has no weights to fine-tune; leave --fine-tune out or name a model")
    return encoder


def bare(encoder: Trainable) -> TransformerEncoder:
    """The encoder without its cache."""
    return encoder.inner if isinstance(encoder, CachedEncoder) else encoder


def untuned(encoder: TextEncoder) -> TextEncoder:
    """The encoder as it was before any fine-tuning."""
    return encoder.with_weights({}) if isinstance(encoder, Trainable) and encoder.tuned else encoder


_DEFAULT_CACHE = Path()  # stands for default_folder(), which is read when an encoder is made


def load(
    name: str = weights.PACKAGED,
    *,
    max_tokens: int = 64,
    prefix: str | None = None,
    cache: Path | None = _DEFAULT_CACHE,
) -> TransformerEncoder | CachedEncoder | precomputed.PrecomputedEncoder:
    """The packaged 'minilm', a Hugging Face or sentence-transformers name, a folder of weights, or a .npy file.

    ``prefix`` goes in front of every text; None takes what the encoder itself asks for. ``cache=None`` keeps nothing
    on disk. A .npy file needs a .txt file of the same name with one text per line.
    """
    if name.endswith(".npy"):
        path = Path(name)
        return precomputed.read(path, path.with_suffix(".txt"))
    encoder = TransformerEncoder(weights.locate(name), max_tokens=max_tokens, prefix=prefix)
    if cache is None:
        return encoder
    return CachedEncoder(encoder, default_folder() if cache is _DEFAULT_CACHE else cache)
