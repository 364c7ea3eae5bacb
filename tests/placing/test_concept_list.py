from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.placing.concept_list import with_ids
from taxosphere.placing.list_reader import read_concepts, read_list


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("new.tsv", "name\tdescription\nsea eagle\ta large raptor\nowl\t\n"),
        ("new.tsv", "description\tname\na large raptor\tsea eagle\n\towl\n"),
        ("new.tsv", "sea eagle\ta large raptor\nowl\n"),
        ("new.tsv", "label\tdefinition\nsea eagle\ta large raptor\nowl\t\n"),
        ("new.tsv", "Term\tDescription\nsea eagle\ta large raptor\nowl\t\n"),
        ("new.tsv", "code\tPreferred Label\tdefinition\n\tsea eagle\ta large raptor\n\towl\t\n"),
        ("new.tsv", "concept\tdefinition\nsea eagle\ta large raptor\nowl\t\n"),
        ("new.csv", "Bezeichnung;Beschreibung\nsea eagle;a large raptor\nowl;\n"),
        ("new.csv", "Libellé;Définition\nsea eagle;a large raptor\nowl;\n"),
        ("new.csv", "Product name,Description\nsea eagle,a large raptor\nowl,\n"),
        ("new.csv", "Product,Description\nsea eagle,a large raptor\nowl,\n"),
        ("new.csv", "Artikel;Beschreibung\nsea eagle;a large raptor\nowl;\n"),
        ("new.csv", 'name,description\n"sea eagle",a large raptor\nowl,\n'),
        ("new.jsonl", '{"name": "sea eagle", "description": "a large raptor"}\n\n{"name": "owl"}\n'),
    ],
)
def test_one_list_in_many_forms(tmp_path: Path, animals: Taxonomy, name: str, text: str) -> None:
    found = read_concepts(_write(tmp_path, name, text), animals)
    assert found == [Concept("sea eagle", "sea eagle", "a large raptor"), Concept("owl", "owl")]


def test_plain_names_ids_and_synonyms(tmp_path: Path, animals: Taxonomy) -> None:
    assert [c.name for c in read_concepts(_write(tmp_path, "n.txt", "owl\n\nwren\n"), animals)] == ["owl", "wren"]
    table = _write(tmp_path, "n.tsv", "id\tname\tsynonyms\nX1\towl\tnight bird| hooter\n")
    assert read_concepts(table, animals) == [Concept("X1", "owl", "", ("night bird", "hooter"))]


def test_json_values_keep_what_they_say(tmp_path: Path, animals: Taxonomy) -> None:
    line = '{"id": 0, "name": "owl", "description": null, "synonyms": ["a|b", "c"]}'
    assert read_concepts(_write(tmp_path, "n.jsonl", line), animals) == [Concept("0", "owl", "", ("a|b", "c"))]


def test_pictures_may_have_ids_and_no_names(tmp_path: Path, animals: Taxonomy) -> None:
    (found,) = read_concepts(_write(tmp_path, "n.csv", "id,image\nx,x.png\n"), animals)
    assert found == Concept("x", "", images=("x.png",))


def test_an_id_that_is_made_up_gives_way_to_a_stated_one(tmp_path: Path, animals: Taxonomy) -> None:
    found = read_concepts(_write(tmp_path, "n.tsv", "id\tname\n\towl\nowl\thooter\n"), animals)
    assert [concept.id for concept in found] == ["owl_2", "owl"]


@pytest.mark.parametrize(
    ("name", "text", "line", "part"),
    [
        ("n.tsv", "id\tname\nX\towl\nX\twren\n", 3, "'X' is taken"),
        ("n.tsv", "id\tname\nduck\tmallard\n", 2, "'duck' is taken"),
        ("n.tsv", "name\ndescribed\towl\n", 2, "2 columns where 1"),
        ("n.tsv", "id\tname\nX\t \n", 2, "without a name"),
        ("n.jsonl", '{"name": "owl"}\n{"name": \n', 2, "not JSON"),
        ("n.jsonl", '["owl"]\n', 1, "one JSON object a line"),
        ("n.jsonl", '{"nom": "owl", "n": 1}\n', 1, "without a name (it has nom, n)"),
        ("n.csv", "sku;owner;colour (RAL)\n1;owl;2\n", 1, "3 columns, and no title that is known ('sku', 'owner', 'co"),
        ("n.jsonl", '{"name": "owl"}\n{"name": "\\ud83d"}\n', 2, "surrogate"),
        ("n.txt", f"owl\n{'x' * 100_001}\n", 2, "a text of 100,001 characters"),
        ("n.jsonl", '{"name": {"en": "owl"}}\n', 1, "'name' must be a text"),
        ("n.jsonl", '{"name": "owl", "synonyms": ["hooter", null]}\n', 1, "'synonyms' must be a text or a list"),
        ("n.jsonl", '{"name": "owl"}\n{"name": "Red\\u0000owl"}\n', 2, "a NUL character in 'Red\\x00owl'"),
        ("n.jsonl", '{"name": "owl", "image": "a\\u0000.png"}\n', 1, "a NUL character"),
        ("n.jsonl", '{"name": "owl"}\n{"name": NaN}\n', 2, "NaN is no JSON number"),
        ("n.jsonl", '{"name": 1e999}\n', 1, "'name' must be a text"),
        ("n.tsv", "title\tsynonym\tsynonyms\nowl\ta\tb\n", 1, "'synonyms' twice"),
        ("n.tsv", "name\tname\nowl\twren\n", 1, "'name' twice"),
        ("n.tsv", "", None, "empty"),
        ("n.doc", "owl\n", None, ".tsv, .csv, .xlsx, .parquet, .jsonl or .txt"),
    ],
)
def test_faults_name_file_and_line(
    tmp_path: Path, animals: Taxonomy, name: str, text: str, line: int | None, part: str
) -> None:
    path = _write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_concepts(path, animals)
    assert str(caught.value).startswith(f"{path}:" if line is None else f"{path}:{line}: ")
    assert part in str(caught.value)


