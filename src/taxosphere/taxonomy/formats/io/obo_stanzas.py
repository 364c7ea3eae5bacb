"""The stanzas of an OBO text: where each begins, its clauses, and the letters it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.obo_text import BLANKS, goes_on
from taxosphere.taxonomy.formats.io.source_text import MARK
from taxosphere.taxonomy.formats.io.streams import check_line_ends

Clause = tuple[str, str, int]  # tag, value as written, line

# Clauses of a term in the order of the OBO 1.4 specification; new ones are written where this order has them.
TERM_TAGS = (
    *("id", "is_anonymous", "name", "namespace", "alt_id", "def", "comment", "subset", "synonym", "exact_synonym"),
    *("narrow_synonym", "broad_synonym", "related_synonym", "xref", "builtin", "property_value", "is_a"),
    *("intersection_of", "union_of", "equivalent_to", "disjoint_from", "relationship", "created_by", "creation_date"),
    *("is_obsolete", "replaced_by", "consider"),
)
RANK = {tag: rank for rank, tag in enumerate(TERM_TAGS)}
_START = re.compile(r"^\ufeff?[ \t]*\[[^\]\n]+\][ \t\r]*(?:!.*)?$", re.MULTILINE)
_TERM = re.compile(r"[\s\ufeff]*\[\s*Term\s*\]")
_HEAD = re.compile(r"\[([^\]]+)\]\s*(?:!.*)?")
_CLAUSE = re.compile(r"([^\s:!\"{}\[\]]+)[ \t]*:[ \t]*(.*)", re.DOTALL)


@dataclass(slots=True)
class Stanza:
    """One ``[Term]`` (or other) block; the header of a file is the stanza without a kind."""

    kind: str
    line: int
    clauses: list[Clause]

    def lines(self) -> list[str]:
        """The stanza as plain lines, without comments between them."""
        return [f"[{self.kind}]", *(f"{tag}: {value}".rstrip() for tag, value, _ in self.clauses)]

    def first(self, tag: str) -> str | None:
        """The value of the first clause with this tag."""
        return next((value for name, value, _ in self.clauses if name == tag), None)


def split(text: str) -> list[str]:
    """Cut an OBO text into its header and its stanzas.

    Parameters
    ----------
    text : str
        The whole file.

    Returns
    -------
    list of str
        The header (empty where there is none), then one piece per stanza, from its ``[…]`` line to the next one.
        Joined they give `text` again.
    """
    starts = [match.start() for match in _START.finditer(text) if not goes_on(_line_before(text, match.start()))]
    return [text[start:end] for start, end in zip((0, *starts), (*starts, len(text)), strict=True)]


def is_term(piece: str) -> bool:
    """Whether a piece is the stanza of a term."""
    return _TERM.match(piece) is not None


def _line_before(text: str, start: int) -> str:
    if start < 2 or text[start - 2] not in "\\\r":
        return ""
    end = start - 1
    return text[text.rfind("\n", 0, end) + 1 : end].removesuffix("\r")


def parse(path: Path, pieces: list[str]) -> Iterator[Stanza]:
    """The header and every stanza of a text that `split` has cut.

    Parameters
    ----------
    path : Path
        The file that errors name.
    pieces : list of str
        What `split` returned.

    Raises
    ------
    InputError
        For a line that is neither a clause, a comment nor the head of a stanza.
    """
    if len(pieces) == 1:
        check_line_ends(path, pieces[0])
    number = 1
    for index, piece in enumerate(pieces):
        if "\0" in piece:
            line = number + piece.count("\n", 0, piece.index("\0"))
            raise InputError("holds a NUL byte; this is not a text file", path=path, line=line)
        lines = piece.removeprefix(MARK).split("\n")
        numbered = _joined(lines, number) if "\\\n" in piece or "\\\r\n" in piece else enumerate(lines, number)
        kind = ""
        if index:
            _, head = next(numbered)
            match = _HEAD.fullmatch(head.strip())
            assert match is not None  # or the piece would not begin here
            kind = match[1].strip()
        yield Stanza(kind, number, _clauses(path, numbered))
        number += len(lines) - 1


def _clauses(path: Path, numbered: Iterator[tuple[int, str]]) -> list[Clause]:
    clauses = []
    for number, line in numbered:
        tag, colon, value = line.partition(":")
        if colon and tag in RANK:  # nearly every line; the grammar below says the same of it
            clauses.append((tag, value.strip(" \t\r"), number))
            continue
        line = line.strip(" \t\r")
        if line and not line.startswith("!"):
            clauses.append((*split_clause(path, line, number), number))
    return clauses


def split_clause(path: Path, line: str, number: int) -> tuple[str, str]:
    """Tag and value of one line."""
    match = _CLAUSE.fullmatch(line)
    if match is None:
        shown = line if len(line) <= 40 else line[:37] + "…"
        message = f"expected 'tag: value' or '[Term]', not '{shown}'; is the file cut off?"
        raise InputError(message, path=path, line=number)
    return match[1], match[2].strip(BLANKS)


def _joined(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    """Lines with their continuations: a backslash at the very end joins the next line."""
    start = first
    parts: list[str] = []
    for number, line in enumerate(lines, first):
        line = line.removesuffix("\r")
        start = start if parts else number
        if goes_on(line):
            parts.append(line[:-1])
            continue
        yield start, "".join((*parts, line))
        parts = []
    if parts:
        yield start, "".join(parts)


def physical_lines(piece: str) -> list[str]:
    """The lines of a piece with their ends, continued lines as one; joined they give the piece."""
    lines: list[str] = []
    open_line = False
    for line in piece.splitlines(keepends=True) if piece.isascii() else _split_keeping(piece):
        if open_line:
            lines[-1] += line
        else:
            lines.append(line)
        open_line = goes_on(line.rstrip("\r\n"))
    return lines


def _split_keeping(piece: str) -> list[str]:
    lines = [line + "\n" for line in piece.split("\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]
