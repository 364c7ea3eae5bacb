"""Layouts that real files have and that were once read as something else, each in a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError


def test_running_numbers_are_no_codes_that_nest(tmp_path: Path) -> None:
    rows = [f"{number},weakness {number},about {number}" for number in range(5, 200) if number % 3]
    (tmp_path / "x.csv").write_text("CWE-ID,Name,Description\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match="--nested"):
        Taxonomy.read(tmp_path / "x.csv")
    assert ("19", "190") in set(Taxonomy.read(tmp_path / "x.csv", nested=True).edges())


def test_fields_between_double_colons_are_no_paths(tmp_path: Path) -> None:
    rows = [f"{i * 997},name {i},::PHASE:Design::PHASE:Operation {i}:NOTE:text::" for i in range(20)]
    (tmp_path / "x.csv").write_text("ID,Name,Modes\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError):
        Taxonomy.read(tmp_path / "x.csv")


def test_cells_in_single_quotation_marks_are_refused(tmp_path: Path) -> None:
    rows = [f"'{i}','Group {i}'\n'{i}.1','Part of {i}'" for i in range(1, 9)]
    (tmp_path / "x.csv").write_text("CATEGORY,LABEL\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match="single quotation marks"):
        Taxonomy.read(tmp_path / "x.csv", nested=True)


def test_keys_that_refer_to_other_keys_are_no_tree(tmp_path: Path) -> None:
    document = {"86": {"11": "Beijing", "12": "Tianjin"}, "11": {"1101": "Dongcheng"}, "12": {"1201": "Heping"}}
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="'11' stands at the top and below '86'"):
        Taxonomy.read(tmp_path / "x.json")


def test_a_tree_of_ids_without_names(tmp_path: Path) -> None:
    leaf = {"id": "0010", "description": "due to Vibrio cholerae"}
    tree = {"id": "root", "children": [{"id": "Infectious", "children": [{"id": "Cholera", "children": [leaf]}]}]}
    (tmp_path / "x.json").write_text(json.dumps({"tree": tree}))
    taxonomy = Taxonomy.read(tmp_path / "x.json")
    assert list(taxonomy.edges()) == [("root", "Infectious"), ("Infectious", "Cholera"), ("Cholera", "0010")]
    assert taxonomy.descriptions[3] == "due to Vibrio cholerae"


def test_what_inherits_is_below(tmp_path: Path) -> None:
    document = {"Node": {"inherits": None, "implements": []}, "Element": {"inherits": "Node", "implements": []}}
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert list(Taxonomy.read(tmp_path / "x.json").edges()) == [("Node", "Element")]


def test_tags_in_the_text_of_a_mind_map(tmp_path: Path) -> None:
    text = "&lt;html&gt;&lt;body&gt;&lt;p&gt;Getting &lt;b&gt;things&lt;/b&gt; done&lt;/p&gt;&lt;/body&gt;&lt;/html&gt;"
    (tmp_path / "x.mm").write_text(f'<map><node TEXT="{text}"><node TEXT="Inbox"/></node></map>')
    assert list(Taxonomy.read(tmp_path / "x.mm").names) == ["Getting things done", "Inbox"]


def test_a_name_in_several_lists_is_one_concept_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"11": ["director", "chief"], "12": ["director", "clerk"]}))
    taxonomy = Taxonomy.read(tmp_path / "x.json")
    assert sorted(taxonomy.edges()) == [("11", "chief"), ("11", "director"), ("12", "clerk"), ("12", "director")]
    assert "1 name in several lists, each one concept with several parents: 'director'" in taxonomy.reading_notes[0]
