from __future__ import annotations

import re
from pathlib import Path

import networkx
import pytest
from hypothesis import given

from support.hierarchies import as_networkx, digraphs
from taxosphere import Taxonomy
from taxosphere.taxonomy import checks
from taxosphere.taxonomy.summary import summarise

BENCHMARKS = (
    "cub200_wikispecies",
    "mesh",
    "semeval_env",
    "semeval_food",
    "semeval_food_temp",
    "semeval_sci",
    "semeval_verb",
    "wordnet_bansal",
    "wordnet_pooled",
)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_benchmarks_have_the_counts_of_their_source_notes(shared_data: Path, name: str) -> None:
    notes = (shared_data / name / "SOURCE.md").read_text(encoding="utf-8")
    stated = {key: int(count) for key, count in re.findall(r"^- (\w+): (\d+)$", notes, re.MULTILINE)}
    found = summarise(Taxonomy.read(shared_data / name))
    assert stated["nodes"] == found.concepts
    assert stated["edges"] == found.edges
    assert stated["roots"] == found.roots
    assert stated["leaves"] == found.leaves
    assert stated["isolated"] == found.isolated
    assert stated["multi_parent"] == found.multi_parent
    assert stated["max_depth_bfs"] == found.depth
    assert stated["max_depth_longest"] == found.longest_depth
    assert stated["nodes_on_or_below_cycles"] == found.on_or_below_cycles
    assert stated["components"] == found.components
    assert stated["with_description"] == found.with_description
    assert stated["duplicate_names"] == found.shared_names


def test_mesh_shows_its_cycle_and_repair_drops_the_false_edges(shared_data: Path) -> None:
    mesh = Taxonomy.read(shared_data / "mesh")
    tied = {mesh.ids[i] for cycle in mesh.cycles for i in cycle.path}
    assert tied == {"proteins", "bloodproteins", "glycoproteins"}
    assert sum(problem.kind == "cycle" for problem in mesh.problems()) == 2
    whole, dropped = checks.repair(mesh)
    lines = (shared_data / "mesh" / "edges_acyclic.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sound = {tuple(line.split("\t")) for line in lines}
    assert len(dropped) == 2
    assert set(mesh.edges()) - set(whole.edges()) <= set(mesh.edges()) - sound


def test_every_shared_name_is_a_problem_of_its_own(shared_data: Path) -> None:
    verbs = Taxonomy.read(shared_data / "semeval_verb")
    found = [problem for problem in verbs.problems() if problem.kind in ("shared name", "case variant")]
    assert len(found) == summarise(verbs).shared_names == 6377


def test_the_animals_by_hand(animals: Taxonomy) -> None:
    found = summarise(animals)
    assert (found.concepts, found.edges, found.roots, found.leaves, found.isolated) == (8, 7, 2, 4, 1)
    assert (found.multi_parent, found.depth, found.longest_depth, found.components) == (1, 2, 2, 2)
    assert (found.most_children, found.most_descendants, found.most_ancestors) == (3, 6, 3)
    assert (found.with_description, found.with_synonyms, found.shared_names) == (1, 0, 0)


@given(digraphs())
def test_any_graph_can_be_summarised(t: Taxonomy) -> None:
    found = summarise(t)
    graph = as_networkx(t)
    acyclic = networkx.is_directed_acyclic_graph(graph)
    assert (found.on_or_below_cycles == 0) == acyclic
    assert (found.most_descendants is not None) == acyclic
    if acyclic:
        assert found.longest_depth == networkx.dag_longest_path_length(graph)
    assert found.components == networkx.number_weakly_connected_components(graph)
