from __future__ import annotations

from taxosphere import Taxonomy
from taxosphere.readers.reader import Candidate, candidates_at


def pantry() -> Taxonomy:
    pairs = [("food", "fruit"), ("fruit", "citrus"), ("citrus", "lemon"), ("citrus", "lime"), ("citrus", "orange")]
    return Taxonomy.from_edges(pairs, descriptions={"citrus": "a sour fruit"})


def test_candidates_carry_path_and_children_but_never_the_query() -> None:
    taxonomy = pantry()
    positions = [taxonomy.position("citrus"), taxonomy.position("food")]
    citrus, food = candidates_at(taxonomy, positions, without="lime")
    assert citrus == Candidate("citrus", "citrus", "a sour fruit", ("food", "fruit", "citrus"), ("lemon", "orange"))
    assert citrus.text == "citrus: a sour fruit; path: food > fruit > citrus; children: lemon, orange"
    assert food.text == "food; children: fruit"
    assert candidates_at(taxonomy, positions, most_children=1)[0].children == ("lemon",)
