from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.errors import TaxosphereError
from taxosphere.model.config import RankingConfig
from taxosphere.ranking import prior
from taxosphere.ranking.calibration import Logistic, NoneOfThese
from taxosphere.ranking.net import NetEnsemble, train_nets
from taxosphere.ranking.prior import Prior, nets_for_columns, read_prior, save_prior


def _scores(nets: NetEnsemble, table: np.ndarray) -> np.ndarray:
    return nets.scores(nets.standardise(table))


@pytest.fixture
def known() -> Prior:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 5, 3)).astype(np.float32)
    labels = np.arange(5) == table[..., 0].argmax(1)[:, None]
    model = train_nets(table, labels, RankingConfig(epochs=8, hidden=4), n_nets=2, random_state=0, prior=None)
    none = NoneOfThese(Logistic.fit(rng.normal(size=(40, 2)), np.arange(40) % 2 == 0, ridge=0.1), None)
    return Prior(("text similarity", "depth", "children"), model, 1.3, none)


def test_a_saved_prior_scores_as_before(known: Prior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_prior(known, tmp_path / "prior.safetensors")
    monkeypatch.setattr(prior, "FILE", tmp_path / "prior.safetensors")
    again = read_prior()
    assert again is not None
    assert (again.columns, again.temperature) == (known.columns, known.temperature)
    table = np.random.default_rng(1).normal(size=(4, 6, 3)).astype(np.float32)
    np.testing.assert_array_equal(_scores(again.nets, table), _scores(known.nets, table))
    signals = np.random.default_rng(2).normal(size=(7, 2))
    np.testing.assert_allclose(again.none_model.probability(signals), known.none_model.probability(signals))


def test_without_a_file_there_is_no_prior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prior, "FILE", tmp_path / "absent")
    assert read_prior() is None
    assert nets_for_columns(None, ("text similarity",)) is None


def test_columns_are_matched_by_name(known: Prior) -> None:
    table = np.random.default_rng(3).normal(size=(4, 6, 3)).astype(np.float32)
    turned = nets_for_columns(known, ("children", "text similarity", "depth"))
    assert turned is not None
    np.testing.assert_allclose(_scores(turned, table[..., [2, 0, 1]]), _scores(known.nets, table), atol=1e-5)


def test_a_column_that_the_prior_lacks_counts_nothing(known: Prior) -> None:
    table = np.random.default_rng(4).normal(size=(4, 6, 4)).astype(np.float32)
    wider = nets_for_columns(known, (*known.columns, "siblings"))
    assert wider is not None
    np.testing.assert_allclose(_scores(wider, table), _scores(known.nets, table[..., :3]), atol=1e-5)


def test_a_column_of_no_feature_is_refused(known: Prior) -> None:
    with pytest.raises(TaxosphereError, match="there is no feature 'text similarty'; the nearest is 'text similarity'"):
        nets_for_columns(known, (*known.columns, "text similarty, rank"))
    with pytest.raises(TaxosphereError, match="there is no feature 'brand new'"):
        Prior((*known.columns[:2], "brand new"), known.nets, known.temperature, known.none_model)


def test_a_catalogue_too_small_to_learn_from_gets_probabilities_all_the_same() -> None:
    shelves = {
        "food": ["dairy", "fruit"],
        "dairy": ["milk", "cheese", "butter", "cream"],
        "fruit": ["apple", "pear", "banana", "plum"],
        "cheese": ["goat cheese", "blue cheese"],
        "tools": ["hammer", "saw"],
        "hammer": ["claw hammer", "sledge hammer"],
        "saw": ["hand saw", "chain saw"],
    }
    catalogue = Taxonomy.from_edges([(shelf, thing) for shelf, things in shelves.items() for thing in things])
    model = Polaris().fit(catalogue, encoder=text_encoders.load("minilm"))
    assert "the prior" in model.summary()[0]
    more = ["orange", "kiwi", "cherry", "fig", "drill", "rake", "spade", "anvil", "ricotta", "brie", "feta", "quark"]
    for company in ([], more):  # other new concepts make the list of candidates longer
        found = model.expand(["gouda cheese", *company]).placements[0].suggestions
        assert found[0].name == "cheese"
        assert found[0].probability > 0.5
        assert found.none_probability < 0.1


def test_a_list_without_edges_is_ranked_by_the_plain_cosine() -> None:
    """The prior trusts what the head has learned, which here is nothing: it found gouda cheese among the furniture."""
    shelves = ["dairy", "fruit", "tools", "clothes", "furniture", "books", "toys", "shoes"]
    flat = Taxonomy.from_edges([], names={shelf: shelf for shelf in shelves})
    model = Polaris().fit(flat, encoder=text_encoders.load("minilm"))
    assert "plain cosine" in model.summary()[0]
    for name, shelf in {"gouda cheese": "dairy", "plum": "fruit", "claw hammer": "tools", "sandals": "shoes"}.items():
        assert model.suggest(name)[0].name == shelf


def test_many_loose_ends_are_no_hint_that_parents_are_missing() -> None:
    """Most of a young taxonomy stands alone. More loose ends than usual tell something, and there are no more here."""
    alone = ["tools", "clothes", "furniture", "books", "toys", "shoes", "lamps", "carpets", "plants", "bicycles"]
    young = Taxonomy.from_edges(
        [("food", "dairy"), ("food", "fruit"), ("dairy", "milk")], names={shelf: shelf for shelf in alone}
    )
    model = Polaris().fit(young, encoder=text_encoders.load("minilm"))
    assert "the prior" in model.summary()[0]
    asked = ["claw hammer", "sandals", "gouda cheese", "wardrobe"]
    assert max(model.suggest(name).none_probability for name in asked) < 0.5
