import pickle
import zlib

import numpy as np
import pytest

from taxosphere.taxonomy.string_column import Lookup, RenumberedWords, StringColumn, TupleColumn, string_arrays

TEXTS = ("", "liver", "große Leber", "肝臓", "a\nb", "\ud800 half a pair", "", "liver ")


def column(texts: tuple[str, ...] = TEXTS) -> StringColumn:
    return StringColumn.from_ends(**string_arrays(texts))


def test_a_column_gives_back_its_texts_one_by_one_and_together() -> None:
    stored = column()
    assert tuple(stored) == TEXTS
    assert [stored[i] for i in range(-8, 8)] == [*TEXTS, *TEXTS]
    assert stored[1:4] == TEXTS[1:4]
    assert stored[::-3] == TEXTS[::-3]
    assert stored == TEXTS
    assert stored != TEXTS[:-1]
    assert stored != (*TEXTS[:-1], "kidney")
    assert tuple(pickle.loads(pickle.dumps(stored))) == TEXTS
    with pytest.raises(IndexError):
        stored[8]


def test_lines_become_texts() -> None:
    lines = np.frombuffer(b"liver\n\nkidney", np.uint8)
    assert tuple(StringColumn.from_lines(lines)) == ("liver", "", "kidney")
    assert len(StringColumn.from_lines(lines[:0])) == 0
    assert len(column(())) == 0


def test_tuples_come_back_as_tuples() -> None:
    rows = ((), ("hepar", "jecur"), (("xref", "A:1"), ("xref", "B:2")), ("",))
    stored = TupleColumn(StringColumn.from_ends(**TupleColumn.arrays(rows)))
    assert tuple(stored) == rows
    assert stored[1:3] == rows[1:3]


def lookup(texts: tuple[str, ...]) -> Lookup:
    arrays = Lookup.arrays(texts)
    return Lookup(column(texts), arrays["checksums"].view(np.uint32), arrays["places"])


def test_a_lookup_answers_as_a_dictionary() -> None:
    texts = tuple(dict.fromkeys(TEXTS))
    found, expected = lookup(texts), {text: place for place, text in enumerate(texts)}
    assert dict(found) == expected
    assert len(found) == len(expected)
    assert "liver" in found
    assert "kidney" not in found
    assert 3 not in found
    assert found.get("kidney", -1) == -1
    with pytest.raises(KeyError):
        found["kidney"]


def test_texts_with_the_same_checksum_are_told_apart() -> None:
    pair = ("plumless", "buckeroo")  # known to have the same CRC-32
    assert zlib.crc32(pair[0].encode()) == zlib.crc32(pair[1].encode())
    found = lookup(("other", *pair))
    assert [found["plumless"], found["buckeroo"]] == [1, 2]
    assert "plumless" not in lookup(("buckeroo",))


def test_renumbered_words_are_those_of_a_table_of_their_own() -> None:
    words = {word: number for number, word in enumerate("abcdef")}
    part = RenumberedWords(words, np.array([-1, 2, 0, -1, 1, -1], np.int32))
    assert list(part) == ["c", "e", "b"]
    assert dict(part) == {"c": 0, "e": 1, "b": 2}
    assert (len(part), part.get("a"), part.get("z"), "e" in part) == (3, None, None, True)
    assert dict(part.take(np.array([1, -1, 0], np.int32))) == {"b": 0, "c": 1}
