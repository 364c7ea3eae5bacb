"""What was read and not changed comes back byte for byte; what was added to it is all that a comparison shows."""

from __future__ import annotations

import codecs
import difflib
from pathlib import Path

import pytest

from support.mutations import TEXTS
from taxosphere import Concept, Taxonomy

NAMES = [
    name for name in TEXTS if Path(name).suffix in (".json", ".yaml", ".yml", ".tre", ".graphml") and "obo" not in name
]
OPML = (
    '<?xml version="1.0"?>\n<opml version="1.0"><body>\n<outline title="a" text=\'a\'>\n'
    '  <outline text="b"/></outline>\n</body></opml>'
)


@pytest.mark.parametrize("name", [*NAMES, "x.opml", "x.jsonl"])
@pytest.mark.parametrize("change", ["", "windows", "mark"])
def test_unchanged_files_come_back_byte_for_byte(name: str, change: str, tmp_path: Path) -> None:
    lines = '{"id": "1", "name": "a"}\n{"name": "b",  "parents": ["1"], "id": "2"}\n'
    text = {"x.opml": OPML, "x.jsonl": lines}.get(name) or TEXTS[name]
    content = text.replace("\n", "\r\n").encode() if change == "windows" else text.encode()
    content = codecs.BOM_UTF8 + content if change == "mark" else content
    (tmp_path / name).write_bytes(content)
    taxonomy = Taxonomy.read(tmp_path / name)
    taxonomy.write(tmp_path / f"again.{name}")
    assert (tmp_path / f"again.{name}").read_bytes() == content
    taxonomy.write(tmp_path / "folder")  # and on the way through a model's folder
    Taxonomy.read(tmp_path / "folder").write(tmp_path / f"model.{name}")
    assert (tmp_path / f"model.{name}").read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audioset_ontology.json", "UAT_list.json", "engineering_blogs.opml", "ruggiero.tre"])
def test_real_files_come_back_byte_for_byte(name: str, real_files: Path, tmp_path: Path) -> None:
    Taxonomy.read(real_files / name).write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == (real_files / name).read_bytes()


def test_a_changed_taxonomy_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"name":"a","children":["b","c"]}', encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.json")
    for changed in (taxonomy.with_edges(taxonomy.edge_array[:1]), taxonomy.keep([0, 1])):
        changed.write(tmp_path / "y.json")
        again = Taxonomy.read(tmp_path / "y.json")
        assert (again.ids, set(again.edges())) == (changed.ids, set(changed.edges()))