def test_the_id_of_an_obsolete_term_is_taken(tmp_path: Path) -> None:
    terms = "[Term]\nid: T:1\nname: fish\n\n[Term]\nid: T:2\nname: old\nis_obsolete: true\n"
    seed = Taxonomy.read(_write(tmp_path, "t.obo", f"format-version: 1.4\n\n{terms}"))
    with pytest.raises(InputError, match="'T:2' is taken"):
        read_concepts(_write(tmp_path, "n.tsv", "id\tname\nT:2\tsardine\n"), seed)


def test_a_concept_keeps_what_else_it_brings(animals: Taxonomy) -> None:
    given = Concept("", "owl", extras=(("xref", "Y:2"),))
    assert with_ids([(0, given)], animals) == [replace(given, id="owl")]


@pytest.mark.parametrize("title", ["title", "Label", "term", "Preferred Label"])
def test_a_lone_title_that_may_be_a_concept_is_told(tmp_path: Path, animals: Taxonomy, title: str) -> None:
    told: list[str] = []
    path = _write(tmp_path, "n.csv", f"{title}\nauthor\n")
    assert [c.name for c in read_concepts(path, animals, told.append)] == ["author"]
    assert told == [
        f"{path}:1: '{title}' is read as the title of the column; if it is a concept, write a line 'name' above it"
    ]
    told.clear()
    for text in (f"name\n{title}\nauthor\n", f"{title},description\nauthor,writes\n"):
        assert read_concepts(_write(tmp_path, "n.csv", text), animals, told.append)[-1].name == "author"
    assert read_concepts(_write(tmp_path, "n.csv", f"name\n{title}\n"), animals, told.append)[0].name == title
    assert not told


@pytest.mark.parametrize("first", ["category", "brand name", "class\tlesson", "stage name\tmusic"])
def test_an_everyday_word_is_no_header(tmp_path: Path, animals: Taxonomy, first: str) -> None:
    found = read_concepts(_write(tmp_path, "n.tsv", f"{first}\nowl\n"), animals)
    assert [concept.name for concept in found] == [first.split("\t")[0], "owl"]


def test_columns_without_titles_are_told(tmp_path: Path, animals: Taxonomy) -> None:
    told: list[str] = []
    path = _write(tmp_path, "n.csv", "sku;owner\n1;owl\n")
    assert [(c.name, c.description) for c in read_concepts(path, animals, told.append)] == [
        ("sku", "owner"),
        ("1", "owl"),
    ]
    assert [line.partition(", so the first row is read as a concept")[0] for line in told] == [
        f"{path}:1: no title is known here ('sku', 'owner')"
    ]


@pytest.mark.parametrize(("encoding", "said"), [("cp1252", "Windows-1252, for line 3"), ("utf-16", "UTF-16")])
@pytest.mark.parametrize("name", ["n.csv", "n.tsv", "n.txt"])
def test_other_encodings_are_recognised_and_said(
    tmp_path: Path, animals: Taxonomy, name: str, encoding: str, said: str
) -> None:
    told: list[str] = []
    (tmp_path / name).write_bytes("name\nowl\nSteinkäuze\n".encode(encoding))
    concepts = read_concepts(tmp_path / name, animals, told.append)
    assert [concept.name for concept in concepts][-2:] == ["owl", "Steinkäuze"]
    assert [said in line for line in told] == [True]


def test_what_is_no_text_in_any_usual_encoding_is_refused(tmp_path: Path, animals: Taxonomy) -> None:
    (tmp_path / "n.csv").write_bytes(b"name\nowl\nK\x81uze\n")
    with pytest.raises(InputError, match=r"n\.csv:3: byte 0x81 is neither UTF-8 nor Windows-1252"):
        read_concepts(tmp_path / "n.csv", animals)


def test_a_first_concept_is_not_taken_for_a_header(tmp_path: Path, animals: Taxonomy) -> None:
    found = read_concepts(_write(tmp_path, "n.tsv", "label\tpaper that says what a jar holds\nowl\n"), animals)
    assert [concept.name for concept in found] == ["label", "owl"]


