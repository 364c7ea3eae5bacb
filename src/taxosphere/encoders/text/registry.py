"""The text encoders a model can use, behind one protocol, and the vectors of concepts that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol, TypedDict, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders import weights
from taxosphere.encoders.cache import VectorCache, default_folder
from taxosphere.encoders.device import CPU
from taxosphere.encoders.text import precomputed
from taxosphere.encoders.text.combined import BETWEEN, CombinedEncoder
from taxosphere.encoders.text.language_model import LanguageModelEncoder, is_language_model
from taxosphere.encoders.text.static import StaticEncoder, is_static
from taxosphere.encoders.text.transformer import Arrays, TransformerEncoder
from taxosphere.errors import InputError, kind_of
from taxosphere.taxonomy import Concept
from taxosphere.taxonomy.formats.io.streams import expand_home
from taxosphere.typing import CountProgress, Floats

_UNIT_TOLERANCE = 1e-4  # rows this close to length one are left as they are, bit for bit
_CHECKED = 1 << 14  # vectors of a caller's encoder that are checked at once: squares of all would fill the memory
_WORTH_STORING = 16  # encoding a handful takes less time than writing it safely
_RECENT = 256  # texts of small requests whose vectors stay in memory
_STORE_EVERY = 1024  # a kill in the middle of a long run loses at most this many texts


class TextEncoder(Protocol):
    """What turns texts into vectors; ``Polaris.fit`` takes anything with these three members."""

    @property
    def name(self) -> str:
        """Tells encoders apart: a saved model asks for one of this name."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """Vectors of shape (len(texts), dim), float32, rows of length one in the order of the texts."""


class CheckedEncoder:
    """A caller's encoder whose results are checked at every call.

    Rows that are not of length one are scaled to it, and floating point numbers of another size become float32.
    """

    def __init__(self, inner: TextEncoder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dim = inner.dim

    def encode(self, texts: Sequence[str]) -> Floats:
        """Vectors of shape (len(texts), dim), float32, rows of length one.

        Raises
        ------
        TypeError
            The encoder returned something else than a numpy array of floating point numbers.
        InputError
            Its array has another shape, or holds a zero row or a number that is not finite.
        """
        vectors = self.inner.encode(texts)
        who = f"the encoder '{self.name}'"
        if not isinstance(vectors, np.ndarray):
            raise TypeError(f"{who} returned a {type(vectors).__name__}; encode returns a numpy array, a row per text")
        if vectors.dtype.kind != "f":
            raise TypeError(f"{who} returned an array of {vectors.dtype}; encode returns floating point numbers")
        if vectors.shape != (len(texts), self.dim):
            expected = (len(texts), self.dim)
            raise InputError(
                f"{who} returned an array of shape {vectors.shape} for {expected[0]} texts, not {expected}"
            )
        norms = np.empty(len(vectors), vectors.dtype)
        for start in range(0, len(vectors), _CHECKED):
            block = vectors[start : start + _CHECKED]
            finite = np.isfinite(block).all(axis=1)
            if not finite.all():
                raise InputError(
                    f"{who} returned a number that is not finite for '{texts[start + int(finite.argmin())]}'"
                )
            norms[start : start + _CHECKED] = np.linalg.norm(block, axis=1)
        if (norms == 0).any():
            raise InputError(f"{who} returned a zero vector for '{texts[int((norms == 0).argmax())]}'")
        if (np.abs(norms - 1) > _UNIT_TOLERANCE).any():
            vectors = vectors / norms[:, None]
        return np.asarray(vectors, np.float32)


def check_encoder(encoder: object) -> TextEncoder:
    """The encoder, if it has ``name``, ``dim`` and ``encode``; results of a caller's one are checked from now on.

    Parameters
    ----------
    encoder : object
        What a caller passed as encoder.

    Returns
    -------
    TextEncoder
        One of ours unchanged, any other inside a `CheckedEncoder`.

    Raises
    ------
    TypeError
        A member is missing or of the wrong type.
    """
    if isinstance(encoder, TextEncoders | CheckedEncoder):
        return encoder
    if isinstance(encoder, type):
        raise TypeError(f"an encoder is an object, and {encoder.__name__} is a class: make one of it")
    kind = type(encoder).__name__
    if not callable(getattr(encoder, "encode", None)):
        raise TypeError(f"an encoder has a method encode(texts), {kind_of(encoder)} has none")
    name, dim = getattr(encoder, "name", None), getattr(encoder, "dim", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"an encoder has a name, a text that is not empty; the name of this {kind} is {name!r}")
    if not isinstance(dim, int | np.integer) or isinstance(dim, bool) or dim < 1:
        raise TypeError(f"an encoder has a whole number dim, the length of its vectors; that of this {kind} is {dim!r}")
    return CheckedEncoder(cast(TextEncoder, encoder))


def description(encoder: TextEncoder) -> dict[str, object]:
    """Name, dimension and, of encoders with weights, token limit and prefix: the same on every machine."""
    if isinstance(encoder, CombinedEncoder):
        return {"name": encoder.name, "dim": encoder.dim, "parts": [description(part) for part in encoder.parts]}
    inner = getattr(encoder, "inner", encoder)
    return {key: getattr(inner, key) for key in ("name", "dim", "max_tokens", "prefix") if hasattr(inner, key)}


class CachedEncoder:
    """An encoder with a cache on disk; weights are loaded only for texts that are not in it."""

    def __init__(self, inner: TransformerEncoder | LanguageModelEncoder, folder: Path) -> None:
        self.inner = inner
        self.name = inner.name
        self.dim = inner.dim
        self._folder = folder
        self._cache = VectorCache(folder, inner.identity, inner.dim)
        self._recent: dict[str, Floats] = {}

    def with_weights(self, tuned: Arrays) -> CachedEncoder:
        """The transformer with these weights in place of those on disk; its vectors are cached apart from others."""
        return CachedEncoder(bare(self).with_weights(tuned), self._folder)

    @property
    def tuned(self) -> Arrays:
        """Fine-tuned weights by name; empty where there are none."""
        return bare(self).tuned

    def encode(self, texts: Sequence[str], *, progress: CountProgress | None = None) -> Floats:
        """Vectors (len(texts), dim); ``progress(done, total)`` counts distinct texts."""
        distinct = list(dict.fromkeys(texts))
        vectors = {text: self._recent[text] for text in distinct if text in self._recent}
        vectors |= self._cache.get([text for text in distinct if text not in vectors])
        # Longest texts last, so that each stored part is made of texts of like length.
        missing = sorted((text for text in distinct if text not in vectors), key=len)
        if missing and isinstance(self.inner, LanguageModelEncoder):
            self.inner.moments(progress)  # counted by itself, not as a part of these texts
        for start in range(0, len(missing), _STORE_EVERY):
            part = missing[start : start + _STORE_EVERY]
            before = len(vectors)

            def report(done: int, _: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + done, len(distinct))

            encoded = self.inner.encode(part, progress=report)
            vectors.update(zip(part, encoded, strict=True))
            if len(missing) >= _WORTH_STORING:
                self._cache.put(part, encoded)
            else:  # a query: what explains its suggestions asks for the same text again
                self._recent = {**dict(list(self._recent.items())[-_RECENT:]), **{text: vectors[text] for text in part}}
        return np.stack([vectors[text] for text in texts]) if texts else np.zeros((0, self.dim), np.float32)


Trainable = TransformerEncoder | CachedEncoder
TextEncoders = Trainable | LanguageModelEncoder | StaticEncoder | CombinedEncoder | precomputed.PrecomputedEncoder


def is_trainable(encoder: TextEncoder) -> TypeGuard[Trainable]:
    """Whether the encoder itself has weights that can be fine-tuned: language models stay as they are."""
    inner = encoder.inner if isinstance(encoder, CachedEncoder) else encoder
    return isinstance(inner, TransformerEncoder)


def trainable(encoder: TextEncoder) -> Trainable:
    """The encoder itself, of several side by side the first with weights; `InputError` where there are none to tune."""
    for part in _parts(encoder):
        if is_trainable(part):
            return part
    raise InputError(f"'{encoder.name}' has no weights to fine-tune; keep it frozen or name a model")


def has_weights(encoder: TextEncoder) -> bool:
    """Whether the encoder, or one of several side by side, has weights that can be fine-tuned."""
    return any(is_trainable(part) for part in _parts(encoder))


def part_dims(encoder: TextEncoder) -> tuple[int, ...]:
    """Lengths of the vectors of several encoders side by side; empty for a single one."""
    return tuple(part.dim for part in encoder.parts) if isinstance(encoder, CombinedEncoder) else ()


def _parts(encoder: TextEncoder) -> tuple[TextEncoder, ...]:
    return encoder.parts if isinstance(encoder, CombinedEncoder) else (encoder,)


def with_tuned(encoder: TextEncoder, tuned: Arrays) -> TextEncoder:
    """The encoder with these weights in its `trainable` part; others beside that stay as they are."""
    learner = trainable(encoder)
    changed = learner.with_weights(tuned)
    if not isinstance(encoder, CombinedEncoder):
        return changed
    return CombinedEncoder([changed if part is learner else part for part in encoder.parts])


def bare(encoder: Trainable) -> TransformerEncoder:
    """The encoder without its cache."""
    inner = encoder.inner if isinstance(encoder, CachedEncoder) else encoder
    assert isinstance(inner, TransformerEncoder)  # what `trainable` returns
    return inner


def untuned(encoder: TextEncoder) -> TextEncoder:
    """The encoder as it was before any fine-tuning."""
    return with_tuned(encoder, {}) if has_weights(encoder) and trainable(encoder).tuned else encoder


class _Stated(TypedDict):
    """What every encoder that computes is told."""

    max_tokens: int
    prefix: str | None
    device: str


_DEFAULT_CACHE = Path()  # stands for default_folder(), which is read when an encoder is made


def load(
    name: str = weights.PACKAGED,
    *,
    max_tokens: int = 64,
    prefix: str | None = None,
    cache: Path | None = _DEFAULT_CACHE,
    device: str = CPU,
) -> TextEncoders:
    """A text encoder by name.

    Parameters
    ----------
    name : str
        "minilm", "mpnet", "fast" or "qwen" (from the package index), a Hugging Face or sentence-transformers name, a
        folder of weights, a GGUF file of a causal language model, or a .npy file of vectors with a .txt file of the
        same name that holds one text per line. Several of them, joined by "+", stand side by side: "minilm+mpnet". A
        ranker has nets for each of them.
    max_tokens : int
        Longer texts are cut off.
    prefix : str, optional
        Put in front of every text; None: what the encoder itself asks for.
    cache : Path, optional
        Folder where vectors are kept between runs; None keeps nothing. Default: `encoders.cache.default_folder`.
    device : str
        Where transformers compute, as torch names it: "cpu", "cuda", "cuda:1", "mps".

    Raises
    ------
    InputError
        There is no such encoder, or its files cannot be used.
    """
    names, stated = part_names(name), _Stated(max_tokens=max_tokens, prefix=prefix, device=device)
    if len(names) > 1:
        return CombinedEncoder([load(part, cache=cache, **stated) for part in names])
    if name.endswith(".npy"):
        path = Path(name)
        return precomputed.read(path, path.with_suffix(".txt"))
    located = weights.locate(name)
    if is_static(located.folder):
        return StaticEncoder(located, max_tokens=max_tokens, prefix=prefix)
    kept = default_folder() if cache is _DEFAULT_CACHE else cache
    encoder = (
        LanguageModelEncoder(located, cache=kept, **stated)
        if is_language_model(located.folder)
        else TransformerEncoder(located, **stated)
    )
    return encoder if kept is None else CachedEncoder(encoder, kept)


def part_names(name: str) -> list[str]:
    """The encoders that a name stands for: those between its "+", or itself where it is a file or a folder.

    Raises
    ------
    InputError
        A name is empty or stands there twice.
    """
    if BETWEEN not in name or expand_home(name).exists():
        return [name]
    names = name.split(BETWEEN)
    if "" in names or len(set(names)) < len(names):
        raise InputError(f"'{name}' is to name different encoders with a '{BETWEEN}' between each two, as minilm+mpnet")
    return names


@dataclass(frozen=True)
class TextVectors:
    """Unit vectors (n, dim), one row per concept: of name and description (``full``) and of the name."""

    full: Floats
    name: Floats

    def take(self, rows: NDArray[np.integer] | slice) -> TextVectors:
        """Those of some concepts; of a slice the same memory."""
        return TextVectors(self.full[rows], self.name[rows])

    def split(self, dims: Sequence[int]) -> list[TextVectors]:
        """Unit vectors of each of several encoders side by side, whose vectors have these lengths."""
        ends, factor = np.cumsum(dims)[:-1], np.float32(np.sqrt(len(dims)))
        parts = (np.split(vectors, ends, axis=1) for vectors in (self.full, self.name))
        return [TextVectors(full * factor, name * factor) for full, name in zip(*parts, strict=True)]

    def to_arrays(self) -> dict[str, Floats]:
        """Both arrays by name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def encode_text_vectors(
    encoder: TextEncoder, concepts: Sequence[Concept], progress: CountProgress | None = None
) -> TextVectors:
    """Text vectors of concepts, made in one call so that each distinct text is encoded once."""
    texts = [*(concept.text for concept in concepts), *(concept.name for concept in concepts)]
    # Only encoders that compute take a progress callback.
    options = {"progress": progress} if isinstance(encoder, Trainable | CombinedEncoder) else {}
    return TextVectors(*np.split(encoder.encode(texts, **options), 2))
