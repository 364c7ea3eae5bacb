"""Two protocols on images: labels of images, as in the paper, and parents of concepts that are not in the taxonomy.

Labels: 80 % of every label's images to learn from, the rest to name. Either all labels take part or a sample of them
per run. A label is read as "A label of {name}". Ranks count labels only; where the labels are in a taxonomy, the
Wu & Palmer similarity says how far off a wrong name is.

Unseen: 20 % of the leaves with images are hidden with all their images, and every concept that is left is a candidate
parent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taxosphere import artifact
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.errors import InputError
from taxosphere.evaluation import metrics
from taxosphere.evaluation.protocol import Run
from taxosphere.images import collection
from taxosphere.images.recognition import PROMPT, ancestor_rows
from taxosphere.images.towers import hold_out
from taxosphere.methods.image_task import (
    ImageQueries,
    LabelledImages,
    LabelMethod,
    LabelScorer,
    LabelsMeasuredTwice,
    PlacementMethod,
    SeedImages,
)
from taxosphere.taxonomy import Taxonomy, split
from taxosphere.taxonomy.formats import registry as formats
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

TEST_SHARE = 0.2
SAMPLE = 20  # labels of the paper's main table
_BLOCK = 1024  # images whose scores over all concepts are held at once


@dataclass(frozen=True)
class ImageSet:
    """A taxonomy with images.

    Attributes
    ----------
    name : str
        Name of the data set.
    taxonomy : Taxonomy
    gallery : Gallery
        Vectors of the images and the concepts they show.
    encoder_name : str
        The image encoder.
    texts : TextEncoder or None
        The text tower of the image encoder, if it has one.
    """

    name: str
    taxonomy: Taxonomy
    gallery: image_encoders.Gallery
    encoder_name: str
    texts: TextEncoder | None = None

    @property
    def labels(self) -> Longs:
        """Positions of the concepts with images."""
        return np.flatnonzero(self.gallery.shown)

    @property
    def deep(self) -> bool:
        """Whether the concepts with images have more above them than roots, so that their parents can be asked for."""
        return ancestor_rows(self.taxonomy, self.labels) is not None


def has_images(path: Path) -> bool:
    """Whether a taxonomy names images or has vectors of images beside it."""
    if formats.recognise(path).name in ("edges", "semeval"):  # which have no place for them
        return False
    return bool(collection.locate(Taxonomy.read(path))[1])


def read(path: Path, encoder: str = collection.AUTO) -> ImageSet:
    """Read a taxonomy with an ``image`` column, or with ``images.tsv`` and its vectors (.npy) beside the tables.

    Raises
    ------
    InputError
        Fewer than two concepts have images.
    """
    taxonomy, name = collection.locate(Taxonomy.read(path), encoder)
    image_encoder = image_encoders.load(name or image_encoders.DEFAULT)
    gallery = image_encoders.gallery(image_encoder, taxonomy.images, broken="skip")
    if len(np.flatnonzero(gallery.shown)) < 2:
        raise InputError("fewer than two concepts have images, so there is nothing to tell apart", path)
    return ImageSet(
        name=path.resolve().name,
        taxonomy=taxonomy,
        gallery=gallery,
        encoder_name=name,
        texts=image_encoders.text_tower(image_encoder),
    )


@dataclass(frozen=True)
class LabelTask:
    """A sample of labels (k,) as positions in the taxonomy, images to learn from, and other images of these labels."""

    labels: Longs
    known: LabelledImages
    asked: LabelledImages


def draw_labels(images: ImageSet, encoder: TextEncoder, classes: int | None, random_state: int) -> LabelTask:
    """One sample of labels and one split of their images; parameters as for `run_labels`."""
    labels = sample_labels(images.labels, classes, random_state)
    rows = np.flatnonzero(np.isin(images.gallery.owner, labels))
    label = np.searchsorted(labels, images.gallery.owner[rows])
    train, test = hold_out(label, TEST_SHARE, random_state)
    if len(test) == 0:
        raise InputError("no label has enough images to hold one out")
    task = LabelledImages(
        vectors=images.gallery.vectors[rows],
        label=label,
        texts=encoder.encode([PROMPT.format(images.taxonomy.names[i]) for i in labels]),
        ancestors=ancestor_rows(images.taxonomy, labels),
        shared=encoder is images.texts,
    )
    return LabelTask(labels, task.take(train), task.take(test))


def run_labels(
    images: ImageSet,
    method: LabelMethod,
    encoder: TextEncoder,
    *,
    classes: int | None = None,
    random_state: int = 0,
) -> Run:
    """One sample of labels, one split of their images, one fit, one pass over the test images.

    Parameters
    ----------
    images : ImageSet
    method : LabelMethod
        Not fitted yet.
    encoder : TextEncoder
        Encodes the labels.
    classes : int, optional
        Labels in the sample; None: all.
    random_state : int
        Decides sample, split and training.
    """
    task = draw_labels(images, encoder, classes, random_state)
    start = time.perf_counter()
    method.fit(task.known, random_state=random_state)
    return _name(images, task, method, random_state, time.perf_counter() - start)


def run_labels_both(
    images: ImageSet,
    method: LabelMethod,
    encoder: TextEncoder,
    *,
    classes: int | None = None,
    random_state: int = 0,
) -> tuple[Run, Run]:
    """`run_labels` by the paper's protocol, the checkpoint picked on the test images, and honestly, in this order.

    Raises
    ------
    InputError
        The method has no checkpoint to pick.
    """
    if not isinstance(method, LabelsMeasuredTwice):
        raise InputError("on images only 'polaris-paper' is measured by the paper's protocol; leave --protocol out")
    task = draw_labels(images, encoder, classes, random_state)
    start = time.perf_counter()
    peeking = method.fit_both(task.known, random_state=random_state, answers=task.asked)
    seconds = time.perf_counter() - start
    paper = _name(images, task, peeking, random_state, seconds)
    return replace(paper, protocol="paper"), _name(images, task, method, random_state, seconds)


def _name(images: ImageSet, task: LabelTask, scorer: LabelScorer, random_state: int, fit_seconds: float) -> Run:
    """Score every test image once."""
    start = time.perf_counter()
    scores = scorer.score(task.asked.vectors)
    seconds = time.perf_counter() - start
    return Run(
        random_state=random_state,
        candidates=len(task.labels),
        outcome=judge_labels(scores, task.labels[task.asked.label], task.labels, images.taxonomy),
        fit_seconds=fit_seconds,
        query_seconds=seconds / len(task.asked.label),
        seed_hash=artifact.seed_hash(images.taxonomy),
        collapsed=bool(getattr(scorer, "collapsed", False)),
    )


@dataclass(frozen=True)
class HiddenLeaves:
    """A seed without some leaves and their images, those leaves as queries, and the positions of their parents."""

    seed: SeedImages
    queries: ImageQueries
    gold: list[Longs]


def hide_leaves(
    images: ImageSet, *, each: int | None = None, random_state: int = 0, shared: bool = False
) -> HiddenLeaves:
    """Hide a fifth of the leaves with images.

    Parameters
    ----------
    images : ImageSet
    each : int, optional
        Queries with a single image, up to so many of each leaf; None: one query with all images of the leaf.
    random_state : int
        Chooses leaves and images.
    shared : bool
        Whether texts are encoded by the image encoder's text tower.

    Raises
    ------
    InputError
        Fewer than two leaves with a parent have images.
    """
    taxonomy, gallery = images.taxonomy, images.gallery
    rng = np.random.default_rng(random_state)
    leaves = np.flatnonzero(gallery.shown & taxonomy.hideable)
    if len(leaves) < 2:
        raise InputError("fewer than two leaves with a parent have images, so none can be hidden")
    hidden = np.sort(rng.choice(leaves, max(1, round(TEST_SHARE * len(leaves))), replace=False))
    part = split.hide(taxonomy, hidden)
    position = np.full(len(taxonomy), -1)  # in the seed
    position[np.setdiff1d(np.arange(len(taxonomy)), hidden)] = np.arange(len(part.seed))
    kept = np.flatnonzero(position[gallery.owner] >= 0)
    seed = SeedImages(
        taxonomy=part.seed,
        vectors=gallery.vectors[kept],
        owner=position[gallery.owner[kept]],
        encoder_name=images.encoder_name,
        shared=shared,
    )
    rows: list[Longs] = []
    gold: list[Longs] = []
    concepts = []
    for concept, parents in zip(part.queries, part.gold, strict=True):
        shown = rng.permutation(np.flatnonzero(gallery.owner == taxonomy.position(concept.id)))
        sets = [shown] if each is None else [shown[i : i + 1] for i in range(min(each, len(shown)))]
        rows += sets
        gold += [parents] * len(sets)
        concepts += [concept] * len(sets)
    return HiddenLeaves(seed, ImageQueries(concepts, gallery.vectors, rows), gold)


def run_unseen(
    images: ImageSet,
    method: PlacementMethod,
    encoder: TextEncoder,
    *,
    each: int | None = None,
    random_state: int = 0,
) -> Run:
    """One set of hidden leaves, one fit without them, one pass over them; parameters as for `hide_leaves`.

    Raises
    ------
    InputError
        ``each`` is stated for a method that needs all images of a concept.
    """
    if each is not None and method.whole_concepts:
        raise InputError("this method is asked with all images of a concept; leave 'each' out")
    task = hide_leaves(images, each=each, random_state=random_state, shared=encoder is images.texts)
    start = time.perf_counter()
    method.fit(task.seed, encoder=encoder, random_state=random_state)
    fitted = time.perf_counter()
    scores = method.score(task.queries)
    scored = time.perf_counter()
    seed = task.seed.taxonomy
    return Run(
        random_state=random_state,
        candidates=len(seed),
        outcome=metrics.judge(scores, task.gold, seed),
        fit_seconds=fitted - start,
        query_seconds=(scored - fitted) / len(task.gold),
        seed_hash=artifact.seed_hash(seed),
    )


def wup_of_mistakes(outcome: metrics.Outcome) -> float:
    """Mean Wu & Palmer similarity of first answers that are wrong, as a percentage; 100 where none is."""
    wrong = outcome.best > 1
    return 100 * float(outcome.wup[wrong].mean()) if wrong.any() else 100.0


def sample_labels(labels: Longs, classes: int | None, random_state: int) -> Longs:
    """``classes`` random labels, ascending; all of them with None or where there are no more."""
    if classes is None or classes >= len(labels):
        return labels
    if classes < 2:
        raise InputError("a sample of fewer than two labels leaves nothing to rank")
    return np.sort(np.random.default_rng(random_state).permutation(labels)[:classes])


def judge_labels(scores: Floats, gold: Longs, labels: Longs, taxonomy: Taxonomy) -> metrics.Outcome:
    """Outcome of scores (images, labels) with one gold label (images,) each; other concepts rank behind all labels."""
    blocks = []
    for start in range(0, max(1, len(gold)), _BLOCK):
        part = slice(start, start + _BLOCK)
        wide = np.full((len(gold[part]), len(taxonomy)), -np.inf, np.float32)
        wide[:, labels] = scores[part]
        blocks.append(metrics.judge(wide, list(gold[part, None]), taxonomy))
    return metrics.join(blocks)


def dataset_name(images: ImageSet, classes: int | None) -> str:
    """Name of the data set in tables; those of the paper's two tables are birds20 and birds200."""
    count = len(images.labels) if classes is None else min(classes, len(images.labels))
    if images.name == "cub200_wikispecies" and count in (SAMPLE, 200):
        return f"birds{count}"
    return images.name if classes is None else f"{images.name}-{count}"
