"""YAML documents as JSON values whose objects know their lines, and texts as YAML spells them.

Built from the parser's events, so that no class is made from a tag, depth is limited, and an alias that multiplies
its content ("billion laughs") is refused before anything grows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io import json_values as jv

DEEPEST = 900
# Characters that aliases may add: as many as the document has, ten times, and some for small documents.
GROWTH, GRACE = 10, 1 << 20
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TYPED = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d+)?|true|false")
_PLAIN = re.compile(r"[^\W\d_](?:[\w ()/&.+'’–-]*[\w)])?")
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")


def parse(text: str, path: Path) -> Any:
    """Return the value of a YAML text: that of its document, or a list with those of several.

    Plain numbers, `true` and `false` are typed only where their spelling stays what it is, so that a code like `001`
    or `1.10` is kept.

    Parameters
    ----------
    text : str
        The YAML text.
    path : Path
        Its file, for the messages.

    Raises
    ------
    InputError
        On a syntax error, a repeated key, an alias that refers to itself or multiplies its content, and on nesting
        deeper than `DEEPEST`.
    """
    yaml = require("yaml", "yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(path, len(text))
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        line = mark.line + 1 if mark is not None else _line_of(text, getattr(error, "position", 0))
        raise InputError(f"YAML syntax error: {' '.join(str(problem).split())}", path, line) from None
    documents = builder.documents
    if len(documents) == 1:
        return documents[0]
    return [item for value in documents for item in (value if isinstance(value, list) else [value])]


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


class _Frame:
    """A list or an object that is being filled."""

    __slots__ = ("anchor", "began", "key", "value")

    def __init__(self, value: Any, anchor: str | None, began: int) -> None:
        self.value = value
        self.anchor = anchor
        self.began = began  # size of the document before it
        self.key: str | None = None


class _Builder:
    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self.limit = GRACE + GROWTH * length
        self.size = 0  # characters with aliases written out
        self.documents: list[Any] = []
        self.frames: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int]] = {}

    def take(self, event: Any) -> None:
        """Add what the parser met to the value that is being built."""
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "ScalarEvent":
            self.size += len(event.value) + 1
            self._add(_scalar(event), line, event.anchor, len(event.value) + 1)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            if len(self.frames) >= DEEPEST:
                raise InputError("is nested too deeply to be read", self.path, line)
            value: Any = [] if kind == "SequenceStartEvent" else jv.Entry((), line)
            self.frames.append(_Frame(value, event.anchor, self.size))
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            frame = self.frames.pop()
            self.size += 1
            self._add(_merged(frame.value), line, frame.anchor, self.size - frame.began)
        elif kind == "AliasEvent":
            if event.anchor not in self.anchors:
                raise InputError(f"the alias *{event.anchor[:40]} refers to itself or to nothing", self.path, line)
            value, size = self.anchors[event.anchor]
            self.size += size
            if self.size > self.limit:
                raise InputError("its aliases multiply the content, as in no taxonomy; refused", self.path, line)
            self._add(value, line, None, size)
        elif kind == "DocumentStartEvent":
            self.anchors = {}

    def _add(self, value: Any, line: int, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = value, size
        if not self.frames:
            self.documents.append(value)
            return
        frame = self.frames[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            if isinstance(value, list | dict):
                raise InputError("a list or an object stands where a key is expected", self.path, line)
            frame.key = value if isinstance(value, str) else jv.spelling(value)
            if frame.key in frame.value and frame.key != "<<":
                message = f"the key {jv.spelling(frame.key[:60])} stands twice in one object; keep one of them"
                raise InputError(message, self.path, line)
        else:
            frame.value[frame.key] = value
            frame.key = None


def _scalar(event: Any) -> Any:
    text: str = event.value
    if event.style or not event.implicit[0]:  # quoted, or with a tag
        return text
    if text in _NULL:
        return None
    if _TYPED.fullmatch(text):
        value = json.loads(text)
        return value if jv.spelling(value) == text else text
    return text


def _merged(value: Any) -> Any:
    """With the content of `<<` where an object has it."""
    if not isinstance(value, jv.Entry) or "<<" not in value:
        return value
    sources = value["<<"] if isinstance(value["<<"], list) else [value["<<"]]
    merged = {key: item for key, item in value.items() if key != "<<"}
    for source in sources:
        if isinstance(source, dict):
            merged = {**source, **merged}
    return jv.Entry(merged.items(), value.line)


def spelling(value: Any) -> str:
    """Return a JSON value in one line of YAML: plain where any reader takes it for this text, else as JSON.

    Parameters
    ----------
    value : any JSON value
        Text, number, list or object.
    """
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _NOT_TEXT:
        return value
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", jv.spelling(value))
