"""A model whose encoder learns along: fitted, saved, loaded in another process, stopped and resumed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.errors import InputError
from taxosphere.model import embedding
from taxosphere.model.training import TrainingRun, fine_tune
from taxosphere.taxonomy.split import hide

QUERIES = [Concept("a", "green fish"), Concept("b", "tall tree", "a tree that is called tall")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))


@pytest.fixture(scope="module")
def config(folder: Path) -> PolarisConfig:
    wanted = ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4", "ranking.prior=false")
    rates = ("training.encoder_learning_rate=0.01", "training.tuned_learning_rate=0.01")
    tuning = ("training.fine_tune=true", "training.encoder_epochs=4", *rates)
    small = (
        "training.batch=16",
        "training.tuned_batch=16",
        "training.noise=0",
    )  # many steps on clean points: the encoder begins as noise
    return PolarisConfig().with_overrides((*wanted, *tuning, *small, f'encoder.name="{folder}"'))


@pytest.fixture(scope="module")
def model(config: PolarisConfig) -> Polaris:
    return Polaris(config).fit(meadow(), encoder=encoder_of(config))


class Stopped(Exception):
    pass


def stop_at(words: str, times: int) -> Callable[[int, int, str], None]:
    """Stop when progress has said this so many times."""
    seen: list[str] = []

    def report(done: int, total: int, what: str) -> None:
        seen.extend([what] if words in what else [])
        if len(seen) == times:
            raise Stopped

    return report


def encoder_of(config: PolarisConfig) -> text_encoders.Trainable:
    return text_encoders.trainable(text_encoders.load(config.encoder.name, cache=None))


def test_the_encoder_learned_along(model: Polaris, config: PolarisConfig) -> None:
    assert "the encoder was trained too" in model.summary()
    still = Polaris(config.with_overrides(["training.fine_tune=false"])).fit(meadow(), encoder=encoder_of(config))
    assert not np.allclose(model.score(QUERIES), still.score(QUERIES))
    assert max(epoch.mrr or 0 for epoch in model.history) > max(epoch.mrr or 0 for epoch in still.history)


def test_a_fresh_process_gives_the_same_scores(model: Polaris, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    assert (tmp_path / "model" / "encoder.safetensors").is_file()
    script = (
        "import sys, numpy as np; from taxosphere import Concept, Polaris\n"
        "queries = [Concept('a', 'green fish'), Concept('b', 'tall tree', 'a tree that is called tall')]\n"
        "np.save(sys.argv[2], Polaris.load(sys.argv[1]).score(queries))\n"
    )
    arguments = [str(tmp_path / "model"), str(tmp_path / "scores.npy")]
    subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=True,
        env={**os.environ, "TAXOSPHERE_CACHE": str(tmp_path / "cache")},
    )
    assert np.array_equal(np.load(tmp_path / "scores.npy"), model.score(QUERIES))


def test_a_damaged_encoder_is_refused(model: Polaris, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "encoder.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(InputError, match=r"encoder.safetensors.*changed or damaged"):
        Polaris.load(tmp_path / "model")


def test_a_fit_that_was_stopped_resumes_to_the_same_model(
    model: Polaris, config: PolarisConfig, tmp_path: Path
) -> None:
    # In the trial, after it, while the encoder learns, among the folds.
    training = "training the embedding"
    for moment in ((training, 2), (training, 5), (training, 3), ("hiding fold 2", 1)):
        with pytest.raises(Stopped):
            Polaris(config).fit(
                meadow(), encoder=encoder_of(config), checkpoints=tmp_path, resume=True, progress=stop_at(*moment)
            )
    resumed = Polaris(config).fit(meadow(), encoder=encoder_of(config), checkpoints=tmp_path, resume=True)
    assert np.array_equal(resumed.score(QUERIES), model.score(QUERIES))


def test_a_fold_is_seen_by_an_encoder_that_never_learned_from_it(config: PolarisConfig) -> None:
    seed, encoder = meadow(), encoder_of(config)
    space = embedding.fit(encoder, seed, config, TrainingRun(0))
    assert space.encoder is not encoder
    part = hide(seed, seed.leaves[::3])
    kept = np.delete(np.arange(len(seed)), seed.leaves[::3])
    views, network = space.refit(part.seed, kept, 7)

    vectors = torch.from_numpy(encoder.encode([concept.text for concept in part.seed.concepts()]))
    start = embedding.train_head(vectors, part.seed, config, random_state=7, epochs=space.head.epochs).network
    texts = [concept.text for concept in part.seed.concepts()]
    epochs = space.head.encoder_epochs
    alone = fine_tune(text_encoders.bare(encoder), texts, part.seed, config, random_state=7, start=start, epochs=epochs)
    assert alone.encoder is not None
    np.testing.assert_array_equal(views.full, alone.encoder.encode([concept.text for concept in seed.concepts()]))
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), alone.network.parameters(), strict=True))
    assert not np.allclose(views.full, space.views.full)


def weights_of(space: embedding.FittedEmbedding) -> list[np.ndarray]:
    return list(text_encoders.trainable(space.encoder).tuned.values())


def test_an_encoder_that_need_not_see_the_asked_leaves_learns_once(config: PolarisConfig) -> None:
    """Where the ranker asks a few of the leaves, the encoder learns from the others and every fold looks with it."""
    # Of several epochs, the asked leaves would choose one.
    config = config.with_overrides(["ranking.examples=8", "training.epochs=1", "training.encoder_epochs=1"])
    seed, encoder = meadow(), encoder_of(config)
    space = embedding.fit(encoder, seed, config, TrainingRun(0))
    assert weights_of(space)
    asked = embedding.ranker_leaves(seed, config.ranking, 0)
    part = hide(seed, asked[::2])
    views, _ = space.refit(part.seed, np.delete(np.arange(len(seed)), asked[::2]), 7)
    assert views is space.with_foreign

    edges = dict.fromkeys(seed.edges())
    parents = {child: parent for parent, child in edges}

    def elsewhere(leaf: int) -> list[np.ndarray]:
        """What the encoder learns where this leaf hangs from another concept."""
        child = seed.ids[leaf]
        other = next(parent for parent in parents.values() if parent not in (parents[child], child))
        moved = [(other if c == child else p, c) for p, c in edges]
        return weights_of(
            embedding.fit(encoder, Taxonomy.from_concepts(seed.concepts(), moved), config, TrainingRun(0))
        )

    free = next(leaf for leaf in np.flatnonzero(seed.hideable) if leaf not in asked)
    assert all(np.array_equal(a, b) for a, b in zip(weights_of(space), elsewhere(int(asked[0])), strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(weights_of(space), elsewhere(int(free)), strict=True))


def test_of_two_encoders_side_by_side_the_first_learns(config: PolarisConfig, tmp_path: Path) -> None:
    first, second = Path(config.encoder.name), build_tiny_encoder(tmp_path / "second")
    settings = config.with_overrides(
        ["ranking.examples=8", "training.epochs=1", "training.encoder_epochs=1", f"encoder.name='{first}+{second}'"]
    )
    both = text_encoders.load(settings.encoder.name, cache=None)
    space = embedding.fit(both, meadow(), settings, TrainingRun(0))
    alone = embedding.fit(encoder_of(config), meadow(), settings, TrainingRun(0))
    assert weights_of(space)
    assert all(np.array_equal(a, b) for a, b in zip(weights_of(space), weights_of(alone), strict=True))
    beside = both.dim // 2
    before = text_encoders.encode_text_vectors(both, list(meadow().concepts())).full
    np.testing.assert_array_equal(space.views.full[:, beside:], before[:, beside:])
    assert not np.allclose(space.views.full[:, :beside], before[:, :beside])

    model = Polaris(settings).fit(meadow())
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Polaris.load(tmp_path / "model").score(QUERIES), model.score(QUERIES))
    assert text_encoders.untuned(model.fitted.encoder) is not model.fitted.encoder


def test_a_part_of_two_encoders_needs_leaves_to_spare(config: PolarisConfig, tmp_path: Path) -> None:
    second = build_tiny_encoder(tmp_path / "second")
    both = text_encoders.load(f"{config.encoder.name}+{second}", cache=None)
    with pytest.raises(InputError, match="too few leaves to fine-tune a part"):
        embedding.fit(both, meadow(), config, TrainingRun(0))


def test_a_seed_without_edges_spares_nothing(config: PolarisConfig) -> None:
    flat = Taxonomy.from_concepts(meadow().concepts(), [])
    assert embedding.split_for_ranker(flat, config.ranking, 0) is None
    assert len(Polaris(config).fit(flat, encoder=encoder_of(config)).suggest("green fish")) == 10


def test_a_single_training_that_was_stopped_resumes_to_the_same_model(config: PolarisConfig, tmp_path: Path) -> None:
    config = config.with_overrides(["ranking.examples=8"])

    def fit(**more: Any) -> Polaris:
        return Polaris(config).fit(meadow(), encoder=encoder_of(config), **more)

    for times in (2, 5, 9):
        with pytest.raises(Stopped):
            fit(checkpoints=tmp_path, resume=True, progress=stop_at("training the embedding", times))
    whole, resumed = fit(), fit(checkpoints=tmp_path, resume=True)
    assert "the encoder was trained too" in whole.summary()
    assert np.array_equal(resumed.score(QUERIES), whole.score(QUERIES))


def test_new_concepts_are_inserted_by_what_the_encoder_knew_before(model: Polaris, config: PolarisConfig) -> None:
    plain = encoder_of(config).encode([concept.text for concept in model.taxonomy.concepts()])
    np.testing.assert_array_equal(model.fitted.untuned_vectors.full, plain)
    assert len(model.expand([("green bird", "a bird that is called green")], accept=0.0).attached) == 1


def test_another_model_cannot_begin_from_it(model: Polaris, config: PolarisConfig) -> None:
    with pytest.raises(InputError, match="encoder of its own"):
        Polaris(config).fit(meadow(), encoder=encoder_of(config), start=model)


def test_with_fine_tuning_two_thirds_of_many_leaves_are_left_to_the_encoder(
    config: PolarisConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = meadow()
    leaves = np.count_nonzero(seed.hideable)
    tuned = config.with_overrides(["training.fine_tune=true"])
    assert embedding.limit_examples(seed, tuned) is tuned  # so few that the ranker needs them all
    monkeypatch.setattr("taxosphere.model.embedding._FEWEST_EXAMPLES", leaves // 3)
    spared = embedding.limit_examples(seed, tuned)
    assert spared.ranking.examples == leaves // 3
    assert embedding.split_for_ranker(seed, spared.ranking, 0) is not None
    stated = tuned.with_overrides(["ranking.examples=60"])
    assert embedding.limit_examples(seed, stated) is stated
    frozen = tuned.with_overrides(["training.fine_tune=false"])
    assert embedding.limit_examples(seed, frozen) is frozen
    assert frozen.ranking.most_examples == 2400
    said = tuned.with_overrides([f"ranking.examples={leaves // 3}"])
    left_open = Polaris(tuned).fit(seed)
    assert left_open.config.ranking.examples is None
    np.testing.assert_array_equal(left_open.score(QUERIES), Polaris(said).fit(seed).score(QUERIES))
