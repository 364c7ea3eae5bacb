"""Releases of several files, in folders and archives: NCBI's taxonomy and SNOMED CT; and Open Food Facts as text."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry

NODES = (
    "1\t|\t1\t|\tno rank\t|\t\t|\t8\t|\n"
    "2\t|\t131567\t|\tsuperkingdom\t|\t\t|\t0\t|\n131567\t|\t1\t|\tno rank\t|\t\t|\t8\t|\n"
)
NAMES = (
    "1\t|\tall\t|\t\t|\tsynonym\t|\n1\t|\troot\t|\t\t|\tscientific name\t|\n"
    "2\t|\tBacteria\t|\tBacteria <bacteria>\t|\tscientific name\t|\n2\t|\teubacteria\t|\t\t|\tgenbank common name\t|\n"
    "2\t|\tCavalier-Smith 1987\t|\t\t|\tauthority\t|\n131567\t|\tcellular organisms\t|\t\t|\tscientific name\t|\n"
)
DUMP = {
    "nodes.dmp": NODES,
    "names.dmp": NAMES,
    "merged.dmp": "12\t|\t2\t|\n",
    "delnodes.dmp": "99\t|\n",
    "readme.txt": "x",
}

CONCEPT = "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n"
DESCRIPTION = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"
RELATIONSHIP = "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId kind modifierId\n"
RELATIONSHIP = RELATIONSHIP.replace(" ", "\t")
FSN, SYNONYM = "900000000000003001", "900000000000013009"


def described(id: str, concept: str, kind: str, term: str, language: str = "en", active: str = "1") -> str:
    return f"{id}\t20240101\t{active}\tm\t{concept}\t{language}\t{kind}\t{term}\tc\n"


def related(id: str, child: str, parent: str, kind: str = "116680003", active: str = "1") -> str:
    return f"{id}\t20240101\t{active}\tm\t{child}\t{parent}\t0\t{kind}\tc\tm\n"


SNAPSHOT = {
    "sct2_Concept_Snapshot_INT_20240101.txt": CONCEPT
    + "".join(f"{i}\t20240101\t{i != 3:d}\tm\td\n" for i in (1, 2, 3)),
    "sct2_Description_Snapshot-en_INT_20240101.txt": DESCRIPTION
    + described("11", "1", FSN, "Disease (disorder)")
    + described("12", "2", FSN, "Measles (disorder)")
    + described("13", "2", SYNONYM, "Measles")
    + described("14", "2", SYNONYM, "Rubeola", active="0")
    + described("15", "2", FSN, "sarampión (trastorno)", "es"),
    "sct2_Relationship_Snapshot_INT_20240101.txt": RELATIONSHIP
    + related("21", "2", "1")
    + related("22", "2", "3")
    + related("23", "1", "2", active="0")
    + related("24", "2", "1", "363698007"),
    "sct2_StatedRelationship_Snapshot_INT_20240101.txt": RELATIONSHIP + related("25", "1", "2"),
    "sct2_TextDefinition_Snapshot-en_INT_20240101.txt": DESCRIPTION
    + described("16", "2", "900000000000550004", "A rash."),
}


def as_folder(path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (path / "release" / name).parent.mkdir(parents=True, exist_ok=True)
        (path / "release" / name).write_text(text, encoding="utf-8")
    return path / "release"


def as_zip(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path / "release.zip"


def as_tar(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path / "release.tar.gz", "w:gz") as archive:
        for name, text in reversed(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path / "release.tar.gz"


PACKED: list[Callable[[Path, dict[str, str]], Path]] = [as_folder, as_zip, as_tar]


@pytest.mark.parametrize("pack", PACKED)
def test_a_taxonomy_dump(tmp_path: Path, pack: Callable[[Path, dict[str, str]], Path]) -> None:
    path = pack(tmp_path, DUMP)
    assert registry.recognise(path).name == "ncbi taxdump"
    taxonomy = Taxonomy.read(path)
    assert taxonomy.ids == ("1", "2", "131567")
    assert taxonomy.names == ("root", "Bacteria", "cellular organisms")
    assert set(taxonomy.edges()) == {("131567", "2"), ("1", "131567")}
    bacteria = taxonomy.concept(1)
    assert bacteria.synonyms == ("eubacteria",)
    assert bacteria.extras == (("rank", "superkingdom"), ("authority", "Cavalier-Smith 1987"), ("alt_id", "12"))


def test_a_taxonomy_dump_by_one_of_its_files_and_without_tabs(tmp_path: Path) -> None:
    folder = as_folder(tmp_path, {name: text.replace("\t", "") for name, text in DUMP.items()})
    assert Taxonomy.read(folder / "nodes.dmp").names == ("root", "Bacteria", "cellular organisms")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({**DUMP, "nodes.dmp": NODES + "5\t|\n"}, r"nodes\.dmp:4: 1 cell between bars where 3 are expected"),
        ({**DUMP, "names.dmp": "1\t|\ta\t|\t\t|\tx\t|\n"}, r"names\.dmp: no name is a 'scientific name'"),
        ({**DUMP, "nodes.dmp": NODES + "5\t|\t6\t|\tx\t|\n"}, r"nodes\.dmp:4: the edge names '6'"),
        ({"nodes.dmp": NODES}, r"no nodes\.tsv|has no names\.dmp|holds"),
    ],
)
def test_faults_of_a_dump(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Taxonomy.read(as_folder(tmp_path, files))


@pytest.mark.parametrize("pack", PACKED)
@pytest.mark.parametrize("inside", ["", "SnomedCT_International/Snapshot/Terminology/"])
def test_a_snapshot_of_snomed(tmp_path: Path, pack: Callable[[Path, dict[str, str]], Path], inside: str) -> None:
    full = {
        f"Full/{name.replace('Snapshot', 'Full')}": text.replace("Measles", "old") for name, text in SNAPSHOT.items()
    }
    files = {inside + name: text for name, text in SNAPSHOT.items()}
    path = pack(tmp_path, files | (full if inside else {}))
    assert registry.recognise(path).name == "snomed rf2"
    taxonomy = Taxonomy.read(path)
    assert taxonomy.names == ("Disease (disorder)", "Measles (disorder)")
    assert list(taxonomy.edges()) == [("1", "2")]
    assert (taxonomy.synonyms[1], taxonomy.descriptions[1]) == (("Measles",), "A rash.")
    assert [problem.text for problem in taxonomy.reading] == ["1 relationship of 1 other kind than is-a left out"]
    assert Taxonomy.read(path, language="es").names[1] == "sarampión (trastorno)"
    with pytest.raises(InputError, match="no descriptions in 'fr'; there are en, es"):
        Taxonomy.read(path, language="fr")


def test_the_latest_state_counts_in_a_full_release(tmp_path: Path) -> None:
    files = {name.replace("Snapshot", "Full"): text for name, text in SNAPSHOT.items()}
    concepts = next(name for name in files if "Concept" in name)
    files[concepts] += "1\t20230101\t0\tm\td\n2\t20250101\t0\tm\td\n"
    assert Taxonomy.read(as_folder(tmp_path, files)).ids == ("1",)


FOOD = """# a comment
stopwords:fr: aux, au
synonyms:en: tea, teas

