"""One suite over all trained systems. A method of the registry without a case fails `test_every_system_has_a_case`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.methods import registry as methods
from taxosphere.methods.baselines import network as network_module
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Network
from taxosphere.methods.baselines.sampling import batches
from taxosphere.methods.baselines.seed import NOBODY, MaskedCandidates, Seed
from taxosphere.methods.baselines.training import mean_reciprocal_rank

QUICK = {"steps": 60, "epochs": 0, "evaluations": 3, "batch_size": 32, "negatives": 8, "learning_rate": 0.01}
EGO = {"ego_hidden": 8, "ego_heads": 2, "ego_position": 4, "ego_out": 8}
CASES: dict[str, dict[str, object]] = {
    "transe": {"dim": 16},
    "rotate": {"dim": 8},
    "hake": {"dim": 8},
    "bert-mlp": {"hidden": 32},
    "hyperexpan": {"hidden": 8, "matcher": 32},
    "cone": {"dim": 16},
    "entailment-cones": {"dim": 16},
    "box": {"dim": 8, "hidden": 16},
    "gumbel-box": {"dim": 8, "centre_scale": 1.0},  # fewer coordinates must lie farther apart
    "arborist": {"maps": 3},
    "tmn": {"slices": 2},
    "taxoexpan": EGO,
    "steam": {**EGO, "hidden": 16},
}
UNTRAINED = {*methods.REFERENCES, "polaris", "polaris-cosine", "polaris-paper", "polaris-paper-frozen"}


KINDS = {"tool": ["hammer", "chisel", "spanner"], "tree": ["maple", "willow", "spruce"], "fish": ["trout", "pike"]}
WORDS = ["red", "old", "wide", "small", "iron", "wild"]


def toy() -> tuple[Taxonomy, list[Concept], list[np.ndarray]]:
    """thing → kind → sort → 'word sort': 53 concepts, and eight more to place below the sorts."""
    edges = [("thing", kind) for kind in KINDS]
    edges += [(kind, sort) for kind, sorts in KINDS.items() for sort in sorts]
    sorts = [sort for kinds in KINDS.values() for sort in kinds]
    edges += [(sort, f"{word} {sort}") for sort in sorts for word in WORDS[:5]]
    edges.append(("tree", "iron hammer"))  # one concept with two parents
    names = {"nothing": "nothing"}  # and one without any
    descriptions = {f"{word} {sort}": f"a {sort} that is {word}" for sort in sorts for word in WORDS}
    seed = Taxonomy.from_edges(edges, names, {k: v for k, v in descriptions.items() if "wild" not in k})
    queries = [Concept(f"wild {sort}", f"wild {sort}", descriptions[f"wild {sort}"]) for sort in sorts]
    return seed, queries, [np.array([seed.position(sort)]) for sort in sorts]


def create(name: str, **settings: object) -> Baseline:
    method = methods.create(name, {**QUICK, **CASES[name], **settings})
    assert isinstance(method, Baseline)
    return method


@cache
def fitted(name: str, run: int = 0) -> Baseline:
    del run  # another run of the same fit
    return create(name).fit(toy()[0], encoder=GramEncoder(), random_state=3)


def build(name: str, seed: Seed) -> Network:
    method = create(name)
    torch.manual_seed(0)
    return method.network_type(method.settings, seed)


def toy_seed() -> Seed:
    taxonomy = toy()[0]
    return Seed(taxonomy, torch.from_numpy(GramEncoder().encode([c.text for c in taxonomy.concepts()])))


every_system = pytest.mark.parametrize("name", CASES)


def test_every_system_has_a_case() -> None:
    trained = set(methods.names("parents")) - UNTRAINED
    assert set(CASES) == trained


@every_system
def test_learns_a_toy_hierarchy(name: str) -> None:
    seed, queries, gold = toy()
    scores = fitted(name).score(queries)
    assert scores.shape == (len(queries), len(seed))
    assert scores.dtype == np.float32
    chance = np.mean(1 / np.arange(1, len(seed) + 1))
    assert mean_reciprocal_rank(scores, tuple(gold)) > 3 * chance


@every_system
def test_training_lowers_its_loss(name: str) -> None:
    method, seed = create(name), toy_seed()
    network = build(name, seed)
    batch = next(batches(seed, method.settings, np.random.default_rng(0)))

    def loss(of: Network) -> float:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            return float(of.eval().loss(batch).detach())

    before = loss(network)
    trained = fitted(name).network
    assert trained is not None
    assert loss(trained) < before


@every_system
def test_equal_seeds_give_equal_bits(name: str) -> None:
    queries = toy()[1]
    torch.manual_seed(123)  # what other code did with the global generator must not matter
    np.testing.assert_array_equal(fitted(name).score(queries), fitted(name, run=1).score(queries))


@every_system
def test_leaves_the_global_generator_alone(name: str) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    create(name, steps=2, validation=0).fit(toy()[0], encoder=GramEncoder(), random_state=0)
    assert torch.equal(torch.rand(3), expected)


@every_system
def test_gradient_reaches_every_parameter(name: str) -> None:
    seed = toy_seed()
    network = build(name, seed)
    source = batches(seed, create(name).settings, np.random.default_rng(0))
    for _ in range(4):
        network.loss(next(source)).backward()
    for parameter_name, parameter in network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@every_system
@pytest.mark.parametrize("settings", [{"stepps": 3}, {"steps": "many"}, {"steps": 0}, {"learning_rate": -1}])
def test_refuses_settings_it_does_not_know(name: str, settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match=rf"{name}: setting '{next(iter(settings))}'"):
        create(name, **settings)


@every_system
def test_settings_may_come_as_text_and_never_change(name: str) -> None:
    method = create(name, steps="7")
    assert method.settings.steps == 7
    with pytest.raises(ValueError, match="frozen"):
        method.settings.steps = 8  # type: ignore[misc]


@every_system
def test_a_query_in_training_is_invisible(name: str) -> None:
    """A candidate seen without the query is what it would be in a seed that never had the query's edges."""
    seed = toy_seed()
    network = build(name, seed).eval()
    for parent, child in (("thing", "tool"), ("tool", "hammer"), ("hammer", "red hammer"), ("tree", "iron hammer")):
        p, c = seed.taxonomy.position(parent), seed.taxonomy.position(child)
        edges = seed.taxonomy.edge_array
        without = Seed(seed.taxonomy.with_edges(edges[(edges != c).all(1)]), seed.vectors)
        other = build(name, without).eval()
        other.load_state_dict(network.state_dict())
        with torch.no_grad():
            masked = network.candidate(MaskedCandidates(torch.tensor([p]), torch.tensor([c])))
            removed = other.candidate(MaskedCandidates(torch.tensor([p]), torch.tensor([NOBODY])))
        torch.testing.assert_close(masked, removed, rtol=1e-6, atol=1e-6)


