"""Pictures to labels, as the paper asks, and pictures of concepts that are new to the tree.

To labels: 80 % of every label's pictures to learn from, the rest to name. Either all labels take part or a sample of
them per run. A label is read as "A label of {name}". Ranks count labels only; where the labels hang in a tree, the
Wu & Palmer similarity says how far off a wrong name is.

To the tree: 20 % of the pictured leaves are hidden with all their pictures, and every concept that is left is a
candidate parent, ranked from the pictures alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from taxosphere import artifact
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.errors import InputError
from taxosphere.evaluation import metrics
from taxosphere.evaluation.protocol import Run
from taxosphere.images import collection
from taxosphere.images.ranker import (
    ImageIndex,
    fit_image_ranker,
    image_features,
    query_directions,
    rank_by_images,
)
from taxosphere.images.recognition import PROMPT, ancestor_rows
from taxosphere.images.towers import Towers, hold_out
from taxosphere.methods import registry as methods
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.image_base import ImageMethod, Labelled, OnPictures
from taxosphere.model import presets
from taxosphere.model.config import RankingConfig, literal
from taxosphere.polaris import Polaris
from taxosphere.taxonomy import Concept, Taxonomy, split
from taxosphere.taxonomy.formats import registry as formats
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


TEST_SHARE = 0.2
SAMPLE = 20  # labels of the paper's main table
# Systems of the frame that the paper asks for labels too.
GEOMETRIC = ("transe", "rotate", "hake", "hyperexpan", "cone", "entailment-cones", "box", "gumbel-box")
# Where settings found on texts fail on pictures: chosen on validation pictures of two samples of 20 birds.
PICTURE_SETTINGS: dict[str, dict[str, object]] = {
    "box": {"width_start": 0.0, "contain": 1.0, "separate": 1.0, "probability": 0.1, "negative_weight": 1.0}
}
METHODS = ("polaris", "clip-zero-shot", "clip-1", "clip-2", *GEOMETRIC)
UNSEEN = "unseen"
FACADE = ("polaris-text", "polaris-both")  # the whole model, asked in words or in words and pictures
UNSEEN_METHODS = ("polaris", *FACADE, "sibling-vote")


@dataclass(frozen=True)
class PictureSet:
    """A taxonomy, the pictures of its concepts, and the encoder whose space they share with texts, if there is one."""

    name: str
    taxonomy: Taxonomy
    gallery: image_encoders.Gallery
    encoder_name: str
    texts: TextEncoder | None = None

    @property
    def labels(self) -> Longs:
        """Concepts with pictures."""
        return np.flatnonzero(self.gallery.shown)


class OurTowers:
    """Two sphere heads, or one where the space is shared, as `taxosphere.images.towers` solves them."""

    def fit(self, task: Labelled, *, random_state: int) -> Self:
        places, shared = task.places, task.shared
        known = (task.vectors, task.label, task.texts)
        self.towers = Towers.fit(*known, ancestors=places, shared=shared, random_state=random_state)
        return self

    def score(self, vectors: Floats) -> Floats:
        return self.towers.score(vectors)


def create(name: str) -> ImageMethod:
    if name == "polaris":
        return OurTowers()
    if name not in METHODS:
        raise InputError(f"'{name}' does not rank labels of pictures; choose one of: {', '.join(METHODS)}")
    factory = methods.get(name)
    if isinstance(factory, type) and issubclass(factory, Baseline):
        return OnPictures(factory, PICTURE_SETTINGS.get(name))
    made: ImageMethod = factory()  # type: ignore[assignment]
    return made


def holds_pictures(path: Path) -> bool:
    """Whether pictures, or vectors of pictures, are to be found with this taxonomy."""
    if formats.recognise(path).name in ("edges", "semeval"):  # which have no place for them
        return False
    return bool(collection.locate(Taxonomy.read(path))[1])


def read(path: Path, encoder: str = collection.AUTO) -> PictureSet:
    """A taxonomy with an ``image`` column, or with ``images.tsv`` and its vectors (.npy) beside the tables."""
    taxonomy, name = collection.locate(Taxonomy.read(path), encoder)
    chosen = image_encoders.load(name or image_encoders.DEFAULT)
    found = image_encoders.gallery(chosen, taxonomy.images, broken="skip")
    if len(np.flatnonzero(found.shown)) < 2:
        raise InputError("fewer than two concepts have pictures, so there is nothing to tell apart", path)
    return PictureSet(path.resolve().name, taxonomy, found, name, image_encoders.text_tower(chosen))


def run(
    pictures: PictureSet,
    method: ImageMethod,
    encoder: TextEncoder,
    *,
    classes: int | None = None,
    random_state: int = 0,
) -> Run:
    """One sample of labels (all with ``classes=None``), one split, one fit, one pass over the test pictures."""
    labels = sample(pictures.labels, classes, random_state)
    rows = np.flatnonzero(np.isin(pictures.gallery.owner, labels))
    label = np.searchsorted(labels, pictures.gallery.owner[rows])
    train, test = hold_out(label, TEST_SHARE, random_state)
    if len(test) == 0:
        raise InputError("no label has enough pictures to set one aside")
    texts = encoder.encode([PROMPT.format(pictures.taxonomy.names[i]) for i in labels])
    vectors = pictures.gallery.vectors
    start = time.perf_counter()
    shared = encoder is pictures.texts
    known = Labelled(vectors[rows[train]], label[train], texts, ancestor_rows(pictures.taxonomy, labels), shared)
    method.fit(known, random_state=random_state)
    fitted = time.perf_counter()
    found = method.score(vectors[rows[test]])
    asked = time.perf_counter() - fitted
    outcome = judge(found, labels[label[test]], labels, pictures.taxonomy)
    seed_hash = artifact.seed_hash(pictures.taxonomy)
    return Run(random_state, len(labels), outcome, fitted - start, asked / len(test), seed_hash)


@dataclass(frozen=True)
class Unseen:
    """A tree without some pictured leaves: what is left of the pictures, and sets of pictures to ask with."""

    seed: Taxonomy
    rows: Longs  # pictures left, as rows of the gallery
    owner: Longs  # their concepts, as positions in the seed
    asked: list[Longs]
    gold: list[Longs]
    queries: list[Concept]


def hide_leaves(pictures: PictureSet, *, each: int | None = None, random_state: int = 0) -> Unseen:
    """Ask with all pictures of a hidden leaf at once, or with up to ``each`` of them one by one."""
    taxonomy, gallery = pictures.taxonomy, pictures.gallery
    chance = np.random.default_rng(random_state)
    leaves = np.flatnonzero(gallery.shown & taxonomy.hideable)
    if len(leaves) < 2:
        raise InputError("fewer than two leaves with a parent have pictures, so none can be hidden")
    hidden = np.sort(chance.choice(leaves, max(1, round(TEST_SHARE * len(leaves))), replace=False))
    part = split.hide(taxonomy, hidden)
    place = np.full(len(taxonomy), -1)
    place[np.setdiff1d(np.arange(len(taxonomy)), hidden)] = np.arange(len(part.seed))
    rows = np.flatnonzero(place[gallery.owner] >= 0)
    asked: list[Longs] = []
    gold: list[Longs] = []
    queries: list[Concept] = []
    for concept, parents in zip(part.queries, part.gold, strict=True):
        own = chance.permutation(np.flatnonzero(gallery.owner == taxonomy.position(concept.id)))
        sets = [own] if each is None else [own[i : i + 1] for i in range(min(each, len(own)))]
        asked += sets
        gold += [parents] * len(sets)
        queries += [concept] * len(sets)
    return Unseen(part.seed, rows, place[gallery.owner[rows]], asked, gold, queries)


def unseen(
    pictures: PictureSet, name: str, encoder: TextEncoder, *, each: int | None = None, random_state: int = 0
) -> Run:
    """Place leaves that were hidden with their pictures: by the ranker, by the vote of the most similar concepts, or by
    the whole model, which also reads their texts."""
    if each is not None and name in FACADE:
        raise InputError(f"'{name}' is asked with all pictures of a concept")
    if name not in UNSEEN_METHODS:
        raise InputError(f"'{name}' does not place pictures; choose one of: {', '.join(UNSEEN_METHODS)}")
    task = hide_leaves(pictures, each=each, random_state=random_state)
    start = time.perf_counter()
    ask = (_facade if name in FACADE else _sight)(pictures, task, name, encoder, random_state)
    fitted = time.perf_counter()
    scores = ask()
    seconds = (time.perf_counter() - fitted) / len(task.asked)
    outcome = metrics.judge(scores, task.gold, task.seed)
    return Run(random_state, len(task.seed), outcome, fitted - start, seconds, artifact.seed_hash(task.seed))


def _sight(pictures: PictureSet, task: Unseen, name: str, encoder: TextEncoder, state: int) -> Callable[[], Floats]:
    """By pictures alone: the ranker, or the vote of the most similar concepts."""
    every = pictures.gallery.vectors
    vectors, owner, shared = every[task.rows], task.owner, encoder is pictures.texts
    texts = encoder.encode([concept.text for concept in task.seed.concepts()])
    index = ImageIndex.build(task.seed, vectors, owner, texts, shared=shared)

    def directions() -> Floats:
        return query_directions(index.whitening, every, task.asked)

    if name == "sibling-vote":
        return lambda: image_features(index, directions())["parent of similar concepts, by image"]
    ranker = fit_image_ranker(task.seed, vectors, owner, texts, RankingConfig(), shared=shared, random_state=state)
    return lambda: rank_by_images(ranker, index, directions()).scores


def _facade(pictures: PictureSet, task: Unseen, name: str, encoder: TextEncoder, state: int) -> Callable[[], Floats]:
    """By the whole model, which reads the texts of the hidden leaves, and looks at their pictures too or not."""
    config = presets.auto(task.seed).with_overrides([f"images.encoder={literal(pictures.encoder_name)}"])
    reader = None if encoder is pictures.texts else encoder  # a tower for captions is no reader of descriptions
    model = Polaris(config).fit(task.seed, encoder=reader, random_state=state)
    blind = name == "polaris-text"
    return lambda: model.score([replace(q, images=()) if blind else q for q in task.queries])


def mistakes(outcome: metrics.Outcome) -> float:
    """Mean Wu & Palmer similarity of first answers that are wrong, as a percentage; 100 where none is."""
    wrong = outcome.best > 1
    return 100 * float(outcome.wup[wrong].mean()) if wrong.any() else 100.0


def deep(pictures: PictureSet) -> bool:
    """Whether the pictured concepts have more above them than roots, so that a place is worth asking for."""
    return ancestor_rows(pictures.taxonomy, pictures.labels) is not None


def sample(labels: Longs, classes: int | None, random_state: int) -> Longs:
    if classes is None or classes >= len(labels):
        return labels
    if classes < 2:
        raise InputError("a sample of fewer than two labels leaves nothing to rank")
    return np.sort(np.random.default_rng(random_state).permutation(labels)[:classes])


def judge(scores: Floats, gold: Longs, labels: Longs, taxonomy: Taxonomy) -> metrics.Outcome:
    """Ranks among ``labels``; every other concept of the taxonomy stands behind them all."""
    blocks = []
    for start in range(0, max(1, len(gold)), 1024):
        part = slice(start, start + 1024)
        wide = np.full((len(gold[part]), len(taxonomy)), -np.inf, np.float32)
        wide[:, labels] = scores[part]
        blocks.append(metrics.judge(wide, list(gold[part, None]), taxonomy))
    return metrics.join(blocks)


def dataset_name(pictures: PictureSet, classes: int | None) -> str:
    """The paper's two tables have names of their own."""
    count = len(pictures.labels) if classes is None else min(classes, len(pictures.labels))
    if pictures.name == "cub200_wikispecies" and count in (SAMPLE, 200):
        return f"birds{count}"
    return pictures.name if classes is None else f"{pictures.name}-{count}"
