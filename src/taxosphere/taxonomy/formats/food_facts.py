"""Taxonomies of Open Food Facts as text (read only): blocks with parents, names by language, and properties.

    < en:beverages
    en: Teas, tea
    fr: Thés
    wikidata:en: Q6097

The first line with a language names the concept: its id is the language and the name in small letters with hyphens,
as Open Food Facts makes it. Further names are synonyms; other languages and properties are extras.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import numbered_lines

_LANGUAGE = r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?"
_NAMES = re.compile(rf"({_LANGUAGE}):(.*)")
_PARENT = re.compile(rf"<\s*({_LANGUAGE}):\s*(.+)")
_PROPERTY = re.compile(rf"([\w.-]+):({_LANGUAGE}):(.*)")
_HEAD = ("stopwords", "synonyms")
_COMMA = re.compile(r"(?<!\\),(?!\d)|(?<![\d\\]),")  # not in a number, and not after a backslash


@dataclass
class _Block:
    line: int
    parents: list[tuple[str, int]] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    properties: list[tuple[str, str]] = field(default_factory=list)


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a text file has lines that name a parent and lines that name a concept, each with a language."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines()]
    filled = [line for line in lines if line and not line.startswith("#")]
    parents = sum(bool(_PARENT.fullmatch(line)) for line in filled)
    names = [match[1] for line in filled if (match := _NAMES.fullmatch(line))]
    properties = sum(bool(_PROPERTY.fullmatch(line)) for line in filled)
    if parents or any(line.startswith("stopwords:") for line in filled):
        return bool(names) and 4 * (parents + len(names)) > len(filled)
    return len(set(names)) > 2 and len(names) + properties >= 0.9 * len(filled)


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the entries of a taxonomy of Open Food Facts.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `language` chooses among the names of an entry; the first one stands for it where it is not stated.
        `encoding` is used.
    """
    draft = Draft(path=path, format="open food facts")
    blocks, left_out = _blocks(path, options.encoding)
    meanings: dict[str, str] = {}
    ids = []
    for block in blocks:
        language, names = next(iter(block.names.items()))
        ids.append(f"{language}:{_slug(names[0])}")
    for id, block in zip(ids, blocks, strict=True):
        for language, names in block.names.items():
            for name in names:
                meanings.setdefault(f"{language}:{_slug(name)}", id)
    meanings |= {id: id for id in ids}
    rows: dict[str, int] = {}
    for id, block in zip(ids, blocks, strict=True):
        wanted = options.language if options.language in block.names else next(iter(block.names))
        name, *synonyms = block.names[wanted]
        extras = [
            (f"name:{language}", ", ".join(names)) for language, names in block.names.items() if language != wanted
        ]
        description = next((text for key, text in block.properties if key == f"description:{wanted}"), "")
        extras += [pair for pair in block.properties if pair != (f"description:{wanted}", description)]
        if id in rows:
            draft.add(rows[id], description, synonyms, extras=extras)
        else:
            rows[id] = len(draft.ids)
            draft.concept(id, name, description, dict.fromkeys(synonyms), extras=extras, line=block.line)
        for parent, line in block.parents:
            draft.edge(meanings.get(parent, parent), id, line)
    if left_out:
        draft.left_out(f"{counted(left_out, 'line')} of stop words and synonyms for all entries left out")
    return draft


def _blocks(path: Path, encoding: str | None) -> tuple[list[_Block], int]:
    blocks: list[_Block] = []
    block = _Block(0)
    left_out = 0
    for number, raw in numbered_lines(path, encoding):
        line = raw.strip()
        if not line:
            block = _finished(blocks, block, path)
        elif line.startswith("#"):
            continue
        elif line.split(":", 1)[0] in _HEAD:
            left_out += 1
        else:
            block.line = block.line or number
            _read_line(block, line, path, number)
    _finished(blocks, block, path)
    return blocks, left_out


def _finished(blocks: list[_Block], block: _Block, path: Path) -> _Block:
    if block.names:
        blocks.append(block)
    elif block.parents or block.properties:
        raise InputError("an entry has no line like 'en: name'", path, block.line)
    return _Block(0)


def _read_line(block: _Block, line: str, path: Path, number: int) -> None:
    parent, names, prop = _PARENT.fullmatch(line), _NAMES.fullmatch(line), _PROPERTY.fullmatch(line)
    if parent:
        block.parents.append((f"{parent[1]}:{_slug(parent[2])}", number))
    elif prop:
        block.properties.append((f"{prop[1]}:{prop[2]}", prop[3].strip()))
    elif names:
        texts = [text.strip().replace("\\,", ",") for text in _COMMA.split(names[2]) if text.strip()]
        if texts:
            block.names.setdefault(names[1], []).extend(texts)
    else:
        message = f"'{line[:40]}' is neither a parent (< en:name), a name (en: name) nor a property (key:en: value)"
        raise InputError(message, path, number)


def _slug(name: str) -> str:
    """A name in small letters without accents, with hyphens for all that is neither letter nor digit."""
    bare = unicodedata.normalize("NFKD", name.replace("\\,", ",").casefold())
    letters = "".join(character for character in bare if not unicodedata.combining(character))
    return re.sub(r"[\W_]+", "-", letters).strip("-")
