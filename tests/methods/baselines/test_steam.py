from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from taxosphere import Concept, Taxonomy
from taxosphere.methods.baselines.mini_paths import MiniPaths, all_chains
from taxosphere.methods.baselines.network import Batch
from taxosphere.methods.baselines.seed import NOBODY, Seed
from taxosphere.methods.baselines.steam import SteamNetwork, SteamSettings
from taxosphere.methods.baselines.strings import Definitions, Names, all_text_features, name_features

SMALL = {"ego_hidden": 3, "ego_heads": 2, "ego_position": 2, "ego_out": 4, "hidden": 6}


def test_chains_by_hand() -> None:
    taxonomy = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("b", "d"), ("a", "e"), ("x", "y")], {"z": "z"})
    place = dict(enumerate(taxonomy.ids)) | {NOBODY: "-"}
    found = {"".join(place[i] for i in row) for row in all_chains(taxonomy).tolist()}
    assert found == {"abc", "abd", "ae-", "xy-", "z--"}  # e is in no chain of three, z in none at all


def test_cases_never_show_the_query_and_name_the_slot_of_its_parent() -> None:
    taxonomy = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("b", "d"), ("a", "e"), ("e", "f"), ("c", "g"), ("e", "g")])
    paths = MiniPaths(taxonomy)
    chains = {tuple(row) for row in paths.anchors.tolist()}
    edges = {tuple(edge) for edge in taxonomy.edge_array.tolist()}
    torch.manual_seed(0)
    query = torch.tensor([child for _, child in sorted(edges)] * 30)
    candidate = torch.stack(
        [torch.tensor([parent for parent, _ in sorted(edges)] * 30), torch.randint(7, query.shape)], 1
    )
    path, label, usable = paths.cases(query, candidate)
    assert usable.float().mean() > 0.5
    for q, row, ways, slots, fine in zip(*(x.tolist() for x in (query, candidate, path, label, usable))):
        for c, way, slot, good in zip(row, ways, slots, fine):
            assert tuple(way) in chains
            assert c in way
            assert good == (q not in way)
            parents = [i for i, anchor in enumerate(way) if (anchor, q) in edges]
            assert slot == (parents[0] if parents else 3)


@pytest.fixture
def network() -> SteamNetwork:
    names = {"a": "acid", "b": "amino acid", "c": "essential amino acid", "d": "fatty acid", "z": "stone"}
    descriptions = {"b": "an acid with an amine group", "d": "an acid of a long chain"}
    taxonomy = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("a", "d")], names, descriptions)
    torch.manual_seed(0)
    vectors = F.normalize(torch.randn(5, 6, dtype=torch.float64), dim=1)
    return SteamNetwork(SteamSettings(**SMALL), Seed(taxonomy, vectors)).double().eval()


def test_scores_are_geometric_means_over_mini_paths(network: SteamNetwork) -> None:
    query, vector = Concept("q", "rare fatty acid", "a fatty acid"), F.normalize(torch.ones(1, 6).double(), dim=1)
    concepts = list(network.seed.taxonomy.concepts())
    with torch.no_grad():
        candidates = network.candidates()
        found = network.rank([query, query], vector.expand(2, -1), candidates)
        by_name = name_features(Names.of([query.name]), Names.of([c.name for c in concepts]))
        words = Definitions(concepts)
        by_text = all_text_features(words.matrices([query]), words.matrices(concepts))[0]
        match = (candidates @ vector[0]).numpy()
        logs: dict[int, list[float]] = {}
        for path in network.paths.anchors.tolist():
            rows = [np.concatenate([[match[a]], by_text[a], by_name[a]]) if a != NOBODY else np.zeros(9) for a in path]
            there = torch.tensor([[a != NOBODY for a in path]])
            logits = network.classify(torch.from_numpy(np.stack(rows))[None], there).fused
            chance = F.softmax(logits, dim=-1)[0].tolist()
            for slot, anchor in enumerate(path):
                if anchor != NOBODY:
                    logs.setdefault(anchor, []).append(float(np.log(chance[slot])))
    expected = [np.mean(logs[i]) for i in range(5)]
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-6)


def test_fusion_weighs_views_by_their_deviation(network: SteamNetwork) -> None:
    torch.manual_seed(1)
    features, there = torch.randn(4, 3, 9).double(), torch.tensor([[True, True, False]] * 4)
    with torch.no_grad():
        found = network.classify(features, there)
    for i in range(4):
        x = features[i] * there[i][:, None]
        parts = [torch.cat([x[:, s], there[i][:, None]], 1).flatten() for s in (slice(0, 1), slice(1, 4), slice(4, 9))]
        views = [mlp(part) for mlp, part in zip(network.mlps, parts)]
        soft = [torch.softmax(view, 0) for view in views]
        mean = sum(soft) / 3
        apart = torch.cat([torch.exp(-5 * (s - mean)) for s in soft])
        weight = torch.softmax(network.attention(apart), 0)
        fused = sum(w * view for w, view in zip(weight, views))
        torch.testing.assert_close(found.fused[i], fused)


def test_the_loss_is_the_three_terms(network: SteamNetwork) -> None:
    """Weighted classification of the fusion, of each view, and the disagreement of each two views."""
    query, candidate = torch.tensor([1, 2, 3]), torch.tensor([[0, 3], [1, 4], [0, 2]])
    batch = Batch(query, candidate, *network.seed.mask(query, candidate))
    kept: list[torch.Tensor] = []
    classify = network.classify

    def recorded(features: torch.Tensor, there: torch.Tensor) -> object:
        logits = classify(features, there)
        kept.extend(logits)
        return logits

    network.classify = recorded  # type: ignore[method-assign]
    torch.manual_seed(4)
    loss = network.loss(batch).item()
    torch.manual_seed(4)
    _, label, usable = network.paths.cases(query, candidate)
    fused, views = (x.detach() for x in kept)
    labels = label[usable].tolist()
    counts = [labels.count(i) for i in range(4)]
    weight = [max(counts) / max(1, n) for n in counts]

    def cross_entropy(logits: torch.Tensor) -> float:
        rows = [weight[y] * -torch.log_softmax(row, 0)[y].item() for row, y in zip(logits, labels)]
        return sum(rows) / sum(weight[y] for y in labels)

    soft = torch.softmax(views, -1)
    expected = cross_entropy(fused) + 0.1 * sum(cross_entropy(views[:, v]) for v in range(3))
    expected += 0.1 * sum(((soft[:, v] - soft[:, w]) ** 2).mean().item() for v in range(3) for w in range(v))
    assert loss == pytest.approx(expected)
