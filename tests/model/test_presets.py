from __future__ import annotations

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.model import presets

# The paper's table, typed again: column, d, epochs, accumulation, batch, negatives, κ_repel, c.
TABLE = """
science 128 50 3 64 50 2 0.7
environment 64 50 3 64 50 2 0.4
wordnet 128 30 5 128 10 2 0.4
mesh 128 75 5 128 20 4.5 0.4
verb 256 75 5 128 20 4.5 0.4
food 128 50 5 64 20 2 0.4
birds 64 50 3 32 5 4.5 0.4
"""


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_columns_are_those_of_the_paper(row: str) -> None:
    name, *numbers = row.split()
    c = presets.column(name)
    found = (
        c.network.dim,
        c.training.epochs,
        c.training.accumulation,
        c.training.batch,
        c.training.negatives,
        c.loss.kappa_repel,
        c.loss.welsch_c,
    )
    assert found == tuple(map(float, numbers))
    assert (c.network.hidden, c.network.layers) == (64, 2)
    assert (c.training.encoder_learning_rate, c.training.learning_rate) == (9e-5, 1e-3)
    assert (c.loss.probabilistic_margin, c.loss.probabilistic, c.loss.kappa_align) == (0.3, 0.3, 1.0)
    assert (c.loss.svgd, c.loss.geometric_margin, c.loss.geometric, c.loss.listwise) == (0.1, 0.5, 0.7, 0.0)
    assert (c.loss.bessel, c.loss.svgd_variant, c.orbit.gate) == ("exact", "corrected", "hybrid")


def test_the_paper_to_the_letter() -> None:
    c = presets.paper("food")
    assert (c.loss.bessel, c.loss.svgd_variant, c.orbit.gate) == ("paper", "paper", "hard")
    assert c.network.dim == presets.column("food").network.dim


def chain(edges: int) -> Taxonomy:
    return Taxonomy(
        tuple(map(str, range(edges + 1))),
        tuple(map(str, range(edges + 1))),
        ("",) * (edges + 1),
        np.stack([np.arange(edges), np.arange(1, edges + 1)], axis=1).astype(np.int32),
    )


@pytest.mark.parametrize(
    ("edges", "name"),
    [
        (0, "environment"),
        (150, "environment"),
        (400, "science"),
        (1300, "food"),
        (2000, "wordnet"),
        (9000, "mesh"),
        (90000, "verb"),
    ],
)
def test_nearest_column(edges: int, name: str) -> None:
    assert presets.nearest(chain(edges)) == name


def test_auto_trains_longer_on_less() -> None:
    small, middle, large = (presets.preset("auto", chain(edges)).training for edges in (100, 2000, 20000))
    assert small.epochs >= middle.epochs >= large.epochs
    assert small.batch <= middle.batch <= large.batch


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(InputError, match="no preset 'food'; there are auto, paper-science"):
        presets.preset("food", chain(3))
    assert presets.preset("paper-food", chain(3)) == presets.column("food")
