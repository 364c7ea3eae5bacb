"""JSON in the shapes that people and programs give it: any keys, nested, naming each other, names as keys, graphs."""

# ruff: noqa: RUF005 - a list per line and level reads better in two parts
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

# animal ─┬─ bird ─ duck
#         └─ fish
PAIRS = {("animal", "bird"), ("animal", "fish"), ("bird", "duck")}
LEAVES = [{"title": "bird", "kids": [{"title": "duck"}]}, {"title": "fish"}]
SHAPES: dict[str, Any] = {
    "label for the name": {"label": "animal", "children": [{"label": "bird", "children": [{"label": "duck"}]}, "fish"]},
    "title, and another key below": {"title": "animal", "kids": LEAVES},
    "a titled root with an address": {
        "uri": "u:1",
        "title": "animal",
        "children": [
            {"uri": "u:2", "title": "bird", "children": [{"uri": "u:3", "title": "duck"}]},
            {"uri": "u:4", "title": "fish", "children": []},
        ],
    },
    "text and nodes, as in tree widgets": [
        {"text": "animal", "nodes": [{"text": "bird", "nodes": [{"text": "duck"}]}, {"text": "fish"}]}
    ],
    "keys in another language": {
        "Begriff": "animal",
        "Teile": [{"Begriff": "bird", "Teile": [{"Begriff": "duck"}]}, {"Begriff": "fish", "Teile": []}],
    },
    "capital letters": {
        "Name": "animal",
        "Children": [{"Name": "bird", "Children": [{"Name": "duck"}]}, {"Name": "fish"}],
    },
    "a key per level": {
        "kingdoms": [
            {"kingdom": "animal", "classes": [{"class": "bird", "species": [{"name": "duck"}]}, {"class": "fish"}]}
        ]
    },
    "an only child without a list": {
        "name": "animal",
        "children": [{"name": "bird", "children": {"name": "duck"}}, {"name": "fish"}],
    },
    "children below their names": {"name": "animal", "children": {"bird": {"children": {"duck": {}}}, "fish": {}}},
    "names as keys": {"animal": {"bird": {"duck": {}}, "fish": {}}},
    "names as keys, leaves in lists": {"animal": {"bird": ["duck"], "fish": None}},
    "names as keys, leaves with sizes": {"animal": {"bird": {"duck": 5}, "fish": 7}},
    "lists of names and keys": [{"animal": [{"bird": ["duck"]}, "fish"]}],
    "adjacency": {"animal": ["bird", "fish"], "bird": ["duck"], "duck": []},
    "adjacency from child to parents": {"duck": ["bird"], "bird": ["animal"], "fish": ["animal"], "animal": []},
    "children by name": [{"name": "animal", "children": ["bird", "fish"]}, {"name": "bird", "children": ["duck"]}]
    + [{"name": "duck"}, {"name": "fish"}],
    "narrower by name": [{"term": "animal", "narrower": ["bird", "fish"]}, {"term": "bird", "narrower": ["duck"]}]
    + [{"term": "duck", "narrower": []}, {"term": "fish", "narrower": None}],
    "parents by name in any spelling": [{"Name": "animal", "Parent": None}, {"Name": "bird", "Parent": "animal"}]
    + [{"Name": "fish", "Parent": "animal"}, {"Name": "duck", "Parent": "bird"}],
    "the tree widget's root": [
        {"id": "animal", "parent": "#", "text": "animal"},
        {"id": "bird", "parent": "animal", "text": "bird"},
        {"id": "fish", "parent": "animal", "text": "fish"},
        {"id": "duck", "parent": "bird", "text": "duck"},
    ],
    "ids that are names": [
        {"id": "animal"},
        {"id": "bird", "parentId": "animal"},
        {"id": "fish", "parentId": "animal"},
        {"id": "duck", "parentId": "bird"},
    ],
    "nodes and links": {
        "nodes": [{"id": name} for name in ("animal", "bird", "fish", "duck")],
        "links": [{"source": a, "target": b} for a, b in sorted(PAIRS)],
    },
    "nodes and links by number": {
        "nodes": [{"name": name} for name in ("animal", "bird", "fish", "duck")],
        "links": [{"source": 0, "target": 1}, {"source": 0, "target": 2}, {"source": 1, "target": 3}],
    },
    "links that are called is_a": {
        "nodes": [{"id": name} for name in ("animal", "bird", "fish", "duck")],
        "edges": [{"source": b, "target": a, "relation": "is_a"} for a, b in sorted(PAIRS)],
    },
    "Cytoscape": {
        "elements": {
            "nodes": [{"data": {"id": str(i), "name": n}} for i, n in enumerate(("animal", "bird", "fish", "duck"))],
            "edges": [{"data": {"source": "0", "target": t}} for t in "12"]
            + [{"data": {"source": "1", "target": "3"}}],
        }
    },
    "the JSON Graph Format": {
        "graph": {
            "nodes": {name: {"label": name} for name in ("animal", "bird", "fish", "duck")},
            "edges": [{"source": a, "target": b, "relation": "has"} for a, b in sorted(PAIRS)],
        }
    },
    "groups around records": {
        "version": "1",
        "verticals": [
            {
                "name": "everything",
                "categories": [
                    {"id": "a", "name": "animal", "parent_id": None, "children": [{"id": "b", "name": "bird"}]},
                    {"id": "b", "name": "bird", "parent_id": "a", "children": [{"id": "d", "name": "duck"}]},
                    {"id": "f", "name": "fish", "parent_id": "a", "children": []},
                ],
            },
            {"name": "more", "categories": [{"id": "d", "name": "duck", "parent_id": "b", "children": []}]},
        ],
    },
    "records below their ids, names by language": {
        "en:animal": {"name": {"fr": "bête", "en": "animal"}, "children": ["en:bird", "en:fish"]},
        "en:bird": {"name": {"en": "bird"}, "parents": ["en:animal"]},
        "en:fish": {"name": {"en": "fish", "de": "Fisch"}, "parents": ["en:animal"]},
        "en:duck": {"name": {"en": "duck"}, "parents": ["en:bird"]},
    },
    "records in a wrapper": {
        "meta": {"version": 2},
        "data": {
            "concepts": [{"code": "1", "label": "animal"}, {"code": "2", "label": "bird", "broader": {"code": "1"}}]
            + [
                {"code": "3", "label": "fish", "broader": {"code": "1"}},
                {"code": "4", "label": "duck", "broader": {"code": "2"}},
            ]
        },
    },
    "parents as objects": [
        {"uri": "x:1", "prefLabel": "animal", "broader": []},
        {"uri": "x:2", "prefLabel": "bird", "broader": [{"uri": "x:1", "prefLabel": "animal"}]},
        {"uri": "x:3", "prefLabel": "fish", "broader": [{"uri": "x:1"}]},
        {"uri": "x:4", "prefLabel": "duck", "broader": [{"uri": "x:2"}]},
    ],
    "roots below zero": [
        {"id": 1, "name": "animal", "parent_id": 0},
        {"id": 2, "name": "bird", "parent_id": 1},
        {"id": 3, "name": "fish", "parent_id": 1},
        {"id": 4, "name": "duck", "parent_id": 2},
    ],
    "each level counts anew": {
        "sectors": [
            {
                "id": 1,
                "name": "animal",
                "industries": [
                    {"id": 1, "name": "bird", "parts": [{"id": 1, "name": "duck"}]},
                    {"id": 2, "name": "fish"},
                ],
            }
        ]
    },
}


