"""What a fit is going to cost, said before it begins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from taxosphere.cli import output
from taxosphere.taxonomy import Taxonomy

if TYPE_CHECKING:
    from taxosphere.model.config import PolarisConfig

_LONG = 180.0  # seconds of fine-tuning worth a word beforehand


def say_how_long(taxonomy: Taxonomy, settings: PolarisConfig) -> None:
    """Warn of a fine-tuning that takes minutes."""
    seconds = tuning_seconds(taxonomy, settings)
    if seconds > _LONG:
        output.say(
            f"fine-tuning will take about {seconds / 60:.0f} minutes on this machine; a fit that is stopped goes on "
            "with --resume, and without --fine-tune it takes a small part of that"
        )


def say_reading_cost(taxonomy: Taxonomy, settings: PolarisConfig, *, runs: int = 1, n_queries: int = 0) -> None:
    """Say what a second reader takes, where there is one, before it begins: lists of ``runs`` fits, and queries."""
    if not settings.ranking.reader:
        return
    from taxosphere.fitting import load_encoder
    from taxosphere.model.embedding import limit_examples, split_for_ranker
    from taxosphere.ranking.crossfit import n_lists
    from taxosphere.ranking.foreign import foreign_concepts
    from taxosphere.readers.cost import reading_cost, training_cost
    from taxosphere.readers.reader import CROSS_ENCODER
    from taxosphere.readers.registry import transformer_of

    settings = limit_examples(taxonomy, settings)
    reader, depth, encoder = settings.ranking.reader, settings.ranking.reader_depth, load_encoder(settings)
    count = runs * (n_lists(taxonomy, settings.ranking, len(foreign_concepts(encoder)), settings.seed) + n_queries)
    if reader != CROSS_ENCODER:
        cost = reading_cost(reader, taxonomy, count, depth)
        if cost is not None:
            output.say(f"the second reader reads up to {cost}")
    elif count and len(taxonomy) > 1:
        one_for_all = split_for_ranker(taxonomy, settings.ranking, settings.seed) is not None
        trainings = runs * (2 if one_for_all else 1 + settings.ranking.folds)
        training = training_cost(transformer_of(encoder), taxonomy, trainings, count, depth)
        output.say(f"the cross-encoder is trained {training}")


def propose_fine_tuning(taxonomy: Taxonomy, settings: PolarisConfig) -> None:
    """Say that fine-tuning may pay, and what it takes, where the seed has leaves to spare for it."""
    from taxosphere.encoders.text.registry import has_weights
    from taxosphere.fitting import load_encoder
    from taxosphere.model.embedding import limit_examples, split_for_ranker

    training = settings.training.model_copy(update={"fine_tune": True})
    settings = limit_examples(taxonomy, settings.model_copy(update={"training": training}))
    if split_for_ranker(taxonomy, settings.ranking, settings.seed) is None:
        return
    if has_weights(load_encoder(settings)):
        minutes = math.ceil(tuning_seconds(taxonomy, settings) / 60)
        output.say(
            "a taxonomy of this size may rank better with --fine-tune, which lets the encoder learn along: about "
            f"{minutes} minute{'s' if minutes != 1 else ''} more on this machine"
        )


def tuning_seconds(taxonomy: Taxonomy, settings: PolarisConfig) -> float:
    """Estimated seconds of all fine-tunings of a fit."""
    from taxosphere.encoders.text.registry import bare, trainable
    from taxosphere.fitting import load_encoder
    from taxosphere.model.duration import fine_tuning_seconds
    from taxosphere.model.embedding import limit_examples, split_for_ranker

    settings = limit_examples(taxonomy, settings)
    rest = split_for_ranker(taxonomy, settings.ranking, settings.seed)
    seed, trainings = (taxonomy, 2 + settings.ranking.folds) if rest is None else (rest.seed, 1)
    return trainings * fine_tuning_seconds(bare(trainable(load_encoder(settings))), seed, settings)
