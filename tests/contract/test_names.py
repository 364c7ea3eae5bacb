"""Names that others call: they stay, with the arguments they take."""

from __future__ import annotations

import importlib
import inspect

import pytest
import torch

from taxosphere import Taxonomy
from taxosphere.cli import COMMANDS
from taxosphere.methods import registry as methods

FUNCTIONS = {
    "sphere.bessel.log_iv": ["order", "x"],
    "sphere.bessel.ratio": ["dim", "kappa"],
    "sphere.vmf.log_normalizer": ["dim", "kappa"],
    "sphere.vmf.kl": ["mu_a", "kappa_a", "mu_b", "kappa_b"],
    "sphere.maps.expmap": ["x", "v"],
    "sphere.maps.logmap": ["x", "y"],
    "sphere.maps.transport": ["x", "y", "v"],
    "sphere.maps.angle": ["x", "y"],
    "sphere.maps.project_tangent": ["x", "v"],
    "sphere.maps.to_angles": ["z"],
    "sphere.maps.from_angles": ["angles"],
    "orbit.radius.radii": ["taxonomy"],
    "orbit.gate.delta": ["taxonomy"],
}
METHODS = """polaris polaris-cosine polaris-paper polaris-paper-frozen transe rotate hake bert-mlp hyperexpan cone
entailment-cones box gumbel-box arborist tmn taxoexpan steam
clip-zero-shot clip-1 clip-2 tfidf tfidf-internal encoder-cosine sibling-vote""".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_they_took(name: str) -> None:
    module, _, function = name.rpartition(".")
    parameters = inspect.signature(getattr(importlib.import_module(f"taxosphere.{module}"), function)).parameters
    assert list(parameters)[: len(FUNCTIONS[name])] == FUNCTIONS[name]


def test_the_field_takes_its_options_by_keyword() -> None:
    from taxosphere.sphere.svgd import field

    parameters = inspect.signature(field).parameters
    assert list(parameters)[:2] == ["z", "mu"]
    assert {"kernel", "kappa_repel", "kappa_align", "variant"} <= set(parameters)
    z = torch.nn.functional.normalize(torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), dim=1)
    moved = field(z, z, kernel="vmf", kappa_repel=2.0, kappa_align=1.0, variant="corrected")
    assert moved.shape == z.shape
    torch.testing.assert_close((moved * z).sum(1), torch.zeros(5), atol=1e-5, rtol=0)


def test_one_radius_and_one_gap_per_concept() -> None:
    from taxosphere.orbit import gate, radius

    taxonomy = Taxonomy.from_edges([("a", "b"), ("b", "c")])
    assert len(radius.radii(taxonomy)) == len(gate.delta(taxonomy)) == 3
    assert gate.delta(taxonomy)[2] == 0  # a leaf: (log2(2 + 0) − 1) = 0


def test_methods_and_commands_keep_their_names() -> None:
    assert set(METHODS) <= set(methods.names())
    assert {"demo", "inspect", "convert", "fit", "suggest", "expand", "evaluate", "bench", "study"} <= set(COMMANDS)


def test_a_taxonomy_has_its_attributes() -> None:
    taxonomy = Taxonomy.from_edges([("a", "b")], names={"a": "A"}, descriptions={"b": "second"})
    assert taxonomy.ids == ("a", "b")
    assert taxonomy.names == ("A", "b")
    assert taxonomy.descriptions == ("", "second")
    assert list(taxonomy.edges()) == [("a", "b")]
    assert taxonomy.parents("b") == ("a",)
    assert taxonomy.children("a") == ("b",)
    assert taxonomy.depth("b") == 1
    assert taxonomy.problems() == []
    assert len(taxonomy) == 2
