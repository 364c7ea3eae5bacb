from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept
from taxosphere.taxonomy.ids import IdMinter, Numbers, parse_pattern, style_of, style_of_ids, words

BIRDS = ("Sea eagle", "Tawny owl", "Great tit", "Song thrush")


def minted(ids: tuple[str, ...], names: tuple[str, ...], *new: str) -> list[str]:
    minter = IdMinter(style_of_ids(ids, names), set(ids).__contains__)
    return [minter.mint(name) for name in new]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("GO:0000001", "GO:0012345", "GO:0005739", "BFO:0000004"), ["GO:0012346", "GO:0012347"]),
        (("CWE-79", "CWE-1400", "CWE-20", "CWE-89"), ["CWE-1401", "CWE-1402"]),
        (("1", "2", "331", "17"), ["332", "333"]),
        (("D000001", "D000002", "D999999", "C1"), ["D1000000", "D1000001"]),
        (("n1", "n2", "n3", "n4"), ["n5", "n6"]),
        (
            ("http://x.org/data_0005", "http://x.org/topic_0009", "http://x.org/data_0001", "http://x.org/data_0002"),
            ["http://x.org/data_0006", "http://x.org/data_0007"],
        ),
        (("sea-eagle", "tawny-owl", "great-tit", "song-thrush"), ["snow-bunting", "snow-bunting_2"]),
        (("sea_eagle", "tawny_owl", "great_tit", "x"), ["snow_bunting", "snow_bunting_2"]),
        (("b:SeaEagle", "b:TawnyOwl", "b:GreatTit", "b:SongThrush"), ["b:SnowBunting", "b:SnowBunting_2"]),
        (
            ("http://x.org/#Sea_eagle", "http://x.org/#Tawny_owl", "a", "http://x.org/#Great_tit"),
            ["http://x.org/#Snow_Bunting", "http://x.org/#Snow_Bunting_2"],
        ),
        (BIRDS, ["Snow Bunting", "Snow Bunting_2"]),
        (("x:q", "x:w", "x:e", "x:r"), ["x:Snow_Bunting", "x:Snow_Bunting_2"]),
        (("a1b", "b2c", "c3d", "d4e"), ["Snow Bunting", "Snow Bunting_2"]),
    ],
)
def test_new_ids_follow_the_style_that_is_there(ids: tuple[str, ...], expected: list[str]) -> None:
    assert minted(ids, BIRDS, "Snow Bunting", "Snow Bunting") == expected


def test_a_name_many_times_is_looked_up_no_more_often_than_others() -> None:
    asked: list[str] = []
    minter = IdMinter(style_of_ids(BIRDS, BIRDS), lambda id: bool(asked.append(id)) or id == "owl_3")
    assert [minter.mint("owl") for _ in range(1000)] == ["owl", "owl_2", *(f"owl_{n}" for n in range(4, 1002))]
    assert len(asked) <= 1002


def test_names_that_are_ids_stay_names() -> None:
    assert minted(("vitamin B1", "vitamin B2"), ("vitamin B1", "vitamin B2"), "vitamin K") == ["vitamin K"]
    assert minted((), (), "sea eagle") == ["sea eagle"]


def test_former_and_obsolete_ids_are_not_used_again() -> None:
    concepts = [Concept("GO:0000001", "root"), Concept("GO:0000002", "cell", extras=(("alt_id", "GO:0000777"),))]
    taxonomy = Taxonomy.from_concepts(concepts, [("GO:0000001", "GO:0000002")])
    assert IdMinter(style_of(taxonomy), lambda _id: False).mint("x") == "GO:0000778"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("GO:9{6}", ["GO:9000000", "GO:9000001"]),
        ("GO:0500000..GO:0599999", ["GO:0500000", "GO:0500001"]),
        ("CWE-99..CWE-101", ["CWE-99", "CWE-100"]),
        ("ex:{name}", ["ex:new_one", "ex:new_one_2"]),
        ("http://x.org/{4}/", ["http://x.org/0000/", "http://x.org/0001/"]),
    ],
)
def test_a_pattern_says_how_ids_are_made(pattern: str, expected: list[str]) -> None:
    minter = IdMinter(parse_pattern(pattern), lambda _id: False)
    assert [minter.mint("new one"), minter.mint("new one")] == expected


def test_numbers_go_on_above_the_highest_in_the_range_and_end_with_it() -> None:
    used = ["X:1", "X:4", "X:8", "Y:2"]
    minter = IdMinter(parse_pattern("X:0..X:9"), used.__contains__, used)
    assert [minter.mint("") for _ in range(7)] == ["X:9", "X:0", "X:2", "X:3", "X:5", "X:6", "X:7"]
    with pytest.raises(InputError, match="all ids from X:0 to X:9 are used"):
        minter.mint("")


@pytest.mark.parametrize(
    "pattern", ["", "GO", "GO:{}", "GO:{0}", "GO:{99}", "a1..b2", "a2..a1", "{name}{name}", "{6", "..", "{2}{2}"]
)
def test_another_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="no ids can be made in the pattern"):
        parse_pattern(pattern)


def test_two_editors_with_ranges_never_collide() -> None:
    ids = ("GO:0000001", "GO:0000002")
    ours, theirs = (IdMinter(parse_pattern(f"GO:{digit}{{6}}"), ids.__contains__) for digit in "89")
    assert not {ours.mint("") for _ in range(50)} & {theirs.mint("") for _ in range(50)}


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20), st.lists(st.text(max_size=8), max_size=8))
def test_an_id_is_made_for_any_name_and_none_twice(ids: list[str], names: list[str]) -> None:
    new = minted(tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(ids)), *names)
    assert len({*new, *ids}) == len(new) + len(set(ids))
    assert all(new)


@given(st.integers(0, 10**9), st.integers(0, 9), st.sampled_from(["", "GO:", "x-"]))
def test_a_number_is_read_as_it_is_spelled(number: int, width: int, prefix: str) -> None:
    style = Numbers(prefix, width, 0, None, "/")
    assert style.number(style.spell(number)) == number


def test_words_keep_the_vowel_signs_of_a_name() -> None:
    assert words("दिन और रात: «Größe 12»") == ["दिन", "और", "रात", "Größe", "12"]
