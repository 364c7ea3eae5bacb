"""The model as its users meet it: fit, suggest, expand, save, load."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere import artifact
from taxosphere.encoders import weights
from taxosphere.encoders.image import efficientnet
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.encoders.text.vectors import TextVectors, encode_text_vectors
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.images import collection
from taxosphere.images.model import ImageModel
from taxosphere.model import embedding, gamma
from taxosphere.model.checkpoint import Checkpoints, Epoch
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.presets import auto
from taxosphere.model.seeds import SEEDS
from taxosphere.placing import expansion, inference, suggestions
from taxosphere.placing.concept_list import New, as_concepts
from taxosphere.placing.duplicates import fold
from taxosphere.placing.expansion import Expansion, Placement
from taxosphere.placing.inference import Fitted, assemble
from taxosphere.placing.insertion import Insertion
from taxosphere.placing.suggestions import Suggestions
from taxosphere.ranking import prior
from taxosphere.ranking.crossfit import points
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.lexical import index as word_index
from taxosphere.ranking.lexical.index import ConceptTokens
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.ranking.ranker import Ranker
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.io.streams import expand_home

Longs = NDArray[np.int64]
Floats = NDArray[np.float32]
Progress = Callable[[int, int, str], None]

_BLOCK = 256  # queries ranked at once
_PROPOSE = 0.5  # children that more probably than not belong below a new concept are proposed


class Polaris:
    """Concepts as directions on a sphere, their level as an orbit, and a ranker that learned to combine them.

    ``Polaris(config)`` only stores the settings; without any, `fit` chooses them by the size of the taxonomy. After a
    fit, ``config`` says what it was fitted with.
    """

    def __init__(self, config: PolarisConfig | None = None) -> None:
        if not isinstance(config, PolarisConfig | None):
            raise TypeError(f"settings are a PolarisConfig, not {_kind(config)}; PolarisConfig.from_mapping makes one")
        self.config = self._wanted = config
        self._fitted: Fitted | None = None

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        taxonomy: Taxonomy,
        *,
        encoder: TextEncoder | str | PathLike[str] | None = None,
        random_state: int | None = None,
        checkpoints: str | PathLike[str] | None = None,
        resume: bool = False,
        start: Polaris | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a taxonomy, and from the pictures of its concepts where it has any.

        ``encoder`` is one of the caller's, or the name of one to load in place of that in the settings; ``checkpoints``
        is a folder to go on from after a kill, when ``resume`` says so; ``start`` is an earlier model whose sphere to
        begin from.
        """
        config = self._wanted or auto(taxonomy)
        if isinstance(encoder, str | PathLike):
            config, encoder = _with_encoder(config, encoder), None
        config = with_absolute_paths(config)
        state = config.seed if random_state is None else operator.index(random_state)
        if not 0 <= state < SEEDS:
            raise InputError(f"the random state is {state}; it lies between 0 and {SEEDS - 1:,}")
        known = prior.wanted(config.ranking)
        _refuse(taxonomy)
        report = progress or _silent
        taxonomy, image_encoder = collection.locate(taxonomy, config.images.encoder)
        encoder = encoder or load_encoder(config)
        begin = None if start is None else start.network_for(config)
        encoding = f"encoding {len(taxonomy):,} concepts"
        report(0, 1, encoding)
        space = embedding.fit(
            encoder,
            taxonomy,
            config,
            random_state=state,
            start=begin,
            checkpoints=Checkpoints(None if checkpoints is None else Path(checkpoints), resume),
            encoding=lambda done, total: report(done, total, encoding),
            progress=lambda epoch, total: report(epoch.number, total, _told(epoch)),
        )
        ranker = Ranker.fit(
            taxonomy,
            space.refit,
            config,
            known,
            gamma=gamma.gamma(space.head, taxonomy, config.orbit),
            random_state=state,
            progress=progress,
        )
        head = space.head
        fitted = assemble(space.encoder, head.network, ranker, None, head.history, taxonomy, space.views)
        image_model = None
        if image_encoder:
            report(0, 1, f"looking at pictures of {sum(map(bool, taxonomy.images)):,} concepts")
            image_model = ImageModel.fit(taxonomy, image_encoder, fitted.plain_vectors, config, state)
        self.config = config.model_copy(update={"seed": state})
        inserting = Insertion.fit(taxonomy, fitted.plain_vectors, state)
        began = None if begin is None else begin.digest()
        self._fitted = replace(fitted, insertion=inserting, image_model=image_model, began=began)
        return self

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that suggestions refer to."""
        return self._state.context.taxonomy

    @property
    def history(self) -> tuple[Epoch, ...]:
        """Losses and validation MRR of the sphere, epoch by epoch."""
        return self._state.history

    def network_for(self, config: PolarisConfig) -> SphereNetwork:
        """The sphere network, for a model with the same kind of one."""
        if text_encoders.untuned(self._state.encoder) is not self._state.encoder:
            raise InputError("the model to begin from stands on an encoder of its own; begin from a frozen one")
        if self.config is None or self.config.network != config.network or self.config.encoder != config.encoder:
            raise InputError("the model to begin from has another encoder or network; use its settings")
        return self._state.network

    @property
    def _state(self) -> Fitted:
        if self._fitted is None:
            raise TaxosphereError("this model has learned nothing yet; call fit, or load one")
        return self._fitted

    # -- asking -------------------------------------------------------------------------------------------------------

    def score(self, queries: Iterable[Concept]) -> NDArray[np.float32]:
        """(queries, concepts of the taxonomy), higher is better."""
        queries = list(queries)
        other = next((query for query in queries if not isinstance(query, Concept)), None)
        if other is not None:
            raise TypeError(f"a Concept is scored, not {_kind(other)}; 'suggest' takes names")
        scores = np.empty((len(queries), len(self.taxonomy)), np.float32)
        for look in inference.rank_queries(self._state, self._state.context, queries, explained=0):
            scores[look.rows] = look.ranked.scores
        return scores

    def suggest(
        self, concept: New = "", description: str = "", *, images: Sequence[str | PathLike[str]] = (), k: int = 10
    ) -> Suggestions:
        """Ranking parents of one new concept: a name, a (name, description) pair or a `Concept`; pictures of it too, or
        pictures alone."""
        if description or images:
            if not isinstance(concept, str):
                raise TypeError("a pair or a Concept brings its own description and pictures")
            if images and self.image_model is None:
                raise InputError("this model was fitted without pictures: ask without 'images'")
            files = [images] if isinstance(images, str) else images
            concept = Concept("", concept, description, images=tuple(map(str, files)))
        return next(self.suggest_many([concept], k=k))

    def suggest_many(self, concepts: Iterable[New], *, k: int = 10) -> Iterator[Suggestions]:
        """Ranking parents of many, computed block by block as they are asked for."""
        if k < 1:
            raise ValueError(f"k is {k}: at least one parent is suggested")
        queries = as_concepts(concepts, self.taxonomy)
        parts = (queries[start : start + _BLOCK] for start in range(0, len(queries), _BLOCK))
        return chain.from_iterable(self._suggest(self._state.context, part, k=k) for part in parts)

    def expand(
        self,
        concepts: Iterable[New],
        *,
        accept: float = 0.8,
        insert: float | None = None,
        progress: Progress | None = None,
    ) -> Expansion:
        """Place a whole list: attach what is at least ``accept`` sure, leave the rest to a person.

        With ``insert``, existing children that belong below a new concept at least that surely are moved there. The
        model itself stays as it is; `adopt` the grown taxonomy to go on from there.
        """
        if not 0 <= accept <= 1 or not 0 <= (insert or 0) <= 1:
            raise ValueError(f"accept ({accept}) and insert ({insert}) are probabilities: from 0 to 1")
        report = progress or _silent
        fitted = self._state
        queries = as_concepts(concepts, self.taxonomy)
        alone: list[Suggestions] = []
        placing = "placing among the existing concepts"
        report(0, len(queries), placing)  # the first block may take a while
        for found in self.suggest_many(queries):
            alone.append(found)
            report(len(alone), len(queries), placing)
        report(0, 1, "placing among the new concepts")
        held = expansion.held_back(alone, self.taxonomy, fitted.names)
        free = [i for i in range(len(queries)) if i not in held]
        again = self._among_each_other([queries[i] for i in free], [alone[i] for i in free])
        joined = dict(enumerate(alone)) | dict(zip(free, again, strict=True))
        placements = expansion.decide(
            list(joined.values()), alone, accept=accept, ids=set(self.taxonomy.ids), held=held
        )
        report(0, 1, "looking for insertions")
        least = _PROPOSE if insert is None else min(_PROPOSE, insert)
        placements = [self._with_insertions(placement, least) for placement in placements]
        grown = expansion.grow(self.taxonomy, placements, insert=insert)
        report(1, 1, "done")
        return grown

    def adopt(self, taxonomy: Taxonomy) -> Self:
        """Refer to a changed taxonomy from now on, with what was learned before: nothing is trained again."""
        _refuse(taxonomy)
        fitted = self._state
        views = encode_text_vectors(fitted.encoder, list(taxonomy.concepts()))
        moved = assemble(
            fitted.encoder, fitted.network, fitted.ranker, fitted.insertion, fitted.history, taxonomy, views
        )
        image_model = None if fitted.image_model is None else fitted.image_model.adopt(taxonomy, moved.plain_vectors)
        self._fitted = replace(moved, image_model=image_model, began=fitted.began)
        return self

    @property
    def out_of_fold(self) -> OutOfFold:
        """Lists of concepts hidden while the ranker learned, scored by nets that had not seen them."""
        return self._state.ranker.out_of_fold

    def summary(self) -> list[str]:
        """What was learned, in a few lines."""
        fitted = self._state
        lines = [fitted.ranker.note]
        if self.config is not None and self.config.training.fine_tune:
            kept = fitted.plain is not fitted.encoder
            lines.append(
                "the encoder learned along" if kept else "fine-tuning answered no better: the encoder is as it was"
            )
        held = fitted.ranker.out_of_fold
        if len(held.golds):
            right = held.labels[:, 0].mean()
            lines.append(
                f"of {len(held.golds):,} hidden leaves {right:.0%} were put below a true parent at first place"
            )
        return lines + ([] if fitted.image_model is None else fitted.image_model.summary())

    # -- on disk ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder."""
        fitted = self._state
        assert self.config is not None
        arrays, notes = fitted.ranker.to_arrays()
        tensors = {
            "network": {key: value.numpy() for key, value in fitted.network.state_dict().items()},
            "ranker": arrays,
            "views": fitted.context.views.to_arrays(),
            "words": fitted.context.tokens.to_arrays(),
        }
        if fitted.insertion is not None:
            tensors["insertion"] = fitted.insertion.model.to_arrays()
        image_model: dict[str, object] = {}
        if fitted.image_model is not None:
            tensors["pictures"], image_model["pictures"] = fitted.image_model.to_arrays()
        if fitted.plain is not fitted.encoder:
            tensors["encoder"] = dict(text_encoders.trainable(fitted.encoder).tuned)
        manifest = {
            **image_model,
            "config": self.config.model_dump(mode="json"),
            "encoder": text_encoders.description(fitted.plain),
            "began": fitted.began,
            "words": word_index.VERSION,
            "ranker": notes,
            "history": [asdict(epoch) for epoch in fitted.history],
            "metrics": {"held_out_hit@1": _share(fitted.ranker.out_of_fold.labels[:, 0])},
        }
        artifact.save(path, "polaris", manifest, tensors, self.taxonomy)

    @classmethod
    def load(cls, path: str | PathLike[str], *, encoder: TextEncoder | str | PathLike[str] | None = None) -> Self:
        """Read a model folder; scores are those of the model that was saved. One that was fitted with an ``encoder`` of
        the caller's needs it again, one whose encoder was moved needs its new path."""
        stored = artifact.load(path, "polaris")
        insertion, pictures = stored.tensors.get("insertion"), stored.tensors.get("pictures")
        with artifact.same_layout(path):
            config = PolarisConfig.from_mapping(stored.manifest["config"], path)
            views = TextVectors(**stored.tensors["views"])
            network = SphereNetwork(views.full.shape[1], config.network)
            network.load_state_dict({key: torch.from_numpy(value) for key, value in stored.tensors["network"].items()})
            ranker = Ranker.from_arrays(stored.tensors["ranker"], stored.manifest["ranker"])
            inserting = None if insertion is None else Insertion(Logistic(**insertion))
            history = tuple(Epoch(**entry) for entry in stored.manifest["history"])
            same_words = stored.manifest.get("words") == word_index.VERSION
            tokens = ConceptTokens.from_arrays(stored.tensors["words"]) if same_words else None
        known = stored.manifest.get("encoder")
        if isinstance(encoder, str | PathLike):
            config = with_absolute_paths(_with_encoder(config, encoder))
            encoder = load_encoder(config)
        elif encoder is None:
            encoder = load_encoder(config)
            if known is not None and text_encoders.description(encoder) != known:
                raise InputError(f"was fitted with the encoder {known}; give it to Polaris.load as 'encoder'", path)
        if encoder.dim != views.full.shape[1]:
            raise InputError(f"was fitted with {views.full.shape[1]} dimensions, the encoder has {encoder.dim}", path)
        if "encoder" in stored.tensors:
            encoder = text_encoders.trainable(encoder).with_weights(stored.tensors["encoder"])
        model = cls(config)
        fitted = assemble(encoder, network.eval(), ranker, inserting, history, stored.taxonomy, views, tokens)
        if pictures is not None:
            texts = fitted.plain_vectors
            with artifact.same_layout(path):
                image_model = ImageModel.from_arrays(pictures, stored.manifest["pictures"], stored.taxonomy, texts)
            fitted = replace(fitted, image_model=image_model)
        model._fitted = replace(fitted, began=stored.manifest.get("began"))
        return model

    # -- inside -------------------------------------------------------------------------------------------------------

    @property
    def image_model(self) -> ImageModel | None:
        """The picture side; None for a model that was fitted without pictures."""
        return self._state.image_model

    def _suggest(
        self, context: CandidateIndex, queries: Sequence[Concept], *, k: int, exclude: Longs | None = None
    ) -> list[Suggestions]:
        found: dict[int, Suggestions] = {}
        places = suggestions.places_needed(k)
        for look in inference.rank_queries(self._state, context, queries, exclude=exclude, explained=places):
            asked = [queries[i] for i in look.rows]
            made = suggestions.assemble(
                look.context, asked, look.vectors, look.ranked, look.matches, k=k, cutoff=look.cutoff
            )
            found |= zip(look.rows.tolist(), made, strict=True)
        return [found[i] for i in range(len(queries))]

    def _among_each_other(self, queries: Sequence[Concept], alone: Sequence[Suggestions]) -> list[Suggestions]:
        """Rank again with all new concepts, provisionally attached, among the candidates; each is blind to itself."""
        if len(queries) < 2:
            return list(alone)
        fitted, seed = self._state, self.taxonomy
        edges = [(found[0].id, query.id) for query, found in zip(queries, alone, strict=True) if found]
        grown = seed.add(queries, edges)
        new = encode_text_vectors(fitted.encoder, queries)
        known = fitted.context.views.to_arrays()
        views = TextVectors(**{name: np.concatenate([known[name], rows]) for name, rows in new.to_arrays().items()})
        context = CandidateIndex(grown, views, points(fitted.network, views.full), len(seed))
        return self._suggest(context, queries, k=10, exclude=np.arange(len(seed), len(grown)))

    def _with_insertions(self, placement: Placement, least: float) -> Placement:
        """Propose children of the parents that belong below the new concept more surely than ``least``."""
        fitted = self._state
        if fitted.insertion is None or not placement.attached or not placement.concept.name:
            return placement
        vector = fitted.plain.encode([placement.concept.text])[0]
        takes: dict[str, float] = {}
        own = fold(placement.concept.name)
        for parent in placement.parents:
            if parent.id not in self.taxonomy:
                continue
            children, probability = fitted.insertion.probabilities(
                self.taxonomy, fitted.plain_vectors, self.taxonomy.position(parent.id), placement.concept, vector
            )
            takes |= {
                self.taxonomy.ids[c]: float(p)
                for c, p in zip(children, probability, strict=True)
                if p >= least and fold(self.taxonomy.names[c]) != own  # of one name, neither lies below the other
            }
        surest_first = sorted(takes.items(), key=lambda item: -item[1])
        return replace(placement, takes=tuple(surest_first))


