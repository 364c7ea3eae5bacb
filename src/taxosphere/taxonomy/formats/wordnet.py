"""WordNet's database files as Princeton distributes them: `data.noun`, `data.verb`, `data.adj`, `data.adv` (read only).

A synset is a concept: its first word is the name, the others are synonyms, the gloss is the description. Pointers to
hypernyms (`@`, and `@i` from an instance to its class) are the edges. One file gives one part of speech, the folder all
that lie in it; adjectives and adverbs have no hypernyms.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import suffixes
from taxosphere.taxonomy.formats.io.compression import WRITABLE
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix, numbered_lines, reading

HYPERNYMS = ("@", "@i")
_LICENCE = "  "  # the lines of the licence begin with two spaces
_OFFSET = re.compile(r"[0-9]{8}")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand
_EXAMPLES = re.compile(r'(?:^|;)\s*(?=")')


class _Synset(NamedTuple):
    offset: str
    words: tuple[str, ...]
    pointers: list[tuple[str, str, str]]  # symbol, offset, part of speech
    gloss: str


def recognise(path: Path, head: bytes) -> bool:
    return not path.is_dir() or bool(_files(path))


def read(path: Path, options: ReadOptions) -> Draft:
    with reading(path):
        files = _files(path) if path.is_dir() else [path]
    draft = Draft(path=path if len(files) > 1 else files[0], format="wordnet")
    places: dict[str, tuple[Path, int]] = {}
    edges: list[tuple[str, str, Path, int]] = []
    others: Counter[str] = Counter()
    for file in files:
        letter = suffixes.WORDNET[bare_suffix(file)]
        for line, text in numbered_lines(file):
            if text.strip() and not text.startswith(_LICENCE):
                synset = _parse(text, file, line)
                id = letter + synset.offset
                if id in places:
                    raise InputError(f"the synset {synset.offset} is there twice", path=file, line=line)
                places[id] = file, line
                _add(draft, id, synset, line if len(files) == 1 else 0)
                for symbol, offset, part in synset.pointers:
                    others[symbol] += symbol not in HYPERNYMS
                    if symbol in HYPERNYMS:
                        edges.append((_id(part, offset), id, file, line))
    _connect(draft, edges, places, one_file=len(files) == 1)
    if left := sum(others.values()):
        draft.left_out(f"{counted(left, 'pointer')} that lead to no hypernym (antonyms, parts, derivations …) left out")
    return draft


def _files(folder: Path) -> list[Path]:
    names = [f"data{suffix}{end}" for suffix in suffixes.WORDNET for end in ("", *WRITABLE)]
    return [folder / name for name in names if (folder / name).is_file()]


def _id(part: str, offset: str) -> str:
    return ("a" if part == "s" else part) + offset  # satellites lie among the adjectives


def _parse(text: str, path: Path, line: int) -> _Synset:
    """`offset file type count (word id)… count (symbol offset type source)… [frames] | gloss`, counted as it says."""
    body, bar, gloss = text.partition("|")
    cells = body.split()
    if not bar or len(cells) < 6 or not _OFFSET.fullmatch(cells[0]):
        raise InputError("is no synset: an offset of eight digits, words, pointers and '|' are expected", path, line)
    try:
        first = 4 + 2 * int(cells[3], 16)
        count = int(cells[first])
    except (ValueError, IndexError):
        raise InputError("the number of words or pointers is not where it should be", path, line) from None
    pointers = cells[first + 1 : first + 1 + 4 * count]
    if first == 4 or count < 0 or len(pointers) != 4 * count:
        raise InputError("the line has fewer words or pointers than it says", path, line)
    words = dict.fromkeys(_MARKER.sub("", word).replace("_", " ") for word in cells[4:first:2])
    triples = list(zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True))
    return _Synset(cells[0], tuple(words), triples, gloss.strip())


def _add(draft: Draft, id: str, synset: _Synset, line: int) -> None:
    definition, *examples = _EXAMPLES.split(synset.gloss, maxsplit=1)
    extras = [("examples", text) for text in examples]
    name, *synonyms = synset.words
    draft.concept(id, name, definition.strip(), synonyms, extras=extras, line=line)


def _connect(
    draft: Draft, edges: list[tuple[str, str, Path, int]], places: dict[str, tuple[Path, int]], *, one_file: bool
) -> None:
    letters = {id[0] for id in places}
    elsewhere = 0
    for parent, child, file, line in dict.fromkeys(edges):
        if parent[:1] not in letters:
            elsewhere += 1
        elif parent not in places or parent == child:
            fault = "is its own hypernym" if parent == child else f"its hypernym {parent[1:]} is not in the file"
            raise InputError(f"the synset {child[1:]}: {fault}", path=file, line=line)
        else:
            draft.edge(parent, child, line if one_file else 0)
    if elsewhere:
        draft.left_out(f"{counted(elsewhere, 'hypernym')} in files that were not read left out")
