"""The same six concepts in every kind of table that people have, and tables that hold no hierarchy at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

TREE = {
    ("Animals",),
    ("Animals", "Dogs"),
    ("Animals", "Dogs", "Poodles"),
    ("Animals", "Cats"),
    ("Plants",),
    ("Plants", "Trees"),
}
PATHS = ["Animals", "Animals{}Dogs", "Animals{}Dogs{}Poodles", "Animals{}Cats", "Plants", "Plants{}Trees"]
# id, name, id of the parent
CONCEPTS = [("1", "Animals", ""), ("2", "Dogs", "1"), ("3", "Poodles", "2"), ("4", "Cats", "1"), ("5", "Plants", "")]
CONCEPTS += [("6", "Trees", "5")]
NAMES = {id: name for id, name, _ in CONCEPTS} | {"": ""}


def paths(taxonomy: Taxonomy) -> set[tuple[str, ...]]:
    return {tuple(taxonomy.names[i] for i in taxonomy.path_positions(p)) for p in range(len(taxonomy))}


def read(path: Path, content: str | bytes, **options: Any) -> Taxonomy:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Taxonomy.read(path, **options)


def by_id(titles: str, none: str = "", order: tuple[int, ...] = (0, 1, 2)) -> str:
    rows = [(id, name, parent or none) for id, name, parent in CONCEPTS]
    return titles + "\n" + "".join(",".join(row[i] for i in order) + "\n" for row in rows)


def by_name(titles: str, between: str = ",") -> str:
    return titles + "\n" + "".join(f"{name}{between}{NAMES[parent]}\n" for _, name, parent in CONCEPTS)


@pytest.mark.parametrize(
    "titles",
    [
        "ID,Name,Parent ID",
        "category_id,category_name,parent_category_id",
        "Unique ID,Name,Parent",
        "taxonID,scientificName,parentNameUsageID",
        "conceptUri,preferredLabel,broaderUri",
        "ID,LABEL,SubClassOf",
        "Identifiant,Libellé,Identifiant parent",
        "Kennung,Bezeichnung,Oberbegriff",
        "Código,Nombre,Categoría padre",
        "Codice,Denominazione,Categoria padre",
        "编码,名称,父级",
        "Код,Название,Родитель",
        "#id,name,parent",
        "Code,Description,Parent",
        "Our taxonomy,,\nversion 3,,\n,,\nID,Name,Parent",
        "# made on Monday\nID,Name,Parent",
    ],
)
def test_parents_under_any_usual_title(tmp_path: Path, titles: str) -> None:
    taxonomy = read(tmp_path / "x.csv", by_id(titles))
    assert paths(taxonomy) == TREE
    assert taxonomy.ids == tuple("123456")
    assert "a row per concept" in taxonomy.reading_notes[-1]


@pytest.mark.parametrize("none", ["0", "NULL", "-", "None", "root", "-1"])
def test_what_says_that_there_is_no_parent(tmp_path: Path, none: str) -> None:
    taxonomy = read(tmp_path / "x.csv", by_id("id,name,parent_id", none))
    assert paths(taxonomy) == TREE
    assert any(f"the parent '{none}' of 2 rows read as none" in note for note in taxonomy.reading_notes)


@pytest.mark.parametrize(
    "text",
    [
        by_name("Name,Parent"),
        by_name("Bezeichnung;Oberbegriff", ";"),
        by_name("Term\tBroader Term", "\t"),
        by_name("name|parent", "|"),
        by_id("id,name,parent").replace(",1\n", ",1.0\n").replace(",2\n", ",2.0\n"),
        by_id("id,name,parent") + ",,\nTotal,6,\n",
        by_id("parent,name,id", order=(2, 1, 0)),
        "ID,Name,Parent ID,Parent Name\n" + "".join(f"{i},{n},{p},{NAMES[p]}\n" for i, n, p in CONCEPTS),
        "id,name,parent_id,path\n" + "".join(f"{i},{n},{p},x/{n}\n" for i, n, p in CONCEPTS),
        "Notes,ID,Name,Parent,Notes\n" + "".join(f"x,{i},{n},{p},y\n" for i, n, p in CONCEPTS),
    ],
)
def test_rows_that_name_their_parents(tmp_path: Path, text: str) -> None:
    assert paths(read(tmp_path / "x.csv", text)) == TREE


def test_columns_that_the_user_names(tmp_path: Path) -> None:
    text = by_name("wort;drüber", ";")
    assert paths(read(tmp_path / "x.csv", text, mapping={"name": "wort", "parent": "drüber"})) == TREE
    assert paths(read(tmp_path / "x.csv", text, mapping={"name": "1", "parent": "2"}, strict=False)) >= TREE
    with pytest.raises(InputError, match="--map names the column 'Wort 2', and the columns are 'wort', 'drüber'"):
        read(tmp_path / "x.csv", text, mapping={"parent": "Wort 2"})


def test_codes_that_are_counted_up(tmp_path: Path) -> None:
    codes = [f"IAB{i}" for i in range(1, 12)] + [f"IAB2-{i}" for i in range(1, 24)]
    text = "IAB Code\tTier\tIAB Category\n" + "".join(f"{code}\tx\tThe {code}\n" for code in codes)
    taxonomy = read(tmp_path / "x.tsv", text)
    assert set(taxonomy.edges()) == {("IAB2", f"IAB2-{i}") for i in range(1, 24)}


def test_names_in_the_last_level(tmp_path: Path) -> None:
    text = "\tUnique ID\tParent ID\tCondensed (1st, last)\tTier 1\tTier 2\n\t1\t\tx\tA\t\n\t2\t1\ty\tA\tB\n"
    taxonomy = read(tmp_path / "x.tsv", text)
    assert taxonomy.names == ("A", "B")
    assert list(taxonomy.edges()) == [("1", "2")]
    taxonomy.write(tmp_path / "y.tsv")
    assert (tmp_path / "y.tsv").read_text(encoding="utf-8") == text


def test_few_concepts_that_name_themselves_are_roots(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", by_id("id,name,parent").replace("1,Animals,", "1,Animals,1"))
    assert paths(taxonomy) == TREE
    assert any("name themselves" in note for note in taxonomy.reading_notes)


def test_names_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    rows = "".join(f"{i},x{i},{n},{p}\n" for i, n, p in CONCEPTS)
    text = "Concept URI,prefLabel@en,prefLabel@de,broader\n" + rows
    assert paths(read(tmp_path / "x.csv", text, language="de")) == TREE
    assert read(tmp_path / "x.csv", text).names[0] == "x1"


def test_two_columns_that_could_be_the_parents_are_asked_about(tmp_path: Path) -> None:
    text = "name,parent,broader\na,,\nb,a,\nc,a,b\n"
    with pytest.raises(InputError, match=r"'parent' and 'broader' could both be the parents.*--map"):
        read(tmp_path / "x.csv", text)
    assert set(read(tmp_path / "x.csv", text, mapping={"parent": "broader"}).edges()) == {("b", "c")}


def test_a_name_with_two_parents_is_one_concept_and_it_is_said(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", "name,parent\na,\nb,\nc,a\nc,b\n")
    assert set(taxonomy.edges()) == {("a", "c"), ("b", "c")}
    assert "1 row with the name of an earlier one, joined with it: 'c' has several parents" in taxonomy.reading_notes
    several = read(tmp_path / "y.csv", "id,name,parent\n1,a,\n2,b,\n3,c,1;2\n")
    assert set(several.edges()) == {("1", "3"), ("2", "3")}


LEVELS = "{}\nAnimals,,\nAnimals,Dogs,\nAnimals,Dogs,Poodles\nAnimals,Cats,\nPlants,,\nPlants,Trees,\n"


@pytest.mark.parametrize(
    "titles",
    [
        "Level 1,Level 2,Level 3",
        "L1,L2,L3",
        "Tier 1,Tier 2,Tier 3",
        "Ebene I,Ebene II,Ebene III",
        "Niveau 1,Niveau 2,Niveau 3",
        "category_1,category_2,category_3",
        "Level 1 Name,Level 2 Name,Level 3 Name",
        "Category,Subcategory,Sub-subcategory",
        "Hauptkategorie,Kategorie,Unterkategorie",
        "Kingdom,Phylum,Class",
        "Section,Division,Group",
        "Foo,Bar,Baz",
        "Group A,,\nTier 1,Tier 2,Tier 3",
    ],
)
def test_levels_under_any_usual_title(tmp_path: Path, titles: str) -> None:
    taxonomy = read(tmp_path / "x.csv", LEVELS.format(titles))
    assert paths(taxonomy) == TREE
    assert "read as levels" in taxonomy.reading_notes[0]


@pytest.mark.parametrize(
    "text",
    [
        LEVELS.partition("\n")[2],
        "Level 1,Level 2,Level 3\nAnimals,Dogs,Poodles\nAnimals,Cats,\nPlants,Trees,\n",
        "Level 1,Level 2,Level 3\nAnimals,Dogs,Poodles\n,Cats,\nPlants,Trees,\n",
        "Level 1,Level 2,Level 3\nAnimals,,\n,Dogs,\n,,Poodles\n,Cats,\nPlants,,\n,Trees,\n",
        "Animals,,\n,Dogs,\n,,Poodles\n,Cats,\nPlants,,\n,Trees,\n",
        "Level 1,Level 2,Level 3\nAnimals,-,-\nAnimals,Dogs,-\nAnimals,Dogs,Poodles\nAnimals,Cats,-\nPlants,Trees,-\n",
        "Segment,Segment Title,Family,Family Title,Class,Class Title\n"
        "10,Animals,1010,Dogs,101010,Poodles\n10,Animals,1020,Cats,,\n20,Plants,2010,Trees,,\n",
        "Level 1 Code,Level 1 Name,Level 2 Code,Level 2 Name,Level 3 Code,Level 3 Name\n"
        "10,Animals,1010,Dogs,101010,Poodles\n10,Animals,1020,Cats,,\n20,Plants,2010,Trees,,\n",
        'Keyword Version: 9,"Revision: 2020",,\nCategory,Topic,Term,UUID\nAnimals,,,u1\nAnimals,Dogs,,u2\n'
        "Animals,Dogs,Poodles,u3\nAnimals,Cats,,u4\nPlants,,,u5\nPlants,Trees,,u6\n",
        "Level 1,Level 2,Level 3\nAnimals,Dogs,Poodles\nAnimals,Cats,\nPlants,Trees,\nTotal,3,\nSource: ourselves,,\n",
    ],
)
def test_rows_that_are_paths_in_columns(tmp_path: Path, text: str) -> None:
    assert paths(read(tmp_path / "x.csv", text)) == TREE


def test_a_name_below_the_levels(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", "Category,Subcategory,Name\nA,B,x\nA,B,y\nA,C,z\n")
    assert paths(taxonomy) == {("A",), ("A", "B"), ("A", "C"), ("A", "B", "x"), ("A", "B", "y"), ("A", "C", "z")}


def test_an_equal_name_in_two_branches_is_two_concepts_unless_merged(tmp_path: Path) -> None:
    text = "Level 1,Level 2,Level 3\nShoes,Accessories,Laces\nPhones,Accessories,Laces\n"
    taxonomy = read(tmp_path / "x.csv", text)
    assert len(taxonomy) == 6
    assert any("--merge names" in note for note in taxonomy.reading_notes)
    merged = read(tmp_path / "x.csv", text, merge="names")
    assert set(merged.edges()) == {("Shoes", "Accessories"), ("Phones", "Accessories"), ("Accessories", "Laces")}


@pytest.mark.parametrize("between", [" > ", ">", "/", " / ", "|", " | ", "::", " » ", " -> ", "\\", " → "])
@pytest.mark.parametrize(
    "line", ["{path}", "{id} - {path}", "{id}\t{path}", "{path} ({id})", "{path}\t{id}", "{id} : {path}"]
)
def test_paths_with_any_separator_and_ids_on_either_side(tmp_path: Path, between: str, line: str) -> None:
    lines = [line.format(path=p.replace("{}", between), id=f"C{i}") for i, p in enumerate(PATHS, 100)]
    taxonomy = read(tmp_path / "x.txt", "# version 3\n" + "\n".join(lines) + "\n")
    assert paths(taxonomy) == TREE
    if "{id}" in line:
        assert set(taxonomy.ids) == {f"C{i}" for i in range(100, 106)}


@pytest.mark.parametrize(
    "text",
    [
        "id,category path\n" + "".join(f"{i},{p.replace('{}', ' > ')}\n" for i, p in enumerate(PATHS)),
        "ID;Pfad\n" + "".join(f"{i};{p.replace('{}', '/')}\n" for i, p in enumerate(PATHS)),
        "".join(p.replace("{}", " > ") + "\n" for p in PATHS),
        "id,name,full_path\n" + "".join(f"{i},x,{p.replace('{}', '/')}\n" for i, p in enumerate(PATHS)),
    ],
)
def test_paths_in_a_column(tmp_path: Path, text: str) -> None:
    assert paths(read(tmp_path / "x.csv", text)) == TREE


def test_paths_of_leaves_alone(tmp_path: Path) -> None:
    lines = "Animals > Dogs > Poodles\nAnimals > Cats\nPlants > Trees\n"
    assert paths(read(tmp_path / "x.txt", lines)) == TREE


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.txt", "Animals\n  Dogs\n    Poodles\n  Cats\nPlants\n  Trees\n"),
        ("x.txt", "Animals\n\tDogs\n\t\tPoodles\n\tCats\nPlants\n\tTrees\n"),
        ("x.txt", "- Animals\n  - Dogs\n    - Poodles\n  - Cats\n- Plants\n  - Trees\n"),
        ("x.txt", "Animals\n-Dogs\n--Poodles\n-Cats\nPlants\n-Trees\n"),
        ("x.txt", "Animals\n├── Dogs\n│   └── Poodles\n└── Cats\nPlants\n└── Trees\n"),
        ("x.md", "* Animals\n    * Dogs\n        * [Poodles](http://x.y)\n    * **Cats**\n* Plants\n    * Trees\n"),
        ("x.md", "# Animals\n## Dogs\n- Poodles\n\n## Cats\nSome text.\n# Plants\n1. Trees\n"),
    ],
)
def test_outlines(tmp_path: Path, name: str, text: str) -> None:
    assert paths(read(tmp_path / name, text)) == TREE


CODES = {
    "prefixes": "1 11 111 12 2 21",
    "letters and digits": "A A01 A01B A02 B B01",
    "dots": "1 1.1 1.1.1 1.10 2 2.1",
    "one dot": "01 01.1 01.11 01.2 02 02.1",
    "pairs of digits": "10000000 10110000 10111500 10120000 20000000 20110000",
    "zeros behind a hyphen": "11-0000 11-1000 11-1010 11-2000 13-0000 13-1000",
    "check digits": "03000000-1 03100000-2 03110000-5 03200000-3 09000000-3 09100000-0",
    "letters above numbers": "A 01 011 02 B 05",
    "ranges": "A00-B99 A00 A00.1 A01 C00-D49 C00",
    "ranges of digits": "31-33 311 3111 321 44-45 441",
    "counted up behind a hyphen": "IAB1 IAB1-1 IAB1-1-1 IAB1-10 IAB10 IAB10-1",
    "X for the rest": "00-XX 00Axx 00A05 00-01 01-XX 01-02",
}


@pytest.mark.parametrize("codes", CODES)
def test_codes_that_nest(tmp_path: Path, codes: str) -> None:
    rows = zip(CODES[codes].split(), [name for _, name, _ in CONCEPTS], strict=True)
    taxonomy = read(tmp_path / "x.csv", "Code,EN\n" + "".join(f"{c},{n}\n" for c, n in rows), nested=True)
    assert paths(taxonomy) == TREE
    assert taxonomy.ids == tuple(CODES[codes].split())


@pytest.mark.parametrize(
    ("name", "text", "way_out"),
    [
        ("x.tsv", "A1\tfoo\nA2\tbar\nA3\tbaz\nB1\tqux\n", "--nested"),
        ("x.csv", "Name,Description\nfoo,a thing\nbar,another\nbaz,third\n", "--map"),
        ("x.csv", "SKU,Product,Price\n1,foo,3.5\n2,bar,2\n3,baz,1\n", "--map"),
        ("x.csv", "Country,Capital,Population\nFrance,Paris,1\nItaly,Rome,2\nSpain,Madrid,3\n", "--map"),
        ("x.txt", "foo\nbar\nbaz\n", "edge list"),
    ],
)
def test_what_is_no_hierarchy_is_refused_with_a_way_out(tmp_path: Path, name: str, text: str, way_out: str) -> None:
    with pytest.raises(InputError, match=way_out):
        read(tmp_path / name, text)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_are_recognised_and_said(tmp_path: Path, encoding: str) -> None:
    text = by_name("Name;Parent", ";").replace("Trees", "Bäume")
    taxonomy = read(tmp_path / "x.csv", text.encode(encoding))
    assert ("Plants", "Bäume") in paths(taxonomy)
    assert "read as " in taxonomy.reading_notes[0]


def test_an_encoding_that_is_stated(tmp_path: Path) -> None:
    content = by_name("Name;Parent", ";").replace("Trees", "Stromy ň").encode("cp1250")
    assert ("Plants", "Stromy ň") in paths(read(tmp_path / "x.csv", content, encoding="cp1250"))
    with pytest.raises(InputError, match="'klingon' is no encoding"):
        read(tmp_path / "x.csv", content, encoding="klingon")


def test_options_that_say_nothing_about_a_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--sheet is for workbooks"):
        read(tmp_path / "x.csv", by_name("Name,Parent"), sheet="One")
    with pytest.raises(InputError, match="--merge says nothing about the format 'concept table'"):
        read(tmp_path / "x.csv", by_name("Name,Parent"), merge="names")
