"""Text tables that are written back: lines that nobody touched stay byte for byte."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Concept, Taxonomy

EXCEL = (
    "\ufeffArtikel;Oberbegriff;Lieferant;Beschreibung\r\n"
    "Küche;;;\r\n"
    'Töpfe;Küche;"Müller; Söhne";"groß\r\nund klein"\r\n'
    "Pfannen;Küche;;\r\n"
    "Bratpfannen;Pfannen;ACME;\r\n"
    "Bad;;;\r\n"
)
MAP = {"name": "Artikel"}


def added(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Lines that are gone, and lines that are new."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    gone = [line for tag, a, b, _, _ in changes if tag in ("delete", "replace") for line in old[a:b]]
    come = [line for tag, _, _, a, b in changes if tag in ("insert", "replace") for line in new[a:b]]
    return gone, come


def grown(path: Path, content: bytes, *concepts: tuple[str, str], placement: str = "end", **options: Any) -> bytes:
    path.write_bytes(content)
    taxonomy = Taxonomy.read(path, **options)
    new = [Concept(name, name) for name, _ in concepts]
    larger = taxonomy.add(new, [(parent, name) for name, parent in concepts if parent])
    larger.write(path.with_name(f"out{path.suffix}"), placement=placement)
    return path.with_name(f"out{path.suffix}").read_bytes()


@pytest.mark.parametrize("placement", ["end", "siblings"])
def test_a_table_as_excel_writes_it(tmp_path: Path, placement: str) -> None:
    source = EXCEL.encode()
    result = grown(tmp_path / "x.csv", source, ("Woks", "Pfannen"), ("Tee", ""), placement=placement, mapping=MAP)
    gone, come = added(source, result)
    assert not gone
    assert set(come) == {b"Woks;Pfannen;;\r\n", b"Tee;;;\r\n"}
    if placement == "siblings":
        assert b"Bratpfannen;Pfannen;ACME;\r\nWoks;Pfannen;;\r\nBad" in result


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.csv", "parent,child\na,b\n", "a,new\n"),
        ("x.csv", "child;parent;note\nb;a;x\n", "new;a;\n"),
        ("x.tsv", "a\tb\na\tc", "\na\tnew"),
        ("x.csv", '"id","name","parent"\n"a","a",""\n"b","b","a"\n', '"new","new","a"\n'),
        ("x.csv", "Level 1,Level 2,Note\na,,\na,b,x\n", "a,new,\n"),
        ("x.csv", "ID,L1,L2\n1,a,\n2,a,b\n", "new,a,new\n"),
        ("x.txt", "# top\n\na\na > b\n\n", "a > new\n"),
        ("x.txt", "a\na/b\nc\nc/d\n", "a/new\n"),
        ("x.csv", "id,path\n,a\n,a > b\n", "new,a > new\n"),
        ("x.tsv", "# top\nname\tparent\n\na\t\nb\ta\n\n", "new\ta\n"),
        ("x.csv", "My table,,\nname,parent,x\na,,\nb,a,\nTotal,2,\n", "new,a,\n"),
    ],
)
def test_every_kind_of_table_gets_its_new_row(tmp_path: Path, name: str, text: str, line: str) -> None:
    id = "1" if text.startswith("ID,L1") else "a"
    result = grown(tmp_path / name, text.encode(), ("new", id)).decode()
    assert result.replace(line, "", 1) == text
    assert line in result


def test_a_new_column_changes_the_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("name,parent\na,\nb,a\n", encoding="utf-8")
    Taxonomy.read(path).add([Concept("c", "c", "text", (), (), (("by", "me"),))], [("a", "c")]).write(path)
    assert path.read_text(encoding="utf-8") == "name,parent,description,by\na,\nb,a\nc,a,text,me\n"
    assert Taxonomy.read(path).extras[2] == (("by", "me"),)


def test_what_is_gone_or_changed_goes_and_changes_alone(tmp_path: Path) -> None:
    text = "id;name;parent;x\r\n1;a;;u\r\n2;b;1;v\r\n3;c;1;w\r\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8", newline="")
    taxonomy = Taxonomy.read(tmp_path / "x.csv")
    taxonomy.keep([0, 2]).write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes().decode() == text.replace("2;b;1;v\r\n", "")
    replace(taxonomy, names=("a", "B", "c")).write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes().decode() == text.replace("2;b;", "2;B;")
    taxonomy.with_edges([[0, 1], [1, 2]]).write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes().decode() == text.replace("3;c;1;", "3;c;2;")


def test_the_encoding_stays_where_it_can(tmp_path: Path) -> None:
    source = "Name;Parent\r\nBäume;\r\nÄste;Bäume\r\n".encode("cp1252")
    assert grown(tmp_path / "x.csv", source, ("Öl", "Bäume")) == source + "Öl;Bäume\r\n".encode("cp1252")
    assert grown(tmp_path / "x.csv", source, ("Ω", "Bäume")).decode("utf-8-sig").endswith("Ω;Bäume\r\n")
    wide = "Name\tParent\r\na\t\r\nb\ta\r\n".encode("utf-16")
    assert grown(tmp_path / "x.csv", wide, ("c", "a")) == wide + "c\ta\r\n".encode("utf-16")[2:]


def test_the_text_goes_through_the_native_folder(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(EXCEL.encode())
    Taxonomy.read(tmp_path / "x.csv", mapping=MAP).write(tmp_path / "native")
    Taxonomy.read(tmp_path / "native").write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes() == EXCEL.encode()


names = st.text(st.characters(categories=("L", "N"), include_characters=' ,;"\t'), min_size=1, max_size=6)
names = names.map(str.strip).filter(
    lambda text: text and text.lower() not in ("0", "-1", "none", "null", "root", "top")
)
ends = st.sampled_from(["\n", "\r\n"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), end=ends, between=st.sampled_from(",;"), quoted=st.booleans(), siblings=st.booleans())
def test_any_table_changes_only_where_the_taxonomy_did(
    tmp_path: Path, data: st.DataObject, end: str, between: str, quoted: bool, siblings: bool
) -> None:
    texts = data.draw(st.lists(names, min_size=2, max_size=8, unique=True))

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted or any(c in text for c in ',;"\t ') else text

    rows = [["id", "name", "parent", "own"]]
    for i, text in enumerate(texts):
        rows.append([f"x{i}", text, f"x{data.draw(st.integers(0, i - 1))}" if i else "", "kept"])
    source = "".join(between.join(map(cell, row)) + end for row in rows).encode()
    path = tmp_path / "x.csv"
    path.write_bytes(source)
    taxonomy = Taxonomy.read(path)
    taxonomy.write(tmp_path / "same.csv")
    assert (tmp_path / "same.csv").read_bytes() == source
    new = data.draw(st.lists(names, min_size=1, max_size=3))
    edges = [(f"x{data.draw(st.integers(0, len(texts) - 1))}", f"n{i}") for i in range(len(new))]
    larger = taxonomy.add([Concept(f"n{i}", name) for i, name in enumerate(new)], edges)
    larger.write(tmp_path / "y.csv", placement="siblings" if siblings else "end")
    gone, come = added(source, (tmp_path / "y.csv").read_bytes())
    assert not gone
    assert len(come) == len(new)
    again = Taxonomy.read(tmp_path / "y.csv")
    assert set(again.edges()) == set(larger.edges())
    assert {c.id: c.name for c in again.concepts()} == {c.id: c.name for c in larger.concepts()}
