"""KGCL, the Knowledge Graph Change Language: one command a line, as `runoak apply` takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from taxosphere import atomic
from taxosphere.decisions.exports.changes import local_iri, net
from taxosphere.decisions.fold import Fold

_CURIE = re.compile(r"[A-Za-z0-9_]+:(?!//)[^\s'\"<>]+")
_SUBCLASS = "rdfs:subClassOf"


def write(folding: Fold, path: Path) -> list[str]:
    """Write the net change as KGCL commands; a line tells where an apostrophe was changed, which the language lacks."""
    lines = list(commands(folding))
    atomic.write_text(path, "".join(f"{line}\n" for line in lines))
    changed = net(folding)
    texts = [text for concept, _ in changed.new for text in (concept.name, concept.description, *concept.synonyms)]
    if any("'" in text for text in (*texts, *(text for _, text in changed.synonyms))):
        return ["KGCL has no way to write an apostrophe in a text: ' was written as ’"]
    return []


def commands(folding: Fold) -> Iterator[str]:
    """The commands that turn the base into the present taxonomy, in an order in which they can be carried out."""
    changes = net(folding)
    for concept, _ in changes.new:
        yield f"create node {_id(concept.id)} {_text(concept.name)}"
        if concept.description:
            yield f"add definition {_text(concept.description)} to {_id(concept.id)}"
        for synonym in concept.synonyms:
            yield f"create related synonym {_text(synonym)} for {_id(concept.id)}"
    for id, synonym in changes.synonyms:
        yield f"create related synonym {_text(synonym)} for {_id(id)}"
    for parent, child in changes.removed:
        yield f"delete edge {_id(child)} {_SUBCLASS} {_id(parent)}"
    for concept, parents in changes.new:
        for parent in parents:
            yield f"create edge {_id(concept.id)} {_SUBCLASS} {_id(parent)}"
    for parent, child in changes.added:
        yield f"create edge {_id(child)} {_SUBCLASS} {_id(parent)}"


def _id(id: str) -> str:
    if _CURIE.fullmatch(id):
        return id
    return f"<{id}>" if "://" in id and not re.search(r"[\s<>]", id) else f"<{local_iri(id)}>"


def _text(text: str) -> str:
    return "'" + " ".join(text.split()).replace("'", "’") + "'"
