from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from taxosphere.model import objectives
from taxosphere.model.batches import Batch
from taxosphere.model.config import LossConfig
from taxosphere.model.negatives import NONE
from taxosphere.model.network import Embedding
from taxosphere.sphere import svgd, vmf

ALL = LossConfig(listwise=1.0, geometric=0.7, probabilistic=0.3, svgd=0.1)


def points(count: int = 7, dim: int = 5, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(count, dim, generator=generator, dtype=torch.float64), dim=1)


def embedding(seed: int = 0) -> Embedding:
    generator = torch.Generator().manual_seed(seed)
    return Embedding(
        points(seed=seed), points(seed=seed + 1), 1 + 9 * torch.rand(7, generator=generator, dtype=torch.float64)
    )


def batch() -> Batch:
    forbidden = torch.zeros(3, 7, dtype=torch.bool)
    forbidden[0, 0] = forbidden[1, 1] = forbidden[2, 2] = forbidden[2, 0] = True
    return Batch(
        concepts=np.arange(7),
        child=torch.tensor([0, 1, 2]),
        parent=torch.tensor([3, 4, 4]),
        negative=torch.tensor([[5, 6], [5, NONE], [NONE, NONE]]),
        forbidden=forbidden,
    )


def angle(a: Tensor, b: Tensor) -> float:
    return math.acos(float(a @ b))


def triplets(loss_of: object) -> float:
    """Mean over pairs of the mean over their negatives; a pair without any counts as zero."""
    per_pair = [[(0, 3, 5), (0, 3, 6)], [(1, 4, 5)], []]
    return sum(sum(map(loss_of, group)) / max(1, len(group)) for group in per_pair) / 3


@pytest.mark.parametrize("logit", ["cosine", "vmf"])
def test_listwise_by_hand(logit: str) -> None:
    z, mu, kappa = embedding()

    def affinity(child: int, candidate: int) -> float:
        if logit == "cosine":
            return float(z[child] @ z[candidate]) / 0.1
        return float(kappa[candidate] * (mu[candidate] @ z[child]) + vmf.log_normalizer(5, kappa[candidate]))

    expected = []
    for child, parent, others in ((0, 3, range(1, 7)), (1, 4, (0, 2, 3, 4, 5, 6)), (2, 4, (1, 3, 4, 5, 6))):
        weights = {j: math.exp(affinity(child, j)) for j in others}
        expected.append(-math.log(weights[parent] / sum(weights.values())))
    found = objectives.listwise(embedding(), batch(), LossConfig(logit=logit, temperature=0.1))
    assert found.item() == pytest.approx(sum(expected) / 3)


@pytest.mark.parametrize("kind", ["plain", "log"])
def test_geometric_by_hand(kind: str) -> None:
    z = embedding().z
    config = LossConfig(welsch=kind, welsch_c=0.9)

    def welsch(theta: float) -> float:
        value = 1 - math.exp(-(theta**2) / (2 * 0.9**2))
        return value if kind == "plain" else math.log(value)

    def loss(triplet: tuple[int, int, int]) -> float:
        c, p, n = triplet
        return max(0.0, 0.5 + welsch(angle(z[c], z[p])) - welsch(angle(z[c], z[n])))

    assert objectives.geometric(z, batch(), config).item() == pytest.approx(triplets(loss))


@pytest.mark.parametrize("variant", ["exact", "paper"])
def test_probabilistic_by_hand(variant: str) -> None:
    e = embedding()

    def kl(a: int, b: int) -> float:
        return vmf.kl(e.mu[a], e.kappa[a], e.mu[b], e.kappa[b], variant).item()

    expected = triplets(lambda t: max(0.0, 0.3 + kl(t[0], t[1]) - kl(t[0], t[2])))
    found = objectives.probabilistic(e, batch(), LossConfig(bessel=variant))
    assert found.item() == pytest.approx(expected)


def test_spread_uses_the_anchor_and_the_variant_asked_for() -> None:
    e = embedding()
    found = {
        (anchor, variant): objectives.spread(e, LossConfig(anchor=anchor, svgd_variant=variant)).item()
        for anchor in ("learned", "self")
        for variant in ("corrected", "paper")
    }
    assert len(set(found.values())) == 4
    field = svgd.field(e.z, e.mu, variant="paper")
    assert found["learned", "paper"] == pytest.approx(field.norm(dim=1).mean().item())
    field = svgd.field(e.z, e.z, variant="corrected")
    assert found["self", "corrected"] == pytest.approx(-(field * e.z).sum(1).mean().item())


def test_only_weighted_terms_are_computed_and_they_add_up() -> None:
    found = objectives.terms(embedding(), batch(), ALL)
    assert list(found) == ["listwise", "geometric", "probabilistic", "svgd"]
    expected = sum(weight * found[name] for name, weight in zip(found, (1.0, 0.7, 0.3, 0.1), strict=True))
    torch.testing.assert_close(objectives.total(found, ALL), expected)
    assert list(objectives.terms(embedding(), batch(), LossConfig(listwise=0.0, svgd=1.0))) == ["svgd"]


@pytest.mark.parametrize("name", ["listwise", "geometric", "probabilistic"])
def test_a_rotation_of_the_sphere_changes_nothing(name: str) -> None:
    e = embedding()
    rotation = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64)).Q
    turned = Embedding(e.z @ rotation, e.mu @ rotation, e.kappa)
    before, after = (objectives.terms(x, batch(), ALL)[name] for x in (e, turned))
    torch.testing.assert_close(before, after)


@pytest.mark.parametrize("kind", ["plain", "log"])
@pytest.mark.parametrize("case", ["identical", "antipodal", "poles"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_degenerate_points_have_finite_values_and_gradients(kind: str, case: str, dtype: torch.dtype) -> None:
    z = torch.zeros(7, 5, dtype=dtype)
    z[:, 0 if case == "identical" else -1] = 1.0
    if case != "identical":
        z[3:] *= -1
    z.requires_grad_()
    kappa = torch.full((7,), 5.0, dtype=dtype, requires_grad=True)
    config = ALL.model_copy(update={"welsch": kind})
    found = objectives.terms(Embedding(z, z, kappa), batch(), config)
    objectives.total(found, config).backward()
    assert all(torch.isfinite(value) for value in found.values())
    assert torch.isfinite(z.grad).all()
    assert torch.isfinite(kappa.grad).all()