def load_encoder(config: PolarisConfig) -> TextEncoder:
    wanted = config.encoder
    return text_encoders.load(wanted.name, max_tokens=wanted.max_tokens, prefix=wanted.prefix)


def _with_encoder(config: PolarisConfig, name: str | PathLike[str]) -> PolarisConfig:
    return config.model_copy(update={"encoder": config.encoder.model_copy(update={"name": fspath(name)})})


def with_absolute_paths(config: PolarisConfig) -> PolarisConfig:
    """The same settings with the whole paths of encoders that lie on this machine: a model is used from any folder."""
    images = config.images.model_copy(update={"encoder": _absolute_path(config.images.encoder)})
    return _with_encoder(config, _absolute_path(config.encoder.name)).model_copy(update={"images": images})


def _absolute_path(encoder: str) -> str:
    place = expand_home(encoder)
    reserved = (weights.PACKAGED, efficientnet.NAME, collection.AUTO, collection.NONE)
    return str(place.absolute()) if encoder not in reserved and place.exists() else encoder


def _refuse(taxonomy: Taxonomy) -> None:
    """What nothing can be placed in."""
    if len(taxonomy) == 0:
        raise InputError("the taxonomy holds no concepts: there is nothing to place others below")
    taxonomy.refuse_cycles()


def _kind(thing: object) -> str:
    return f"a {type(thing).__name__}"


def _share(right: NDArray[np.bool_]) -> float | None:
    return float(right.mean()) if len(right) else None


def _told(epoch: Epoch) -> str:
    terms = ", ".join(f"{name} {value:.3f}" for name, value in epoch.terms.items())
    return f"sphere: {terms}" + (f", validation MRR {epoch.mrr:.3f}" if epoch.mrr is not None else "")


def _silent(done: int, total: int, what: str) -> None:
    """For callers who do not want to hear."""
