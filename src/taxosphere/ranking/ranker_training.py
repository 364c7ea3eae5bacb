"""Training the ranker on concepts of the seed that are hidden in turn, or on any examples of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.embedding import RefitWithout
from taxosphere.ranking.crossfit import Examples, make_examples
from taxosphere.ranking.features.candidates import orphan_scores
from taxosphere.ranking.features.catalogue import READER_SCORE, encoder_of
from taxosphere.ranking.features.novelty import NoveltyScale, nearness
from taxosphere.ranking.features.shortlist import add_relative_columns
from taxosphere.ranking.foreign import outside
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.net import NetEnsemble
from taxosphere.ranking.out_of_fold import OutOfFold, calibrate, train_on, with_parents_deleted
from taxosphere.ranking.parent_set import ParentSet
from taxosphere.ranking.prior import Prior
from taxosphere.ranking.ranker import Ranker
from taxosphere.ranking.reading import MakeReader
from taxosphere.ranking.retrieval import COSINE, DEFAULT_FIRST_STAGE, FirstStage
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Progress

FEWEST = 20  # examples below which the ranker is not trained on the seed
_UNTRAINED_TEMPERATURE = 0.1


def fit_ranker(
    seed: Taxonomy,
    refit: RefitWithout,
    config: PolarisConfig,
    prior: Prior | None,
    *,
    vectors: TextVectors,
    foreign: Sequence[Concept] = (),
    make_reader: MakeReader | None = None,
    tokens: ConceptTokens | None = None,
    gamma: float,
    random_state: int,
    progress: Progress | None = None,
) -> Ranker:
    """Train on concepts of the seed that are hidden in turn, and on foreign ones.

    Parameters
    ----------
    seed, refit, config, make_reader, tokens, random_state, progress
        As in `make_examples`; one more reader is made for the whole seed.
    prior
        What to start from, or None.
    vectors
        Text vectors of the seed's concepts, followed by those of foreign ones, as ``refit`` returns them.
    foreign
        Concepts of other fields; none where they cannot be encoded.
    gamma
        γ of the gate for the head that the ranker will be used with.
    """
    prior = prior if len(seed.edge_array) else None  # it relies on the embedding, which was trained on nothing here
    seed_vectors, others = np.split(vectors.full, [len(seed)])
    novelty = NoveltyScale.of(seed_vectors)
    ranker = fit_ranker_on_examples(  # nothing else keeps the examples: training frees what it no longer needs of them
        _announced(
            make_examples(
                seed,
                refit,
                config,
                foreign=foreign,
                outside=outside(foreign, novelty.novelty(nearness(others, seed_vectors)), seed),
                novelty=novelty,
                make_reader=make_reader,
                tokens=tokens,
                random_state=random_state,
                progress=progress,
            ),
            progress,
        ),
        config.ranking,
        prior,
        gamma=gamma,
        note="ranker trained on {:,} lists with a true parent" + (", starting from the prior" if prior else ""),
        random_state=random_state,
        fallback=COSINE if "encoder" in config.ranking.families else DEFAULT_FIRST_STAGE,
        mean_orphan_score=float(orphan_scores(seed).mean()),
        novelty=novelty,
    )
    if make_reader is None or READER_SCORE not in ranker.columns:  # with too few examples nothing is trained
        return ranker
    return replace(ranker, reader=make_reader(seed, random_state))


def _announced(examples: Examples | None, progress: Progress | None) -> Examples | None:
    """The examples themselves, after saying how many there are."""
    if progress is not None and examples is not None:
        progress(0, 1, f"training the ranker on {len(examples):,} lists")
    return examples


def fit_ranker_on_examples(
    examples: Examples | None,
    settings: RankingConfig,
    prior: Prior | None,
    *,
    gamma: float,
    note: str,
    random_state: int,
    fallback: FirstStage = DEFAULT_FIRST_STAGE,
    mean_orphan_score: float = 0.0,
    novelty: NoveltyScale | None = None,
) -> Ranker:
    """Train on examples; with fewer than `FEWEST` usable ones nothing is trained.

    Parameters
    ----------
    examples
        Of text or image queries; None for none at all. Usable are those with a true parent on their list.
    settings
        How nets are trained.
    prior
        What to start from, or None. With too few examples it is used unchanged.
    gamma
        γ of the gate.
    note
        A line for the user, with a place ``{}`` for the number of examples.
    random_state
        The same one gives the same ranker.
    fallback
        Ranks alone where there are too few examples and no prior.
    mean_orphan_score
        That of the seed; needed where the prior is used unchanged.
    novelty
        Of the seed; None where examples have no novelty.
    """
    usable = 0 if examples is None else int(examples.taught.sum())
    if examples is None or usable < FEWEST:
        return _untrained(settings, prior, gamma, usable, fallback, mean_orphan_score, novelty)
    examples = with_parents_deleted(examples)
    columns, table = _columns_to_read(*add_relative_columns(examples.feature_names, examples.features))
    examples = replace(examples, features=np.zeros((len(examples), 0, 0), np.float32))  # they are in the table
    nets = train_on(examples, table, examples.taught, columns, settings, prior, settings.nets, random_state)
    calibrated = calibrate(examples, table, columns, settings, prior, random_state)
    if calibrated.shares is not None:
        nets = replace(nets, shares=np.repeat(calibrated.shares / settings.nets, settings.nets))
    return Ranker(
        families=settings.families,
        columns=tuple(columns),
        nets=nets,
        temperature=calibrated.temperature,
        ceiling=calibrated.ceiling,
        none_model=calibrated.none,
        none_share=settings.none_share,
        gamma=gamma,
        out_of_fold=calibrated.out_of_fold,
        note=note.format(usable),
        first_stage=examples.first_stage,
        novelty=novelty,
        parent_set=ParentSet.fit(calibrated.out_of_fold),
    )


def _columns_to_read(columns: Sequence[str], table: Floats) -> tuple[Sequence[str], Floats]:
    """The table (t, k, columns) without what was computed by all encoders together where each has its own column."""
    replaced = {name for name, number in map(encoder_of, columns) if number}
    if not replaced:
        return columns, table
    kept = [place for place, column in enumerate(columns) if column not in replaced]
    return [columns[place] for place in kept], table[..., kept]


def _untrained(
    settings: RankingConfig,
    prior: Prior | None,
    gamma: float,
    usable: int,
    fallback: FirstStage,
    mean_orphan_score: float,
    novelty: NoveltyScale | None,
) -> Ranker:
    note = f"only {usable} concepts to learn from (at least {FEWEST} are needed): ranking by "
    if prior is not None:
        return Ranker(
            families=settings.families,
            columns=prior.columns,
            nets=prior.nets,
            temperature=prior.temperature,
            none_model=prior.none_model,
            none_share=settings.none_share,
            gamma=gamma,
            out_of_fold=OutOfFold.empty(),
            note=note + "the prior trained on other taxonomies",
            mean_orphan_score=mean_orphan_score,
            novelty=novelty if prior.uses_novelty else None,
        )
    return Ranker(
        families=settings.families,
        columns=(),
        nets=NetEnsemble(np.zeros(0, np.float32), np.ones(0, np.float32), ()),
        temperature=_UNTRAINED_TEMPERATURE,
        none_model=None,
        none_share=settings.none_share,
        gamma=gamma,
        out_of_fold=OutOfFold.empty(),
        note=note + f"the {'plain cosine' if fallback is COSINE else 'first stage'}, uncalibrated",
        first_stage=fallback,
    )
