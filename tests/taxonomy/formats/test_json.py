"""JSON trees and JSON lines: foreign keys, references, repeated names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry


def read(path: Path, text: str) -> Taxonomy:
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


def test_a_tree_without_ids_comes_back_as_it_was(tmp_path: Path) -> None:
    tree = {
        "name": "animal",
        "size": 5,
        "tags": ["a", 1, None, {"x": True}],
        "code": "5",
        "children": [
            {"name": "bird", "description": "flies", "children": [{"name": "duck", "children": []}]},
            {"name": "fish", "extinct": False, "children": []},
        ],
    }
    taxonomy = read(tmp_path / "x.json", json.dumps(tree))
    assert taxonomy.ids == ("animal", "bird", "duck", "fish")
    assert list(taxonomy.edges()) == [("animal", "bird"), ("bird", "duck"), ("animal", "fish")]
    taxonomy.write(tmp_path / "y.json")
    assert json.loads((tmp_path / "y.json").read_text(encoding="utf-8")) == tree


def test_the_same_name_in_two_places_is_two_concepts(tmp_path: Path) -> None:
    text = '{"name": "a", "children": [{"name": "other"}, {"name": "b", "children": ["other", "c"]}]}'
    taxonomy = read(tmp_path / "x.json", text)
    assert taxonomy.ids == ("a", "other", "b", "a / b / other", "c")
    assert taxonomy.names == ("a", "other", "b", "other", "c")
    assert len(taxonomy.reading) == 1


def test_shared_concepts_are_references(tmp_path: Path) -> None:
    text = """[{"id": 1, "name": "a", "children": [{"id": 3, "name": "c", "children": ["d"]}]},
               {"id": 2, "name": "b", "children": [{"id": 3}, {"id": 4, "name": "e"}]},
               {"id": 5, "name": "f", "children": [{"id": 4, "name": "e", "children": ["g"]}]}]"""
    taxonomy = read(tmp_path / "x.json", text)
    assert len(taxonomy) == 7
    assert set(taxonomy.edges()) == {("1", "3"), ("3", "d"), ("2", "3"), ("2", "4"), ("5", "4"), ("4", "g")}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "x", "children": [{"name": "a", "url": {"@id": "http://q"}}]}',
        '[{"name": "x", "children": [{"name": "a", "@id": "http://q", "@context": {}}]}]',
        '{"note": "@id", "name": "x", "see": ["@graph", "{", "\\\\\\""], "children": ["a"]}',
    ],
)
def test_a_tree_with_words_of_json_ld_inside(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "x.json", text).names == ("x", "a")
    assert registry.recognise(tmp_path / "x.json").name == "json"


@pytest.mark.parametrize(
    "text",
    [
        ' {"@id": "http://x.y/a"}',
        '{"p": {"q": [1, "}"]}, "@context" : {}}',
        '[{"p": "]", "@id": "http://x.y/a"}]',
        '[{}, {"@id": 1}]',
        '{"@graph": [',
    ],
)
def test_json_ld_by_its_outer_keys(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert registry.recognise(tmp_path / "x.json").name == "rdf"


def test_a_root_with_an_id_alone_is_a_concept(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.json", '{"id": "R", "size": 5, "children": [{"name": "a"}, {"id": 0, "name": "b"}]}')
    assert set(taxonomy.edges()) == {("R", "a"), ("R", "0")}
    root = taxonomy.concept(taxonomy.position("R"))
    assert (root.name, root.extras) == ("R", (("size", "5"),))
    assert [problem.text for problem in taxonomy.reading] == ["1 concept without a name, called by id"]
    text = '[{"id": 0, "children": [{"id": "S"}]}, {"id": "S", "children": ["a"]}, {"id": "S", "name": "s"}]'
    taxonomy = read(tmp_path / "y.json", text)
    assert dict(zip(taxonomy.ids, taxonomy.names, strict=True)) == {"0": "0", "S": "s", "a": "a"}
    assert set(taxonomy.edges()) == {("0", "S"), ("S", "a")}


@pytest.mark.parametrize("value", ['"wide"', '""', '"', '"a" b', '"5', "'5'"])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_quotation_marks_of_another_format_are_kept(tmp_path: Path, value: str, name: str) -> None:
    taxonomy = Taxonomy.from_concepts([Concept("1", "a", extras=(("style", value),))], [])
    taxonomy.write(tmp_path / name)
    assert json.loads((tmp_path / name).read_text(encoding="utf-8"))["style"] == value
    assert Taxonomy.read(tmp_path / name).concept(0) == taxonomy.concept(0)


@pytest.mark.parametrize(
    "value", ["wide", '"wide"', "5", '"5"', '"\\"5\\""', "null", '"null"', "[]", "", 5, None, [""], {"a": '"'}]
)
def test_foreign_values_come_back(tmp_path: Path, value: object) -> None:
    taxonomy = read(tmp_path / "x.jsonl", json.dumps({"name": "a", "style": value}))
    taxonomy.write(tmp_path / "y.jsonl")
    assert json.loads((tmp_path / "y.jsonl").read_text(encoding="utf-8"))["style"] == value


def test_a_nameless_top_keeps_its_keys(tmp_path: Path) -> None:
    text = '{"version": "1.0", "licence": null, "children": [{"name": "a"}, {"name": "b"}]}'
    taxonomy = read(tmp_path / "x.json", text)
    assert len(taxonomy.roots) == 2
    taxonomy.write(tmp_path / "y.json")
    top = json.loads((tmp_path / "y.json").read_text(encoding="utf-8"))
    assert (top["version"], top["licence"]) == ("1.0", None)
    assert [entry["name"] for entry in top["children"]] == ["a", "b"]


def test_lines_in_any_order_by_id_or_by_name(tmp_path: Path) -> None:
    text = """{"id": "D", "label": "duck", "parent": "bird", "definition": "quacks", "synonyms": "drake"}
{"id": "B", "name": "bird", "parents": ["A"], "children": ["G"], "weight": 1.5}
{"id": "A", "name": "animal"}

