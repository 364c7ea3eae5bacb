"""Every method that `evaluate` and `bench` accept, by name.

A method is one row of `TABLE`: one line about it, and the class for every task it can do. Classes are imported when
they are asked for, so listing names costs nothing. Packages add their own through the entry point group
``taxosphere.methods``: the entry's name is the method's name, its object a class (or function) that makes a `Method`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, cast, runtime_checkable

from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder
    from taxosphere.methods.image_task import LabelMethod, PlacementMethod

GROUP = "taxosphere.methods"


class Method(Protocol):
    """Learns from a seed taxonomy, then scores every seed concept as a parent of new ones."""

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        """Learn from the seed alone; the same ``random_state`` gives the same scores."""
        ...

    def score(self, queries: Sequence[Concept]) -> Floats:
        """Scores (queries, seed concepts), higher is better.

        Called on blocks of queries; the row of a query does not depend on its block.
        """
        ...


class Answers(NamedTuple):
    """What the paper's protocol lets a method see: the whole taxonomy, the test queries and their gold parents."""

    taxonomy: Taxonomy
    queries: tuple[Concept, ...]
    gold: tuple[Longs, ...]


class Scorer(Protocol):
    """Scores every seed concept as a parent of new ones."""

    def score(self, queries: Sequence[Concept]) -> Floats:
        """Scores (queries, seed concepts), higher is better."""
        ...


@runtime_checkable
class MeasuredTwice(Protocol):
    """A method that can also be measured as the paper measures, which is not honest."""

    def fit_both(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int, answers: Answers) -> Scorer:
        """`Method.fit`, and a scorer whose checkpoint was picked on the answers, its gate counted with them."""
        ...


# Called without arguments, or with the settings a user typed ({"training.epochs": "5"}) where there are any.
Factory = Callable[..., Any]
Task = Literal["parents", "labels", "unseen"]
"""What is asked: parents of concepts by their texts, labels of images, parents of unseen concepts with images."""
TASKS: Mapping[Task, str] = {
    "parents": "find parents by text",
    "labels": "name images",
    "unseen": "find parents of unseen concepts with images",
}


@dataclass(frozen=True)
class Row:
    """One method: what it does in one line, and for every task it can do the class, as ``module:name``."""

    summary: str
    parents: str = ""
    labels: str = ""
    unseen: str = ""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks that the method can do."""
        return tuple(task for task in TASKS if getattr(self, task))

    @property
    def kind(self) -> str:
        """ "text", "image", or "text, image": what the method is asked about."""
        kinds = {"text" if task == "parents" else "image": None for task in self.tasks}
        return ", ".join(kinds)

    def load(self, task: Task) -> Factory:
        """Import the class for a task."""
        module, _, name = getattr(self, task).partition(":")
        return cast(Factory, getattr(importlib.import_module(f"taxosphere.methods.{module}"), name))


def _text(summary: str, place: str) -> Row:
    return Row(summary, parents=f"baselines.{place}")


def _text_and_labels(summary: str, place: str) -> Row:
    return Row(summary, parents=f"baselines.{place}", labels=f"baselines.{place}")


REFERENCES = ("tfidf", "tfidf-internal", "encoder-cosine", "sibling-vote")  # untrained, printed beside every model
NAMED_ONLY = ("polaris-paper",)  # it trains an encoder in every run: a bench has it only where it is named

TABLE: Mapping[str, Row] = {
    "polaris": Row(
        "sphere embedding with the learned, calibrated ranker (the default)",
        parents="polaris_full:PolarisFull",
        labels="polaris_images:PolarisLabels",
        unseen="polaris_images:PolarisImages",
    ),
    "polaris-cosine": Row(
        "sphere embedding ranked by cosine behind the hybrid gate", parents="polaris_cosine:PolarisCosine"
    ),
    "polaris-paper": Row(
        "the paper's system as printed: its losses, regulariser and hard gate, the encoder learning along (slow)",
        parents="polaris_paper:PolarisPaper",
        labels="paper_labels:PaperLabels",
    ),
    "polaris-paper-frozen": Row(
        "the same with a frozen encoder: only the head learns", parents="polaris_paper:PolarisPaperFrozen"
    ),
    "polaris-text": Row("polaris with images, asked by text alone", unseen="polaris_images:PolarisText"),
    "polaris-both": Row("polaris with images, asked by text and images", unseen="polaris_images:PolarisBoth"),
    "transe": _text_and_labels("translation from child to parent over projected text vectors", "transe:TransE"),
    "rotate": _text_and_labels("rotation of complex text projections", "rotate:RotatE"),
    "hake": _text_and_labels("modulus for the level, phase for the meaning", "hake:Hake"),
    "bert-mlp": _text("a small network over the two text vectors", "bert_mlp:BertMlp"),
    "hyperexpan": _text_and_labels(
        "hyperbolic graph network over each candidate's neighbourhood", "hyperexpan:HyperExpan"
    ),
    "cone": _text_and_labels("products of planar cones, the query as their axis", "cone:ConE"),
    "entailment-cones": _text_and_labels("hyperbolic entailment cones", "entailment_cones:EntailmentCones"),
    "box": _text_and_labels("box containment of the query in its parent", "box:Box"),
    "gumbel-box": _text_and_labels("boxes with Gumbel-distributed corners", "gumbel_box:GumbelBox"),
    "arborist": _text("bilinear edge semantics with margins from path distance", "arborist:Arborist"),
    "tmn": _text("triplet matching of query, parent and child with gates", "tmn:Tmn"),
    "taxoexpan": _text("graph attention over each candidate's neighbourhood", "taxoexpan:TaxoExpan"),
    "steam": _text("mini-path attachment from several views", "steam:Steam"),
    "clip-zero-shot": Row("image-text cosine without training", labels="baselines.clip:ClipZeroShot"),
    "clip-1": Row("classifier over joined image and label vectors", labels="baselines.clip:Clip1"),
    "clip-2": Row("margin ranking of image and label vectors", labels="baselines.clip:Clip2"),
    "tfidf": _text("cosine of character n-grams, no training", "untrained:Tfidf"),
    "tfidf-internal": _text("the same over concepts that have children, no training", "untrained:TfidfInternal"),
    "encoder-cosine": _text("cosine of the raw encoder vectors, no training", "untrained:EncoderCosine"),
    "sibling-vote": Row(
        "parents of the nearest seed concepts vote, no training",
        parents="baselines.untrained:SiblingVote",
        unseen="polaris_images:ImageSiblingVote",
    ),
}


def plugins() -> dict[str, EntryPoint]:
    """Methods that other installed packages bring, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def names(task: Task | None = None) -> list[str]:
    """Names of all methods, or of those for one task: the table's first, then plug-ins, which do "parents"."""
    listed = [name for name, row in TABLE.items() if task is None or task in row.tasks]
    return listed + [name for name in sorted(plugins()) if name not in TABLE and task in (None, "parents")]


