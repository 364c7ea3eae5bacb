from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.readers.cross_encoder import CrossEncoder, CrossEncoderSettings, TrainingLists
from taxosphere.readers.reader import candidates_at
from taxosphere.taxonomy import split

QUICK = CrossEncoderSettings(epochs=6, negatives=5, learning_rate=3e-3, head_rate=1e-2, max_tokens=48)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TransformerEncoder:
    return TransformerEncoder(locate(str(folder)))


@pytest.fixture(scope="module")
def part() -> split.Split:
    return split.leaves(meadow(), seed=0)


@pytest.fixture(scope="module")
def reader(part: split.Split, encoder: TransformerEncoder) -> CrossEncoder:
    return CrossEncoder.fit(part.seed, encoder, random_state=0, settings=QUICK)


def test_it_ranks_parents_of_hidden_leaves_above_chance(reader: CrossEncoder, part: split.Split) -> None:
    """Among all inner concepts, the mean reciprocal rank of a blind guess is the mean of 1/1 … 1/n."""
    inner = np.flatnonzero(part.seed.child_csr.counts > 0)
    candidates = candidates_at(part.seed, inner.tolist())
    reciprocal = []
    for query, gold in zip(part.queries, part.gold, strict=True):
        scores = reader.score(query, candidates)
        assert scores.shape == (len(inner),)
        assert scores.dtype == np.float32
        best = max(scores[np.isin(inner, gold)])
        reciprocal.append(1 / (1 + (scores > best).sum()))
    assert np.mean(reciprocal) > 1.5 * np.mean(1 / np.arange(1, len(inner) + 1))


def test_the_same_state_gives_the_same_scores_and_the_encoder_stays(part, encoder, reader) -> None:
    before = encoder.encode(["green fish"])
    again = CrossEncoder.fit(part.seed, encoder, random_state=0, settings=QUICK)
    candidates = candidates_at(part.seed, list(range(12)))
    assert again.score(part.queries[0], candidates).tobytes() == reader.score(part.queries[0], candidates).tobytes()
    assert np.array_equal(encoder.encode(["green fish"]), before)


def test_the_company_of_a_candidate_does_not_change_its_score(reader, part) -> None:
    candidates = candidates_at(part.seed, list(range(20)))
    together = reader.score(part.queries[0], candidates)
    alone = np.concatenate([reader.score(part.queries[0], [candidate]) for candidate in candidates])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert reader.score(part.queries[0], []).shape == (0,)


def test_lists_hold_one_right_answer_and_never_name_the_leaf(encoder: TransformerEncoder) -> None:
    seed = meadow()
    lists, rng = TrainingLists(seed, encoder, negatives=7), np.random.default_rng(0)
    for leaf in np.flatnonzero(seed.hideable)[:12].tolist():
        query, candidates = lists.draw(leaf, rng)
        above = {seed.ids[position] for position in seed.ancestor_csr.row(leaf).tolist()}
        assert query.id == seed.ids[leaf]
        assert candidates[0].id in {seed.ids[p] for p in seed.parent_csr.row(leaf).tolist()}
        wrong = [candidate.id for candidate in candidates[1:]]
        assert len(set(wrong)) == len(wrong) >= 5
        assert not above.intersection(wrong)
        assert query.id not in wrong
        assert all(query.name not in candidate.children for candidate in candidates)
