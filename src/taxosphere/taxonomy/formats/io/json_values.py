"""What the JSON formats share: parsing with the line of a fault, and foreign values as the text of an extra.

An extra is text. A JSON value that is no text is kept as its JSON spelling, and a text that could be such a spelling
is kept in quotation marks, so that `5`, `"5"` and `[5]` all come back as what they were.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept

# A text that is cut off reaches to the end.
_TOKEN = re.compile(rb'("(?:[^"\\]|\\.?)*(?:"|\Z))\s*(:)?|[\[\]{}]', re.DOTALL)
_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
# The ends of Python's own messages that point elsewhere than to a line of the file.
_POSITION = re.compile(r"( starting)? at$|: value has .*")
_NO_NUMBER = re.compile(r"NaN|Infinity|\d{1000,}")
# Keys that say the same thing, the better one first.
NAME = ("name", "label")
DESCRIPTION = ("description", "definition")
IMAGES = ("images", "image")
PARENTS = ("parents", "parent", "parent_ids", "parent_id")
DETAILS = (*NAME, *DESCRIPTION, "synonyms", *IMAGES)


Pairs = list[tuple[str, Any]]


class Entry(dict[str, Any]):
    """An object of a JSON file, and the line it begins in."""

    __slots__ = ("line",)

    def __init__(self, pairs: Iterable[tuple[str, Any]], line: int = 0) -> None:
        super().__init__(pairs)
        self.line = line


class _RepeatedKeyError(ValueError):
    pass


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _decoder(made: Callable[[Pairs], dict[str, Any]]) -> json.JSONDecoder:
    def checked(pairs: Pairs) -> dict[str, Any]:
        entry = made(pairs)
        if len(entry) != len(pairs):
            raise _RepeatedKeyError
        return entry

    return json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=checked)


_DECODER = _decoder(dict)  # made once: it takes as long as to read a line with it


def parse(text: str, path: Path, first_line: int = 1, decoder: json.JSONDecoder = _DECODER) -> Any:
    """The value a text spells."""
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        hint = "; is the file cut off?" * (error.pos >= len(text.rstrip()) or "Unterminated" in error.msg)
        message = f"is not JSON: {_POSITION.sub('', error.msg)}{hint}"
        raise InputError(message, path=path, line=first_line + error.lineno - 1) from None
    except RecursionError:
        raise InputError("is nested too deeply to be read", path=path, line=first_line) from None
    except _RepeatedKeyError:
        key, line = _repeated_key(text)
        message = f"the key {spelling(key[:60])} stands twice in one object; keep one of them"
        raise InputError(message, path=path, line=first_line + line) from None
    except ValueError as error:
        bare = _TEXT.sub("", text)
        match = _NO_NUMBER.search(bare)
        line = first_line + bare.count("\n", 0, match.start() if match else 0)
        raise InputError(f"is not JSON: {_POSITION.sub('', str(error))}", path=path, line=line) from None
    if "\\ud" in text or "\\uD" in text:
        _refuse_half_characters(text, path, first_line)
    return value


def parse_entries(text: str, path: Path) -> Any:
    """The same, and every object knows its line."""
    entries: list[Entry] = []

    def made(pairs: Pairs) -> Entry:
        entries.append(Entry(pairs))
        return entries[-1]

    value = parse(text, path, decoder=_decoder(made))
    for entry, line in zip(entries, _lines(text).tolist(), strict=True):
        entry.line = line
    return value


def _lines(text: str) -> NDArray[np.int64]:
    """The line each object of a JSON text begins in, in the order in which they end."""
    bare = np.frombuffer(_TEXT.sub("", text).encode(), np.uint8)
    braces = np.flatnonzero((bare == ord("{")) | (bare == ord("}")))
    opens = bare[braces] == ord("{")
    depth = np.cumsum(np.where(opens, 1, -1))
    line = 1 + np.searchsorted(np.flatnonzero(bare == ord("\n")), braces[opens])
    lines = np.empty(len(line), np.int64)
    # Of the objects of one depth, the first to begin is the first to end.
    lines[np.argsort(depth[~opens] + 1, kind="stable")] = line[np.argsort(depth[opens], kind="stable")]
    return lines


def outer_keys(head: bytes) -> Iterator[bytes]:
    """Keys, in their quotation marks, of the object that a file is, or of those in the list that it is.

    Works on the beginning of a file too large to be parsed twice, hence on tokens.
    """
    outer = 1 if head.lstrip().startswith(b"{") else 2
    depth = 0
    for token in _TOKEN.finditer(head):
        if token[2] and depth == outer:
            yield token[1]
        elif not token[1]:
            depth += 1 if token[0] in b"[{" else -1


def _repeated_key(text: str) -> tuple[str, int]:
    """The first key that its object has already, and the number of lines before it."""
    data = text.encode(errors="surrogatepass")
    open_objects: list[set[str]] = []
    for token in _TOKEN.finditer(data):
        if token[2]:
            key = json.loads(token[1])
            if key in open_objects[-1]:
                return key, data.count(b"\n", 0, token.start())
            open_objects[-1].add(key)
        elif token[0] in b"[{":
            open_objects.append(set())
        elif not token[1]:
            open_objects.pop()
    raise AssertionError("no key is repeated")


def _refuse_half_characters(text: str, path: Path, first_line: int) -> None:
    for match in _TEXT.finditer(text):
        try:
            json.loads(match[0]).encode()
        except UnicodeEncodeError:
            message = "holds half of a surrogate pair (\\ud…), which is no character"
            line = first_line + text.count("\n", 0, match.start())
            raise InputError(message, path=path, line=line) from None


def to_extra(value: Any) -> str:
    if not isinstance(value, str):
        return spelling(value)
    return spelling(value) if _is_spelling(value) else value


def from_extra(text: str) -> Any:
    return json.loads(text) if _is_spelling(text) else text


def spelling(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_spelling(text: str) -> bool:
    """Exactly the spelling `to_extra` would give some value; quotation marks around any other text are part of it."""
    if text[:1] not in '-0123456789[{"tfn' or not text:
        return False
    try:
        value = json.loads(text, parse_constant=_refuse)
        return spelling(value) == text and (not isinstance(value, str) or _is_spelling(value))
    except (ValueError, RecursionError):
        return False


def text_of(record: dict[str, Any], *keys: str) -> str:
    """The first of these keys that holds something, as text."""
    for key in keys:
        value = record.get(key)
        if value is not None and value != "":
            return value if isinstance(value, str) else spelling(value)
    return ""


def texts_of(record: dict[str, Any], *keys: str) -> tuple[str, ...]:
    """The lists of all these keys in one; a text or number, zero among them, counts as a list of one."""
    united: list[str] = []
    for key in keys:
        value = record.get(key)
        if value or (value == 0 and value is not False):
            values = value if isinstance(value, list) else [value]
            texts = [item if isinstance(item, str) else spelling(item) for item in values if item is not None]
            united += [text for text in texts if text not in united] if united else texts
    return tuple(united)


def details_of(
    record: dict[str, Any], reserved: Collection[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...], list[tuple[str, str]]]:
    """Description, synonyms, images and extras, among them the second of two keys for a name or a description."""
    extras = extras_of(record, reserved)
    for first, second in (NAME, DESCRIPTION):
        if second in record and text_of(record, second) not in ("", text_of(record, first, second)):
            extras.append((second, to_extra(record[second])))
    return text_of(record, *DESCRIPTION), texts_of(record, "synonyms"), texts_of(record, *IMAGES), extras


def extras_of(record: dict[str, Any], reserved: Collection[str]) -> list[tuple[str, str]]:
    """Every other key; a key written as `key[]` by us holds several values."""
    pairs = []
    for key, value in record.items():
        if key in reserved:
            continue
        if key.endswith("[]") and isinstance(value, list):
            pairs += [(key.removesuffix("[]"), to_extra(item)) for item in value]
        else:
            pairs.append((key, to_extra(value)))
    return pairs


def with_details(record: dict[str, Any], concept: Concept, reserved: Collection[str]) -> dict[str, Any]:
    """Adds what a concept has beyond id and name."""
    if concept.description:
        record["description"] = concept.description
    if concept.synonyms:
        record["synonyms"] = concept.synonyms
    if concept.images:
        record["images"] = concept.images
    grouped: dict[str, list[Any]] = {}
    for key, value in concept.extras:
        grouped.setdefault(key, []).append(from_extra(value))
    for key, values in grouped.items():
        if len(values) > 1 or key in reserved or key.endswith("[]"):
            record[f"{key}[]"] = values
        else:
            record[key] = values[0]
    return record