def describe(name: str) -> tuple[str, str]:
    """Kind ("text", "image" or both) and one line about a method; `InputError` where there is none of that name."""
    if name in TABLE:
        return TABLE[name].kind, TABLE[name].summary
    doc: Any = get(name).__doc__
    first = str(doc or "").strip().splitlines()
    return "text", first[0] if first else f"from {_plugin(name).value}"


def tasks(name: str) -> tuple[Task, ...]:
    """Tasks that a method can do; `InputError` where there is none of that name."""
    if name not in TABLE:
        _plugin(name)
    return TABLE[name].tasks if name in TABLE else ("parents",)


def _plugin(name: str) -> EntryPoint:
    try:
        return plugins()[name]
    except KeyError:
        raise InputError(f"there is no method '{name}'; choose one of: {', '.join(names())}") from None


def get(name: str, task: Task = "parents") -> Factory:
    """The class (or function) behind a name; `InputError` where there is none, or none for this task."""
    if task not in tasks(name):
        splits = {"labels": "images", "unseen": "unseen"}
        hint = f"use --split {' or '.join(splits[other] for other in tasks(name) if other in splits)}"
        rest = hint if task == "parents" else f"choose one of: {', '.join(names(task))}"
        raise InputError(f"'{name}' does not {TASKS[task]}; {rest}")
    return TABLE[name].load(task) if name in TABLE else cast(Factory, _plugin(name).load())


def create(name: str, settings: Mapping[str, Any] | None = None) -> Method:
    """A new, unfitted method that finds parents by text.

    Parameters
    ----------
    name : str
        A name of `TABLE` or of a plug-in.
    settings : mapping, optional
        What the user changed.

    Raises
    ------
    InputError
        There is no such method, it is for images only, or it does not have these settings.
    """
    factory = get(name)
    if not settings:
        return cast(Method, factory())
    if not inspect.signature(factory).parameters:
        raise InputError(f"'{name}' has no settings; leave '{next(iter(settings))}' out")
    return cast(Method, factory(settings))


def create_for_labels(name: str) -> LabelMethod:
    """A new, unfitted method that names images; `InputError` where there is none of that name."""
    factory = get(name, "labels")
    from taxosphere.methods.baselines import image_base
    from taxosphere.methods.baselines.base import Baseline

    if isinstance(factory, type) and issubclass(factory, Baseline):
        return image_base.OnImages(factory, image_base.IMAGE_SETTINGS.get(name, ()))
    return cast("LabelMethod", factory())


def create_for_unseen(name: str) -> PlacementMethod:
    """A new, unfitted method that finds parents of unseen concepts with images; `InputError` where there is none."""
    return cast("PlacementMethod", get(name, "unseen")())
