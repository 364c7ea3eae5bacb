"""SSSOM: a table of mappings from new concepts to the concepts they belong to, with who decided and how sure."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from taxosphere import atomic
from taxosphere.decisions.events import AUTOMATIC, Event, Snapshot
from taxosphere.decisions.exports.changes import is_class_hierarchy
from taxosphere.decisions.fold import Fold
from taxosphere.taxonomy.formats.io import rdf_terms

COLUMNS = (
    *("subject_id", "subject_label", "predicate_id", "predicate_modifier", "object_id", "object_label"),
    *("mapping_justification", "confidence", "author_label", "mapping_date", "mapping_tool", "comment"),
)
_LICENSE = "https://w3id.org/sssom/license/unspecified"
_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9]*):([0-9]+)")
_NO_TERM = "sssom:NoTermFound"
_LOCAL = "taxosphere"


class _Prefixes:
    """Ids as CURIEs, and what their prefixes stand for."""

    def __init__(self) -> None:
        self.used: dict[str, str] = {
            "semapv": "https://w3id.org/semapv/vocab/",
            "skos": rdf_terms.SKOS,
            "rdfs": rdf_terms.RDFS,
            "sssom": "https://w3id.org/sssom/",
        }
        self._spaces: dict[str, str] = {}

    def curie(self, id: str) -> str:
        """The id as a CURIE whose prefix stands in the head of the file."""
        obo = _OBO_ID.fullmatch(id)
        if obo:
            self.used[obo[1]] = f"{rdf_terms.OBO}{obo[1]}_"
            return id
        cut = max(id.rfind("/"), id.rfind("#")) + 1
        if "://" in id and 0 < cut < len(id) and quote(id[cut:], safe="") == id[cut:]:
            prefix = self._spaces.setdefault(id[:cut], f"ns{len(self._spaces) + 1}")
            self.used[prefix] = id[:cut]
            return f"{prefix}:{id[cut:]}"
        self.used[_LOCAL] = rdf_terms.ID_PREFIX
        return f"{_LOCAL}:{quote(id, safe='')}"


def write(folding: Fold, path: Path) -> list[str]:
    """Write what was decided about each new concept as SSSOM."""
    prefixes = _Prefixes()
    rows = [
        row for item, (state, event) in folding.items().items() for row in _rows(folding, item, state, event, prefixes)
    ]
    name = hashlib.sha256("\n".join(event.id for event in folding.surviving).encode()).hexdigest()[:16]
    with atomic.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        handle.write("#curie_map:\n")
        handle.writelines(f"#  {prefix}: {space}\n" for prefix, space in sorted(prefixes.used.items()))
        handle.write(f"#license: {_LICENSE}\n#mapping_set_id: urn:taxosphere:decisions:{name}\n")
        writer = csv.DictWriter(handle, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return []


def _rows(folding: Fold, item: str, state: Snapshot, event: Event, prefixes: _Prefixes) -> Iterator[dict[str, str]]:
    parent = "rdfs:subClassOf" if is_class_hierarchy(folding.base) else "skos:broadMatch"
    concept = folding.text(item)
    automatic = event.by == AUTOMATIC
    common = {
        "subject_id": prefixes.curie(item),
        "subject_label": _line("" if concept is None else concept.name),
        "mapping_justification": f"semapv:{'CompositeMatching' if automatic else 'ManualMappingCuration'}",
        "confidence": "" if event.probability is None else f"{event.probability:.4f}",
        "author_label": _line(event.by),
        "mapping_date": event.at[:10],
        "mapping_tool": "taxosphere",
        "comment": _line(event.note),
    }
    unsure = {"confidence": ""}  # the event knows the probability of the first parent, and of nothing else
    if state.state == "same":
        yield from (common | _object(folding, id, "skos:exactMatch", prefixes) | unsure for id in state.parents)
    elif state.state == "rejected":
        for id in event.suggested[:1]:
            yield common | _object(folding, id, parent, prefixes) | {"predicate_modifier": "Not"} | unsure
    elif state.state == "accepted" and state.parents:
        for place, id in enumerate(state.parents):
            yield common | _object(folding, id, parent, prefixes) | (unsure if place else {})
    elif state.state == "accepted" and not folding.alias(item):
        yield common | {"predicate_id": parent, "object_id": _NO_TERM} | unsure


def _object(folding: Fold, id: str, predicate: str, prefixes: _Prefixes) -> dict[str, str]:
    return {"predicate_id": predicate, "object_id": prefixes.curie(id), "object_label": _line(folding.name(id))}


def _line(text: str) -> str:
    return " ".join(text.split())