def test_batches_hide_the_query_from_its_neighbours() -> None:
    seed = toy_seed()
    neighbours = {frozenset(edge) for edge in seed.taxonomy.edge_array.tolist()}
    source = batches(seed, create("transe").settings, np.random.default_rng(0))
    met = 0
    for _ in range(3):
        batch = next(source)
        for query, row, place in zip(batch.query.tolist(), batch.candidate.tolist(), batch.place, strict=True):
            for candidate, view in zip(row, place, strict=True):
                near = frozenset((query, candidate)) in neighbours
                met += near
                assert batch.views.position[view] == candidate
                assert batch.views.hidden[view] == (query if near else NOBODY)
    assert met > 50


@every_system
def test_blocks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring in blocks of a few pairs equals scoring at once, and no call sees more pairs than a block allows."""
    method, queries = fitted(name), toy()[1]
    network = method.network
    assert network is not None
    whole = method.score(queries)
    seen: list[int] = []
    match = type(network).match

    def counted(self: Network, query: torch.Tensor, candidate: torch.Tensor) -> torch.Tensor:
        scores = match(self, query, candidate)
        seen.append(scores.numel())
        return scores

    monkeypatch.setattr(type(network), "match", counted)
    monkeypatch.setattr(network_module, "BLOCK", 5 * network.width)
    np.testing.assert_allclose(method.score(queries), whole, rtol=1e-4, atol=1e-4)
    assert all(pairs <= 5 for pairs in seen)


@every_system
def test_a_row_does_not_depend_on_its_block(name: str) -> None:
    method, queries = fitted(name), toy()[1]
    whole = method.score(queries)
    np.testing.assert_allclose(np.concatenate([method.score([q]) for q in queries]), whole, rtol=1e-4, atol=1e-4)
    assert method.score([]).shape == (0, whole.shape[1])


@every_system
def test_must_be_fitted_first(name: str) -> None:
    with pytest.raises(TaxosphereError, match=f"{name} must be fitted"):
        create(name).score(toy()[1])