def read(tmp_path: Path, value: Any, **options: Any) -> Taxonomy:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return Taxonomy.read(path, **options)


def named_edges(taxonomy: Taxonomy) -> set[tuple[str, str]]:
    names = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    return {(names[parent], names[child]) for parent, child in taxonomy.edges()}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_tree(shape: str, tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SHAPES[shape])
    assert sorted(taxonomy.names) == ["animal", "bird", "duck", "fish"]
    assert named_edges(taxonomy) == PAIRS


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_written_as_what_can_be_read(shape: str, tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SHAPES[shape])
    anew = replace(taxonomy, meta={key: value for key, value in taxonomy.meta.items() if key != "source"})
    for name in ("y.json", "y.yaml"):
        anew.write(tmp_path / name)
        assert named_edges(Taxonomy.read(tmp_path / name)) == PAIRS


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_comes_back_as_it_was(shape: str, tmp_path: Path) -> None:
    read(tmp_path, SHAPES[shape]).write(tmp_path / "y.json")
    assert (tmp_path / "y.json").read_bytes() == (tmp_path / "x.json").read_bytes()


def test_how_the_file_was_understood_is_said(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SHAPES["parents as objects"])
    said = "name from 'prefLabel', id from 'uri', parents from 'broader'; a list of objects that name each other"
    assert taxonomy.reading_notes == (said,)
    assert read(tmp_path, SHAPES["title, and another key below"]).reading_notes == (
        "name from 'title', children from 'kids'; nested",
    )