def test_a_list_in_one_cell_may_carry_escapes(tmp_path: Path, animals: Taxonomy) -> None:
    table = _write(tmp_path, "n.tsv", "title\tsynonyms[]\nowl\tnight\\|bird|hooter\n")
    assert read_concepts(table, animals) == [Concept("owl", "owl", "", ("night|bird", "hooter"))]


@pytest.mark.parametrize("titles", ["parent\tchild", "id\tdescription"])
def test_titles_that_name_no_concept_are_not_taken_for_one(tmp_path: Path, animals: Taxonomy, titles: str) -> None:
    with pytest.raises(InputError, match=r"n\.tsv:1: looks like a header"):
        read_concepts(_write(tmp_path, "n.tsv", f"{titles}\nx\towl\n"), animals)


def test_nobodys_home_is_a_name_like_any_other(tmp_path: Path, animals: Taxonomy) -> None:
    found = read_concepts(_write(tmp_path, "n.tsv", "name\timage\nowl\t~nobody-here/owl.png\n"), animals)
    assert found[0].images == ("~nobody-here/owl.png",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n.csv", "Lieferant;Name;SKU;Beschreibung, lang\nMüller;owl;17;x\n"),
        ("n.tsv", "label\tLieferant\tSKU\tBeschreibung, lang\nowl\tMüller\t17\tx\n"),
        ("n.jsonl", '{"Lieferant": "Müller", "name": "owl", "SKU": 17, "Beschreibung, lang": "x"}\n'),
    ],
)
def test_columns_of_the_user_are_kept(tmp_path: Path, animals: Taxonomy, name: str, text: str) -> None:
    (concept,) = read_concepts(_write(tmp_path, name, text), animals)
    assert (concept.id, concept.name, concept.description) == ("owl", "owl", "")
    assert concept.extras == (("Lieferant", "Müller"), ("SKU", "17"), ("Beschreibung, lang", "x"))


def test_a_number_of_the_row_is_no_id(tmp_path: Path, animals: Taxonomy) -> None:
    (concept,) = read_concepts(_write(tmp_path, "n.csv", "Nr;Begriff;Definition\n7;owl;a bird\n"), animals)
    assert (concept.id, concept.name, concept.description) == ("owl", "owl", "a bird")
    assert concept.extras == (("Nr", "7"),)


def test_a_list_may_be_a_workbook(tmp_path: Path, animals: Taxonomy) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("name", "SKU", "description"), ("owl", 17, "hunts"), (None, None, None), ("wren", "=1+1", None)):
        book.active.append(row)
    book.save(tmp_path / "n.xlsx")
    concepts = read_concepts(tmp_path / "n.xlsx", animals)
    assert [(c.name, c.description) for c in concepts] == [("owl", "hunts"), ("wren", "")]
    assert concepts[0].extras == (("SKU", "17"),)


def test_ids_in_a_pattern_and_apart_from_reserved_ones(animals: Taxonomy) -> None:
    new = [(0, Concept("", f"bird {i}")) for i in range(3)]
    concepts = with_ids(new, animals, pattern="X:{3}", reserved={"X:004", "X:005"})
    assert [concept.id for concept in concepts] == ["X:006", "X:007", "X:008"]


def test_standard_input_in_another_encoding_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO(b"name,description\nH\xf6hle,x\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(content)))  # type: ignore[type-var]
    with pytest.raises(InputError, match="-: is not UTF-8"):
        read_list("-")


def test_a_damaged_page_of_a_parquet_file_is_refused_in_one_line(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "new.parquet"
    pq.write_table(pa.table({"name": [f"concept {number}" for number in range(50)]}), path)
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)  # the first page
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged after row 0"):
        read_list(path)


def test_an_image_whose_name_is_too_long_for_a_file_stays_as_it_is(tmp_path: Path) -> None:
    entry = "x" * 5000
    [(_, concept)] = read_list(_write(tmp_path, "new.csv", f"name,image\nowl,{entry}\n"))
    assert concept.images == (entry,)


def test_columns_of_a_list_as_map_states_them(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("Ref,Wording,Name,Meaning\n7,duck,old,swims\n")
    (tmp_path / "y.csv").write_text("duck,7,swims\n")
    (tmp_path / "z.jsonl").write_text('{"name": "old", "wording": "duck", "meaning": "swims"}\n')
    by_title = {"name": "Wording", "description": "Meaning"}
    for file, mapping in (
        ("x.csv", by_title),
        ("y.csv", {"name": "1", "description": "3"}),
        ("z.jsonl", {"name": "wording", "description": "meaning"}),
    ):
        concept = read_list(tmp_path / file, mapping=mapping)[0][1]
        assert (concept.name, concept.description) == ("duck", "swims")
    with pytest.raises(InputError, match="'Wrong', which the table has not"):
        read_list(tmp_path / "x.csv", mapping={"name": "Wrong"})
    with pytest.raises(InputError, match="not 'parent'"):
        read_list(tmp_path / "x.csv", mapping={"parent": "Ref"})