en: Beverages, drinks
fr: Boissons
wikidata:en: Q40050

<en:Beverages
en: Teas, tea\\, hot, 1,5 l bottle
fr: Thés
description:en: An infusion.

< fr:thes
xx: Oolong
"""


def test_a_taxonomy_of_open_food_facts(tmp_path: Path) -> None:
    path = tmp_path / "categories.txt"
    path.write_text(FOOD, encoding="utf-8")
    assert registry.recognise(path).name == "open food facts"
    taxonomy = Taxonomy.read(path)
    assert taxonomy.ids == ("en:beverages", "en:teas", "xx:oolong")
    assert list(taxonomy.edges()) == [("en:beverages", "en:teas"), ("en:teas", "xx:oolong")]
    assert taxonomy.synonyms[1] == ("tea, hot", "1,5 l bottle")
    assert taxonomy.descriptions[1] == "An infusion."
    assert taxonomy.extras[0] == (("name:fr", "Boissons"), ("wikidata:en", "Q40050"))
    assert Taxonomy.read(path, language="fr").names == ("Boissons", "Thés", "Oolong")


def test_entries_in_many_languages_without_parents(tmp_path: Path) -> None:
    path = tmp_path / "acids.txt"
    path.write_text("# list\n\nen:L-alanine\nbg:L-аланин\nde:L-Alanin\nwikidata:en:Q1\n\nen:glycine\nfr:glycine\n")
    assert Taxonomy.read(path).names == ("L-alanine", "glycine")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("en: a\n\n< en:b\nen: c\n", 3, "the edge names 'en:b'"),
        ("en: a\n\n< en:a\n\nen: b\n", 3, "an entry has no line like 'en: name'"),
        ("en: a\n\n< en:a\nen: b\nwhat is this\n", 5, "'what is this' is neither a parent"),
    ],
)
def test_faults_of_open_food_facts(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "x.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        Taxonomy.read(path)
    assert caught.value.line == line
