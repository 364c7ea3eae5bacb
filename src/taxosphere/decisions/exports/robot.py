"""A template for ROBOT: titles, what each column means, then a row per concept."""

from __future__ import annotations

import csv
from pathlib import Path

from taxosphere import atomic
from taxosphere.decisions.exports.changes import net
from taxosphere.decisions.fold import Fold

TITLES = ("ID", "Label", "Definition", "Synonyms", "Parents")
TEMPLATE = ("ID", "LABEL", "A IAO:0000115", "A oboInOwl:hasRelatedSynonym SPLIT=|", "SC % SPLIT=|")


def write(folding: Fold, path: Path) -> list[str]:
    """Write new concepts, new synonyms and new parents as a template; ROBOT can add, not take away."""
    changes = net(folding)
    rows = [
        (concept.id, concept.name, concept.description, _list(concept.synonyms), _list(parents))
        for concept, parents in changes.new
    ]
    synonyms: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    for id, text in changes.synonyms:
        synonyms.setdefault(id, []).append(text)
    for parent, child in changes.added:
        parents.setdefault(child, []).append(parent)
    rows += [
        (id, "", "", _list(synonyms.get(id, ())), _list(parents.get(id, ())))
        for id in dict.fromkeys((*synonyms, *parents))
    ]
    between = "," if path.suffix.lower() == ".csv" else "\t"
    with atomic.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, delimiter=between, lineterminator="\n").writerows((TITLES, TEMPLATE, *rows))
    if changes.removed:
        return [f"a ROBOT template cannot remove the {len(changes.removed):,} edges that insertions replace"]
    return []


def _list(texts: tuple[str, ...] | list[str]) -> str:
    return "|".join(text.replace("|", "/") for text in texts)
