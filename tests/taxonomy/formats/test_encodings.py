"""Text files in other encodings than UTF-8, where the encoding is stated or declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.mutations import RELEASES, zipped
from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TEXTS = {
    "x.obo": "format-version: 1.2\n\n[Term]\nid: A:1\nname: Möbel\n\n[Term]\nid: A:2\nname: Stühle\nis_a: A:1\n",
    "x.json": '[{"name": "Möbel", "children": [{"name": "Stühle"}]}]',
    "x.jsonl": '{"name": "Möbel"}\n{"name": "Stühle", "parent": "Möbel"}\n',
    "x.yaml": "Möbel:\n  - Stühle\n",
    "x.nwk": "('Stühle')'Möbel';",
    "x.md": "- Möbel\n    - Stühle\n",
    "x.csv": "name;parent\nMöbel;\nStühle;Möbel\n",
    "x.mm": '<map><node TEXT="Möbel"><node TEXT="Stühle"/></node></map>',
    "x.opml": '<opml><body><outline text="Möbel"><outline text="Stühle"/></outline></body></opml>',
    "x.xml": "<a><b><name>Möbel</name><b><name>Stühle</name></b></b></a>",
    "foods.txt": "en: furniture\nde: Möbel\n\n< en:furniture\nen: chairs\nde: Stühle\n",
    "x.taxo": "1\tStühle\tMöbel\n",
    "x.mesh.xml": "<DescriptorRecordSet>"
    + "".join(
        f"<DescriptorRecord><DescriptorUI>{id}</DescriptorUI><DescriptorName><String>{name}</String></DescriptorName>"
        f"<TreeNumberList><TreeNumber>{number}</TreeNumber></TreeNumberList></DescriptorRecord>"
        for id, name, number in (("D1", "Möbel", "A01"), ("D2", "Stühle", "A01.1"))
    )
    + "</DescriptorRecordSet>",
    "x.ttl": f'<x:a> <{SKOS}prefLabel> "Möbel" . <x:b> <{SKOS}prefLabel> "Stühle" ; <{SKOS}broader> <x:a> .',
}
DECLARED = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:s="{SKOS}"><s:Concept rdf:about="x:a"><s:prefLabel>Möbel</s:prefLabel></s:Concept>
<s:Concept rdf:about="x:b"><s:prefLabel>Stühle</s:prefLabel><s:broader rdf:resource="x:a"/></s:Concept></rdf:RDF>
"""


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["cp1252", "cp850"])
def test_stated(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes(TEXTS[name].encode(encoding))
    language = "de" if name == "foods.txt" else None
    taxonomy = registry.read(path, ReadOptions(encoding=encoding, language=language))
    assert sorted(taxonomy.names) == ["Möbel", "Stühle"]
    assert len(taxonomy.edge_array) == 1


@pytest.mark.parametrize("release", ["taxdump.zip", "snomed.zip"])
@pytest.mark.parametrize("packed", [True, False])
def test_stated_for_all_files_of_a_release(tmp_path: Path, release: str, packed: bool) -> None:
    parts = {
        name: text.replace("\tx\t", "\tMöbel\t").replace("\tx\n", "\tMöbel\n").encode("cp1252")
        for name, text in RELEASES[release].items()
    }
    path = tmp_path / (release if packed else "release")
    if packed:
        path.write_bytes(zipped(parts))
    else:
        path.mkdir()
        for name, content in parts.items():
            (path / name).write_bytes(content)
    assert "Möbel" in registry.read(path, ReadOptions(encoding="cp1252")).names
    with pytest.raises(InputError, match=r"is not UTF-8.*--encoding"):
        registry.read(path)


@pytest.mark.parametrize("name", ["x.obo", "x.json", "x.ttl"])
def test_utf_16(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TEXTS[name].encode("utf-16"))
    assert "Möbel" in registry.read(path, ReadOptions(encoding="utf-16")).names


def test_declared_in_rdf_xml(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    path.write_bytes(DECLARED.encode("latin-1"))
    taxonomy = Taxonomy.read(path)
    assert taxonomy.names == ("Möbel", "Stühle")
    taxonomy.write(tmp_path / "again.rdf")
    assert Taxonomy.read(tmp_path / "again.rdf").names == taxonomy.names


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.obo"
    path.write_bytes(TEXTS["x.obo"].encode("cp1252"))
    with pytest.raises(InputError, match=r"not UTF-8.*--encoding"):
        Taxonomy.read(path)
    with pytest.raises(InputError, match="is not ascii; --encoding"):
        registry.read(path, ReadOptions(encoding="ascii"))
    with pytest.raises(InputError, match="'klingon' is no encoding"):
        registry.read(path, ReadOptions(encoding="klingon"))
