"""What was read and not changed comes back byte for byte; what was added to it is all that a comparison shows."""

from __future__ import annotations

import codecs
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
