"""What the REST API answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from taxosphere.service.requests import ItemState

Role = Literal["viewer", "curator", "admin"]
JobKind = Literal["import", "expand", "retrain", "refresh"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class ProblemDocument(BaseModel):
    """RFC 9457; some problems have further members."""

    type: str
    title: str
    status: int
    detail: str


class Status(BaseModel):
    status: Literal["ok"]


class Ready(BaseModel):
    status: Literal["ready", "loading", "failed"]
    model: str
    database: Literal["ok", "failed"]


class Me(BaseModel):
    name: str
    role: Role


class TaxonomySummary(BaseModel):
    name: str
    concepts: int
    edges: int
    roots: int
    depth: int
    format: str
    source: str
    base_hash: str
    version: int
    pending: int
    decided: int


class Named(BaseModel):
    id: str
    name: str


class ConceptRow(BaseModel):
    id: str
    name: str
    definition: str
    children: int
    path: list[str]
    state: Literal["base", "new", "pending"]


class ConceptPage(BaseModel):
    concepts: list[ConceptRow]
    next: str | None


class ConceptDetail(BaseModel):
    id: str
    name: str
    definition: str
    synonyms: list[str]
    parents: list[Named]
    children: list[Named]
    n_children: int
    paths: list[list[str]]
    siblings: list[Named]
    state: Literal["base", "new", "pending"]
    obsolete: bool


class Sentence(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    text: str
    speaks_for: bool = Field(alias="for")
    code: str = ""
    values: dict[str, str | int | list[str]] = {}


class SuggestionDocument(BaseModel):
    id: str
    name: str
    path: list[str]
    probability: float
    score: float
    cosine: float
    gate: bool
    siblings: list[str]
    reasons: dict[str, float]
    definition: str
    sentences: list[Sentence]


class Already(BaseModel):
    id: str
    name: str
    how: str
    probability: float = 1.0


class SuggestionsDocument(BaseModel):
    query: dict[str, Any]
    none_probability: float
    parents: list[str]
    already: list[Already]
    suggestions: list[SuggestionDocument]


class SuggestAnswer(BaseModel):
    results: list[SuggestionsDocument]


class Best(BaseModel):
    id: str
    name: str
    path: list[str]
    probability: float


class ItemRow(BaseModel):
    id: str
    name: str
    state: ItemState
    best: Best | None
    none_probability: float | None
    assignee: str | None
    version: int
    decided_by: str | None
    decided_at: str | None


class QueuePage(BaseModel):
    items: list[ItemRow]
    next: str | None
    counts: dict[str, int]


class QueueAdded(BaseModel):
    added: list[str]


class QueueConcept(BaseModel):
    name: str
    definition: str
    synonyms: list[str]
    own: dict[str, str]


class InsertedChild(Named):
    probability: float


class InsertionPreview(BaseModel):
    parent: Named
    children: list[InsertedChild]


class SnapshotDocument(BaseModel):
    state: str
    parents: list[Named]


class EventDocument(BaseModel):
    id: str
    seq: int
    kind: str
    item: str
    name: str
    parents: list[Named]
    children: list[Named]
    by: str
    at: str
    note: str
    probability: float | None
    model: str
    undone_by: str | None
    undoes: str | None
    before: SnapshotDocument | None
    after: SnapshotDocument | None


class ItemDetail(ItemRow):
    concept: QueueConcept
    suggestions: SuggestionsDocument
    insertions: list[InsertionPreview]
    history: list[EventDocument]


class Decided(BaseModel):
    event: EventDocument
    item: ItemRow
    next: str | None


class Undone(BaseModel):
    event: EventDocument
    item: ItemRow | None


class BulkPreview(BaseModel):
    accepts: int
    expected_right: float


class BulkDone(BaseModel):
    accepted: int
    events: list[str]


class DecisionPage(BaseModel):
    decisions: list[EventDocument]
    next: str | None


class Precision(BaseModel):
    accepted: int
    kept: int


class Progress(BaseModel):
    done: int
    total: int
    what: str


class JobDocument(BaseModel):
    id: str
    kind: JobKind
    state: JobState
    progress: Progress
    result: dict[str, Any] | None
    error: str | None
    by: str
    added_at: str


class JobPage(BaseModel):
    jobs: list[JobDocument]


class JobStarted(BaseModel):
    id: str


class ImportStarted(BaseModel):
    job: str


class TrainedOn(BaseModel):
    concepts: int
    edges: int
    seed_hash: str


class CalibrationBin(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    lower: float = Field(alias="from")
    upper: float = Field(alias="to")
    mean: float
    right: float
    count: int


class ModelVersion(BaseModel):
    id: str
    made: str
    figures: dict[str, Any]
    active: bool


class ModelDocument(BaseModel):
    name: str
    version: str
    trained_on: TrainedOn
    figures: dict[str, float | None]
    calibration: list[CalibrationBin]
    versions: list[ModelVersion]


class SpherePoint(BaseModel):
    id: str
    name: str
    x: float
    y: float
    z: float
    shell: float
    kind: Literal["candidate", "neighbour", "taxonomy"]
    cosine: float
    gate: bool


class SphereQuery(BaseModel):
    x: float
    y: float
    z: float
    shell: float


class SphereDocument(BaseModel):
    query: SphereQuery
    points: list[SpherePoint]
    shells: list[float]


class UploadAnswer(BaseModel):
    upload: str
    columns: list[str]
    rows: list[list[str]]
    mapping: dict[str, str]
    count: int
