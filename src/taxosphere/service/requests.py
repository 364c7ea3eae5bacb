"""What clients send to the REST API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from taxosphere.service import limits

ItemState = Literal["open", "accepted", "moved", "top", "same", "rejected", "later"]
DecisionKind = Literal["accept", "move", "top", "same", "reject", "later", "insert", "comment", "edit"]


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character")
    return text


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("nothing but blanks")
    return _storable(text)


Text = Annotated[str, Field(max_length=limits.TEXT), AfterValidator(_storable)]
Name = Annotated[str, Field(min_length=1, max_length=limits.NAME), AfterValidator(_visible)]
Id = Annotated[str, Field(min_length=1, max_length=limits.NAME), AfterValidator(_storable)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Version = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Request(BaseModel):
    """What a client sends; members that are not described are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewConcept(Request):
    name: Name
    definition: Text = ""
    synonyms: list[Name] = Field(default=[], max_length=limits.SYNONYMS)
    id: Annotated[str, Field(max_length=limits.NAME), AfterValidator(_storable)] = ""


class SuggestRequest(Request):
    concepts: list[NewConcept] = Field(min_length=1, max_length=limits.BATCH)
    k: int = Field(default=10, ge=1, le=50)


class QueueRequest(Request):
    concepts: list[NewConcept] = Field(min_length=1, max_length=limits.BATCH)


class Changes(Request):
    name: Name | None = None
    definition: Text | None = None
    synonyms: list[Name] | None = Field(default=None, max_length=limits.SYNONYMS)


class DecisionRequest(Request):
    item: Id
    kind: DecisionKind
    parents: list[Id] = Field(default=[], max_length=limits.PARENTS)
    children: list[Id] = Field(default=[], max_length=limits.CHILDREN)
    changes: Changes | None = None
    version: Version
    note: Annotated[str, Field(max_length=limits.NOTE), AfterValidator(_storable)] = ""


class UndoRequest(Request):
    note: Annotated[str, Field(max_length=limits.NOTE), AfterValidator(_storable)] = ""


class BulkRequest(Request):
    threshold: Probability


class AssignRequest(Request):
    to: Name | None
    version: Version


class JobRequest(Request):
    kind: Literal["expand", "retrain", "refresh"]
    accept: Probability | None = None


class ActivateRequest(Request):
    id: Id


class UploadRequest(Request):
    name: Annotated[str, Field(min_length=1, max_length=limits.NAME)]
    content_base64: Annotated[str, Field(max_length=limits.UPLOAD_BYTES)]


class ImportRequest(Request):
    mapping: dict[Literal["name", "description", "synonyms", "id"], Name]


class SessionRequest(Request):
    token: Annotated[str, Field(min_length=1, max_length=limits.NAME)]


class Nothing(Request):
    """An empty object."""
