"""Every scorer that `evaluate` and `bench` accept, by name.

A method is one row of `TABLE`: where its class lives and what it is in one line. Rows are imported when they are asked
for, so listing names costs nothing. Packages add their own through the entry point group ``taxosphere.methods``: the
entry's name is the method's name, its object a class (or function) that makes a `Method`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

GROUP = "taxosphere.methods"


class Method(Protocol):
    """Learns from a seed taxonomy, then scores every seed concept as a parent of new ones."""

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        """Learn from the seed alone; the same ``random_state`` gives the same scores."""
        ...

    def score(self, queries: Sequence[Concept]) -> NDArray[np.float32]:
        """(queries, seed concepts), higher is better. Called on blocks; a query's row never depends on its block."""
        ...


# Called without arguments, or with the settings a user typed ({"training.epochs": "5"}) where there are any.
Factory = Callable[..., Method]


@dataclass(frozen=True)
class Row:
    module: str
    attribute: str
    summary: str
    kind: Literal["text", "image"] = "text"

    def load(self) -> Factory:
        return cast(Factory, getattr(importlib.import_module(self.module), self.attribute))


def _ours(module: str, attribute: str, summary: str) -> Row:
    return Row(f"taxosphere.methods.{module}", attribute, summary)


def _baseline(module: str, attribute: str, summary: str, kind: Literal["text", "image"] = "text") -> Row:
    return Row(f"taxosphere.methods.baselines.{module}", attribute, summary, kind)


REFERENCES = ("tfidf", "tfidf-internal", "encoder-cosine", "sibling-vote")  # untrained, printed beside every model

TABLE: Mapping[str, Row] = {
    "polaris": _ours(
        "polaris_full", "PolarisFull", "sphere embedding with the learned, calibrated ranker (the default)"
    ),
    "polaris-cosine": _ours("polaris_cosine", "Cosine", "sphere embedding ranked by cosine behind the hybrid gate"),
    "polaris-paper": _ours("polaris_cosine", "Paper", "the paper's losses, regulariser and hard gate"),
    "transe": _baseline("transe", "TransE", "translation from child to parent over projected text vectors"),
    "rotate": _baseline("rotate", "RotatE", "rotation of complex text projections"),
    "hake": _baseline("hake", "Hake", "modulus for the level, phase for the meaning"),
    "bert-mlp": _baseline("bert_mlp", "BertMlp", "a small network over the two text vectors"),
    "hyperexpan": _baseline("hyperexpan", "HyperExpan", "hyperbolic graph network over each candidate's neighbourhood"),
    "cone": _baseline("cone", "ConE", "products of planar cones, the query as their axis"),
    "entailment-cones": _baseline("entailment_cones", "EntailmentCones", "hyperbolic entailment cones"),
    "box": _baseline("box", "Box", "box containment of the query in its parent"),
    "gumbel-box": _baseline("gumbel_box", "GumbelBox", "boxes with Gumbel-distributed corners"),
    "arborist": _baseline("arborist", "Arborist", "bilinear edge semantics with margins from path distance"),
    "tmn": _baseline("tmn", "Tmn", "triplet matching of query, parent and child with gates"),
    "taxoexpan": _baseline("taxoexpan", "TaxoExpan", "graph attention over each candidate's neighbourhood"),
    "steam": _baseline("steam", "Steam", "mini-path attachment from several views"),
    "clip-zero-shot": _baseline("clip", "ClipZeroShot", "image-text cosine without training", "image"),
    "clip-1": _baseline("clip", "Clip1", "classifier over joined image and label vectors", "image"),
    "clip-2": _baseline("clip", "Clip2", "margin ranking of image and label vectors", "image"),
    "tfidf": _baseline("untrained", "Tfidf", "cosine of character n-grams, no training"),
    "tfidf-internal": _baseline("untrained", "TfidfInternal", "the same over concepts that have children, no training"),
    "encoder-cosine": _baseline("untrained", "EncoderCosine", "cosine of the raw encoder vectors, no training"),
    "sibling-vote": _baseline("untrained", "SiblingVote", "parents of the nearest seed concepts vote, no training"),
}


def plugins() -> dict[str, EntryPoint]:
    """Methods that other installed packages bring."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def names(kind: str | None = None) -> list[str]:
    """All method names, ours first; ``kind`` keeps only "text" or "image" ones (a plug-in counts as text)."""
    ours = [name for name, row in TABLE.items() if kind in (None, row.kind)]
    return ours + [name for name in sorted(plugins()) if name not in TABLE and kind in (None, "text")]


def describe(name: str) -> tuple[str, str]:
    """(kind, one line) of a method."""
    if name in TABLE:
        return TABLE[name].kind, TABLE[name].summary
    doc: Any = get(name).__doc__
    first = str(doc or "").strip().splitlines()
    return "text", first[0] if first else f"from {_plugin(name).value}"


def _plugin(name: str) -> EntryPoint:
    try:
        return plugins()[name]
    except KeyError:
        raise InputError(f"there is no method '{name}'; choose one of: {', '.join(names())}") from None


def get(name: str) -> Factory:
    """The class (or function) behind a name."""
    return TABLE[name].load() if name in TABLE else cast(Factory, _plugin(name).load())


def create(name: str, settings: Mapping[str, Any] | None = None) -> Method:
    """A fresh, unfitted method for questions in words; ``settings`` are what the user changed."""
    factory = get(name)
    if name in TABLE and TABLE[name].kind == "image":
        raise InputError(f"'{name}' compares pictures; use --split pictures")
    if not settings:
        return factory()
    if not inspect.signature(factory).parameters:
        raise InputError(f"'{name}' has no settings; leave '{next(iter(settings))}' out")
    return factory(settings)
