"""The paper's system as printed: encoder and head learn together, ranked by cosine behind the hard gate.

`PolarisPaper.fit` is honest. `PolarisPaper.fit_both` also gives the scorer of the paper's own protocol, which counts
the gate on the full graph and picks the checkpoint on the test queries; both come from one training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np
import torch

from taxosphere.encoders.text.registry import bare, trainable
from taxosphere.errors import TaxosphereError
from taxosphere.methods.polaris_cosine import Configured, SphereScorer, curves
from taxosphere.methods.registry import Answers
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoints
from taxosphere.model.config import PolarisConfig
from taxosphere.model.early_stopping import validation_split
from taxosphere.model.training import TrainedHead, fine_tune, train_head
from taxosphere.model.validation import Validation
from taxosphere.orbit import gate
from taxosphere.orbit.gate import Gate
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


class Queries(NamedTuple):
    """Concepts that are ranked after every epoch, their gold parents, and the gate they are ranked behind."""

    concepts: Sequence[Concept]
    gold: tuple[Longs, ...]
    gate: Gate | None = None


class PolarisPaper(Configured):
    """Every formula as printed, hard gate, the paper's settings for a data set of this size, encoder learning along.

    Attributes
    ----------
    checkpoints : Checkpoints
        Where states are kept that a killed fit resumes from; by default nowhere.
    """

    preset: ClassVar[str] = "paper"
    # Shared negatives: with its own ones for every pair a step would encode nearly the whole seed.
    changes: ClassVar[tuple[str, ...]] = ("training.fine_tune=true", "training.shared_negatives=32")
    checkpoints: Checkpoints = NO_CHECKPOINTS

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        """Choose epochs and γ with some leaves of the seed held out, then train that long on all of it."""
        self._fit(seed, encoder, random_state, None)
        return self

    def fit_both(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int, answers: Answers) -> SphereScorer:
        """`fit`, and a scorer as the paper measures it, from the same training.

        The training goes on for all epochs; the method itself is what it was after the number of them that `fit`
        chooses, the returned scorer what it was when it answered the test queries best. γ of either gate is chosen on
        held-out leaves of the seed.
        """
        scorer = self._fit(seed, encoder, random_state, answers)
        assert scorer is not None
        return scorer

    def score(self, queries: Sequence[Concept]) -> Floats:
        """Scores (queries, seed concepts), higher is better."""
        if self._scorer is None:
            raise TaxosphereError("polaris-paper must be fitted before it can score")
        return self._scorer.score(queries)

    _scorer: SphereScorer | None = None

    def _fit(
        self, seed: Taxonomy, encoder: TextEncoder, random_state: int, answers: Answers | None
    ) -> SphereScorer | None:
        config = self.configure(seed)
        training = Training(encoder, config, random_state, self.checkpoints)
        choice = choose(training, seed)
        self.epochs, self.gamma, trial = choice.epochs, choice.gamma, choice.trial
        mode, full_gate, asked = config.orbit.gate, None, None
        if answers is not None:
            gaps = gate.counted_delta(answers.taxonomy, seed.ids)
            full_gate = Gate(gate.thresholds(gaps, choice.gamma_full), mode)
            asked = Queries(answers.queries, answers.gold, full_gate)
        final = training.run("final", seed, asked, epochs=choice.epochs)
        self.history = curves((trial or final).history)
        self.collapsed = final.collapsed or (trial is not None and trial.collapsed)
        seed_gate = Gate(gate.thresholds(gate.delta(seed), self.gamma), mode)
        self._scorer = training.scorer(final.kept or final, seed, seed_gate)
        return None if full_gate is None else training.scorer(final, seed, full_gate)


class PolarisPaperFrozen(PolarisPaper):
    """`PolarisPaper` with a frozen encoder: only the head learns."""

    changes: ClassVar[tuple[str, ...]] = ()


class Training:
    """Trains on the seed or a part of it, with the encoder learning along or frozen as the settings say."""

    def __init__(
        self, encoder: TextEncoder, config: PolarisConfig, random_state: int, checkpoints: Checkpoints
    ) -> None:
        self.encoder, self.config = encoder, config
        self.random_state, self.checkpoints = random_state, checkpoints
        self.learner = bare(trainable(encoder)) if config.training.fine_tune else None

    def run(self, name: str, part: Taxonomy, queries: Queries | None, epochs: int | None = None) -> TrainedHead:
        """Train on ``part``: the best epoch for ``queries``, or ``epochs`` without any; with both, these are kept."""
        checkpoint = self.checkpoints.at(f"{name}-{self.random_state}")
        texts = [concept.text for concept in part.concepts()]
        most, keep = (epochs, 0) if queries is None else (None, epochs or 0)
        if self.learner is not None:
            asked = None if queries is None else tuple(query.text for query in queries.concepts)
            return fine_tune(
                self.learner,
                texts,
                part,
                self.config,
                random_state=self.random_state,
                validation=None if queries is None else Validation(queries.gold, texts=asked, gate=queries.gate),
                epochs=most,
                keep=keep,
                checkpoint=checkpoint,
            )
        vectors = None if queries is None else self._vectors([query.text for query in queries.concepts])
        return train_head(
            self._vectors(texts),
            part,
            self.config,
            random_state=self.random_state,
            validation=None if queries is None else Validation(queries.gold, vectors, gate=queries.gate),
            epochs=most,
            keep=keep,
            checkpoint=checkpoint,
        )

    def _vectors(self, texts: Sequence[str]) -> torch.Tensor:
        return torch.from_numpy(self.encoder.encode(texts))

    def scorer(self, trained: TrainedHead, part: Taxonomy, behind: Gate) -> SphereScorer:
        """Scores of the concepts of ``part`` by a trained head."""
        encoder = trained.encoder or self.encoder
        vectors = torch.from_numpy(encoder.encode([concept.text for concept in part.concepts()]))
        return SphereScorer(encoder, (trained.network,), vectors, behind)


class Choice(NamedTuple):
    """What held-out leaves decided: number of epochs, γ of the gate and of the one counted on the full graph."""

    epochs: int
    gamma: float
    gamma_full: float
    trial: TrainedHead | None = None


def choose(training: Training, seed: Taxonomy) -> Choice:
    """Train without some leaves of the seed and ask for them; all epochs and the mildest γ where leaves are few."""
    config = training.config
    split = validation_split(seed, config.training.validation, training.random_state)
    if split is None:
        gamma = gate.GAMMAS[-1] if config.orbit.gamma is None else config.orbit.gamma
        return Choice(config.training.epochs, gamma, gamma)
    trial = training.run("validated", split.seed, Queries(split.queries, split.gold))
    if config.orbit.gamma is not None:
        return Choice(trial.best, config.orbit.gamma, config.orbit.gamma, trial)
    ungated = Gate(np.zeros(len(split.seed)), "off")
    cosine = training.scorer(trial, split.seed, ungated).cosines(split.queries)
    gamma, gamma_full = (
        gate.choose_gamma([(cosine, split.gold)], gaps, config.orbit.gate)
        for gaps in (gate.delta(split.seed), gate.counted_delta(seed, split.seed.ids))
    )
    return Choice(trial.best, gamma, gamma_full, trial)
