"""Placing a batch of new concepts in whatever process the batch comes to."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxosphere.errors import InputError, require
from taxosphere.taxonomy import Concept

if TYPE_CHECKING:
    import pyarrow as pa

    from taxosphere.placing.inference import Fitted
    from taxosphere.placing.place_list import Group
    from taxosphere.placing.suggestions import Suggestions
    from taxosphere.polaris import Polaris

EXPLAINED = 3  # suggestions that come with their reasons in sentences
_LOG = logging.getLogger("taxosphere")
_LISTS = ("synonyms", "images")


class Placer:
    """Suggests parents for batches; an object to send to workers.

    It holds the path of a model and is pickled in a few bytes. The model is loaded at the first batch, once in each
    process.

    Parameters
    ----------
    model : str or path
        A folder written by `Polaris.save`, readable under this path wherever a batch is placed.
    k : int
        How many parents to suggest for each concept.
    sentences : bool
        Give the reasons of the first suggestions as sentences too.
    skip_broken : bool
        Go on without images that cannot be used; each is named in the log.
    threads : int, optional
        Threads of torch in the process that places; None leaves them as they are.
    device : str, optional
        Where texts and images are encoded, as torch names it; None: the processor.

    Examples
    --------
    >>> placer = Placer("edam-model", k=3)  # doctest: +SKIP
    >>> answers = placer(pyarrow.RecordBatch.from_pydict({"name": ["protein folding"]}))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str | PathLike[str],
        *,
        k: int = 10,
        sentences: bool = True,
        skip_broken: bool = False,
        threads: int | None = None,
        device: str | None = None,
    ) -> None:
        if k < 1:
            raise ValueError(f"k is {k}: at least one parent is suggested")
        self.model_path = str(Path(model).absolute())
        self.k = k
        self.sentences = sentences
        self.skip_broken = skip_broken
        self.threads = threads
        self.device = device

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with four more columns: none_probability, parents, already and suggestions.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            New concepts: a column ``name``, and where there are such ``description``, ``id`` (texts), ``synonyms`` and
            ``images`` (lists of texts). Other columns are passed on.

        Returns
        -------
        pyarrow.RecordBatch
            The rows in their order. ``suggestions`` is a list of structs with the members of a `Suggestion`.

        Raises
        ------
        InputError
            The batch has no column ``name``, or one of ours.
        """
        arrow = require("pyarrow", "parquet")
        if "name" not in batch.schema.names:
            raise InputError(f"the batch has no column 'name'; it has {', '.join(batch.schema.names)}")
        schema = answer_schema()
        taken = next((name for name in schema.names if name in batch.schema.names), None)
        if taken is not None:
            raise InputError(f"the batch has a column '{taken}', which the answer needs; rename it")
        columns = {name: batch.column(name).to_pylist() for name in concept_columns(batch.schema.names)}
        rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        answers = self.documents([_concept(row) for row in rows])
        answered = arrow.RecordBatch.from_pylist([arrow_row(answer) for answer in answers], schema=schema)
        fields = [*batch.schema, *schema]
        return arrow.RecordBatch.from_arrays([*batch.columns, *answered.columns], schema=arrow.schema(fields))

    def documents(self, concepts: Sequence[Concept]) -> list[dict[str, Any]]:
        """Suggestions for each concept as JSON values, without the concept itself; equal concepts are ranked once.

        Parameters
        ----------
        concepts : sequence of Concept
            With or without ids.
        """
        if not concepts:
            return []
        model = self.model
        distinct = list(dict.fromkeys(map(_without_id, concepts)))
        kept: Sequence[Concept] = distinct
        if model.image_model is not None and self.skip_broken:
            kept, faults = model.image_model.without_broken(distinct)
            for fault in faults:
                _LOG.warning("passed over %s", fault)
        from taxosphere.placing import inference

        ranked = inference.suggest_many(model.fitted, kept, k=self.k)
        answers = {
            concept: document(model.fitted, one, sentences=self.sentences)
            for concept, one in zip(distinct, ranked, strict=True)
        }
        return [answers[_without_id(concept)] for concept in concepts]

    def among(self, group: Group) -> list[dict[str, Any]]:
        """Suggestions for the concepts of a ``group`` of new ones with the others among the candidates."""
        from taxosphere.placing import place_list

        model = self.model
        return [document(model.fitted, one, sentences=False) for one in place_list.rank_group(model.fitted, group)]

    @property
    def model(self) -> Polaris:
        """The model, loaded at the first use in a process and kept for all placers of it."""
        manifest = Path(self.model_path) / "manifest.json"
        stamp = manifest.stat().st_mtime_ns if manifest.exists() else 0
        return _load(self.model_path, stamp, self.threads, self.device)


@lru_cache(maxsize=1)
def _load(path: str, stamp: int, threads: int | None, device: str | None) -> Polaris:  # noqa: ARG001 - a changed model has another stamp
    import torch

    from taxosphere.polaris import Polaris

    if threads is not None:
        torch.set_num_threads(threads)
    return Polaris.load(path, device=device)


def document(fitted: Fitted, suggestions: Suggestions, *, sentences: bool) -> dict[str, Any]:
    """Suggestions as JSON values without their query.

    Parameters
    ----------
    fitted : Fitted
        The model that made them.
    suggestions : Suggestions
    sentences : bool
        Add the reasons of the first ones as sentences.
    """
    values = suggestions.as_dict()
    del values["query"]
    if sentences:
        from taxosphere.placing.reasons import explain

        for entry, reasons in zip(values["suggestions"], explain(fitted, suggestions, most=EXPLAINED)):
            entry["sentences"] = [{"text": reason.text, "for": reason.supports} for reason in reasons]
    return values


def _without_id(concept: Concept) -> Concept:
    """What decides the suggestions of a concept, and nothing else."""
    return Concept("", concept.name, concept.description, concept.synonyms, concept.images)


def concept_columns(names: Sequence[str]) -> list[str]:
    """Those of the columns that describe a concept."""
    return [name for name in names if name in ("id", "name", "description", *_LISTS)]


def _concept(row: dict[str, Any]) -> Concept:
    texts = {key: str(value or "").strip() for key, value in row.items() if key not in _LISTS}
    lists = {key: tuple(map(str, value or ())) for key, value in row.items() if key in _LISTS}
    return Concept(
        texts.get("id", ""),
        texts["name"],
        texts.get("description", ""),
        lists.get("synonyms", ()),
        lists.get("images", ()),
    )


def arrow_row(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of `Placer.documents` as a row of `answer_schema`."""
    suggestions = [{**one, "reasons": list(one["reasons"].items())} for one in answer["suggestions"]]
    return {**{key: answer[key] for key in ("none_probability", "parents", "already")}, "suggestions": suggestions}


def answer_schema() -> Any:
    """The Arrow columns of an answer."""
    pa = require("pyarrow", "parquet")
    text, number = pa.string(), pa.float64()
    sentence = pa.struct([("text", text), ("for", pa.bool_())])
    suggestion = pa.struct(
        [
            ("id", text),
            ("name", text),
            ("path", pa.list_(text)),
            *((name, number) for name in ("probability", "score", "cosine")),
            ("gate", pa.bool_()),
            ("siblings", pa.list_(text)),
            ("reasons", pa.map_(text, number)),
            ("sentences", pa.list_(sentence)),
        ]
    )
    already = pa.struct([("id", text), ("name", text), ("how", text), ("probability", number)])
    return pa.schema(
        [
            ("none_probability", number),
            ("parents", pa.list_(text)),
            ("already", pa.list_(already)),
            ("suggestions", pa.list_(suggestion)),
        ]
    )
