"""Texts of many concepts as one array of bytes: mapped from a file they cost nothing until one of them is asked for."""

from __future__ import annotations

import json
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from taxosphere.taxonomy.structure import Longs

Bytes = NDArray[np.uint8]
_REMEMBERED = 1 << 16  # texts whose place a lookup keeps in memory
_NOT_ASKED: Any = object()  # what a lookup remembers of a text that it was not asked for
_LINE_BREAK = 10
_BLOCK = 1 << 14  # texts that are decoded together


class StringColumn(Sequence[str]):
    """Texts as UTF-8 bytes one behind the other; each is decoded when it is read.

    Parameters
    ----------
    data
        (b,) the bytes of all texts.
    starts, stops
        (n,) text i is ``data[starts[i]:stops[i]]``.
    """

    def __init__(self, data: Bytes, starts: Longs, stops: Longs) -> None:
        self._data, self._starts, self._stops = data, starts, stops

    @classmethod
    def from_ends(cls, data: Bytes, ends: Longs) -> StringColumn:
        """Of texts that follow each other without a gap; ``ends`` (n,) is where each ends."""
        return cls(data, np.concatenate([[0], ends[:-1]]) if len(ends) else ends, ends)

    @classmethod
    def from_lines(cls, data: Bytes) -> StringColumn:
        """Of texts without line breaks, one a line; without a byte there is no text."""
        breaks = np.flatnonzero(data == _LINE_BREAK)
        if len(data) == 0:
            return cls(data, breaks, breaks)
        return cls(data, np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [len(data)]]))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(len(self))[index])
        return self.encoded(index).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK):
            yield from self._decoded(slice(start, start + _BLOCK))

    def _decoded(self, rows: slice) -> list[str]:
        """Texts that follow each other, which takes a tenth of the time of one by one."""
        starts, stops = self._starts[rows], self._stops[rows]
        first = int(starts[0])
        data = self._data[first : int(stops[-1])].tobytes()
        pairs = zip((starts - first).tolist(), (stops - first).tolist(), strict=True)
        if data.isascii():
            text = data.decode("ascii")
            return [text[a:b] for a, b in pairs]
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairs]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StringColumn | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list: equal ones would need equal hashes

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: as arrays of their own."""
        return type(self), (np.array(self._data), np.array(self._starts), np.array(self._stops))

    def encoded(self, index: int) -> bytes:
        """Text ``index`` in UTF-8."""
        return self._data[self._starts[index] : self._stops[index]].tobytes()


def string_arrays(texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Arrays ``data`` and ``ends`` of texts, for `StringColumn.from_ends`."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return {"data": np.frombuffer(b"".join(encoded), np.uint8), "ends": ends}


class TupleColumn(Sequence[tuple[Any, ...]]):
    """Tuples of texts, or of tuples of texts, stored as JSON; an empty text is an empty tuple."""

    def __init__(self, texts: StringColumn) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Any, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[Any, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(len(self))[index])
        text = self._texts.encoded(index)
        return _frozen(json.loads(text)) if text else ()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (self[i] for i in range(len(self)))

    @staticmethod
    def arrays(rows: Iterable[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
        """Arrays ``data`` and ``ends`` of the rows."""
        return string_arrays(json.dumps(row) if row else "" for row in rows)


def _frozen(value: Any) -> Any:
    """JSON knows lists only."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Lookup(Mapping[str, int]):
    """The place of each text of a column, found by binary search in sorted checksums.

    A dictionary answers faster, but a million texts would take seconds and hundreds of megabytes to put into one.

    Parameters
    ----------
    texts
        The n texts, all different.
    checksums
        (n,) CRC-32 of the texts, ascending.
    places
        (n,) place in ``texts`` of each.
    """

    def __init__(self, texts: StringColumn, checksums: NDArray[np.uint32], places: NDArray[np.int32]) -> None:
        self._texts, self._checksums, self._places = texts, checksums, places
        self._known: dict[Any, int | None] = {}

    @staticmethod
    def arrays(texts: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Arrays ``checksums`` (as signed numbers, which files can hold) and ``places``."""
        checksums = np.fromiter((_checksum(text) for text in texts), np.uint32)
        places = np.argsort(checksums, kind="stable").astype(np.int32)
        return {"checksums": checksums[places].view(np.int32), "places": places}

    def __getitem__(self, text: str) -> int:
        place: int | None = self.get(text)
        if place is None:
            raise KeyError(text)
        return place

    def get(self, text: object, default: Any = None) -> Any:
        """The place of a text, or ``default``."""
        place = self._known.get(text, _NOT_ASKED)
        if place is _NOT_ASKED:
            if not isinstance(text, str):
                return default
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            place = self._known[text] = self._find(text)
        return default if place is None else place

    def __contains__(self, text: object) -> bool:
        return self.get(text) is not None

    def _find(self, text: str) -> int | None:
        checksum, encoded, sums = _checksum(text), text.encode("utf-8", "surrogatepass"), self._checksums.data
        row = bisect_left(sums, checksum)
        while row < len(sums) and sums[row] == checksum:
            place = int(self._places[row])
            if self._texts.encoded(place) == encoded:
                return place
            row += 1
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


class RenumberedWords(Mapping[str, int]):
    """Some words of a vocabulary under other numbers, without a table of their own.

    Parameters
    ----------
    words
        The number of every word of the vocabulary, ascending from 0.
    numbers
        (w,) the new number of each of its words, −1 for one that is left out.
    """

    def __init__(self, words: Mapping[str, int], numbers: NDArray[np.int32]) -> None:
        self._words, self._numbers = words, numbers

    def take(self, numbers: NDArray[np.int32]) -> RenumberedWords:
        """Some of these words under ``numbers`` (k,), −1 for one that is left out."""
        kept = self._numbers >= 0
        again = np.full(len(self._numbers), -1, np.int32)
        again[kept] = numbers[self._numbers[kept]]
        return RenumberedWords(self._words, again)

    def __getitem__(self, word: str) -> int:
        number = self._numbers.item(self._words[word])
        if number < 0:
            raise KeyError(word)
        return number

    def __iter__(self) -> Iterator[str]:
        words = list(self._words)
        kept = np.flatnonzero(self._numbers >= 0)
        return (words[i] for i in kept[np.argsort(self._numbers[kept])].tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._numbers >= 0))
