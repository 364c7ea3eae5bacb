"""Where does a concept belong *between* two others? The proposals of `expand` against TMN's insertion pairs.

python benchmarks/bench_insertion.py FOLDER [random state, …]

A fifth of the inner concepts is hidden; their children move up to their parents. Two questions about each:
"children": the parent is given, which of its children does the concept take? (mean average precision, and how often
the first is right); "edges": nothing is given, which of all edges does it belong on? (hit@1, hit@10, MRR).
"cosine" ranks edges by the likeness of the concept to both ends, untrained.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder, encode_text_vectors
from taxosphere.evaluation import protocol
from taxosphere.methods.baselines.tmn import Tmn
from taxosphere.placing.insertion import Insertion
from taxosphere.taxonomy.split import Split, hide

Floats = NDArray[np.floating]
# query number, (parent, child) positions → scores
EdgeScorer = Callable[[int, NDArray[np.int64]], Floats]


@dataclass(frozen=True)
class Questions:
    """A split of inner concepts, and per query the edges of the seed it was taken out of."""

    part: Split
    edges: NDArray[np.int64]
    right: list[NDArray[np.bool_]]


def ask(taxonomy: Taxonomy, random_state: int) -> Questions:
    inner = np.flatnonzero((taxonomy.child_csr.counts > 0) & (taxonomy.parent_csr.counts > 0))
    chosen = np.random.default_rng(random_state).choice(inner, max(1, len(inner) // 5), replace=False)
    part = hide(taxonomy, np.sort(chosen), name="inner")
    edges, right, kept = part.seed.edge_array.astype(np.int64), [], []
    for number, query in enumerate(part.queries):
        below = [part.seed.position(id) for id in taxonomy.children(query.id) if id in part.seed]
        on = np.isin(edges[:, 0], part.gold[number]) & np.isin(edges[:, 1], below)
        if on.any():
            kept.append(number)
            right.append(on)
    queries = tuple(part.queries[i] for i in kept)
    return Questions(Split(part.name, part.seed, queries, tuple(part.gold[i] for i in kept)), edges, right)


def average_precision(scores: Floats, right: NDArray[np.bool_]) -> float:
    hits = right[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1)).mean())


def rank(scores: Floats, right: NDArray[np.bool_]) -> float:
    """Of the best right one; equal scores share their mean rank."""
    best = scores[right].max()
    return float((scores > best).sum() + ((scores == best).sum() + 1) / 2)


def measure(asked: Questions, score: EdgeScorer) -> list[float]:
    precision, first, ranks = [], [], []
    for number, right in enumerate(asked.right):
        everywhere = score(number, asked.edges)
        ranks.append(rank(everywhere, right))
        near = np.isin(asked.edges[:, 0], asked.edges[right, 0])
        if not right[near].all():  # a parent all of whose children move asks nothing
            precision.append(average_precision(everywhere[near], right[near]))
            first.append(rank(everywhere[near], right[near]) <= 1)
    r = np.array(ranks)
    return [np.mean(precision), np.mean(first), np.mean(r <= 1), np.mean(r <= 10), np.mean(1 / r)]


def ours(asked: Questions, encoder: TextEncoder, random_state: int) -> EdgeScorer:
    """P(parent) · P(child belongs below | parent), as `expand` computes them."""
    seed, queries = asked.part.seed, list(asked.part.queries)
    model = Polaris().fit(seed, encoder=encoder, random_state=random_state)
    ranked = list(model.suggest_many(queries, k=50))
    vectors = encode_text_vectors(encoder, list(seed.concepts()))
    own = encode_text_vectors(encoder, queries)
    insertion = Insertion.fit(seed, vectors, random_state)
    if insertion is None:
        raise SystemExit("too few inner concepts to learn insertions from")

    def score(number: int, edges: NDArray[np.int64]) -> Floats:
        probability = np.full(len(seed), 1e-9)
        for found in ranked[number]:
            probability[found.position] = max(found.probability, 1e-9)
        below = np.zeros(len(edges))
        for parent in np.unique(edges[:, 0]):
            rows = np.flatnonzero(edges[:, 0] == parent)
            children, p = insertion.probabilities(
                seed, vectors, int(parent), queries[number], own.take(np.array([number]))
            )
            order = np.argsort(children)
            below[rows] = p[order[np.searchsorted(children[order], edges[rows, 1])]]
        return probability[edges[:, 0]] * below

    return score


def tmn(asked: Questions, encoder: TextEncoder, random_state: int) -> EdgeScorer:
    model = Tmn().fit(asked.part.seed, encoder=encoder, random_state=random_state)
    scores = model.score_pairs(asked.part.queries, asked.edges)
    return lambda number, _: scores[number]


def cosine(asked: Questions, encoder: TextEncoder, random_state: int) -> EdgeScorer:
    del random_state
    vectors = encoder.encode([concept.text for concept in asked.part.seed.concepts()])
    own = encoder.encode([query.text for query in asked.part.queries])
    return lambda number, edges: vectors[edges].sum(1) @ own[number]


def main(folder: str, states: list[int]) -> None:
    taxonomy, _ = protocol.prepare(Taxonomy.read(folder), repair=True)
    encoder = text_encoders.load("minilm")
    found: dict[str, list[list[float]]] = {}
    count = 0
    for state in states:
        asked = ask(taxonomy, state)
        count += len(asked.right)
        for name, make in (("cosine", cosine), ("tmn", tmn), ("polaris", ours)):
            found.setdefault(name, []).append(measure(asked, make(asked, encoder, state)))
    print(f"{folder}: {count} hidden inner concepts in {len(states)} runs")
    print("| method | children MAP | children first | edges hit@1 | edges hit@10 | edges MRR |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, rows in found.items():
        print(f"| {name} | " + " | ".join(f"{100 * value:.1f}" for value in np.mean(rows, 0)) + " |")


if __name__ == "__main__":
    main(sys.argv[1], [int(state) for state in sys.argv[2:]] or [0])
