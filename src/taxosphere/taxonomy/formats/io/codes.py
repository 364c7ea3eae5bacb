"""Codes that nest: the code above each code, as in NAICS, ATC, HS, ISIC, UNSPSC, CPV and MSC.

The code above `111110` is the longest other code that it begins with (`11111`). Codes of equal length are padded: zeros
(`10101500`), or `X` (`00Axx`). A range (`31-33`, `A00-B99`) stands above the codes in it that no single code is above
of. With several dots (`1.2.10`), or numbers counted up behind a hyphen (`IAB1-10`), the code above ends there. Letters
(ISIC's `A`) stand above the numbers that follow.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

_RANGE = re.compile(r"([^\W_]+(?:\.\d+)?)\s*[-–—]\s*([^\W_]+(?:\.\d+)?)")
_CHECK_DIGIT = re.compile(r"(\d{8})-\d")
_PADDING = re.compile(r"[xX]{2}$|(?<=\d)[xX]$")
_SEPARATORS = " .-–/"
WITHIN_PAIRS = 0.3  # share of keys that may end within a pair of digits: one commodity in ten ends in 0
NEARLY_ALL = 0.9  # share of codes whose beginning is a code, so that a character parts levels
COUNTED = 0.8  # share of the numbers up to the largest that are there, so that they are counted up
MOST_RANGES = 0.5  # share of codes that may be ranges


def nesting_share(codes: Sequence[str]) -> float:
    """Share of codes that have one above, of those that are not on the shortest level."""
    above = codes_above(codes)
    single = [code for code in codes if code and not is_range(code)]
    shortest = min((len(code) for code in single), default=0)
    linked = sum(parent is not None for parent in above)
    longer = sum(len(code) > shortest for code in single)
    if not linked or len(set(codes)) < len(codes):
        return 0.0
    padded = len({len(code) for code in single}) == 1
    return linked / len(codes) if padded else min(1.0, linked / max(longer, 1))


def is_range(code: str) -> bool:
    match = _RANGE.fullmatch(code.strip())
    return match is not None and len(match[1]) == len(match[2]) and match[1] < match[2]


def has_ranges(codes: Sequence[str]) -> bool:
    """Whether some codes are ranges of others: few are, and codes are not padded with `X`."""
    spans = sum(map(is_range, codes))
    return 0 < spans < MOST_RANGES * len(codes) and not any(_PADDING.search(code.strip()) for code in codes)


def codes_above(codes: Sequence[str]) -> list[int | None]:
    """Position of the code directly above each code, None where there is none.

    Parameters
    ----------
    codes : sequence of str
        As they stand in the table; blanks around them do not count.
    """
    keys = _keys(codes)
    ranges = has_ranges(codes)
    place: dict[str, int] = {}
    for i, key in enumerate(keys):
        if key and not (ranges and is_range(codes[i])):
            place.setdefault(key, i)
    between = next((char for char in ".-/_:" if _parts_levels(char, keys, place)), "")
    above = [None if ranges and is_range(codes[i]) else _longest(key, i, place, between) for i, key in enumerate(keys)]
    if ranges:
        _add_ranges([code.strip() for code in codes], above)
    _add_letters(keys, above)
    return above


def _keys(codes: Sequence[str]) -> list[str]:
    """Codes as they are compared: without check digits, padding and, where they part no levels, separators."""
    bare = [match[1] if (match := _CHECK_DIGIT.fullmatch(code.strip())) else code.strip() for code in codes]
    single = [code for code in bare if code and not is_range(code)]
    sizes = Counter(map(len, single))
    if any(_PADDING.search(code) for code in single):
        return [_PADDING.sub("", code).rstrip(_SEPARATORS) for code in bare]
    digits = [re.sub(r"\D", "", code) for code in single]
    stems = {code.rstrip("0123456789") for code in single}  # one where all begin alike: `genre_07`
    same = len(sizes) == 1 and bool(single) and len(single[0]) - (len(stems.pop()) if len(stems) == 1 else 0) > 2
    padded = same and sum(code.endswith("0") for code in digits) > 0.05 * len(digits)
    if padded and all(code[:1].isalnum() for code in single):
        keys = [code.rstrip("0").rstrip(_SEPARATORS) or code[:1] for code in bare]
        return _in_pairs(keys) if _are_pairs(codes, single, keys) else keys
    return [code.rstrip(_SEPARATORS) or code for code in bare]


def _are_pairs(codes: Sequence[str], single: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether two digits make a level: digits alone, an even number of them, and few keys that end within a pair."""
    if not all(map(str.isdecimal, single)) or len(single[0]) % 2 or any(map(_CHECK_DIGIT.fullmatch, codes)):
        return False
    deep = [key for key in keys if len(key) > 2]
    return sum(len(key) % 2 for key in deep) <= WITHIN_PAIRS * len(deep)


