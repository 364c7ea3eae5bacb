"""The review table: what a person must decide, one new concept a row, to be filled in and applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from taxosphere.decisions import spreadsheets
from taxosphere.decisions.events import Event
from taxosphere.decisions.kinds import KINDS
from taxosphere.decisions.references import References
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.placing.expansion import Placement
    from taxosphere.placing.suggestions import Suggestions

CANDIDATES = 5  # parents that are shown
WORDS = tuple(word for word, kind in KINDS.items() if kind.in_table)
"""What the column `decision` may hold."""
DECISION, PARENT, NAME, DESCRIPTION, WHY = "decision", "parent", "name", "description", "why"
ALREADY, REASONS, NOTE, ID, SYNONYMS, IMAGE = "already_there_as", "reasons", "note", "id", "synonyms", "image"
EXTRA = "extra:"  # in front of a column of the user's that is called like one of ours


def candidate_columns(rank: int) -> tuple[str, str, str]:
    """The columns of the candidate with this rank: label, path, probability."""
    return f"parent_{rank}", f"parent_{rank}_path", f"parent_{rank}_probability"


COLUMNS = (
    *(DECISION, PARENT, NAME, DESCRIPTION, WHY),
    *(column for rank in range(1, CANDIDATES + 1) for column in candidate_columns(rank)),
    *(ALREADY, REASONS, NOTE, ID),
)
OPTIONAL = (SYNONYMS, IMAGE)


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One new concept in the table to be written: what is asked, and what was decided before."""

    concept: Concept
    suggestions: Suggestions | None = None
    why: str = ""
    decision: str = ""
    note: str = ""
    reasons: str = ""

    @classmethod
    def of(cls, placement: Placement, reasons: str = "") -> ReviewRow:
        """The row of a concept that was not attached, with what speaks for its best candidate."""
        from taxosphere.placing.expansion import named

        why = "; ".join(filter(None, (placement.why, placement.suggestions.list_effect)))
        return cls(named(placement.concept), placement.suggestions, why, reasons=reasons)

    @classmethod
    def decided(cls, concept: Concept, event: Event) -> ReviewRow:
        """The row of a concept that was decided about before: shown as such, and open to be changed."""
        who = f" by {event.by}" if event.by else ""
        why = f"{KINDS[event.kind].state}{who}{f' on {event.at[:10]}' if event.at else ''}"
        return cls(concept, None, why, event.kind, event.note)


def write(path: str | PathLike[str], rows: Sequence[ReviewRow], taxonomy: Taxonomy, *, between: str = ",") -> None:
    """Write a review table.

    Parameters
    ----------
    path
        ``.csv`` and ``.xlsx`` are written for Excel, ``.tsv`` plainly.
    rows
        What to decide.
    taxonomy
        The concepts that candidates are named after, new ones among them included.
    between
        What stands between the cells of a CSV file.
    """
    rows = list({row.concept.id: row for row in rows}.values())  # one that stands in the list twice is asked once
    references = References(taxonomy, ((row.concept.id, row.concept.name) for row in rows))
    optional = [name for name in OPTIONAL if any(_optional(row.concept, name) for row in rows)]
    extras = list(dict.fromkeys(key for row in rows for key, _ in row.concept.extras))
    header = [*COLUMNS, *optional, *map(extra_title, extras)]
    cells = (_cells(row, references, optional, extras) for row in rows)
    numbers = [candidate_columns(rank)[2] for rank in range(1, CANDIDATES + 1)]
    spreadsheets.write(path, header, cells, between=between, choices=WORDS, numbers=numbers)


def extra_title(key: str) -> str:
    """The title of a column of the user's; one that is called like ours is marked."""
    ours = {*COLUMNS, *OPTIONAL}
    return EXTRA + key if key.strip().lower() in ours or key.startswith(EXTRA) or not key.strip() else key


def _optional(concept: Concept, name: str) -> tuple[str, ...]:
    return concept.synonyms if name == SYNONYMS else concept.images


def _cells(row: ReviewRow, references: References, optional: Iterable[str], extras: Iterable[str]) -> list[str]:
    concept, suggestions = row.concept, row.suggestions
    cells = [row.decision, "", concept.name, concept.description, row.why]
    for rank in range(CANDIDATES):
        cells += _candidate(suggestions, rank, references)
    already = suggestions.already if suggestions is not None else ()
    cells += [references.label(already[0].id) if already else "", row.reasons, row.note, concept.id]
    cells += ["|".join(_optional(concept, name)) for name in optional]
    values: dict[str, list[str]] = {}
    for key, value in concept.extras:
        values.setdefault(key, []).append(value)
    return [*cells, *("|".join(values.get(key, ())) for key in extras)]


def _candidate(suggestions: Suggestions | None, rank: int, references: References) -> Iterator[str]:
    if suggestions is None or rank >= len(suggestions):
        return iter(("", "", ""))
    candidate = suggestions[rank]
    label, path = references.label(candidate.id), " > ".join(candidate.path)
    return iter((label, path, f"{candidate.probability:.4f}"))
