"""What the service asks of a fitted model beyond the facade: suggestion documents, insertions, figures, the sphere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taxosphere.taxonomy import Concept

if TYPE_CHECKING:  # torch is loaded where a model is, not before
    from taxosphere.placing.suggestions import Suggestions
    from taxosphere.polaris import Polaris

_PREVIEWED = 3  # parents whose children are looked at
_NEIGHBOURS = 150
_SAMPLE = 150
_DIGITS = 7
"""Of directions, shells and cosines: as precise as the vectors, half as long as floats are written out."""
_BINS = 10


def document(model: Polaris, suggestions: Suggestions) -> dict[str, Any]:
    """Suggestions as the API shows them: `Suggestions.as_dict` with definitions and reasons in sentences."""
    from taxosphere.placing.reasons import explain

    record = suggestions.as_dict()
    descriptions = model.taxonomy.descriptions
    explained = explain(model.fitted, suggestions, most=len(suggestions))
    for entry, suggestion, reasons in zip(record["suggestions"], suggestions, explained, strict=True):
        entry["definition"] = descriptions[suggestion.position] if suggestion.id in model.taxonomy else ""
        entry["sentences"] = [
            {"text": reason.text, "for": reason.supports, "code": reason.code, "values": reason.values}
            for reason in reasons
        ]
    return record


def stored(model: Polaris, suggestions: Suggestions, insertions: list[dict[str, Any]]) -> dict[str, Any]:
    """What the queue keeps of an item: the document, and insertions."""
    return {**document(model, suggestions), "insertions": insertions}


def insertions(model: Polaris, suggestions: Suggestions) -> list[dict[str, Any]]:
    """For the best parents of a query, the children that would rather hang below the new concept."""
    from taxosphere.placing.place_list import propose_children

    taxonomy, insertion = model.taxonomy, model.fitted.insertion
    if insertion is None:
        return []
    best = replace(suggestions, ranked=suggestions.ranked[:_PREVIEWED])
    previews: dict[str, list[dict[str, Any]]] = {}
    for proposal in propose_children(model.fitted, best):
        if proposal.probability >= insertion.cut:
            name = taxonomy.names[taxonomy.position(proposal.child)]
            child = {"id": proposal.child, "name": name, "probability": proposal.probability}
            previews.setdefault(proposal.parent, []).append(child)
    return [
        {"parent": {"id": parent.id, "name": parent.name}, "children": previews[parent.id]}
        for parent in best
        if parent.id in previews
    ]


def records(model: Polaris, concepts: Iterable[Concept]) -> list[tuple[Concept, dict[str, Any]]]:
    """Concepts with what the queue keeps of each."""
    suggested = list(model.suggest_many(concepts, k=10))
    return [(s.query, stored(model, s, insertions(model, s))) for s in suggested]


# -- figures ----------------------------------------------------------------------------------------------------------


def figures(model: Polaris) -> dict[str, float | None]:
    """hit@1, hit@10 (percent) and the calibration error on leaves that were hidden while the ranker was trained."""
    from taxosphere.evaluation.reliability import reliability

    hidden = model.out_of_fold
    if not len(hidden.n_gold):
        return {"hit@1": None, "hit@10": None, "ece": None, "hidden": 0.0}
    labels = hidden.labels
    error = reliability(hidden.probabilities[:, 0], labels[:, 0], bins=_BINS).error
    return {
        "hit@1": 100 * float(labels[:, 0].mean()),
        "hit@10": 100 * float(labels.any(1).mean()),
        "ece": error,
        "hidden": float(len(labels)),
    }


def calibration(model: Polaris) -> list[dict[str, Any]]:
    """Bins of equal width: how sure the model was of its first parent, how often that was right, how many there are."""
    from taxosphere.evaluation.reliability import reliability

    hidden = model.out_of_fold
    bins = reliability(hidden.probabilities[:, 0], hidden.labels[:, 0], bins=_BINS) if len(hidden.n_gold) else None
    if bins is None:
        return []
    return [
        {
            "from": number / _BINS,
            "to": (number + 1) / _BINS,
            "mean": float(bins.confidence[number]),
            "right": float(bins.accuracy[number]),
            "count": int(bins.counts[number]),
        }
        for number in range(_BINS)
        if bins.counts[number]
    ]


def trained_on(model: Polaris) -> dict[str, Any]:
    """Size and hash of the taxonomy that the model refers to."""
    from taxosphere import artifact

    taxonomy = model.taxonomy
    return {
        "concepts": len(taxonomy),
        "edges": len(taxonomy.edge_array),
        "seed_hash": artifact.seed_hash(taxonomy),
    }


# -- the sphere -------------------------------------------------------------------------------------------------------


def sphere(model: Polaris, query: Concept, candidates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A query among its candidates, its neighbours and the taxonomy, as directions in three dimensions.

    The directions of the sphere are projected on the three main axes of the neighbourhood and scaled to length 1; the
    shell is the orbital radius, that of the query as if it hung below its best candidate.
    """
    from taxosphere.encoders.text.registry import encode_text_vectors
    from taxosphere.orbit.radius import raw_radii, span
    from taxosphere.ranking.queries import embed

    fitted, taxonomy = model.fitted, model.taxonomy
    embedded = model.embeddings()
    directions, shells = embedded.directions, embedded.radii
    z = embed(fitted.network, encode_text_vectors(fitted.encoder, [query]).full).z[0]
    cosines = directions @ z
    listed = {taxonomy.position(c["id"]): c for c in candidates if c["id"] in taxonomy}
    near = np.argsort(-cosines, kind="stable")[:_NEIGHBOURS].tolist()
    spread = np.unique(np.linspace(0, len(taxonomy) - 1, min(_SAMPLE, len(taxonomy))).astype(int)).tolist()
    shown = list(dict.fromkeys([*listed, *near, *spread]))
    neighbours = set(near)
    flat = _project(np.vstack([z[None], directions[shown]])).round(_DIGITS)
    entries = []
    for row, position in zip(flat[1:].tolist(), shown, strict=True):
        kind = "candidate" if position in listed else "neighbour" if position in neighbours else "taxonomy"
        gate = bool(listed[position]["gate"]) if position in listed else False
        point = dict(zip("xyz", row, strict=True))
        text = {"id": taxonomy.ids[position], "name": taxonomy.names[position], "kind": kind}
        entries.append(
            {
                **text,
                **point,
                "shell": round(float(shells[position]), _DIGITS),
                "cosine": round(float(cosines[position]), _DIGITS),
                "gate": gate,
            }
        )
    best = next(iter(listed), near[0])
    below = 2.0 + float(taxonomy.levels[best])  # R one level deeper, with nothing below
    width = span(taxonomy)
    shell = 1.0 - (below - float(raw_radii(taxonomy).min())) / width if width > 0 else 1.0
    where = {**dict(zip("xyz", flat[0].tolist(), strict=True)), "shell": min(1.0, max(0.0, shell))}
    rings = sorted({round(float(shells[position]), 3) for position in shown})
    return {"query": where, "points": entries, "shells": rings}


def _project(vectors: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(n, d) unit vectors as (n, 3) unit vectors along their main axes."""
    rows = np.asarray(vectors, np.float64)
    _, _, axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
    flat = np.zeros((len(rows), 3))
    kept = min(3, len(axes))
    flat[:, :kept] = (rows - rows.mean(0)) @ axes[:kept].T
    lengths = np.linalg.norm(flat, axis=1, keepdims=True)
    unit: np.ndarray[Any, np.dtype[np.float64]] = np.tile([1.0, 0.0, 0.0], (len(rows), 1))
    np.divide(flat, lengths, out=unit, where=lengths > 1e-12)
    return unit
