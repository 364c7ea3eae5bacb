"""Backslash escapes for tables without quoting, and lists of texts in one cell."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ESCAPED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", "|": "\\|"}
_PLAIN = {code: char for char, code in _ESCAPED.items()}
_SPECIAL = re.compile(r"[\\\t\n\r\0]")
_SPECIAL_IN_LIST = re.compile(r"[\\\t\n\r\0|]")
_CODE = re.compile(r"\\[\\tnr0|]")
_ITEM = re.compile(r"(?:[^\\|]|\\.)*", re.DOTALL)
_BREAKS = re.compile(r"[\t\n\r\0]")
EMPTY_ITEM = "\\e"  # an empty text inside a list, which would otherwise look like no list at all


def breaks_table(text: str) -> bool:
    return _BREAKS.search(text) is not None


def escape(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text)


def unescape(cell: str) -> str:
    return _CODE.sub(lambda match: _PLAIN[match[0]], cell) if "\\" in cell else cell


def join_list(items: Iterable[str], escaped: bool) -> str:
    if not escaped:
        return "|".join(items)
    return "|".join(
        _SPECIAL_IN_LIST.sub(lambda match: _ESCAPED[match[0]], item) if item else EMPTY_ITEM for item in items
    )


def split_list(cell: str, escaped: bool) -> tuple[str, ...]:
    if not cell:
        return ()
    if not escaped or "\\" not in cell:
        return tuple(item for item in cell.split("|") if item)
    items, start = [], 0
    while start <= len(cell):
        match = _ITEM.match(cell, start)
        assert match is not None  # the pattern matches the empty text
        items.append("" if match[0] == EMPTY_ITEM else unescape(match[0]))
        start = max(match.end(), start) + 1
    return tuple(items)
