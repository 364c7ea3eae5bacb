"""Readers by name: "cross-encoder", a causal language model, or the address of a chat endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from taxosphere.encoders.cache import default_folder
from taxosphere.encoders.text.registry import TextEncoder, bare, trainable
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.errors import InputError
from taxosphere.readers.cross_encoder import CrossEncoder
from taxosphere.readers.endpoint import EndpointReader
from taxosphere.readers.language_model import LanguageModelReader
from taxosphere.readers.reader import CROSS_ENCODER, Reader
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import CountProgress

KEY_VARIABLE = "TAXOSPHERE_READER_KEY"
"""Environment variable with the key of an endpoint, where it wants one."""


def reader_for(
    source: str, encoder: TextEncoder, progress: CountProgress | None = None
) -> Callable[[Taxonomy, int], Reader]:
    """How to make a reader for a seed: ``make(seed, random_state)``.

    Parameters
    ----------
    source : str
        "cross-encoder"; the name, folder or GGUF file of a causal language model; or an address and a model's name
        there, as http://localhost:11434/v1#smollm2.
    encoder : TextEncoder
        A cross-encoder begins from its weights.
    progress : callable, optional
        Called as ``progress(done, total)`` while a cross-encoder learns.

    Returns
    -------
    callable
        Trains a cross-encoder on the seed; returns the same reader for every seed otherwise.

    Raises
    ------
    InputError
        There is no such model, or the encoder has no weights to begin from.
    """
    if source == CROSS_ENCODER:
        base = transformer_of(encoder)
        return lambda seed, state: CrossEncoder.fit(seed, base, random_state=state, progress=progress)
    reader = load_reader(source)
    return lambda _seed, _state: reader


def restore_reader(source: str, arrays: Mapping[str, NDArray[Any]], encoder: TextEncoder) -> Reader:
    """The reader of a saved model; ``arrays`` are those of `CrossEncoder.to_arrays`, other parameters as before."""
    if source == CROSS_ENCODER:
        return CrossEncoder.from_arrays(arrays, transformer_of(encoder))
    return load_reader(source)


def load_reader(source: str) -> Reader:
    """A reader that is not trained: a language model, or an endpoint; ``source`` as for `reader_for`."""
    if not source.startswith(("http://", "https://")):
        return LanguageModelReader.load(source)
    address, _, model = source.partition("#")
    if not model:
        raise InputError(f"'{source}' names no model; put one behind the address: {source}#MODEL")
    key = KEY_VARIABLE if os.environ.get(KEY_VARIABLE) else ""
    return EndpointReader(address, model, cache=default_folder() / "reader-answers", key_variable=key)


def transformer_of(encoder: TextEncoder) -> TransformerEncoder:
    """The transformer itself, or the first one of several side by side; `InputError` where there is none."""
    try:
        return bare(trainable(encoder))
    except InputError:
        raise InputError(
            f"a cross-encoder begins from a transformer, and '{encoder.name}' is none; use minilm"
        ) from None
