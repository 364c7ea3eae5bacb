"""From a network to a method: encode, choose the number of steps on held-out leaves, train, score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor

from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.methods.baselines.network import Network
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.methods.baselines.training import budget, mean_reciprocal_rank, train, validation_split
from taxosphere.methods.registry import Answers
from taxosphere.model.threads import one_thread
from taxosphere.taxonomy import Concept, Taxonomy


class Baseline:
    """A compared system as a method; subclasses name their settings and their network.

    Parameters
    ----------
    settings : Settings or mapping, optional
        Settings that differ from the defaults.

    Raises
    ------
    InputError
        There is no such setting, or its value is not allowed.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[Settings]]
    network_type: ClassVar[type[Network]]

    def __init__(self, settings: Settings | Mapping[str, Any] | None = None) -> None:
        self.settings = self._parse(settings or {})
        self.encoder: TextEncoder | None = None
        self.network: Network | None = None
        self.steps = 0
        self._candidates: Tensor | None = None

    @classmethod
    def _parse(cls, settings: Settings | Mapping[str, Any]) -> Settings:
        if isinstance(settings, cls.settings_type):
            return settings
        try:
            return cls.settings_type.model_validate(dict(settings))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            names = ", ".join(cls.settings_type.model_fields)
            raise InputError(f"{cls.name}: setting '{key}': {first['msg']}; settings are: {names}") from None

    def _build(self, seed: Seed) -> Network:
        return self.network_type(self.settings, seed)

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        """Choose the number of steps on held-out leaves of the seed, then train on all of it for that long."""
        vectors = torch.from_numpy(encoder.encode([concept.text for concept in seed.concepts()]))
        with torch.random.fork_rng(devices=[]):
            self.steps = self._best_steps(seed, vectors, random_state)
            torch.manual_seed(random_state)
            network = self._build(Seed(seed, vectors))
            with one_thread():
                train(network, self.settings, np.random.default_rng(random_state), self.steps)
        self._keep(network, encoder)
        return self

    def fit_both(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int, answers: Answers) -> Baseline:
        """`fit`, and the same system trained for the number of steps that answers the test queries best."""
        self.fit(seed, encoder=encoder, random_state=random_state)
        vectors = torch.from_numpy(encoder.encode([concept.text for concept in seed.concepts()]))
        asked = torch.from_numpy(encoder.encode([query.text for query in answers.queries]))
        peeking = type(self)(self.settings)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_state)
            network = peeking._build(Seed(seed, vectors))

            def evaluate() -> float:
                scores = network.rank(answers.queries, asked, network.candidates())
                return mean_reciprocal_rank(scores, answers.gold)

            with one_thread():
                most = budget(seed, self.settings)
                peeking.steps = train(network, self.settings, np.random.default_rng(random_state), most, evaluate)
                torch.manual_seed(random_state)
                network = peeking._build(Seed(seed, vectors))
                train(network, self.settings, np.random.default_rng(random_state), peeking.steps)
        peeking._keep(network, encoder)
        return peeking

    def _best_steps(self, taxonomy: Taxonomy, vectors: Tensor, random_state: int) -> int:
        split = validation_split(taxonomy, self.settings, random_state)
        if split is None:
            return self.settings.steps
        torch.manual_seed(random_state)
        network = self._build(Seed(split.seed, vectors[[taxonomy.position(id) for id in split.seed.ids]]))
        query_vectors = vectors[[taxonomy.position(query.id) for query in split.queries]]

        def evaluate() -> float:
            return mean_reciprocal_rank(network.rank(split.queries, query_vectors, network.candidates()), split.gold)

        most = budget(split.seed, self.settings)
        with one_thread():
            return train(network, self.settings, np.random.default_rng(random_state), most, evaluate)

    def _keep(self, network: Network, encoder: TextEncoder) -> None:
        network.eval()
        self.network, self.encoder = network, encoder
        with torch.no_grad():
            self._candidates = network.candidates()

    def _ready(self, queries: Sequence[Concept]) -> tuple[Network, Tensor]:
        if self.network is None or self.encoder is None:
            raise TaxosphereError(f"{self.name} must be fitted before it can score")
        return self.network, torch.from_numpy(self.encoder.encode([query.text for query in queries]))

    def score(self, queries: Sequence[Concept]) -> NDArray[np.float32]:
        """Scores (queries, seed concepts), higher is better; `TaxosphereError` before `fit`."""
        network, vectors = self._ready(queries)
        assert self._candidates is not None
        with torch.no_grad():
            return network.rank(queries, vectors, self._candidates)
