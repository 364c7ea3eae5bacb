"""SNOMED CT in release format 2 (read only): concepts, descriptions and is-a relationships of a folder or archive.

The snapshot is read where there are several kinds of files. The fully specified name is the name, other active
descriptions are synonyms, text definitions are descriptions. Inactive components stay out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.archives import Parts, parts_of
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions

FULLY_SPECIFIED, SYNONYM, IS_A = "900000000000003001", "900000000000013009", "116680003"
KINDS = ("Snapshot", "Full", "")
USUAL_LANGUAGE = "en"
_FILE = r"x?sct2_{}_?{}.*\.txt"


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a folder or archive holds files of concepts and relationships in release format 2."""
    parts = parts_of(path)
    return parts is not None and all(_files(parts, name) for name in ("Concept", "Relationship"))


def _files(parts: Parts, name: str) -> list[str]:
    """Files of one kind of component, snapshots where there are any."""
    for kind in KINDS:
        files = parts.find(_FILE.format(name, kind))
        if files:
            return files
    return []


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the active concepts of a release and their is-a edges.

    Parameters
    ----------
    path : Path
        The folder or archive.
    options : ReadOptions
        `language` chooses the descriptions; English, else all, where it is not stated. `encoding` is used.
    """
    parts = Parts(path, options.encoding)
    for name in ("Concept", "Description", "Relationship"):
        if not _files(parts, name):
            raise InputError(f"has no file of {name.lower()}s (sct2_{name}_Snapshot….txt)", path)
    concepts = {row["id"]: line for line, row in _active(parts, "Concept")}
    names, synonyms = _descriptions(parts, options.language)
    definitions = {row["conceptId"]: row["term"] for _, row in _active(parts, "TextDefinition")}
    draft = Draft(path=parts.where(_files(parts, "Concept")[0]), format="snomed rf2")
    draft.edge_path = parts.where(_files(parts, "Relationship")[0])
    nameless = 0
    for id, line in concepts.items():
        terms = dict.fromkeys(synonyms.get(id, ()))
        name = names.get(id) or next(iter(terms), "")
        nameless += not name
        terms.pop(name, None)
        draft.concept(id, name or id, definitions.get(id, ""), terms, line=line)
    others: Counter[str] = Counter()
    for line, row in _active(parts, "Relationship"):
        if row["typeId"] != IS_A:
            others[row["typeId"]] += 1
        elif row["sourceId"] in concepts and row["destinationId"] in concepts:
            draft.edge(row["destinationId"], row["sourceId"], line)
    if others:
        kinds = counted(len(others), "other kind")
        draft.left_out(f"{counted(others.total(), 'relationship')} of {kinds} than is-a left out")
    if nameless:
        draft.left_out(f"{counted(nameless, 'concept')} without a description, called by id")
    return draft


def _descriptions(parts: Parts, language: str | None) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Fully specified names and synonyms by concept, in one language where there are several."""
    by_language: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {}
    for _, row in _active(parts, "Description"):
        names, synonyms = by_language.setdefault(row["languageCode"], ({}, {}))
        if row["typeId"] == FULLY_SPECIFIED:
            names[row["conceptId"]] = row["term"]
        else:
            synonyms.setdefault(row["conceptId"], []).append(row["term"])
    if language is not None and language not in by_language:
        raise InputError(f"no descriptions in '{language}'; there are {', '.join(by_language)}", parts.path)
    chosen = language or (USUAL_LANGUAGE if USUAL_LANGUAGE in by_language else next(iter(by_language), ""))
    return by_language.get(chosen, ({}, {}))


def _active(parts: Parts, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The active components of one kind, each in its latest state."""
    files = _files(parts, name)
    full = bool(files) and "snapshot" not in files[0].lower()
    latest: dict[str, tuple[str, int, dict[str, str]]] = {}
    for file in files:
        for line, row in _rows(parts, file):
            if full:
                before = latest.get(row["id"])
                if before is None or before[0] <= row["effectiveTime"]:
                    latest[row["id"]] = row["effectiveTime"], line, row
            elif row["active"] == "1":
                yield line, row
    yield from ((line, row) for _, line, row in latest.values() if row["active"] == "1")


def _rows(parts: Parts, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    header: list[str] = []
    for number, line in parts.lines(file):
        cells = line.split("\t")
        if not header:
            header = cells
            missing = {"id", "effectiveTime", "active"} - set(header)
            if missing:
                raise InputError(f"the header lacks {', '.join(sorted(missing))}", parts.where(file), number)
        elif len(cells) == len(header):
            yield number, dict(zip(header, cells, strict=True))
        elif line:
            message = f"{len(cells)} cells where the header has {len(header)}"
            raise InputError(message, parts.where(file), number)
