"""What a second reader will take, to be said before it begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.readers.cross_encoder import CrossEncoder, CrossEncoderSettings
from taxosphere.readers.endpoint import EndpointReader, Estimate, Question
from taxosphere.readers.reader import candidates_at
from taxosphere.readers.registry import load_reader
from taxosphere.taxonomy import Taxonomy

_SAMPLE = 16  # questions whose length is measured
_TIMED = 4  # of them, that a cross-encoder is timed on


@dataclass(frozen=True)
class TrainingEstimate:
    """What training a cross-encoder and reading with it takes, at most.

    Attributes
    ----------
    trainings : int
    n_lists : int
        Lists that are read.
    seconds : float
        Of all of it.
    """

    trainings: int
    n_lists: int
    seconds: float

    def __str__(self) -> str:
        times = "once" if self.trainings == 1 else f"{self.trainings} times"
        return f"{times} and reads up to {self.n_lists:,} lists, about {self.seconds / 60:,.0f} min"


def training_cost(
    encoder: TransformerEncoder, taxonomy: Taxonomy, trainings: int, n_lists: int, depth: int
) -> TrainingEstimate:
    """Estimate of what a cross-encoder takes, timed on a few lists.

    Parameters
    ----------
    encoder : TransformerEncoder
        Where the cross-encoder begins.
    taxonomy : Taxonomy
        The one that is fitted.
    trainings : int
        How many are trained.
    n_lists : int
        How many lists they read at most.
    depth : int
        Candidates of each.

    Returns
    -------
    TrainingEstimate
    """
    settings = CrossEncoderSettings()
    reader = CrossEncoder.untrained(encoder, settings, random_state=0)
    learned = settings.epochs * min(int(np.count_nonzero(taxonomy.hideable)), settings.examples)
    learning = _mean_seconds(
        lambda *question: torch.autograd.backward(reader.loss(*question)),
        sample_questions(taxonomy, settings.negatives + 1),
    )
    reading = _mean_seconds(reader.score, sample_questions(taxonomy, depth))
    return TrainingEstimate(trainings, n_lists, trainings * learned * learning + n_lists * reading)


def _mean_seconds(ask: Callable[..., object], questions: Sequence[Question]) -> float:
    ask(*questions[0])  # the first call lays out the weights
    began = time.perf_counter()
    for question in questions[-_TIMED:]:
        ask(*question)
    return (time.perf_counter() - began) / len(questions[-_TIMED:])


def reading_cost(source: str, taxonomy: Taxonomy, n_questions: int, depth: int) -> Estimate | None:
    """Estimate of what asking a reader that was trained elsewhere takes.

    Parameters
    ----------
    source : str
        The reader, as for `registry.load_reader`.
    taxonomy : Taxonomy
        The one that is fitted.
    n_questions : int
        How many lists will be read at most.
    depth : int
        Candidates of each.

    Returns
    -------
    Estimate or None
        At most; answers in the cache of an endpoint cost nothing. A language model is timed on one list, an endpoint
        too where no answer of it is in the cache. None where there is nothing to ask.
    """
    if n_questions == 0 or len(taxonomy) < 2:
        return None
    reader, questions = load_reader(source), sample_questions(taxonomy, depth)
    if isinstance(reader, EndpointReader):
        sample = reader.estimate(questions)
        share = n_questions / max(1, sample.requests)
        return replace(
            sample,
            requests=n_questions,
            cached=0,
            tokens=round(sample.tokens * share),
            cost=sample.cost * share,
            seconds=sample.seconds * share,
        )
    reader.score(*questions[0])  # the first call lays out the weights
    began = time.perf_counter()
    reader.score(*questions[-1])
    return Estimate(n_questions, 0, 0, 0.0, n_questions * (time.perf_counter() - began))


def sample_questions(taxonomy: Taxonomy, depth: int) -> list[Question]:
    """Questions of the length of real ones: concepts of the taxonomy with others as their candidates."""
    rng = np.random.default_rng(0)
    asked = rng.permutation(len(taxonomy))[:_SAMPLE]
    return [
        (
            taxonomy.concept(int(position)),
            candidates_at(taxonomy, rng.permutation(np.delete(np.arange(len(taxonomy)), position))[:depth].tolist()),
        )
        for position in asked
    ]
