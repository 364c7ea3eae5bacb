"""OBO written back: no byte of an untouched stanza changes, a changed concept changes its clauses only."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import fastobo
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions

# Odd on purpose: comments, blanks, tag order, escapes, continued lines, two blank lines, no name.
SOURCE = r"""! by hand
format-version: 1.2
ontology:zoo   

! terms
[Term]
name: animal
id: Z:1
synonym: "beast" NARROW []
def: "A \"living\"	thing\nthat moves." [X:1] {source="me"}
comment: long \
  line
xref: W:1
is_obsolete: false


[Term] ! second
id: Z:2
name: bird
is_a: Z:1 {inferred="true"} ! animal
is_a:Z:5 !thing

relationship: part_of Z:3 ! flock
intersection_of: Z:1 ! animal
intersection_of: part_of Z:3

[Term]
id: Z:3
is_a: Z:1

[Term]
id: Z:5
name: thing
is_a: OTHER:1 ! elsewhere

[Term]
id: Z:9
name: dodo
is_obsolete: true

[Typedef]
id: part_of
name: part of
xref: BFO:0000050"""


def taxonomy_of(folder: Path, data: bytes, options: ReadOptions | None = None) -> Taxonomy:
    (folder / "in.obo").write_bytes(data)
    return registry.read(folder / "in.obo", options)


def written(taxonomy: Taxonomy, folder: Path, options: WriteOptions | None = None) -> bytes:
    registry.write(taxonomy, folder / "out.obo", options)
    return (folder / "out.obo").read_bytes()


def changed_lines(before: bytes, after: bytes) -> list[str]:
    lines = difflib.unified_diff(before.decode().split("\n"), after.decode().split("\n"), n=0, lineterm="")
    return [line.rstrip("\r") for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++")]


SPELLINGS = {
    "as it is": SOURCE.encode(),
    "with line end": SOURCE.encode() + b"\n",
    "with blank lines at the end": SOURCE.encode() + b"\n\n\n",
    "Windows": SOURCE.replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + SOURCE.encode(),
    "no header": b"[Term]\nid: A\nname: a\n",
    "a byte order mark and no header": b"\xef\xbb\xbf[Term]\nid: A\nname: a\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("detour", [False, True])
def test_nothing_changed_is_the_same_bytes(tmp_path: Path, spelling: str, detour: bool) -> None:
    taxonomy = taxonomy_of(tmp_path, SPELLINGS[spelling])
    if detour:
        taxonomy.write(tmp_path / "native")
        taxonomy = Taxonomy.read(tmp_path / "native")
    assert written(taxonomy, tmp_path) == SPELLINGS[spelling]


@pytest.mark.parametrize("options", [ReadOptions(relations=("part_of",)), ReadOptions(equivalents=True)])
def test_options_of_reading_change_no_byte(tmp_path: Path, options: ReadOptions) -> None:
    taxonomy = taxonomy_of(tmp_path, SOURCE.encode(), options)
    assert ("Z:3" in taxonomy.parents("Z:2")) == bool(options.relations)
    assert written(taxonomy, tmp_path) == SOURCE.encode()


@pytest.mark.parametrize("spelling", ["as it is", "with line end", "Windows"])
def test_a_new_term_is_the_only_difference(tmp_path: Path, spelling: str) -> None:
    before = SPELLINGS[spelling]
    extras = (("created_by", "me"), ("creation_date", "2026-01-01T00:00:00Z"), ("confidence", "0.93"))
    new = Concept("Z:10", "duck", "quacks", ("drake",), (), extras)
    after = written(taxonomy_of(tmp_path, before).add([new], [("Z:2", "Z:10")]), tmp_path)
    assert changed_lines(before, after) == [
        "+[Term]",
        "+id: Z:10",
        "+name: duck",
        '+def: "quacks" []',
        '+synonym: "drake" RELATED []',
        '+property_value: confidence "0.93" xsd:string',
        "+is_a: Z:2 ! bird",
        "+created_by: me",
        "+creation_date: 2026-01-01T00:00:00Z",
        "+",
    ]
    assert after.index(b"Z:10") < after.index(b"[Typedef]")
    assert b"\n" not in after.replace(b"\r\n", b"") or b"\r\n" not in before


def test_new_terms_stand_beside_their_siblings_by_choice(tmp_path: Path) -> None:
    new = [Concept("Z:10", "fish"), Concept("Z:11", "carp"), Concept("Z:12", "alone"), Concept("Z:13", "dove")]
    edges = [("Z:1", "Z:10"), ("Z:10", "Z:11"), ("Z:2", "Z:13")]
    taxonomy = taxonomy_of(tmp_path, SOURCE.encode()).add(new, edges)
    text = written(taxonomy, tmp_path, WriteOptions(placement="siblings")).decode()
    ids = [line[4:] for line in text.splitlines() if line.startswith("id: ")]
    assert ids == ["Z:1", "Z:2", "Z:13", "Z:3", "Z:10", "Z:11", "Z:5", "Z:9", "Z:12", "part_of"]
    assert not [line for line in changed_lines(SOURCE.encode(), text.encode()) if line.startswith("-")]


def test_an_insertion_changes_the_moved_is_a_lines_only(tmp_path: Path) -> None:
    grown = taxonomy_of(tmp_path, SOURCE.encode()).add([Concept("Z:10", "flier")], [("Z:1", "Z:10"), ("Z:10", "Z:2")])
    moved = [edge for edge in grown.edges() if edge != ("Z:1", "Z:2")]
    taxonomy = Taxonomy.from_concepts(grown.concepts(), moved, grown.meta)
    lines = changed_lines(SOURCE.encode(), written(taxonomy, tmp_path))
    assert lines[:2] == ['-is_a: Z:1 {inferred="true"} ! animal', "+is_a: Z:10 ! flier"]
    assert lines[2:] == ["+[Term]", "+id: Z:10", "+name: flier", "+is_a: Z:1 ! animal", "+"]


@pytest.mark.parametrize(
    ("column", "value", "lines"),
    [
        ("names", "creature", ["-name: animal", "+name: creature"]),
        ("descriptions", "", ['-def: "A']),
        ("synonyms", ("beast", "brute"), ['+synonym: "brute" RELATED []']),
        ("synonyms", (), ['-synonym: "beast" NARROW []']),
        ("images", ("a.png",), ['+property_value: image "a.png" xsd:string']),
    ],
)
def test_a_changed_column_changes_its_clause(tmp_path: Path, column: str, value: object, lines: list[str]) -> None:
    taxonomy = taxonomy_of(tmp_path, SOURCE.encode())
    row = taxonomy.position("Z:1")
    values = list(getattr(taxonomy, column))
    values[row] = value
    found = changed_lines(SOURCE.encode(), written(replace(taxonomy, **{column: tuple(values)}), tmp_path))
    assert [line[: len(start)] for line, start in zip(found, lines, strict=True)] == lines


def test_a_removed_term_takes_its_stanza_with_it(tmp_path: Path) -> None:
    taxonomy = taxonomy_of(tmp_path, SOURCE.encode())
    kept = taxonomy.keep(np.array([taxonomy.position(id) for id in ("Z:1", "Z:2", "Z:5")]))
    lines = changed_lines(SOURCE.encode(), written(kept, tmp_path))
    assert sorted(lines) == sorted(["-[Term]", "-id: Z:3", "-is_a: Z:1", "-"])


def test_parents_outside_the_file_stay_whatever_is_done_with_them(tmp_path: Path) -> None:
    text = b"[Term]\nid: A:1\nname: a\nis_a: A:9 ! gone\n\n[Term]\nid: A:2\nname: b\n"
    for dangling in ("keep", "drop"):
        taxonomy = taxonomy_of(tmp_path, text, ReadOptions(dangling=dangling))
        assert written(taxonomy, tmp_path) == text
        after = written(taxonomy.add([Concept("A:3", "c")], [("A:2", "A:3"), ("A:2", "A:1")]), tmp_path)
        assert b"is_a: A:9 ! gone\nis_a: A:2 ! b\n" in after


def test_an_unknown_relation_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(registry.InputError, match=r"no relation is called 'made_of'; the file has: part_of"):
        taxonomy_of(tmp_path, SOURCE.encode(), ReadOptions(relations=("made_of",)))


@pytest.mark.parametrize("name", ["part_of", "part of", "BFO:0000050"])
def test_a_relation_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    taxonomy = taxonomy_of(tmp_path, SOURCE.encode(), ReadOptions(relations=(name,)))
    assert set(taxonomy.parents("Z:2")) == {"Z:1", "Z:5", "Z:3"}
    without = [edge for edge in taxonomy.edges() if edge != ("Z:3", "Z:2")]
    after = written(Taxonomy.from_concepts(taxonomy.concepts(), without, taxonomy.meta), tmp_path)
    assert changed_lines(SOURCE.encode(), after) == ["-relationship: part_of Z:3 ! flock"]


def go_like(terms: int) -> bytes:
    lines = ["format-version: 1.2", "data-version: x", 'subsetdef: slim "a"', "ontology: go", ""]
    for i in range(terms):
        lines += ["[Term]", f"id: GO:{i:07d}", f"name: term {i}", "namespace: cellular_component"]
        lines += [f'def: "What {i} is, with a comma\\, here." [GOC:x, PMID:{i}]', 'comment: a\\, b \\"c\\"']
        lines += [f'synonym: "t{i}" EXACT []', "subset: slim", f"xref: W:{i}", f'synonym: "z{i}" BROAD [A:1]']
        lines += [f"is_a: GO:{(i - 1) // 3:07d} ! term"] if i else []
        lines += [f"relationship: part_of GO:{i // 7:07d} ! term", 'property_value: a "b" xsd:string', ""]
    return "\n".join([*lines, "[Typedef]", "id: part_of", "name: part of", ""]).encode()


@pytest.mark.slow
def test_thirty_five_thousand_lines_and_five_new_terms(tmp_path: Path) -> None:
    before = go_like(2_700)
    assert before.count(b"\n") > 35_000
    taxonomy = taxonomy_of(tmp_path, before)
    assert written(taxonomy, tmp_path) == before
    new = [Concept(f"GO:{9_000_000 + i}", f"new {i}") for i in range(5)]
    grown = taxonomy.add(new, [(f"GO:{40 * i:07d}", c.id) for i, c in enumerate(new)])
    lines = changed_lines(before, written(grown, tmp_path))
    assert all(line.startswith("+") for line in lines)
    assert len(lines) == 5 * len(["[Term]", "id", "name", "is_a", ""])
    assert sum(1 for _ in fastobo.iter(str(tmp_path / "out.obo"))) == 2_700 + 5 + 1


lines_of_terms = st.lists(
    st.sampled_from(
        [
            'synonym: "x" EXACT []',
            "xref: A:1",
            "! note",
            "",
            "comment: a\\nb",
            "is_a: A:0 ! z",
            "subset: s",
            "mood:good",
        ]
    ),
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(lines_of_terms, min_size=1, max_size=4), end=st.sampled_from(["\n", "\r\n"]), data=st.data())
def test_any_file_comes_back_and_reads_as_what_was_written(
    tmp_path: Path, bodies: list[list[str]], end: str, data: st.DataObject
) -> None:
    stanzas = [["[Term]", f"id: A:{i}", f"name: n{i}", *(body if i else [])] for i, body in enumerate([[], *bodies])]
    before = end.join(line for stanza in stanzas for line in ["", *stanza]).encode()
    taxonomy = taxonomy_of(tmp_path, before)
    assert written(taxonomy, tmp_path) == before
    position = data.draw(st.integers(0, len(taxonomy) - 1))
    names = [*taxonomy.names]
    names[position] = data.draw(st.text('ab {}!\\"', min_size=1, max_size=5).filter(str.strip))
    changed = replace(taxonomy, names=tuple(names))
    written(changed, tmp_path)
    again = Taxonomy.read(tmp_path / "out.obo")
    assert again.names == changed.names
    assert list(again.edges()) == list(changed.edges())
    assert [sorted(e) for e in again.extras] == [sorted(e) for e in changed.extras]