def _in_pairs(keys: Sequence[str]) -> list[str]:
    return [key + "0" * (len(key) % 2) for key in keys]


def _parts_levels(char: str, keys: Sequence[str], place: Mapping[str, int]) -> bool:
    """Whether a character parts the levels: codes have several of it, or the numbers between are counted up from 1.

    In `1.10`, the tenth below `1`, it does; in NACE's `01.11` it does not, which stands below `01.1`.
    """
    parted = [key for key in keys if char in key[1:]]
    if not parted or sum(key.rpartition(char)[0] in place for key in parted) < NEARLY_ALL * len(parted):
        return False
    if any(key.count(char) > 1 for key in parted):
        return True
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for key in keys:
        above, _, last = key.rpartition(char)
        stem = last.rstrip("0123456789")
        groups[f"{above}{char}{stem}"].add(last[len(stem) :])
    counted = size = 0
    for numbers in groups.values():
        if all(map(str.isdecimal, numbers)) and not any(n[0] == "0" for n in numbers) and max(map(len, numbers)) > 1:
            counted += len(numbers)
            size += max(map(int, numbers))
    return counted > COUNTED * size


def _longest(key: str, position: int, place: Mapping[str, int], between: str) -> int | None:
    """The longest other key that this one begins with, up to a character between levels where there is one."""
    end = len(key)
    while end > 1:
        end = key.rfind(between, 0, end) if between else end - 1
        if end <= 0:
            return None
        beginning = key[:end].rstrip(_SEPARATORS)
        above = place.get(beginning)
        if above is not None and above != position and beginning != key:
            return above
    return None


def _add_ranges(codes: Sequence[str], above: list[int | None]) -> None:
    """The narrowest range around every code that has nothing above it."""
    ranges = []
    for i, code in enumerate(codes):
        if is_range(code):
            low, high = _RANGE.fullmatch(code).groups()  # type: ignore[union-attr]
            ranges.append((low, high, i))
    if not ranges:
        return
    for i, code in enumerate(codes):
        if above[i] is not None and not is_range(code):
            continue
        low, high = _RANGE.fullmatch(code).groups() if is_range(code) else (code, code)  # type: ignore[union-attr]
        around = [
            (_span(first, last), j)
            for first, last, j in ranges
            if j != i and first <= low[: len(first)] and high[: len(last)] <= last and (first, last) != (low, high)
        ]
        if around:
            above[i] = min(around)[1]


def _span(first: str, last: str) -> tuple[int, ...]:
    """How wide a range is, comparable between ranges of codes that are equally long."""
    return (-len(first), *(ord(b) - ord(a) for a, b in zip(first, last, strict=True)))


def _add_letters(keys: Sequence[str], above: list[int | None]) -> None:
    """Single letters stand above the numbers that follow them up to the next letter."""
    letters = [i for i, key in enumerate(keys) if len(key) == 1 and key.isalpha()]
    if not letters or letters[0] != 0 or any(above[i] is not None for i in letters):
        return
    section: int | None = None
    if any(key[:1].isalpha() for i, key in enumerate(keys) if i not in set(letters)):
        return
    for i, key in enumerate(keys):
        if len(key) == 1 and key.isalpha():
            section = i
        elif above[i] is None:
            above[i] = section