{"id": "G", "name": "goose"}
{"parent": "A", "child": "goose"}
"""
    taxonomy = read(tmp_path / "x.jsonl", text)
    assert set(taxonomy.edges()) == {("B", "D"), ("A", "B"), ("B", "G"), ("A", "G")}
    assert taxonomy.concept(0).synonyms == ("drake",)
    assert taxonomy.concept(0).description == "quacks"
    assert taxonomy.concept(1).extras == (("weight", "1.5"),)


def test_zero_is_an_id_and_null_is_none(tmp_path: Path) -> None:
    text = """{"id": 0, "name": "root", "parent": null, "parents": [null]}
{"id": 1, "name": "a", "parent": 0}
{"id": 2, "name": "b", "parents": [0], "synonyms": 0, "parent": ""}
{"id": 3, "name": "c", "parents": 0, "children": []}
{"id": 4, "name": "d", "parents": [], "parent": 0.0}
{"id": "0.0", "name": "e", "parent": false, "children": 0}
"""
    taxonomy = read(tmp_path / "x.jsonl", text)
    assert set(taxonomy.edges()) == {("0", "1"), ("0", "2"), ("0", "3"), ("0.0", "4"), ("0.0", "0")}
    assert taxonomy.concept(2).synonyms == ("0",)


def test_lines_of_nothing_but_edges(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ndjson", '{"parent": "a", "child": "b"}\n{"parent": "a", "child": "c"}\n')
    assert taxonomy.names == ("a", "b", "c")


def test_an_edge_into_nowhere_hides_no_other(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"id": "a"}\n{"id": "b", "children": ["zzz"]}\n{"id": "c", "parents": ["a"]}\n')
    found = Taxonomy.read(file, strict=False)
    assert list(found.edges()) == [("a", "c")]
    assert [p.kind for p in found.reading if p.kind != "empty name"] == ["dangling edge"]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 1, "name": "a"}\n{"id": 2, "name": "b", "parent_id": 1}\n{"id": 3, "name": "c", "parent_ids": [1, 2]}',
        '[{"id": "1", "name": "a"}, {"id": "2", "name": "b", "parent": "1"}, {"id": 3, "name": "c", "parents": [1,2]}]',
        '{"children": [{"id": 1, "name": "a", "parent": null}, {"id": 2, "name": "b", "parent": "a", "children": []},\n'
        '{"parent_id": 1, "child_id": 3}, {"id": 3, "name": "c", "parent_id": 2}]}',
        '{"id": 1, "name": "a"}\n{"id": 2, "name": "b", "parent_id": 1, "parent": "a"}\n'
        '{"id": 3, "name": "c", "parents": [1], "parent": "b", "parent_ids": [2, 1]}',
    ],
)
def test_parents_under_every_key(tmp_path: Path, text: str) -> None:
    taxonomy = read(tmp_path / ("x.jsonl" if text.startswith('{"id"') else "x.json"), text)
    assert taxonomy.names == ("a", "b", "c")
    assert set(taxonomy.edges()) == {("1", "2"), ("1", "3"), ("2", "3")}
    assert not taxonomy.reading
    assert not any(taxonomy.extras)


def test_a_parent_that_repeats_the_nesting_is_kept(tmp_path: Path) -> None:
    text = '[{"name": "a", "parent": "null", "children": [{"name": "b", "parent": "a", "children": []}]}]'
    taxonomy = read(tmp_path / "x.json", text)
    assert taxonomy.extras == ((("parent", '"null"'),), (("parent", "a"),))
    taxonomy.write(tmp_path / "y.json")
    assert json.loads((tmp_path / "y.json").read_text(encoding="utf-8")) == json.loads(text)
    lonely = Taxonomy.from_concepts([Concept("1", "a", extras=(("parent", "x"),)), Concept("2", "b")], [])
    lonely.write(tmp_path / "z.json")
    assert list(Taxonomy.read(tmp_path / "z.json").concepts()) == list(lonely.concepts())


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_two_keys_for_one_thing_are_both_kept(tmp_path: Path, name: str) -> None:
    text = """{"name": "a", "label": "A", "description": "d", "definition": 5, "images": ["i"], "image": "j"}"""
    taxonomy = read(tmp_path / name, text)
    expected = Concept("a", "a", "d", (), ("i", "j"), (("label", "A"), ("definition", "5")))
    assert taxonomy.concept(0) == expected
    taxonomy.write(tmp_path / f"out.{name}")
    assert Taxonomy.read(tmp_path / f"out.{name}").concept(0) == expected
    same = read(tmp_path / name, '{"name": "a", "label": "a", "definition": "d", "description": ""}')
    assert same.concept(0) == Concept("a", "a", "d")


def test_every_mention_of_a_concept_adds_what_it_says(tmp_path: Path) -> None:
    text = """[{"id": 1, "name": "a", "children": [{"id": 3, "name": "c"}, {"id": 2, "size": 5, "synonyms": ["s"]}]},
               {"id": 2, "name": "b", "synonyms": ["t"], "children": [{"id": 3, "name": "c", "description": "late"}]},
               {"id": 3, "description": "other", "size": 7}]"""
    taxonomy = read(tmp_path / "x.json", text)
    assert taxonomy.concept(taxonomy.position("2")) == Concept("2", "b", "", ("t", "s"), (), (("size", "5"),))
    kept = (("size", "7"), ("description", "other"))
    assert taxonomy.concept(taxonomy.position("3")) == Concept("3", "c", "late", extras=kept)
    assert set(taxonomy.edges()) == {("1", "3"), ("1", "2"), ("2", "3")}


def test_what_an_edge_says_beside_its_ends_is_told_of(tmp_path: Path) -> None:
    text = (
        '{"parent": null, "child": "a"}\n{"parent": "a", "child": "b", "weight": 3}\n{"parent": null, "child": "c"}\n'
    )
    taxonomy = read(tmp_path / "x.jsonl", text)
    assert taxonomy.names == ("a", "b", "c")
    assert list(taxonomy.edges()) == [("a", "b")]
    assert [problem.text for problem in taxonomy.reading] == ["edges carry no attributes here; left out: weight"]


def test_siblings_of_one_name_are_told_apart(tmp_path: Path) -> None:
    branch = '{"name": "b", "children": ["c"]}'
    taxonomy = read(tmp_path / "x.json", f'[{{"name": "a", "children": [{branch}, {branch}, {branch}]}}, "a", "a"]')
    assert taxonomy.names == ("a", "b", "c", "b", "c", "b", "c", "a", "a")
    assert taxonomy.ids[3:] == ("a / b", "a / b / c", "a / b (2)", "a / b / c (2)", "a (2)", "a (3)")
    assert [len(taxonomy.child_csr.row(i)) for i in range(9)] == [3, 1, 0, 1, 0, 1, 0, 0, 0]


def test_the_label_of_an_edge_is_told_of_and_names_no_concept(tmp_path: Path) -> None:
    lines = [json.dumps({"parent": "animal", "child": child, "label": "is_a"}) for child in ("dog", "cat")]
    found = read(tmp_path / "x.jsonl", "\n".join(lines))
    assert set(found.edges()) == {("animal", "dog"), ("animal", "cat")}
    assert [problem.text for problem in found.reading] == ["edges carry no attributes here; left out: label"]


@pytest.mark.parametrize(
    "text", ['[{"name":"a","children":["b"]},\n{"name":"c","parent":"a"}]', '["a",\n{"name":"c","parent":"a"}]']
)
def test_a_parent_that_nesting_does_not_repeat_is_told_of(tmp_path: Path, text: str) -> None:
    found = read(tmp_path / "x.json", text)
    assert found.parents("c") == ()
    assert [(problem.where, problem.text) for problem in found.reading] == [
        (f"{tmp_path / 'x.json'}:2", "entries that name a parent are roots: in a nested file only nesting is read")
    ]
