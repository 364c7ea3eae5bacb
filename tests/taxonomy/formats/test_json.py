"""JSON trees and JSON lines: foreign keys, references, repeated names."""

from __future__ import annotations

import json
from pathlib import Path

from taxosphere import Taxonomy
from taxosphere.taxonomy import formats


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


def test_lines_of_nothing_but_edges(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ndjson", '{"parent": "a", "child": "b"}\n{"parent": "a", "child": "c"}\n')
    assert taxonomy.names == ("a", "b", "c")


def test_an_edge_into_nowhere_hides_no_other(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"id": "a"}\n{"id": "b", "children": ["zzz"]}\n{"id": "c", "parents": ["a"]}\n')
    found = formats.read(file, strict=False)
    assert list(found.edges()) == [("a", "c")]
    assert [p.kind for p in found.reading if p.kind != "empty name"] == ["dangling edge"]
