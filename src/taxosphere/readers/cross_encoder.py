"""A cross-encoder as reader: query and candidate are read together, word by word, and one number comes out.

It begins from the text encoder's weights and learns from a seed without the leaves it will be asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.model.negatives import NONE, Lineage, Mix, sample
from taxosphere.readers.reader import Candidate, candidates_at
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

_PAIRS = 16  # read at once when scoring
_NEAREST = 30  # concepts whose parents are hard negatives


@dataclass(frozen=True)
class CrossEncoderSettings:
    """How a cross-encoder is trained.

    Attributes
    ----------
    epochs : int
    examples : int
        Leaves of the seed that are asked in an epoch, at most.
    negatives : int
        Wrong candidates beside the right one.
    batch : int
        Leaves of one optimiser step.
    learning_rate, head_rate : float
        Of the encoder's weights, and of the last layer, which begins at random.
    max_tokens : int
        Of query and candidate together.
    """

    epochs: int = 2
    examples: int = 2000
    negatives: int = 7
    batch: int = 4
    learning_rate: float = 5e-5
    head_rate: float = 1e-3
    max_tokens: int = 128


class CrossEncoder:
    """Scores by a transformer that reads "query: definition" and "candidate; path; children" as one text.

    Parameters
    ----------
    encoder : TransformerEncoder
        Its tokenizer and model are used.
    head : nn.Linear
        From the model's vectors to a score.
    settings : CrossEncoderSettings
    """

    def __init__(self, encoder: TransformerEncoder, head: nn.Linear, settings: CrossEncoderSettings) -> None:
        self.encoder, self.head, self.settings = encoder, head, settings
        self.name = f"cross-encoder from {encoder.name}"

    @classmethod
    def fit(
        cls,
        seed: Taxonomy,
        encoder: TransformerEncoder,
        *,
        random_state: int,
        settings: CrossEncoderSettings | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> CrossEncoder:
        """Train on the leaves of a seed.

        Parameters
        ----------
        seed : Taxonomy
            Without the concepts that the reader will be asked about; `taxonomy.split.hide` takes them out.
        encoder : TransformerEncoder
            Where training begins; it is not changed itself.
        random_state : int
        settings : CrossEncoderSettings, optional
        progress : callable, optional
            Called as ``progress(done, total)`` after every step.

        Returns
        -------
        CrossEncoder
        """
        settings = settings or CrossEncoderSettings()
        reader = cls.untrained(encoder, settings, random_state=random_state)
        rng = np.random.default_rng(random_state)
        lists = TrainingLists(seed, encoder, settings.negatives)
        leaves = np.flatnonzero(seed.hideable)
        count = min(len(leaves), settings.examples)
        epochs = [rng.permutation(leaves)[:count] for _ in range(settings.epochs)]
        steps = [part for order in epochs for part in np.array_split(order, -(-count // settings.batch)) if len(part)]
        weights, last = list(reader.encoder.model.parameters()), list(reader.head.parameters())
        optimiser = torch.optim.AdamW(
            [{"params": weights, "lr": settings.learning_rate}, {"params": last, "lr": settings.head_rate}]
        )
        falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1.0 - step / max(1, len(steps)))
        for number, asked in enumerate(steps, 1):
            optimiser.zero_grad()
            losses = [reader.loss(*lists.draw(int(leaf), rng)) for leaf in asked]
            torch.autograd.backward(torch.stack(losses).mean())
            nn.utils.clip_grad_norm_([*weights, *last], 1.0)
            optimiser.step()
            falling.step()
            if progress is not None:
                progress(number, len(steps))
        return reader

    @classmethod
    def untrained(
        cls, encoder: TransformerEncoder, settings: CrossEncoderSettings, *, random_state: int
    ) -> CrossEncoder:
        """Where training begins: a copy of the encoder, and a last layer that is random."""
        head = nn.Linear(encoder.dim, 1)
        with torch.no_grad():
            head.weight.normal_(0.0, 0.02, generator=torch.Generator().manual_seed(random_state))
            head.bias.zero_()
        return cls(encoder.with_weights(encoder.tuned), head, settings)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Weights by name, for a model folder."""
        weights = {f"encoder.{name}": value for name, value in self.encoder.model.named_parameters()}
        weights |= {f"head.{name}": value for name, value in self.head.named_parameters()}
        return {name: value.detach().numpy().copy() for name, value in weights.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], encoder: TransformerEncoder) -> CrossEncoder:
        """The cross-encoder that `to_arrays` wrote; ``encoder`` is the one it began from."""
        head = nn.Linear(encoder.dim, 1)
        head.load_state_dict({name: torch.tensor(value) for name, value in strip_prefix("head.", arrays).items()})
        return cls(encoder.with_weights(strip_prefix("encoder.", arrays)), head, CrossEncoderSettings())

    def score(self, query: Concept, candidates: Sequence[Candidate]) -> Floats:
        """Scores (n,) of the candidates, higher is better."""
        with torch.inference_mode():
            parts = [
                self._logits(query, candidates[start : start + _PAIRS]) for start in range(0, len(candidates), _PAIRS)
            ]
        return np.asarray(torch.cat(parts).numpy(), np.float32) if parts else np.zeros(0, np.float32)

    def loss(self, query: Concept, candidates: Sequence[Candidate]) -> Tensor:
        """Cross entropy of the first candidate, the right one, among all."""
        return F.cross_entropy(self._logits(query, candidates).unsqueeze(0), torch.zeros(1, dtype=torch.long))

    def _logits(self, query: Concept, candidates: Sequence[Candidate]) -> Tensor:
        """Scores (n,), differentiable."""
        texts = [candidate.text for candidate in candidates]
        tokens: Any = self.encoder.tokenizer(
            [query.text] * len(texts),
            texts,
            truncation="longest_first",
            max_length=min(self.settings.max_tokens, self.encoder.recipe.max_tokens),
            padding=True,
            return_tensors="pt",
        )
        hidden: Tensor = self.encoder.model(**tokens).last_hidden_state  # (n, width, dim)
        mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        # The mean of all tokens, which is what sentence encoders have been trained to fill with meaning.
        pooled = (hidden * mask).sum(1) / mask.sum(1)
        scores: Tensor = self.head(pooled).squeeze(1)
        return scores


