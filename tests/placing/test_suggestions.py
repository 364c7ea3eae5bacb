"""What is shown of a ranking, against loops over its lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.placing.inference import RankedBatch
from taxosphere.placing.suggestions import make_suggestions
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.parent_set import ParentSet
from taxosphere.ranking.queries import SpherePoints
from taxosphere.ranking.ranker import Ranking
from taxosphere.typing import Booleans


def _ranked(size: int, shown: int) -> Ranking:
    """Two lists in random order; the first three places are equally probable."""
    rng = np.random.default_rng(0)
    lists = np.stack([rng.permutation(size) for _ in range(2)])
    probability = np.full((2, size), 0.01, np.float32)
    probability[:, :3] = 0.2
    reasons = rng.normal(size=(2, shown, 8)).astype(np.float32)
    reasons[0, 0, 1:] = 0  # a single reason
    scores, cosine = (rng.normal(size=(2, size)).astype(np.float32) for _ in range(2))
    names = tuple(f"feature {number}" for number in range(8))
    return Ranking(
        positions=lists,
        probabilities=probability,
        none_probability=np.zeros(2, np.float32),
        scores=scores,
        cosine=cosine,
        gate=cosine > 0,
        contributions=reasons,
        feature_names=names,
    )


class FirstThree(ParentSet):
    """Takes the first three places together."""

    def choose(self, probabilities: NDArray[np.floating]) -> Booleans:
        return np.broadcast_to(np.arange(probabilities.shape[1]) < 3, probabilities.shape)


def test_siblings_reasons_and_parents_against_loops(animals: Taxonomy) -> None:
    queries = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "farm dog")]
    views = encode_text_vectors(GramEncoder(), list(animals.concepts()))
    index = CandidateIndex(animals, views, SpherePoints(views.full, views.full, np.ones(len(animals), np.float32)))
    asked = encode_text_vectors(GramEncoder(), queries).full
    ranked = _ranked(len(animals), min(10, len(animals)))
    batch = RankedBatch(
        rows=np.arange(2),
        index=index,
        vectors=asked,
        ranking=ranked,
        duplicates=[(), ()],
        parent_set=FirstThree(None),
    )
    one = make_suggestions(batch, queries, k=1)
    for i, found in enumerate(make_suggestions(batch, queries, k=5)):
        assert one[i].ranked == found.ranked[:1]
        assert one[i].parents == found.parents  # however many are shown
        assert [s.position for s in found] == ranked.positions[i, :5].tolist()
        for j, shown in enumerate(found):
            children = sorted(
                animals.children(shown.id), key=lambda c: -float(views.full[animals.position(c)] @ asked[i])
            )
            assert shown.siblings == tuple(animals.names[animals.position(c)] for c in children[:3])
            assert shown.path == tuple(animals.names[animals.position(c)] for c in animals.path(shown.id))
            assert shown.score == ranked.scores[i, j]
            weights = dict(zip(ranked.feature_names, ranked.contributions[i, j].tolist(), strict=True))
            strongest = sorted(weights, key=lambda name: -abs(weights[name]))[:5]
            assert shown.reasons == {name: round(weights[name], 4) for name in strongest if weights[name]}
        kept: list[int] = []
        for position in ranked.positions[i, :3].tolist():
            above = animals.ancestor_csr.row
            if not any(position in above(k) or k in above(position) for k in kept):
                kept.append(position)
        assert [parent.position for parent in found.parents] == kept
