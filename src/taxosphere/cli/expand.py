"""taxosphere expand: attach a whole list of new concepts."""

from __future__ import annotations

from pathlib import Path

import typer

from taxosphere.cli import output
from taxosphere.cli.progress import steps


def expand(
    model: Path = typer.Argument(..., metavar="MODEL", help="A folder written by 'taxosphere fit'."),
    new: Path = typer.Argument(..., metavar="NEW.tsv", help="New concepts: .tsv, .csv, .jsonl or .txt."),
    out: Path = typer.Option(
        ..., "-o", "--out", metavar="OUT", help="The expanded taxonomy; the suffix is its format."
    ),
    accept: float = typer.Option(0.8, min=0.0, max=1.0, metavar="P", help="Attach what is at least this sure."),
    insert: float | None = typer.Option(
        None, min=0.0, max=1.0, metavar="P", help="Also move existing children below a new concept when this sure."
    ),
    review: Path | None = typer.Option(None, metavar="REVIEW.tsv", help="Write what a person must decide here."),
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without pictures that cannot be used."),
    json: bool = typer.Option(False, "--json", help="Print every placement as one JSON document."),
) -> None:
    """Attach new concepts where the model is sure and list the rest for review.

    New concepts may be parents of one another, in any order. Where the list has a column 'image' and the model knows
    pictures, they are looked at too; a concept without a name is placed by them alone.

    The output has the format its suffix names and keeps everything the taxonomy carried.

    Example: taxosphere expand ontology-model new.tsv -o ontology.obo --accept 0.8 --review review.tsv
    """
    from taxosphere.cli.pictures import usable
    from taxosphere.placing.concept_list import read_concepts
    from taxosphere.placing.expansion import write_review
    from taxosphere.placing.sight import title
    from taxosphere.polaris import Polaris

    fitted = Polaris.load(model)
    concepts = usable(fitted, read_concepts(new, fitted.taxonomy), skip=skip_broken)
    with steps() as report:
        expansion = fitted.expand(concepts, accept=accept, insert=insert, progress=report)
    expansion.taxonomy.write(out)
    if review is not None:
        write_review(expansion, review)
    if json:
        output.document({"placements": [p.as_dict() for p in expansion.placements], "moved": expansion.moved})
    else:
        rows = [
            (title(p.concept), ", ".join(s.name for s in p.parents), p.state, p.surest) for p in expansion.placements
        ]
        output.table(("new concept", "attached to", "state", "probability"), rows)
    proposals = sum(len(p.takes) for p in expansion.attached) - len(expansion.moved)
    output.say(f"attached {len(expansion.attached):,} of {len(concepts):,}, {len(expansion.review):,} for review")
    if expansion.moved or proposals:
        output.say(f"moved {len(expansion.moved):,} existing concepts below new ones, {proposals:,} more were proposed")
    output.say(f"wrote {out}" + (f" and {review}" if review is not None else ""))
