"""What a second reader will take, to be said before it begins."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from taxosphere.readers.endpoint import EndpointReader, Estimate, Question
from taxosphere.readers.reader import CROSS_ENCODER, candidates_at
from taxosphere.readers.registry import load_reader
from taxosphere.taxonomy import Taxonomy

_SAMPLE = 16  # questions whose length is measured


def reading_cost(source: str, taxonomy: Taxonomy, n_questions: int, depth: int) -> Estimate | None:
    """Estimate of what asking a reader that was trained elsewhere takes.

    Parameters
    ----------
    source : str
        The reader, as for `registry.reader_for`.
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
        too where no answer of it is in the cache. None for a cross-encoder, whose training is what takes time.
    """
    if source == CROSS_ENCODER or n_questions == 0 or len(taxonomy) < 2:
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
