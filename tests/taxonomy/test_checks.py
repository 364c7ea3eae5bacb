from __future__ import annotations

from collections import Counter

import numpy as np

from support.hierarchies import numbered
from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.graph import Source


def kinds(t: Taxonomy) -> Counter[str]:
    return Counter(problem.kind for problem in t.problems())


def named(*names: str) -> Taxonomy:
    concepts = [Concept(str(i), name) for i, name in enumerate(names)]
    return Taxonomy.from_concepts(concepts, [("0", str(i)) for i in range(1, len(names))])


def test_a_sound_taxonomy_has_no_problems() -> None:
    assert named("animal", "bird", "dog").problems() == []


def test_an_isolated_concept_is_an_orphan(animals: Taxonomy) -> None:
    (problem,) = animals.problems()
    assert (problem.kind, problem.where, problem.fatal) == ("orphan", "mineral", False)


def test_a_plain_list_has_no_orphans() -> None:
    assert numbered(3, []).problems() == []


def test_each_repeated_name_is_reported_once_with_the_first_bearer() -> None:
    t = named("planet", "Mercury", "Mercury", "mercury", "Mercury ", "Venus")
    found = {problem.where: problem for problem in t.problems()}
    assert {where: problem.kind for where, problem in found.items()} == {
        "2": "shared name",
        "3": "case variant",
        "4": "case variant",
    }
    assert "'1'" in found["2"].text
    assert not any(problem.fatal for problem in found.values())


def test_letters_that_fold_together_are_the_same_name() -> None:
    assert kinds(named("road", "Straße", "STRASSE")) == {"case variant": 1}


def test_a_name_of_nothing_is_fatal() -> None:
    (problem,) = named("animal", " ").problems()
    assert (problem.kind, problem.where, problem.fatal) == ("empty name", "1", True)


def test_wrongly_decoded_text_is_seen() -> None:
    garbled = "Schildkröte".encode().decode("latin-1")
    assert kinds(named("animal", garbled)) == {"bad encoding": 1}
    assert kinds(named("animal", "caf\ufffd")) == {"bad encoding": 1}
    assert kinds(named("animal", "Schildkröte", "Ångström", "À la carte")) == {}


def test_a_cycle_is_fatal_and_shown_as_a_path() -> None:
    (problem,) = numbered(3, [(0, 1), (1, 2), (2, 1)]).problems()
    assert problem.kind == "cycle"
    assert problem.fatal
    assert "'c2' → 'c1' → 'c2'" in problem.text


def test_a_very_long_cycle_fits_into_a_line() -> None:
    (problem,) = numbered(5000, [(i, (i + 1) % 5000) for i in range(5000)]).problems()
    assert len(problem.text) < 300
    assert "… 4,989 more …" in problem.text


def test_problems_point_to_the_lines_of_their_source() -> None:
    ids = ("a", "b", "c", "d")
    edges = np.array([[0, 1], [1, 2], [2, 1]], np.int32)
    source = Source("nodes.tsv", np.arange(2, 6, dtype=np.int32), "edges.tsv", np.array([2, 0, 9], np.int32))
    t = Taxonomy(ids, ("a", "b", "b", "d"), ("",) * 4, edges, source=source)
    assert [(problem.kind, problem.where) for problem in t.problems()] == [
        ("cycle", "edges.tsv:9"),
        ("shared name", "nodes.tsv:4"),
        ("orphan", "nodes.tsv:5"),
    ]
    assert t.edge_where(1) == "edges.tsv"


def test_an_obsolete_concept_in_the_hierarchy_is_told_of() -> None:
    deprecated = ("http://www.w3.org/2002/07/owl#deprecated", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>')
    concepts = [
        Concept("a", "a", extras=(("is_obsolete", "false"),)),
        Concept("b", "b", extras=(("xref", "X:1"), ("is_obsolete", "true"))),
        Concept("c", "c", extras=(deprecated,)),
    ]
    t = Taxonomy.from_concepts(concepts, [("a", "b"), ("a", "c")])
    assert kinds(t) == {"obsolete": 2}
    assert [problem.where for problem in t.problems()] == ["b", "c"]
