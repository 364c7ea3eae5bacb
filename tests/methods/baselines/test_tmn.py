from __future__ import annotations

import numpy as np
import pytest
import torch

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.methods.baselines.insertion_cases import Cases, Insertions
from taxosphere.methods.baselines.network import Batch
from taxosphere.methods.baselines.seed import NOBODY, Seed
from taxosphere.methods.baselines.tmn import GatedMatch, Tmn, TmnNetwork, TmnSettings


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def leaky(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 0.2 * x)


def numbers(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def slices(match: GatedMatch, x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """x̃ᵀ W q + V [x̃ ; q] with x̃ = x ∘ σ(G [x ; q]), slice by slice."""
    w = numbers(match)
    parts = np.split(x, len(match.gates))
    gate = sum(w[f"gates.{i}.weight"] @ part for i, part in enumerate(parts))
    kept = x * sigmoid(gate + w["query_gate.weight"] @ q + w["query_gate.bias"])
    return np.array(
        [
            kept @ w["tensor"][k] @ q + w["direct"][k] @ kept + w["constant.weight"][k] @ q + w["constant.bias"][k]
            for k in range(len(w["tensor"]))
        ]
    )


@pytest.fixture
def network(double_seed: Seed) -> TmnNetwork:
    torch.manual_seed(0)
    network = TmnNetwork(TmnSettings(slices=2), double_seed).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return network.eval()


def naive(network: TmnNetwork, q: np.ndarray, p: np.ndarray, c: np.ndarray) -> list[float]:
    left, right = leaky(slices(network.left, p, q)), leaky(slices(network.right, c, q))
    edge = leaky(slices(network.edge, np.concatenate([p, c]), q))
    joined = np.concatenate([edge, left, right])
    heads = ((network.out, joined), (network.left.out, left), (network.right.out, right), (network.edge.out, edge))
    return [(numbers(out)["weight"] @ x + numbers(out)["bias"]).item() for out, x in heads]


def test_all_scores_of_pairs_and_of_the_pseudo_leaf(network: TmnNetwork, double_seed: Seed) -> None:
    h = double_seed.vectors.numpy()
    pairs = torch.tensor([[0, 1], [0, NOBODY], [1, 3], [2, 4], [4, NOBODY]])
    with torch.no_grad():
        found = network.match_pairs(double_seed.vectors, pairs).numpy()
        leaf = network.match_all(network.query(double_seed.vectors), network.candidates()).numpy()
    for q in range(5):
        for i, (p, c) in enumerate(pairs.tolist()):
            child = np.zeros(6) if c == NOBODY else h[c]
            np.testing.assert_allclose(found[q, i], naive(network, h[q], h[p], child)[0], rtol=1e-9)
        for p in range(5):
            np.testing.assert_allclose(leaf[q, p], naive(network, h[q], h[p], np.zeros(6))[0], rtol=1e-9)


def test_the_loss_is_four_binary_losses(
    network: TmnNetwork, double_seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """b between a and one of its children; d a leaf below b. Wrong: the other ways."""
    parent, child = torch.tensor([[0, 0, 2], [1, 1, 2]]), torch.tensor([[4, NOBODY, 3], [NOBODY, 4, NOBODY]])
    right_parent = torch.tensor([[True, True, False], [True, True, False]])
    right_child = torch.tensor([[True, False, True], [True, False, True]])
    cases = Cases(parent, child, right_parent, right_child)
    monkeypatch.setattr(network.insertions, "cases", lambda query, candidate: cases)
    query = torch.tensor([1, 3])
    batch = Batch(query, parent, *double_seed.mask(query, parent))
    h, total = double_seed.vectors.numpy(), 0.0
    for i, q in enumerate(query.tolist()):
        for j in range(3):
            c = child[i, j].item()
            scores = naive(network, h[q], h[parent[i, j]], np.zeros(6) if c == NOBODY else h[c])
            p, r = right_parent[i, j].item(), right_child[i, j].item()
            for score, label in zip(scores, (p and r, p, r, p and r)):
                total += np.log1p(np.exp(-score if label else score))
    assert network.loss(batch).item() == pytest.approx(total / 6)


def test_cases_are_labelled_by_the_seed(double_seed: Seed) -> None:
    torch.manual_seed(0)
    query, truth = torch.tensor([1, 3, 4, 2] * 20), torch.tensor([0, 1, 2, 0] * 20)
    candidate = torch.cat([truth[:, None], torch.tensor([[2, 3], [2, 0], [3, 0], [1, 3]] * 20)], dim=1)
    cases = Insertions(double_seed.taxonomy, pairs=0.4, half_right=0.3).cases(query, candidate)
    edges = {tuple(edge) for edge in double_seed.taxonomy.edge_array.tolist()}
    inner = {p for p, _ in edges}
    kinds = set()
    for q, ps, cs, rp, rc in zip(query.tolist(), *(x.tolist() for x in cases)):
        assert rp[0]
        assert rc[0]
        for p, c, good_parent, good_child in zip(ps, cs, rp, rc):
            assert good_parent == ((p, q) in edges)
            assert good_child == ((q, c) in edges if c != NOBODY else q not in inner)
            assert c != q
            assert c == NOBODY or (p, c) in edges or (q, c) in edges
            kinds.add((good_parent, good_child))
    assert len(kinds) == 4


def test_insertion_pairs_rank_the_right_place_first() -> None:
    """'maple' belongs between 'tree' and 'red maple', not above a hammer nor between a thing and a tool."""
    words, sorts = (
        ["red", "old", "wide", "small", "iron"],
        {"tool": ["hammer", "chisel", "saw"], "tree": ["willow", "fir"]},
    )
    edges = [("thing", "tool"), ("thing", "tree"), *(("tree", f"{word} maple") for word in words)]
    for kind, members in sorts.items():
        edges += [(kind, sort) for sort in members] + [(sort, f"{word} {sort}") for sort in members for word in words]
    seed = Taxonomy.from_edges(edges)
    method = Tmn({"steps": 300, "validation": 0, "learning_rate": 0.003, "negatives": 16, "pairs": 0.5})
    method.fit(seed, encoder=GramEncoder(), random_state=0)
    places = (("tree", "red maple"), ("tool", "hammer"), ("hammer", "red hammer"), ("thing", "tool"))
    scores = method.score_pairs(
        [Concept("maple", "maple")], np.array([(seed.position(p), seed.position(c)) for p, c in places])
    )
    assert scores.shape == (1, 4)
    assert scores.argmax() == 0
