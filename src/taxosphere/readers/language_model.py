"""A causal language model as reader: how probable it finds a candidate's path after the query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.loading import language_model
from taxosphere.readers.reader import Candidate
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from torch import Tensor

_BATCH = 8
_NEUTRAL = "Something"


class LanguageModelReader:
    """Mean log-probability of the verbalised path of each candidate after the text of the query.

    "lime: a green citrus fruit … lime is a kind of" is followed by " citrus fruit, which is a kind of fruit, …". A
    model finds common words probable after any text, so the same figure after a text without content is subtracted:
    what is left is how much the query itself speaks for the path.

    Parameters
    ----------
    model, tokenizer
        As transformers loads them.
    name : str
    max_tokens : int
        Tokens of the query's text; the rest of it is cut off.
    contrast : bool
        Whether to subtract the figure after a text without content.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str, max_tokens: int = 128, contrast: bool = True) -> None:
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.max_tokens, self.contrast = max_tokens, contrast
        self._neutral: dict[str, float] = {}  # by path

    @classmethod
    def load(cls, source: str, *, max_tokens: int = 128, contrast: bool = True) -> LanguageModelReader:
        """A model by its name on the hub, its folder, or a GGUF file.

        Parameters
        ----------
        source : str
            GGUF files are read through transformers, which needs the packages gguf and accelerate.
        max_tokens, contrast
            As for the class.

        Returns
        -------
        LanguageModelReader

        Raises
        ------
        InputError
            There is no such model, or a package to read it is missing.
        """
        tokenizer, model = language_model(source, "float32")
        return cls(model, tokenizer, name=Path(source).stem or source, max_tokens=max_tokens, contrast=contrast)

    def score(self, query: Concept, candidates: Sequence[Candidate]) -> Floats:
        """Scores (n,) of the candidates, higher is better."""
        paths = [spoken_path(candidate) for candidate in candidates]
        scores = self._mean_log_probabilities(self._prompt(query.text, query.name), paths)
        if self.contrast:
            fresh = list(dict.fromkeys(path for path in paths if path not in self._neutral))
            values = self._mean_log_probabilities(self._prompt("", _NEUTRAL), fresh)
            self._neutral.update(zip(fresh, values.tolist(), strict=True))
            scores = scores - np.array([self._neutral[path] for path in paths], np.float32)
        return scores

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing: it is loaded again by its name."""
        return {}

    def _prompt(self, text: str, name: str) -> list[int]:
        """Token ids of what stands before the path: the query's text, cut to length, and the begun sentence."""
        read: list[int] = self.tokenizer(text)["input_ids"][: self.max_tokens] if text else []
        begun: list[int] = self.tokenizer(f"\n{name} is a kind of", add_special_tokens=not text)["input_ids"]
        return read + begun

    def _mean_log_probabilities(self, prompt: list[int], paths: Sequence[str]) -> Floats:
        """Mean log-probability (n,) of the tokens of each path after the prompt."""
        tokens = [self.tokenizer(path, add_special_tokens=False)["input_ids"] for path in paths]
        means = np.zeros(len(paths), np.float32)
        order = sorted(range(len(paths)), key=lambda row: len(tokens[row]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            means[rows] = self._batch(prompt, [tokens[row] for row in rows]).numpy()
        return means

    def _batch(self, prompt: list[int], paths: Sequence[list[int]]) -> Tensor:
        import torch

        width = max(map(len, paths))
        # Padded on the right, behind everything that counts: causal attention never looks there.
        ids = torch.tensor([[*prompt, *path, *([0] * (width - len(path)))] for path in paths])
        there = torch.arange(width) < torch.tensor([[len(path)] for path in paths])  # (b, width)
        with torch.inference_mode():
            logits = self.model(input_ids=ids).logits[:, len(prompt) - 1 : -1]  # (b, width, vocabulary)
            chosen = logits.log_softmax(-1).gather(2, ids[:, len(prompt) :, None]).squeeze(2)
            means: Tensor = (chosen * there).sum(1) / there.sum(1)
            return means


def spoken_path(candidate: Candidate) -> str:
    """The path as the end of a sentence: " citrus fruit, which is a kind of fruit, which is a kind of food."."""
    return " " + ", which is a kind of ".join(reversed(candidate.path)) + "."
