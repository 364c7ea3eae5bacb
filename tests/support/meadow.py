"""A seed that a ranker can be trained on in seconds, and how to train it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import TextVectors, encode_text_vectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import frozen
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import train_head
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.prior import load_prior
from taxosphere.ranking.queries import Queries, embed, encode_queries
from taxosphere.ranking.ranker import Ranker
from taxosphere.ranking.ranker_training import fit_ranker

KINDS = ("bird", "fish", "tree", "stone", "chair", "boat", "cake", "coat")
WORDS = ("red", "blue", "old", "small", "river", "winter", "royal", "common")


def meadow() -> Taxonomy:
    """thing → eight kinds → "WORD KIND", each described as "a WORD sort of KIND"."""
    pairs = [("thing", kind) for kind in KINDS]
    described = {}
    for kind in KINDS:
        for word in WORDS:
            pairs.append((kind, f"{word} {kind}"))
            described[f"{word} {kind}"] = f"a {kind} that is called {word}"
    return Taxonomy.from_edges(pairs, descriptions=described)


@dataclass(frozen=True)
class Fitted:
    seed: Taxonomy
    config: PolarisConfig
    network: SphereNetwork
    index: CandidateIndex
    ranker: Ranker

    def text_vectors(self, concepts: list[Concept]) -> TextVectors:
        return encode_text_vectors(GramEncoder(), concepts)

    def queries(self, concepts: list[Concept]) -> Queries:
        return encode_queries(self.network, concepts, self.text_vectors(concepts))


def fit(seed: Taxonomy, random_state: int = 0, *overrides: str) -> Fitted:
    wanted = ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
    config = PolarisConfig().with_overrides((*wanted, *overrides))
    views = encode_text_vectors(GramEncoder(), list(seed.concepts()))
    network = train_head(torch.from_numpy(views.full), seed, config, random_state=random_state).network
    index = CandidateIndex(seed, views, embed(network, views.full))
    ranker = fit_ranker(
        seed,
        frozen(views, config, 5),
        config,
        load_prior(config.ranking),
        vectors=views,
        gamma=1.0,
        random_state=random_state,
    )
    return Fitted(seed, config, network, index, ranker)
