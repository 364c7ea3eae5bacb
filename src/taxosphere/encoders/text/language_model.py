"""A causal language model as text encoder: its state where it is about to name what a concept is a kind of.

The model is asked to which category "lime: a green citrus fruit" belongs, and reads the beginning of its own answer,
"In one word, it is a kind of". The vector it would predict the next word from describes the parents that it expects, so
concepts with like parents have like vectors. Such states share a large common part, and a few of their numbers are far
larger than the others; so each number is standardised by its mean and deviation over texts of many fields
(`many_fields`).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taxosphere.encoders.cache import VectorCache
from taxosphere.encoders.device import CPU, with_device
from taxosphere.encoders.loading import language_model
from taxosphere.encoders.text import many_fields, recipe
from taxosphere.encoders.text.transformer import batches_by_length, padded_length
from taxosphere.encoders.weights import Weights
from taxosphere.typing import CountProgress, Floats

ROLE = "You are an expert who builds taxonomies."
QUESTION = "To which category does this concept belong?\n"
ANSWER = 'In one word, it is a kind of "'


class Moments(NamedTuple):
    """Mean and deviation (dim,) of each number of a state."""

    mean: Floats
    deviation: Floats


def is_language_model(folder: Path) -> bool:
    """Whether a folder holds a causal language model that nobody has made into a sentence encoder."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    kinds = config.get("architectures") if isinstance(config, dict) else None
    causal = isinstance(kinds, list) and any(str(kind).endswith("ForCausalLM") for kind in kinds)
    return causal and not (folder / "modules.json").exists()


class LanguageModelEncoder:
    """A causal language model, loaded at the first text.

    Parameters
    ----------
    weights : Weights
        Folder and identity of the weights.
    max_tokens : int
        Longer texts are cut off.
    prefix : str, optional
        Put in front of every text.
    cache : Path, optional
        Folder where the states of `many_fields` are kept, so that they are computed once.
    device : str
        Where the model computes, as torch names it.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        max_tokens: int = 64,
        prefix: str | None = None,
        cache: Path | None = None,
        device: str = CPU,
    ) -> None:
        self.weights = weights
        self.name = weights.name
        self.dim = recipe.read(weights.folder, weights.name).dim
        self.max_tokens = max_tokens
        self.prefix = prefix or ""
        self.device = device
        self._cache = cache
        self._moments: Moments | None = None

    @property
    def identity(self) -> str:
        """Everything that decides the vector of a text."""
        parts = [self.weights.identity, ROLE, QUESTION, ANSWER, self.max_tokens, self.prefix]
        return with_device(json.dumps(parts), self.device)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Tokenizer and model, in the precision it is stored in."""
        tokenizer, model = language_model(self.weights.folder, "auto")
        return tokenizer, model.base_model.to(self.device)  # without the part that turns states into words

    def moments(self, progress: CountProgress | None = None) -> Moments:
        """Of the states of `many_fields`: from the cache where they are, else computed and kept there."""
        if self._moments is not None:
            return self._moments
        texts = list(dict.fromkeys(text for each in many_fields.concepts() for text in (each.text, each.name)))
        kept = VectorCache(self._cache, f"states of {self.identity}", self.dim) if self._cache is not None else None
        stored = {} if kept is None else kept.get(texts)
        if len(stored) < len(texts):
            states = self.states(texts, progress)
            if kept is not None:
                kept.put(texts, states)
        else:
            states = np.stack([stored[text] for text in texts])
        self._moments = Moments(states.mean(0), np.maximum(states.std(0), 1e-6))
        return self._moments

    def encode(self, texts: Sequence[str], *, progress: CountProgress | None = None) -> Floats:
        """Vectors (len(texts), dim), rows of length one; each distinct text is encoded once, shortest first."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return np.zeros((0, self.dim), np.float32)
        moments = self.moments(progress)  # first, and counted too: that takes minutes once
        vectors = (self.states(distinct, progress) - moments.mean) / moments.deviation
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        row = {text: number for number, text in enumerate(distinct)}
        return np.asarray(vectors[[row[text] for text in texts]], np.float32)

    def states(self, texts: Sequence[str], progress: CountProgress | None = None) -> Floats:
        """States (len(texts), dim) after the last token of the question about each text."""
        import torch

        _, model = self._loaded
        tokens = self._tokenize(texts)
        states, done = np.zeros((len(texts), self.dim), np.float32), 0
        for rows in batches_by_length(tokens):
            batch = [tokens[row] for row in rows]
            width = padded_length(max(map(len, batch)))
            # Padded on the right, behind everything that counts: causal attention never looks there.
            ids = torch.tensor([[*row, *([0] * (width - len(row)))] for row in batch], device=self.device)
            last = torch.tensor([len(row) - 1 for row in batch], device=self.device)
            with torch.inference_mode():
                hidden = model(input_ids=ids, past_key_values=self._beginnings(len(batch))).last_hidden_state
                states[rows] = hidden[torch.arange(len(batch), device=self.device), last].float().cpu().numpy()
            done += len(rows)
            if progress is not None:
                progress(done, len(texts))
        return states

    def _beginnings(self, count: int) -> Any:
        """Keys and values of the question's beginning for a batch of ``count`` texts; the model adds to them."""
        copied = copy.deepcopy(self._beginning)
        copied.batch_repeat_interleave(count)
        return copied

    @cached_property
    def _beginning(self) -> Any:
        """Keys and values of the question's beginning, which stands before every text and is computed once."""
        import torch

        tokenizer, model = self._loaded
        ids = torch.tensor([_ids(tokenizer, frame(tokenizer)[0])], device=self.device)
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=True).past_key_values

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of every text, of which at most ``max_tokens`` are kept, and of what stands behind it."""
        tokenizer, _ = self._loaded
        after = _ids(tokenizer, frame(tokenizer)[1])
        return [[*_ids(tokenizer, self.prefix + text)[: self.max_tokens], *after] for text in texts]


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def frame(tokenizer: Any) -> tuple[str, str]:
    """What stands before a text and after it: a chat where the model was trained on chats, else plain lines."""
    if not tokenizer.chat_template:
        return f"{tokenizer.bos_token or ''}{QUESTION}", f"\n{ANSWER}"
    place = "\N{OBJECT REPLACEMENT CHARACTER}"
    contents = {"system": ROLE, "user": QUESTION + place, "assistant": ANSWER}
    chat = [{"role": role, "content": content} for role, content in contents.items()]
    text = tokenizer.apply_chat_template(chat, tokenize=False, continue_final_message=True)
    before, _, after = str(text).partition(place)
    return before, after