def test_what_is_not_understood_is_kept(tmp_path: Path) -> None:
    records = [
        {"uri": "u:1", "id": 7, "title": "animal", "altNames": ["beast"], "definition": "lives", "rank": 1},
        {"uri": "u:2", "id": 8, "title": "bird", "altNames": None, "broader": ["u:1"], "related": ["u:1"]},
    ]
    taxonomy = read(tmp_path, records)
    assert list(taxonomy.edges()) == [("u:1", "u:2")]
    animal = taxonomy.concept(0)
    assert (animal.name, animal.description, animal.synonyms) == ("animal", "lives", ("beast",))
    assert set(animal.extras) == {("id", "7"), ("rank", "1")}
    assert ("related", '["u:1"]') in taxonomy.concept(1).extras


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (
            [{"id": "1", "name": "a", "liegt_in": ""}, {"id": "2", "name": "b", "liegt_in": "1"}]
            + [{"id": "3", "name": "c", "liegt_in": "2"}],
            {},
            "3 concepts and not one edge, although 'liegt_in' seem to name other concepts; state with --map parent=KEY",
        ),
        (
            [{"id": "1", "name": "a", "parent_ref_x": "zzz"}, {"id": "2", "name": "b", "parent_ref_x": "yyy"}],
            {},
            "although 'parent_ref_x' seem",
        ),
        ([{"x": "a", "y": "b"}, {"x": "c", "y": "d"}], {}, "neither 'name' nor 'id', but 'x', 'y'; --map name=KEY"),
        ([{"level1": "a", "level2": "b"}, {"level1": "a", "level2": "c"}], {}, "neither 'name' nor 'id', but 'level1'"),
        (["a > b > c", "a > d"], {}, r"is a list of paths \('a > b > c'\); save it as text with one path per line"),
        ({"A01": "Cattle", "A02": "Sheep"}, {}, "the keys 'A01', 'A02' and neither names nor children"),
        (
            [{"name": "a"}],
            {"mapping": {"parent": "above"}},
            "--map parent=above: no object has that key; they have name",
        ),
        (
            [{"name": "a", "xs": [{"name": "b"}], "ys": [{"name": "c"}]}],
            {},
            r"several lists of objects \('xs', 'ys'\); --map child=KEY",
        ),
        (
            {"nodes": [{"id": 1}], "links": [{"a": 1, "b": 2}]},
            {},
            "a link needs a 'source' and a 'target'; it has a, b",
        ),
    ],
)
def test_what_is_not_understood_is_refused_with_a_way_out(
    tmp_path: Path, value: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, value, **options)


def test_stated_keys(tmp_path: Path) -> None:
    records = [{"nr": "1", "wort": "a", "liegt_in": ""}, {"nr": "2", "wort": "b", "liegt_in": "1"}]
    taxonomy = read(tmp_path, records, mapping={"id": "nr", "name": "wort", "parent": "liegt_in"})
    assert (taxonomy.names, list(taxonomy.edges())) == (("a", "b"), [("1", "2")])
    tree = {"name": "a", "xs": [{"name": "b"}], "ys": [{"name": "c"}]}
    assert named_edges(read(tmp_path, tree, mapping={"child": "ys"})) == {("a", "c")}
    downward = [{"nr": "1", "wort": "a", "hat": ["2"]}, {"nr": "2", "wort": "b", "hat": []}]
    assert list(read(tmp_path, downward, mapping={"id": "nr", "name": "wort", "child": "hat"}).edges()) == [("1", "2")]


def test_the_direction_of_links_may_be_stated(tmp_path: Path) -> None:
    graph = {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}
    assert list(read(tmp_path, graph).edges()) == [("a", "b")]
    assert list(read(tmp_path, graph, columns=("child", "parent")).edges()) == [("b", "a")]


def test_the_language_of_names_may_be_stated(tmp_path: Path) -> None:
    records = [{"id": "1", "name": {"en": "bird", "de": "Vogel"}, "parent": None}]
    assert read(tmp_path, records).names == ("bird",)
    assert read(tmp_path, records, language="de").names == ("Vogel",)


def test_a_list_of_concepts_without_relations_is_one(tmp_path: Path) -> None:
    assert len(read(tmp_path, [{"name": "a", "size": 1}, {"name": "b", "size": 2}]).edge_array) == 0


def test_deep_nesting_of_every_shape_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for depth in (300, 450, 600, 900, 5000):
        for opening, closing in (
            ('{"a":', "}"),
            ('[{"a":', "}]"),
            ('{"t":"x","k":[', "]}"),
            ('{"name":"x","a":[', "]}"),
        ):
            path.write_text(opening * depth + "{}" * opening.endswith(":") + closing * depth, encoding="utf-8")
            try:
                Taxonomy.read(path)
            except InputError as error:
                assert str(error).count("\n") == 0  # noqa: PT017 - either way is right, a traceback is not


LINES = [name for name, value in SHAPES.items() if isinstance(value, list) and "parent" in str(value)]


@pytest.mark.parametrize("shape", [*LINES, "narrower by name", "children by name", "parents as objects"])
def test_lines_under_the_same_keys(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, SHAPES[shape])), encoding="utf-8")
    assert named_edges(Taxonomy.read(path)) == PAIRS


def test_lines_that_name_relations_under_unknown_keys(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(f'{{"id": "{i}", "name": "n{i}", "liegt_in": "{i // 2}"}}' for i in range(1, 9)))
    with pytest.raises(InputError, match="not one edge, although 'liegt_in' seem"):
        Taxonomy.read(path)
    assert len(Taxonomy.read(path, mapping={"parent": "liegt_in"}).edge_array) == 7
