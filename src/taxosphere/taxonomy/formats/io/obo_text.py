"""The spelling of OBO 1.2/1.4: stanzas, clauses, escapes, quoted strings, trailing qualifiers and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.streams import numbered_lines

BLANKS = " \t"  # other white space, such as a no-break space, belongs to the text
_STANZA = re.compile(r"\[([^\]]+)\]\s*(?:!.*)?")
_CLAUSE = re.compile(r"([^\s:!\"{}\[\]]+)[ \t]*:[ \t]*(.*)", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_STRING = r'"(?:[^"\\]|\\.)*"'
_LIST = rf'\{{\s*[^\s="{{}}]+\s*=\s*{_STRING}(?:[^{{}}"\\]|\\.|{_STRING})*\}}'
_QUALIFIERS = rf"{_LIST}(?:[ \t]*{_LIST})*"
# Text, qualifiers, comment. Escapes are stepped over in pairs, so that no brace can be one that belongs to the text.
_PARTS = re.compile(rf"((?:[^\\]|\\.)*?)(?:[ \t]*+({_QUALIFIERS}))?[ \t]*+((?<=[ \t])!.*)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
SPACE = "\\W"
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "W": " "}
_IN_TEXT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "!": "\\!", "{": "\\{", "}": "\\}"}
_IN_QUOTES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"'}
_IN_ID = _IN_TEXT | {" ": "\\ ", '"': '\\"'}


@dataclass(slots=True)
class Stanza:
    """One `[Term]` (or other) block; the header is the stanza without a kind."""

    kind: str
    line: int
    clauses: list[tuple[str, str, int]] = field(default_factory=list)

    def text(self) -> list[str]:
        return [f"[{self.kind}]", *(f"{tag}: {value}".rstrip() for tag, value, _ in self.clauses)]

    def first(self, tag: str) -> str | None:
        return next((value for name, value, _ in self.clauses if name == tag), None)


def stanzas(path: Path, comments: list[int]) -> Iterator[Stanza]:
    """The header, then every stanza, clauses verbatim. Numbers of comment lines are added to `comments`."""
    current = Stanza("", 1)
    for number, line in _joined(path):
        line = line.strip(BLANKS)
        if not line:
            continue
        if line.startswith("!"):
            comments.append(number)
        elif match := _STANZA.fullmatch(line):
            yield current
            current = Stanza(match[1].strip(), number)
        elif clause := _CLAUSE.fullmatch(line):
            current.clauses.append((clause[1], clause[2].strip(BLANKS), number))
        else:
            shown = line if len(line) <= 40 else line[:37] + "…"
            message = f"expected 'tag: value' or '[Term]', found '{shown}'; is the file cut off?"
            raise InputError(message, path=path, line=number)
    yield current


def _joined(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their continuations: a backslash at the very end joins the next line."""
    start = 0
    parts: list[str] = []
    for number, line in numbered_lines(path):
        start = start if parts else number
        if goes_on(line):
            parts.append(line[:-1])
            continue
        yield start, "".join((*parts, line)) if parts else line
        parts = []
    if parts:
        yield start, "".join(parts)


def goes_on(line: str) -> bool:
    """Does it end in a backslash that no other one stands for?"""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), text) if "\\" in text else text


def split_text(value: str) -> tuple[str, str]:
    """An unquoted value: its text, and the trailing qualifiers if any. A comment after ` !` is dropped."""
    parts = _parts(value)
    return (unescape(parts[1]), parts[2] or "") if parts else (unescape(value), "")


def has_qualifiers(value: str) -> bool:
    """At the very end, with no comment behind them."""
    parts = _parts(value)
    return parts is not None and bool(parts[2]) and not parts[3]


def _parts(value: str) -> re.Match[str] | None:
    """Looks closer only where it is needed; few values have more than text, and every name and id is asked about."""
    return _PARTS.fullmatch(value) if "}" in value or "!" in value else None


def split_quoted(value: str) -> tuple[str, str] | None:
    """A value that begins with a quoted string: the string and what follows it; None when no string is closed."""
    match = _QUOTED.match(value)
    return (unescape(match[1]), value[match.end() :].strip(BLANKS)) if match else None


def escape_text(text: str) -> str:
    return _escape(text, _IN_TEXT)


def escape_id(text: str) -> str:
    return _escape(text, _IN_ID)


def _escape(text: str, table: dict[str, str]) -> str:
    """For values without quotes, where spaces at the ends would be lost."""
    inner = text.strip(" ")
    left = len(text) - len(text.lstrip(" "))
    right = len(text) - len(inner) - left
    return SPACE * left + "".join(table.get(char, char) for char in inner) + SPACE * right


def quote(text: str) -> str:
    return '"' + "".join(_IN_QUOTES.get(char, char) for char in text) + '"'