class TrainingLists:
    """Lists to learn from: a leaf of the seed, one of its parents, and wrong candidates, half of them hard.

    Hard ones are the nearest concepts by text and their parents; the others are siblings, uncles and random concepts.
    The leaf itself is named among no candidate's children.
    """

    def __init__(self, seed: Taxonomy, encoder: TransformerEncoder, negatives: int) -> None:
        self.seed, self.negatives = seed, negatives
        self.lineage = Lineage(seed)
        self.vectors = encoder.encode([concept.text for concept in seed.concepts()])

    def draw(self, leaf: int, rng: np.random.Generator) -> tuple[Concept, list[Candidate]]:
        """The leaf and its candidates, a right one first."""
        right = int(rng.choice(self.seed.parent_csr.row(leaf)))
        hard = rng.permutation(self.hard(leaf))[: self.negatives // 2]
        others = sample(self.seed, self.lineage, np.array([leaf]), self.negatives, Mix(0.25, 0.0, 0.25), rng)[0]
        wrong = list(dict.fromkeys([*hard.tolist(), *others[others != NONE].tolist()]))[: self.negatives]
        positions = [right, *wrong]
        return self.seed.concept(leaf), candidates_at(self.seed, positions, without=self.seed.ids[leaf])

    def hard(self, leaf: int) -> Longs:
        """The concepts nearest to the leaf by text and their parents, without itself and its ancestors."""
        similarity = self.vectors @ self.vectors[leaf]
        nearest = np.argsort(-similarity, kind="stable")[: _NEAREST + 1].astype(np.int64)
        pool = np.union1d(nearest, self.seed.parent_csr.expand(nearest)[1].astype(np.int64))
        return pool[~self.lineage.forbidden(np.full(len(pool), leaf), pool)]
