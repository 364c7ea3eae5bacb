"""taxosphere suggest: where would a new concept go?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from taxosphere.cli import output
from taxosphere.cli.options import DEVICE
from taxosphere.cli.progress import steps
from taxosphere.errors import InputError

if TYPE_CHECKING:
    from taxosphere.placing.suggestions import Suggestions
    from taxosphere.polaris import Polaris

_EXPLAINED = 3  # suggestions that are shown with their reasons


def suggest(
    model: Path = typer.Argument(..., metavar="MODEL", help="A folder written by 'taxosphere fit'."),
    name: str = typer.Argument("", metavar="[NAME]", help="The new concept."),
    image: list[str] = typer.Option([], "--image", metavar="FILE", help="A image of it, beside or without a name."),
    description: str = typer.Option("", "--description", "-d", help="What it is, in a sentence."),
    file: Path | None = typer.Option(None, "--file", metavar="NEW.tsv", help="A list of new concepts instead."),
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without images that cannot be used."),
    device: str | None = DEVICE,
    k: int = typer.Option(10, "-k", min=1, help="How many parents to suggest."),
    json: bool = typer.Option(False, "--json", help="Print JSON: one document, or with --file a list of them."),
) -> None:
    """Rank parents for new concepts, with probability, path and reasons.

    Example: taxosphere suggest ontology-model "protein folding" -d "how a chain takes its shape"
    Example: taxosphere suggest bird-model --image front.jpg --image side.jpg
    """
    from taxosphere.cli.images import usable
    from taxosphere.placing.concept_list import read_concepts, with_ids
    from taxosphere.polaris import Polaris
    from taxosphere.taxonomy import Concept

    if bool(name.strip() or image) == (file is not None):
        raise InputError("name one new concept or show it with --image, or give a list with --file")
    if file is not None and description:
        raise InputError("--description is for one new concept; a list has a column for it", file)
    fitted = Polaris.load(model, device=device)
    if image and fitted.image_model is None:
        raise InputError("this model was fitted on a taxonomy without images, so it cannot look at any", model)
    if file is not None:
        concepts = read_concepts(file, fitted.taxonomy, output.warn)
    else:
        asked = Concept("", name.strip(), description.strip(), images=tuple(image))
        concepts = with_ids([(0, asked)], fitted.taxonomy)
    concepts = usable(fitted, concepts, skip=skip_broken)
    if not json:
        for suggestions in fitted.suggest_many(concepts, k=k):  # shown as they come
            show(fitted, suggestions)
        return
    documents = []
    with steps() as report:
        for suggestions in fitted.suggest_many(concepts, k=k):
            documents.append(with_sentences(fitted, suggestions))
            if file is not None:
                report(len(documents), len(concepts), "suggesting")
    output.document(documents if file is not None else documents[0])


def show(model: Polaris, suggestions: Suggestions) -> None:
    """Parents of one query, each on a line with its path; the first ones with their reasons."""
    from taxosphere.images.model import title as called
    from taxosphere.placing.reasons import explain

    name = called(suggestions.query)
    for _, existing, how in suggestions.already:
        output.say(f"note: '{name}' may be there already as '{existing}' ({how})")
    print(f"{name}  (none of these: {suggestions.none_probability:.0%})")
    explained = explain(model.fitted, suggestions, most=_EXPLAINED)
    for number, suggestion in enumerate(suggestions):
        path = " › ".join(suggestion.path[:-1])
        print(f"  {suggestion.probability:4.0%}  {suggestion.name}" + (f"   ({path})" if path else ""))
        for reason in explained[number] if number < len(explained) else ():
            print(f"        {'+' if reason.supports else '−'} {reason.text}")
    print()


def with_sentences(model: Polaris, suggestions: Suggestions) -> dict[str, Any]:
    """The document of `--json`: the suggestions, the first of them with their reasons as sentences."""
    from taxosphere.placing.reasons import explain

    document = suggestions.as_dict()
    for entry, reasons in zip(document["suggestions"], explain(model.fitted, suggestions, most=_EXPLAINED)):
        entry["sentences"] = [{"text": reason.text, "for": reason.supports} for reason in reasons]
    return document
