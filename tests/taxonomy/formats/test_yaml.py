"""YAML: read as PyYAML reads it, whatever people write, and refused before it grows."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

yaml = pytest.importorskip("yaml")

PAIRS = {("animal", "bird"), ("animal", "fish"), ("bird", "duck")}
SHAPES = {
    "names and lists": "- animal:\n  - bird:\n    - duck\n  - fish\n",
    "names alone": "animal:\n  bird:\n    duck:\n  fish:\n",
    "a tree": "name: animal\nchildren:\n- name: bird\n  children: [duck]\n- name: fish\n",
    "children as ids": (
        "---\n- id: a-1\n  name: animal\n  children:\n  - a-1-1\n  - a-1-2\n- id: a-1-1\n  name: bird\n"
        "  children: [a-1-1-1]\n- id: a-1-2\n  name: fish\n  children: []\n"
        "- id: a-1-1-1\n  name: duck\n  children: []\n"
    ),
    "parents by id": "- {id: 1, name: animal}\n- {id: 2, name: bird, parent: 1}\n- {id: 3, name: fish, parent: 1}\n"
    "- {id: 4, name: duck, parent: 2}\n",
    "several documents": "name: animal\n---\nname: bird\nparent: animal\n---\nname: fish\nparent: animal\n---\n"
    "name: duck\nparent: bird\n",
    "aliases and merged keys": "- &a {name: animal, parent: null}\n- {<<: *a, name: bird, parent: animal}\n"
    "- {name: fish, parent: animal}\n- {name: duck, parent: bird}\n",
}


def read(tmp_path: Path, text: str) -> Taxonomy:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_tree(shape: str, tmp_path: Path) -> None:
    taxonomy = read(tmp_path, SHAPES[shape])
    names = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    assert {(names[parent], names[child]) for parent, child in taxonomy.edges()} == PAIRS
    assert len(taxonomy) == 4


def test_codes_keep_their_spelling(tmp_path: Path) -> None:
    text = (
        "- {id: 001, name: no}\n- {id: 1.10, name: yes, parent: 001}\n- {id: 1e3, name: 'null', parent: 1.10, n: 5}\n"
    )
    taxonomy = read(tmp_path, text)
    assert taxonomy.ids == ("001", "1.10", "1e3")
    assert taxonomy.names == ("no", "yes", "null")
    assert taxonomy.extras[2] == (("n", "5"),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "- a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"- {chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9)),
            6,
            "aliases multiply the content",
        ),
        ("- &x " + "y" * 50_000 + "\n" + "- *x\n" * 20_000, None, "aliases multiply the content"),
        ("- name: a\n  children: &c [*c]\n", 2, r"the alias \*c refers to itself"),
        ("[" * 100_000, 1, "nested too deeply"),
        ("- " * 100_000, 1, "nested too deeply"),
        ("name: a\nname: b\n", 2, 'the key "name" stands twice'),
        ("name: [a\n", 2, "YAML syntax error"),
        ("a: \x07\n", None, "YAML syntax error"),
        ("? [a, b]\n: c\n", 1, "stands where a key is expected"),
        ("- name: a\n- name: b\n  parent: c\n", 2, "the edge names 'c'"),
        ("!!python/object/apply:os.system [ls]\n", None, "not one|holds|found|expected|names"),
    ],
)
def test_bad_files_are_one_line_at_once(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    began = time.process_time()
    if "python/object" in text:
        assert read(tmp_path, text).names == ("ls",)  # a tag makes nothing
        return
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert line is None or caught.value.line == line
    assert time.process_time() - began < 5


def test_other_readers_get_the_same_texts(tmp_path: Path) -> None:
    names = [
        "no",
        "null",
        "5",
        "1.5",
        "2020-01-01",
        "a: b",
        "# x",
        "- y",
        "é ü",
        "a\u2028b",
        "\x7f",
        "'q'",
        "0x1f",
        "~",
        "=",
        "<<",
    ]
    taxonomy = Taxonomy.from_concepts([Concept(f"i{n}", name, f"{name} {name}") for n, name in enumerate(names)], [])
    taxonomy.write(tmp_path / "x.yaml")
    again = yaml.safe_load((tmp_path / "x.yaml").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in again] == names
    assert [entry["description"] for entry in again] == [f"{name} {name}" for name in names]
