"""WordNet database files: a small hand-made database, and the real one where Debian's wordnet-base is installed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
NOUNS = LICENCE + (
    "00001740 03 n 01 entity 0 001 ~ 00001930 n 0000 | that which exists  \n"
    "00001930 03 n 02 animal 0 living_creature 1 002 @ 00001740 n 0000 ! 00002000 n 0101 "
    '| a creature that moves; it eats; "animals are fed"; "an animal|beast"  \n'
    "00002000 18 n 01 Laika 0 003 @i 00001930 n 0000 @i 00001930 n 0000 @ 00001740 n 0000 | the first dog in space\n"
)
VERBS = (
    "00001740 29 v 04 breathe 0 take_a_breath 0 respire 0 suspire 3 001 + 00001930 n 0101 02 + 02 00 + 08 00 "
    "| draw air into the lungs\n"
    "00002325 29 v 01 gasp 0 001 @ 00001740 v 0000 01 + 02 00 | breathe with effort\n"
)
ADJECTIVES = "00001740 00 s 0a " + " ".join(f"w{i}(p) 0" for i in range(10)) + " 000 | with markers\n"


def write(folder: Path, **files: str) -> Path:
    for part, text in files.items():
        (folder / f"data.{part}").write_text(text, encoding="utf-8")
    return folder


def test_synsets_are_concepts_and_hypernyms_edges(tmp_path: Path) -> None:
    taxonomy = Taxonomy.read(write(tmp_path, noun=NOUNS) / "data.noun")
    assert taxonomy.ids == ("n00001740", "n00001930", "n00002000")
    assert taxonomy.names == ("entity", "animal", "Laika")
    assert taxonomy.synonyms[1] == ("living creature",)
    assert taxonomy.descriptions[1] == "a creature that moves; it eats"
    assert taxonomy.extras[1] == (("examples", '"animals are fed"; "an animal|beast"'),)
    assert list(taxonomy.edges()) == [
        ("n00001740", "n00001930"),
        ("n00001930", "n00002000"),
        ("n00001740", "n00002000"),
    ]
    assert [note.text.split(" that ")[0] for note in taxonomy.reading] == ["2 pointers"]


def test_a_folder_gives_all_parts_of_speech_and_a_file_one(tmp_path: Path) -> None:
    write(tmp_path, noun=NOUNS, verb=VERBS, adj=ADJECTIVES)
    assert len(Taxonomy.read(tmp_path)) == 6
    verbs = Taxonomy.read(tmp_path / "data.verb")
    assert verbs.names == ("breathe", "gasp")
    assert verbs.synonyms[0] == ("take a breath", "respire", "suspire")
    assert list(verbs.edges()) == [("v00001740", "v00002325")]
    packed = tmp_path / "data.verb.gz"
    packed.write_bytes(gzip.compress(VERBS.encode()))
    assert Taxonomy.read(packed).names == verbs.names
    assert Taxonomy.read(tmp_path / "data.adj").synonyms[0] == tuple(f"w{i}" for i in range(1, 10))


def test_it_survives_conversion(tmp_path: Path) -> None:
    before = Taxonomy.read(write(tmp_path, noun=NOUNS, verb=VERBS))
    before.write(tmp_path / "native")
    after = Taxonomy.read(tmp_path / "native")
    for column in ("ids", "names", "descriptions", "synonyms", "extras"):
        assert getattr(after, column) == getattr(before, column)
    assert list(after.edges()) == list(before.edges())


@pytest.mark.parametrize(
    ("part", "text", "line", "said"),
    [
        ("verb", VERBS + "00002573 29 v 01 pant 0 001 @ 00009999 v 0000 | x\n", 3, "00009999 is not in the file"),
        ("noun", NOUNS + NOUNS, 6, "twice"),
        ("noun", NOUNS.replace("@ 00001740 n 0000 !", "@ 00001930 n 0000 !"), 3, "own hypernym"),
        ("verb", VERBS.replace(" 001 @", " 009 @"), 2, "fewer words or pointers"),
        ("verb", VERBS.replace(" 01 gasp", " 00 gasp"), 2, "number of words"),
        ("verb", VERBS.replace("00002325", "2325"), 2, "no synset"),
    ],
)
def test_errors_name_the_file_and_line_even_in_a_folder(
    part: str, text: str, line: int, said: str, tmp_path: Path
) -> None:
    write(tmp_path, noun=NOUNS, verb=VERBS)
    write(tmp_path, **{part: text})
    for path in (tmp_path, tmp_path / f"data.{part}"):
        with pytest.raises(InputError, match=said) as caught:
            Taxonomy.read(path)
        assert caught.value.path == str(tmp_path / f"data.{part}")
        assert caught.value.line == line


def test_the_real_database() -> None:
    folder = Path("/usr/share/wordnet")
    if not (folder / "data.verb").exists():
        pytest.skip("Debian's wordnet-base is not installed")
    verbs = Taxonomy.read(folder / "data.verb")
    assert len(verbs) == 13_767
    stroll = verbs.ids[verbs.names.index("amble")]
    above = [verbs.concept(verbs.position(id)).name for id in verbs.path(stroll)]
    assert above == ["travel", "walk", "amble"]
