"""A second reader's score as a feature: which candidates are read, by which reader, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from support.gram_encoder import GramEncoder
from support.meadow import Fitted, meadow
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.errors import TaxosphereError
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import frozen
from taxosphere.model.training import train_head
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import GAP, RANK, READER_SCORE
from taxosphere.ranking.features.shortlist import make_shortlist
from taxosphere.ranking.queries import embed, encode_queries
from taxosphere.ranking.ranker import Ranker
from taxosphere.ranking.ranker_training import fit_ranker
from taxosphere.ranking.reading import MakeReader, ShortlistReader
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE
from taxosphere.readers.reader import Candidate

CONFIG = PolarisConfig().with_overrides(
    ("training.epochs=2", "ranking.folds=3", "ranking.nets=1", "ranking.epochs=30", "ranking.prior=false")
)


@dataclass
class LastWord:
    """Finds a candidate right whose name is the last word of the query's, and remembers what it was shown."""

    seed: Taxonomy | None = None
    name: str = "last word"
    shown: list[tuple[Concept, tuple[Candidate, ...]]] = field(default_factory=list)

    def score(self, query: Concept, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
        self.shown.append((query, tuple(candidates)))
        return np.array([float(query.name.split()[-1] == each.name) for each in candidates], np.float32)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {}


def _ranker(
    seed: Taxonomy, make_reader: MakeReader | None, config: PolarisConfig = CONFIG
) -> tuple[Ranker, CandidateIndex, Any]:
    vectors = encode_text_vectors(GramEncoder(), list(seed.concepts()))
    network = train_head(torch.from_numpy(vectors.full), seed, config, random_state=0).network
    ranker = fit_ranker(
        seed,
        frozen(vectors, config, 2),
        config,
        None,
        vectors=vectors,
        make_reader=make_reader,
        gamma=1.0,
        random_state=0,
    )
    return ranker, CandidateIndex(seed, vectors, embed(network, vectors.full)), network


def test_the_first_candidates_are_read_and_the_others_get_the_lowest_score(
    fitted: Fitted, strangers: list[Concept]
) -> None:
    queries = fitted.queries(strangers)
    plain = make_shortlist(fitted.index, queries, fitted.config.ranking.families, DEFAULT_FIRST_STAGE)
    reader = LastWord()
    listed = ShortlistReader(reader, 5).add_scores(plain, queries.concepts, fitted.seed)
    assert listed.feature_names == (*plain.feature_names, READER_SCORE)
    assert np.array_equal(listed.features[..., :-1], plain.features)
    assert [query for query, _ in reader.shown] == strangers
    for row, (_, candidates) in enumerate(reader.shown):
        assert [each.id for each in candidates] == [fitted.seed.ids[p] for p in plain.positions[row, :5]]
        column = listed.features[row, :, -1]
        assert column[:5].sum() == pytest.approx(0, abs=1e-6)
        assert (column[5:] == column[:5].min()).all()


def test_a_concept_that_is_there_is_named_among_nobodys_children(fitted: Fitted) -> None:
    bird = fitted.seed.concept(fitted.seed.position("red bird"))
    plain = make_shortlist(fitted.index, fitted.queries([bird]), fitted.config.ranking.families, DEFAULT_FIRST_STAGE)
    reader = LastWord()
    ShortlistReader(reader, 100).add_scores(plain, [bird], fitted.seed)
    children = {each.id: each.children for each in reader.shown[0][1]}
    assert "blue bird" in children["bird"]
    assert "red bird" not in children["bird"]


def test_a_reader_for_every_fold_and_none_has_seen_what_it_is_asked() -> None:
    made: list[LastWord] = []

    def make_reader(seed: Taxonomy, random_state: int) -> ShortlistReader:
        made.append(LastWord(seed))
        return ShortlistReader(made[-1], 15)

    seed = meadow()
    ranker, _, _ = _ranker(seed, make_reader)
    *folds, final = made
    assert len(folds) == CONFIG.ranking.folds
    for reader in folds:
        assert reader.seed is not None
        assert reader.shown
        assert not {query.id for query, _ in reader.shown} & set(reader.seed.ids)
    assert final.seed is seed
    assert ranker.reader is not None
    assert ranker.reader.reader is final
    assert {READER_SCORE, READER_SCORE + GAP, READER_SCORE + RANK} <= set(ranker.columns)


def test_one_reader_for_all_folds_where_the_seed_has_leaves_to_spare() -> None:
    made: list[LastWord] = []

    def make_reader(seed: Taxonomy, random_state: int) -> ShortlistReader:
        made.append(LastWord(seed))
        return ShortlistReader(made[-1], 15)

    seed = meadow()
    config = CONFIG.with_overrides([f"ranking.examples={np.count_nonzero(seed.hideable) // 3}"])
    _ranker(seed, make_reader, config)
    for_all, final = made
    assert for_all.seed is not None
    asked = {query.id for query, _ in for_all.shown}
    assert len(asked & set(seed.ids)) >= config.ranking.examples  # leaves, and what is hidden with them
    assert not asked & set(for_all.seed.ids)
    assert final.seed is seed


def test_a_reader_that_knows_is_believed_and_one_that_guesses_is_not() -> None:
    """Measured out of fold; the reader that guesses says the same of every list, whatever is right."""

    class Guess(LastWord):
        def score(self, query: Concept, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
            return np.random.default_rng(len(query.name)).normal(size=len(candidates)).astype(np.float32)

    def right(reader: LastWord | None) -> float:
        made = None if reader is None else (lambda _seed, _state: ShortlistReader(reader, 80))
        ranker, _, _ = _ranker(_unlike_names(), made)
        return float(ranker.out_of_fold.labels[:, 0].mean())

    knows = {child: parent for parent, child in _unlike_names().edges()}

    class Knows(LastWord):
        def score(self, query: Concept, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
            return np.array([float(knows.get(query.id) == each.id) for each in candidates], np.float32)

    without = right(None)
    assert right(Knows()) > without + 0.2
    assert right(Guess()) > without - 0.15


def _unlike_names() -> Taxonomy:
    """A tree whose names and descriptions say nothing of its edges."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 7)) for _ in range(70)]
    return Taxonomy.from_edges(
        [("root", word) for word in words[:6]] + [(words[i % 6], word) for i, word in enumerate(words[6:])]
    )


def test_rankings_change_with_the_reader_and_need_it(strangers: list[Concept]) -> None:
    ranker, index, network = _ranker(meadow(), lambda seed, _state: ShortlistReader(LastWord(seed), 15))
    queries = encode_queries(network, strangers, encode_text_vectors(GramEncoder(), strangers))
    ranking = ranker.rank(index, queries)
    names = [index.taxonomy.names[position] for position in ranking.positions[:3, 0]]
    assert names == ["bird", "cake", "boat"]
    place = ranking.feature_names.index(READER_SCORE)
    assert (ranking.contributions[:3, 0, place] != 0).all()
    assert np.allclose(ranking.probabilities.sum(1) + ranking.none_probability, 1, atol=1e-5)
    with pytest.raises(TaxosphereError, match="needs the feature 'reader score'"):
        replace(ranker, reader=None).rank(index, queries)
