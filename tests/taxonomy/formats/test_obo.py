"""OBO: the understood clauses, the kept ones, and what another OBO parser makes of our files."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.placing.list_reader import read_concepts
from taxosphere.taxonomy.formats import obo, registry

SOURCE = r"""format-version: 1.2
data-version: releases/2026-01-01
subsetdef: slim "A subset"
synonymtypedef: ABBR "abbreviation" EXACT
default-namespace: zoo
ontology: zoo

[Term]
id: Z:1
name: animal
namespace: fauna
def: "A \"living\" thing\nthat moves {mostly}." [PMID:1, http://x.y/z "a page"] {source="me"}
subset: slim
synonym: "beast" NARROW ABBR [X:1]
synonym: "creature" RELATED []
xref: W:1 "a wiki"
property_value: dc:title "Animal" xsd:string
property_value: count "4" xsd:integer
created_by: someone
creation_date: 2020-01-01T00:00:00Z
comment: first line\nsecond line

[Term]
id: Z:2
name: bird \{feathered\} \! yes
is_a: Z:1 {inferred="true"} ! animal
relationship: part_of Z:3 ! flock

[Term]
id: Z:3
name: flock
intersection_of: Z:1
intersection_of: part_of Z:2

[Term]
id: Z:4
name: dodo
is_obsolete: true
replaced_by: Z:2

[Typedef]
id: part_of
name: part of
is_transitive: true
"""


def read(tmp_path: Path, text: str) -> Taxonomy:
    (tmp_path / "in.obo").write_text(text, encoding="utf-8")
    return Taxonomy.read(tmp_path / "in.obo")


def clauses(text: str) -> list[list[str]]:
    """Stanzas with their clauses in any order, without comments at the end of a line."""
    return [sorted(line.split(" ! ")[0] for line in part.splitlines()) for part in text.strip().split("\n\n")]


def test_what_is_understood(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SOURCE)
    assert taxonomy.ids == ("Z:1", "Z:2", "Z:3")
    assert taxonomy.names == ("animal", "bird {feathered} ! yes", "flock")
    assert taxonomy.descriptions[0] == 'A "living" thing\nthat moves {mostly}.'
    assert taxonomy.synonyms[0] == ("beast", "creature")
    assert list(taxonomy.edges()) == [("Z:1", "Z:2")]
    assert ("comment", "first line\nsecond line") in taxonomy.extras[0]
    assert [note.text for note in taxonomy.reading] == [
        "1 obsolete concept outside the hierarchy set aside (kept for writing)"
    ]


@pytest.mark.parametrize("detour", ["x.obo", "native"])
def test_everything_comes_back_even_after_a_stay_in_native_form(tmp_path: Path, detour: str) -> None:
    read(tmp_path, SOURCE).write(tmp_path / detour)
    Taxonomy.read(tmp_path / detour).write(tmp_path / "out.obo")
    assert clauses((tmp_path / "out.obo").read_text(encoding="utf-8")) == clauses(SOURCE)


@pytest.mark.parametrize("detour", ["x.ttl", "x.json", "x.jsonl", "x.csv"])
def test_terms_come_back_after_a_stay_in_another_format(tmp_path: Path, detour: str) -> None:
    read(tmp_path, SOURCE).write(tmp_path / detour)
    Taxonomy.read(tmp_path / detour).write(tmp_path / "out.obo")
    written = clauses((tmp_path / "out.obo").read_text(encoding="utf-8"))
    assert sorted(written[1:]) == sorted(clauses(SOURCE)[1:5])


def test_parents_in_other_ontologies_are_kept_but_no_edges(tmp_path: Path) -> None:
    text = "[Term]\nid: A:1\nname: a\nis_a: UO:0000111 ! energy unit\n"
    taxonomy = read(tmp_path, text)
    assert not list(taxonomy.edges())
    assert "1 edge to other ontologies" in taxonomy.reading[0].text
    taxonomy.write(tmp_path / "out.obo")
    assert (tmp_path / "out.obo").read_text(encoding="utf-8").endswith(text)


@pytest.mark.parametrize("value", ["thing", "A:1", "A:1 ! a", "two\nlines", "{x}", ""])
def test_an_extra_called_like_the_link_is_kept(tmp_path: Path, value: str) -> None:
    child = Concept("A:2", "b", extras=(("is_a", value),))
    taxonomy = Taxonomy.from_concepts([Concept("A:1", "a"), child], [("A:1", "A:2")])
    taxonomy.write(tmp_path / "x.obo")
    again = Taxonomy.read(tmp_path / "x.obo")
    assert again.concept(1) == child
    assert list(again.edges()) == [("A:1", "A:2")]


def test_spelling_of_real_files(tmp_path: Path) -> None:
    """No space after the colon, comments after any id, qualifiers after a comment, sources glued to their note."""
    text = """[Term]
id:A:1
name:a
def:"b" []
comment: see there {xref="X:1"}
disjoint_from: A:2 ! two
replaced_by: A:3 ! three: four
xref: value-type:xsd\\:int"The allowed type."
"""
    taxonomy = read(tmp_path, text)
    assert taxonomy.concept(0).description == "b"
    replace(taxonomy, meta={}).write(tmp_path / "out.obo")  # without the stanzas of the source
    written = (tmp_path / "out.obo").read_text(encoding="utf-8").replace(": ", ":")
    assert sorted(text.replace(": ", ":").splitlines()) == sorted(written.splitlines()[2:])


def test_clauses_no_version_knows_are_kept(tmp_path: Path) -> None:
    text = 'foo: bar\n\n[Term]\nid: A\nname: a\nname: again\nmood: "good\nexact_synonym: "x" []\n\n[Mystery]\nid: m\n'
    taxonomy = read(tmp_path, text)
    assert taxonomy.synonyms == (("x",),)
    taxonomy.write(tmp_path / "out.obo")
    assert clauses((tmp_path / "out.obo").read_text(encoding="utf-8")) == clauses(text)


def test_comment_lines_continued_lines_and_trailing_comments(tmp_path: Path) -> None:
    text = "! made by hand\nontology: x\n\n[Term] ! first\nid: A ! the id\nname: long \\\nname\n! and on\nis_a: B ! b\n"
    taxonomy = read(tmp_path, text + "\n[Term]\nid: B\n")
    assert taxonomy.names == ("long name", "B")
    assert list(taxonomy.edges()) == [("B", "A")]
    assert [note.text for note in taxonomy.reading] == ["1 term without a name, called by id"]


def test_an_obsolete_term_inside_the_hierarchy_stays(tmp_path: Path) -> None:
    text = "[Term]\nid: A\nname: a\nis_obsolete: true\n\n[Term]\nid: B\nname: b\nis_a: A\n"
    assert set(read(tmp_path, text).ids) == {"A", "B"}


def test_a_new_concept_is_written_beside_the_old_ones(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SOURCE).add([Concept("Z:9", "duck", "quacks", ("drake",))], [("Z:2", "Z:9")])
    taxonomy.write(tmp_path / "out.obo")
    written = (tmp_path / "out.obo").read_text(encoding="utf-8")
    assert clauses(written)[5] == sorted(
        ["[Term]", "id: Z:9", "name: duck", 'def: "quacks" []', 'synonym: "drake" RELATED []', "is_a: Z:2"]
    )
    assert "data-version: releases/2026-01-01" in written


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        'quote " and \\ backslash',
        "tab\tand\nline break",
        "! { } [ ] ( ) : , ; ~ #",
        "Ünïcödé 😀 \u00a0 \u2028",
    ],
)
def test_another_parser_reads_the_same(tmp_path: Path, text: str) -> None:
    fastobo = pytest.importorskip("fastobo")
    parent = Concept("A:1", "parent of " + text, text, (text,), (text,), (("comment", "x " + text), ("odd key", text)))
    taxonomy = Taxonomy.from_concepts([parent, Concept("http://x.y/z", text)], [("A:1", "http://x.y/z")])
    taxonomy.write(tmp_path / "x.obo")
    first, second = fastobo.iter(io.BytesIO((tmp_path / "x.obo").read_bytes()), ordered=True, threads=1)
    found = {clause.raw_tag(): clause for clause in first}
    assert str(first.id) == "A:1"
    assert found["name"].name == "parent of " + text
    assert str(found["def"].definition) == text
    assert found["synonym"].synonym.desc == text
    assert found["property_value"].property_value.value == text
    assert found["comment"].comment == "x " + text
    assert [str(clause.term) for clause in second if clause.raw_tag() == "is_a"] == ["A:1"]


def test_what_another_format_cannot_hold_is_told(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SOURCE)
    assert registry.unsupported_content(taxonomy, tmp_path / "x.obo") == []
    assert registry.unsupported_content(taxonomy, tmp_path / "native") == []
    assert registry.unsupported_content(taxonomy, tmp_path / "x.json") == [
        "the header of the OBO source left out",
        "1 stanza of the OBO source beside its terms left out",
    ]


def test_a_value_that_ends_in_a_backslash_does_not_swallow_the_next_line(tmp_path: Path) -> None:
    concepts = [Concept("a", "a", extras=(("xref", "\\"), ("xref", "X:1")))]
    Taxonomy.from_concepts(concepts, []).write(tmp_path / "t.obo")
    assert sorted(Taxonomy.read(tmp_path / "t.obo").concept(0).extras) == sorted(concepts[0].extras)


@pytest.mark.parametrize(
    "text",
    [
        'Pair {x="1"}',
        '{x="1"}',
        'Pair {x="1", y="2"}',
        'Pair {x="1"} {y="2"}',
        'Pair {x="{1}"}',
        'Pair {x="1"} ',
        'Pair \\{x="1"}',
        'Pair \\\\{x="1"}',
        'Pair {x="1"\\}',
        'Pair {x="1"\\\\}',
        'Pair {x="1\\"}',
        'Pair \\{x="1"\\}\\',
        'Pair {x="1',
    ],
)
@pytest.mark.parametrize("qualifiers", [(), (("name", '{source="me"}'),)])
def test_what_looks_like_qualifiers_stays_in_the_text(
    tmp_path: Path, text: str, qualifiers: tuple[tuple[str, str], ...]
) -> None:
    concept = Concept(text, text, text, (text,), extras=(*qualifiers, ("comment", text)))
    child = Concept("child", "child " + text)
    Taxonomy.from_concepts([concept, child], [(text, "child")]).write(tmp_path / "x.obo")
    again = Taxonomy.read(tmp_path / "x.obo")
    assert list(again.concepts()) == [concept, child]
    assert list(again.edges()) == [(text, "child")]


@pytest.mark.parametrize(
    ("value", "name", "kept"),
    [
        ('a {x="1"}', "a", '{x="1"}'),
        ('a\\\\ {x="1", y="2"} ! told', "a\\", '{x="1", y="2"}'),
        ('a\\{b {x="\\"", y="2"}', "a{b", '{x="\\"", y="2"}'),
        ('a {x="1", y="{2}"}', "a", '{x="1", y="{2}"}'),
        ('a {x="1", y="}"} ! told', "a", '{x="1", y="}"}'),
        ('a {x="1"} {y="2"}', "a", '{x="1"} {y="2"}'),
        ('a {x="1 ! 2"}', "a", '{x="1 ! 2"}'),
        ('a\\  {x="1"}', "a ", '{x="1"}'),
    ],
)
def test_qualifiers_of_a_name_are_no_part_of_it(tmp_path: Path, value: str, name: str, kept: str) -> None:
    concept = read(tmp_path, f"[Term]\nid: A:1\nname: {value}\n").concept(0)
    assert (concept.name, concept.extras) == (name, (("name", kept),))


@pytest.mark.parametrize("kept", ['{x="1", y="{2}"}', '{x="1", y="}"}', '{x="1"} {y="2"}', '{x="1 ! 2"}'])
def test_braces_and_comments_in_the_qualifiers_of_a_parent(tmp_path: Path, kept: str) -> None:
    taxonomy = read(tmp_path, f"[Term]\nid: A:1\nname: a\nis_a: A:2 {kept} ! b\n\n[Term]\nid: A:2\nname: b\n")
    assert list(taxonomy.edges()) == [("A:2", "A:1")]
    taxonomy.write(tmp_path / "out.obo")
    assert f"\nis_a: A:2 {kept} ! b\n" in (tmp_path / "out.obo").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["name", "def", "is_a", "synonym", "exact_synonym"])
@pytest.mark.parametrize(
    "value",
    [
        "{",
        "{x",
        '{x="1"} more',
        "{}",
        "{ ! x",
        "{a\nb}",
        "[a\nb]",
        "[] ! x",
        '{x="1"}',
        'B {x="1\n"}',
        '"s"\n',
        '"t" []',
    ],
)
@pytest.mark.parametrize("description", ["told", ""])
def test_an_extra_called_like_a_clause_is_kept(tmp_path: Path, key: str, value: str, description: str) -> None:
    concepts = [Concept("A", "a", description, ("s",), extras=((key, value), (key, value))), Concept("B", "b")]
    Taxonomy.from_concepts(concepts, [("B", "A")]).write(tmp_path / "x.obo")
    again = Taxonomy.read(tmp_path / "x.obo")
    assert list(again.concepts()) == concepts
    assert list(again.edges()) == [("B", "A")]


def test_odd_white_space_in_foreign_pairs_stays(tmp_path: Path) -> None:
    extras = (("a\u2028b", "x"), ("\x85", "y"), ("created_by", " me"), ("obo clause mood", "\tgood"))
    Taxonomy.from_concepts([Concept("A", "a", extras=extras)], []).write(tmp_path / "x.obo")
    assert Taxonomy.read(tmp_path / "x.obo").concept(0).extras == extras


def test_the_source_of_an_empty_definition_stays(tmp_path: Path) -> None:
    read(tmp_path, '[Term]\nid: A\nname: a\ndef: "" [X:1]\n').write(tmp_path / "out.obo")
    assert 'def: "" [X:1]' in (tmp_path / "out.obo").read_text(encoding="utf-8")


OBSOLETE = """[Term]
id: A:1
name: animal

[Term]
id: A:2
name: dodo
def: "gone" [X:1]
synonym: "Raphus" EXACT []
is_obsolete: true ! since 1681
replaced_by: A:1

[Term]
id: A:3
name: bird
is_a: A:1
is_obsolete: true
"""


@pytest.mark.parametrize(
    "detours",
    [
        ("native",),
        ("x.owl",),
        ("x.skos", "native", "x.jsonl"),
        ("x.jsonl", "x.json", "x.ttl"),
        ("x.csv", "x.tsv"),
    ],
)
def test_obsolete_terms_outside_the_hierarchy_pass_through_every_format(
    tmp_path: Path, detours: tuple[str, ...]
) -> None:
    taxonomy = read(tmp_path, OBSOLETE)
    for name in (*detours, "out.obo"):
        assert taxonomy.ids == ("A:1", "A:3")
        assert not registry.unsupported_content(taxonomy, tmp_path / name)
        taxonomy.write(tmp_path / name)
        taxonomy = Taxonomy.read(tmp_path / name)
    written = (tmp_path / "out.obo").read_text(encoding="utf-8")
    assert sorted(stanza for stanza in clauses(written) if "[Term]" in stanza) == sorted(clauses(OBSOLETE))


def test_an_obsolete_term_is_deprecated_in_an_ontology(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    read(tmp_path, OBSOLETE.replace(" ! since 1681", "")).write(tmp_path / "x.owl.ttl")
    assert (tmp_path / "x.owl.ttl").read_text(encoding="utf-8").count("owl:deprecated true") == 2


def test_an_obsolete_term_that_shares_its_id_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"in.obo:5: the id 'A' is used twice"):
        read(tmp_path, "[Term]\nid: A\nname: a\n\n[Term]\nid: A\nname: a\nis_obsolete: true\n")


def test_nothing_but_obsolete_terms(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "[Term]\nid: A\nname: a\nis_obsolete: true\n")
    taxonomy.write(tmp_path / "x.tsv")
    assert Taxonomy.read(tmp_path / "x.tsv").ids == ("A",)


def test_a_model_keeps_an_obsolete_concept_that_lost_its_place(tmp_path: Path) -> None:
    """Hidden leaves may leave an obsolete parent alone; a native folder must still hold the rows of its model."""
    alone = Taxonomy.from_concepts([Concept("a", "a", extras=(("is_obsolete", "true"),)), Concept("b", "b")], [])
    alone.write(tmp_path / "native")
    assert Taxonomy.read(tmp_path / "native").ids == ("a", "b")


def test_a_concept_that_took_the_id_of_an_obsolete_one_replaces_it(tmp_path: Path) -> None:
    read(tmp_path, OBSOLETE).add([Concept("A:2", "solitaire")], [("A:1", "A:2")]).write(tmp_path / "out.obo")
    assert Taxonomy.read(tmp_path / "out.obo").names == ("animal", "solitaire", "bird")


FORMER = r"""[Term]
id: T:0001
name: fish
alt_id: T:0002
alt_id: T:0003 {source="me"} ! merged
alt_id: old\ fish

[Term]
id: T:0004
name: dodo
is_obsolete: true
alt_id: T:0005

[Typedef]
id: part_of ! a relation
name: part of
"""


@pytest.mark.parametrize("id", ["T:0002", "T:0003", "T:0004", "T:0005", "old fish", "part_of"])
@pytest.mark.parametrize("detour", ["x.obo", "native"])
def test_a_new_concept_cannot_take_an_id_the_file_still_answers_to(tmp_path: Path, id: str, detour: str) -> None:
    read(tmp_path, FORMER).write(tmp_path / detour)
    taxonomy = Taxonomy.read(tmp_path / detour)
    (tmp_path / "new.tsv").write_text(f"id\tname\n{id}\tcarp\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"'{id}' is taken"):
        read_concepts(tmp_path / "new.tsv", taxonomy)


def test_an_id_that_is_made_up_is_no_former_one(tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("carp\n", encoding="utf-8")
    (free,) = read_concepts(tmp_path / "new.txt", read(tmp_path, "[Term]\nid: T:0001\nname: fish\n"))
    taken = read(tmp_path, f"[Term]\nid: T:0001\nname: fish\nalt_id: {free.id}\n")
    (found,) = read_concepts(tmp_path / "new.txt", taken)
    assert found.id not in ("T:0001", free.id)


def test_former_ids_in_an_ontology_are_taken_too(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    read(tmp_path, FORMER).write(tmp_path / "x.owl")
    assert {"T:0002", "T:0003", "old fish"} <= obo.kept_ids(Taxonomy.read(tmp_path / "x.owl"))