def test_a_file_in_another_encoding_is_written_anew(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><opml><body><outline text="Käse"/></body></opml>'
    (tmp_path / "x.opml").write_bytes(text.encode("latin-1"))
    taxonomy = Taxonomy.read(tmp_path / "x.opml")
    assert taxonomy.names == ("Käse",)
    taxonomy.write(tmp_path / "y.opml")
    assert Taxonomy.read(tmp_path / "y.opml").names == ("Käse",)
    assert Taxonomy.from_concepts([Concept("Käse", "Käse")], []).ids == taxonomy.ids


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that were removed and that were added."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def grown(path: Path, *added: tuple[Concept, str]) -> tuple[Taxonomy, Path]:
    taxonomy = Taxonomy.read(path)
    more = taxonomy.add([concept for concept, _ in added], [(above, concept.id) for concept, above in added if above])
    target = path.with_name(f"grown.{path.name}")
    more.write(target)
    again = Taxonomy.read(target)
    assert dict(zip(again.ids, again.names, strict=True)) == dict(zip(more.ids, more.names, strict=True))
    assert set(again.edges()) == set(more.edges())
    return more, target


def test_new_objects_beside_those_that_name_their_children(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = """[
  {
    "id": "/m/1",
    "name": "Sounds",
    "child_ids": ["/m/2"],
    "restrictions":   []
  },
  {
    "id": "/m/2",
    "name": "Voice",
    "child_ids": [],
    "restrictions":   []
  }
]
"""
    path.write_text(text, encoding="utf-8")
    new = [(Concept("/m/3", "Clapping", "with hands"), "/m/1"), (Concept("/m/4", "Applause"), "/m/3")]
    _, target = grown(path, *new)
    removed, added = changed_lines(text, target.read_text(encoding="utf-8"))
    assert removed == ['    "child_ids": ["/m/2"],']
    assert added[0] == '    "child_ids": ["/m/2", "/m/3"],'
    assert '    "name": "Clapping",' in added
    assert '    "child_ids": ["/m/4"],' in added


def test_new_objects_beside_those_that_name_their_parents(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = '[{"id": 1,  "label": "a", "parent_id": null},\n {"id": 2, "label": "b", "parent_id": 1}]'
    path.write_text(text, encoding="utf-8")
    _, target = grown(path, (Concept("3", "c"), "1"), (Concept("4", "d"), ""))
    assert target.read_text(encoding="utf-8") == text[:-1] + (
        ',\n {"id": 3, "label": "c", "parent_id": 1},\n {"id": 4, "label": "d", "parent_id": null}]'
    )


def test_new_objects_inside_others(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = '{"name": "a", "size":5,\n "children": [\n  {"name": "b"},\n  {"name": "c", "children": []}\n ]}\n'
    path.write_text(text, encoding="utf-8")
    _, target = grown(
        path, (Concept("d", "d"), "a"), (Concept("e", "e"), "d"), (Concept("f", "f"), "b"), (Concept("g", "g"), "c")
    )
    removed, added = changed_lines(text, target.read_text(encoding="utf-8"))
    assert removed == ['  {"name": "b"},', '  {"name": "c", "children": []}']
    assert added == [
        '  {"name": "b", "children": [{"name": "f"}]},',
        '  {"name": "c", "children": [{"name": "g"}]},',
        '  {"name": "d", "children": [{"name": "e"}]}',
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audioset_ontology.json", "UAT_list.json"])
def test_a_new_concept_changes_little_of_a_real_file(name: str, real_files: Path, tmp_path: Path) -> None:
    text = (real_files / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    parent = Taxonomy.read(tmp_path / name).ids[0]
    _, target = grown(tmp_path / name, (Concept("new:1", "A new one"), parent))
    longer = target.read_text(encoding="utf-8")
    assert 0 < len(longer) - len(text) < 400


def test_what_cannot_be_inserted_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in (
        '{"a": {"b": ["c"]}}',  # names as keys
        '{"name": "a", "children": ["b"]}',  # a name has no place for children
    ):
        path.write_text(text, encoding="utf-8")
        _, target = grown(path, (Concept("d", "d"), "b"))
        again = Taxonomy.read(target)
        names = {(again.names[again.position(p)], again.names[again.position(c)]) for p, c in again.edges()}
        assert ("b", "d") in names


def test_new_outlines(tmp_path: Path) -> None:
    path = tmp_path / "x.opml"
    text = """<opml version="1.0">
  <body>
    <outline text='a' b="c">
      <!-- <outline text="no"/> -->
      <outline title="b"   text="b"/>
    </outline>
  </body>
</opml>
"""
    path.write_text(text, encoding="utf-8")
    new = [(Concept("c", "c & d"), "a"), (Concept("e", "e"), "b"), (Concept("f", "f"), "e"), (Concept("g", "g"), "")]
    _, target = grown(path, *new)
    assert changed_lines(text, target.read_text(encoding="utf-8")) == (
        ['      <outline title="b"   text="b"/>'],
        [
            '      <outline title="b"   text="b">',
            '        <outline text="e">',
            '          <outline text="f"/>',
            "        </outline>",
            "      </outline>",
            '      <outline text="c &amp; d" id="c"/>',
            '    <outline text="g"/>',
        ],
    )


def test_a_new_outline_of_a_real_file(real_files: Path, tmp_path: Path) -> None:
    text = (real_files / "engineering_blogs.opml").read_text(encoding="utf-8")
    (tmp_path / "x.opml").write_text(text, encoding="utf-8")
    _, target = grown(tmp_path / "x.opml", (Concept("New", "New"), "Engineering Blogs"))
    assert changed_lines(text, target.read_text(encoding="utf-8")) == ([], ['      <outline text="New"/>'])


def test_new_records_in_yaml(tmp_path: Path) -> None:
    path = tmp_path / "x.yml"
    text = "---\n- id: a-1\n  name:   'A'  # first\n  children:\n  - a-1-1\n  tags: [x]\n"
    text += "- id: a-1-1\n  name: B\n  children: []\n  tags: []\n"
    path.write_text(text, encoding="utf-8")
    _, target = grown(path, (Concept("a-1-2", "C: c"), "a-1"), (Concept("a-1-1-1", "D"), "a-1-1"))
    longer = text.replace("  - a-1-1\n", "  - a-1-1\n  - a-1-2\n").replace("children: []", "children:\n  - a-1-1-1")
    longer += '- id: a-1-2\n  name: "C: c"\n  children: []\n- id: a-1-1-1\n  name: D\n  children: []\n'
    assert target.read_text(encoding="utf-8") == longer


def test_a_new_record_of_a_real_yaml_file(real_files: Path, tmp_path: Path) -> None:
    text = (real_files / "shopify_furniture.yml").read_text(encoding="utf-8")
    (tmp_path / "x.yml").write_text(text, encoding="utf-8")
    _, target = grown(tmp_path / "x.yml", (Concept("fr-26", "Hammocks"), "fr"))
    removed, added = changed_lines(text, target.read_text(encoding="utf-8"))
    assert removed == []
    assert added == ["  - fr-26", "- id: fr-26", "  name: Hammocks", "  children: []"]


def test_new_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    text = '{"id":"1","name":"a"}\n{"id":"2","name":"b","parents":["1"]}'
    path.write_text(text, encoding="utf-8")
    _, target = grown(path, (Concept("3", "c"), "2"))
    assert target.read_text(encoding="utf-8") == text + '\n{"id": "3", "name": "c", "parents": ["2"]}\n'
