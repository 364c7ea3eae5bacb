"""Cursors of pages: where the last page ended, as an opaque text."""

from __future__ import annotations

import base64
import json
from typing import Any

from taxosphere.service.problems import Problem

_LONGEST = 2000


def encode(*values: Any) -> str:
    """A cursor that holds some values."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def decode(cursor: str, *kinds: type) -> list[Any]:
    """The values of a cursor; `Problem` 422 where they are not of these kinds."""
    try:
        if len(cursor) > _LONGEST:
            raise ValueError
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        values = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, RecursionError):
        values = None
    whole = isinstance(values, list) and len(values) == len(kinds)
    if not whole or not all(type(value) is kind for value, kind in zip(values, kinds, strict=True)):
        raise Problem(422, "this cursor is not one that a page has named as its next")
    if any(isinstance(value, int) and not 0 <= value < 2**53 for value in values):
        raise Problem(422, "this cursor is not one that a page has named as its next")
    return list(values)
