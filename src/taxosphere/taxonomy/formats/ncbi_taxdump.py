"""NCBI's taxonomy dump, or another in its form (read only): `nodes.dmp` and `names.dmp` in a folder or an archive.

The scientific name is the name, other names are synonyms, the rank is an extra. Ids that were merged into a taxon are
its extras `alt_id`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import suffixes
from taxosphere.taxonomy.formats.io.archives import Parts, parts_of
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions

NODES, NAMES, MERGED = "nodes.dmp", "names.dmp", "merged.dmp"
SUFFIXES = (".dmp", ".zip", *suffixes.TARS)
SCIENTIFIC = "scientific name"
SYNONYMS = frozenset(
    {"synonym", "equivalent name", "common name", "genbank common name", "genbank synonym", "blast name", "acronym"}
    | {"genbank acronym", "misnomer", "anamorph", "teleomorph"}
)


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a folder or archive holds `nodes.dmp` and `names.dmp`, or a file is one of them."""
    if path.name.lower() in (NODES, NAMES):
        return True
    parts = parts_of(path)
    return parts is not None and bool(parts.find(NODES) and parts.find(NAMES))


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the taxa of a dump.

    Parameters
    ----------
    path : Path
        The folder, the archive, or one of the two files in the folder.
    options : ReadOptions
        `encoding` is used.
    """
    folder = path.parent if path.is_file() and path.suffix.lower() == ".dmp" else path
    parts = Parts(folder, options.encoding)
    files = {}
    for name in (NODES, NAMES):
        places = parts.find(name)
        if not places:
            raise InputError(
                f"has no {name}; a taxonomy dump holds {NODES} and {NAMES}: put both into a folder and give the folder",
                path,
            )
        files[name] = places[0]
    draft = Draft(path=parts.where(files[NODES]), format="ncbi taxdump")
    names, synonyms, extras = _read_names(parts, files[NAMES])
    for place in parts.find(MERGED)[:1]:
        for _, (old, new, *_rest) in _rows(parts, place, 2):
            extras.setdefault(new, []).append(("alt_id", old))
    nameless = 0
    for line, (id, parent, rank, *_rest) in _rows(parts, files[NODES], 3):
        nameless += id not in names
        more = extras.get(id, ())
        draft.concept(id, names.get(id, id), "", synonyms.get(id, ()), (), [("rank", rank), *more], line)
        if parent != id:  # the root is its own parent
            draft.edge(parent, id, line)
    if nameless:
        draft.left_out(f"{counted(nameless, 'taxon')} without a scientific name, called by id")
    draft.left_out("genetic codes, divisions and other columns of nodes.dmp left out")
    return draft


def _read_names(
    parts: Parts, file: str
) -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[tuple[str, str]]]]:
    """Scientific names, synonyms, and names of other kinds, by id."""
    names: dict[str, str] = {}
    synonyms: dict[str, list[str]] = {}
    extras: dict[str, list[tuple[str, str]]] = {}
    kinds: Counter[str] = Counter()
    for _, (id, name, _unique, kind, *_rest) in _rows(parts, file, 4):
        kinds[kind] += 1
        if kind == SCIENTIFIC:
            names[id] = name
        elif kind in SYNONYMS:
            synonyms.setdefault(id, []).append(name)
        else:
            extras.setdefault(id, []).append((kind, name))
    if not kinds[SCIENTIFIC]:
        raise InputError(f"no name is a '{SCIENTIFIC}'; is this a taxonomy dump?", parts.where(file))
    return names, synonyms, extras


def _rows(parts: Parts, file: str, fewest: int) -> Iterator[tuple[int, list[str]]]:
    """Cells between bars; the usual dump has a tab on both sides of each."""
    for number, line in parts.lines(file):
        if not line.strip():
            continue
        cells = [
            cell.strip() for cell in line.removesuffix("\t|").removesuffix("|").split("\t|\t" if "\t|" in line else "|")
        ]
        if len(cells) < fewest or not cells[0]:
            shown = f"{len(cells)} cell{'s' * (len(cells) != 1)} between bars"
            raise InputError(f"{shown} where {fewest} are expected", parts.where(file), number)
        yield number, cells
