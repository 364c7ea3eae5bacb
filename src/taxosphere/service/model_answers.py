"""Everything that the service asks a model, as functions of the model and a JSON document that return one.

The model may be in another process (`model_process`), so questions and answers are what JSON can hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from taxosphere.decisions.events import concept_from
from taxosphere.errors import InputError
from taxosphere.service import model_access

if TYPE_CHECKING:  # torch is loaded where a model is, not before
    from taxosphere.polaris import Polaris


def suggest(model: Polaris, tasks: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Documents of suggestions for several requests, from one batch: for each its ``concepts``, the best ``k``."""
    asked = [[concept_from(record) for record in task["concepts"]] for task in tasks]
    concepts = [replace(concept, id="") for part in asked for concept in part]
    if not all(concept.name.strip() for concept in concepts):
        raise InputError("a new concept needs a name")
    ranked = iter(model.suggest_many(concepts, k=max(task["k"] for task in tasks)) if concepts else ())
    answers = []
    for task, part in zip(tasks, asked, strict=True):
        documents = []
        for concept in part:
            document = model_access.document(model, next(ranked))
            document["query"]["id"] = concept.id
            document["suggestions"] = document["suggestions"][: task["k"]]
            documents.append(document)
        answers.append(documents)
    return answers


def records(model: Polaris, concepts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the queue keeps of each of some new concepts."""
    return [record for _, record in model_access.records(model, map(concept_from, concepts))]


def overview(model: Polaris, _: None) -> dict[str, Any]:
    """What the model was trained on, and its figures on hidden leaves."""
    return {
        "trained_on": model_access.trained_on(model),
        "figures": model_access.figures(model),
        "calibration": model_access.calibration(model),
    }


def sphere(model: Polaris, question: dict[str, Any]) -> dict[str, Any]:
    """A ``concept`` among its ``candidates``, as directions on orbital shells."""
    return model_access.sphere(model, concept_from(question["concept"]), question["candidates"])


SUGGEST = "suggest"
ANSWERS: dict[str, Callable[[Polaris, Any], Any]] = {
    SUGGEST: suggest,
    "records": records,
    "overview": overview,
    "sphere": sphere,
}
