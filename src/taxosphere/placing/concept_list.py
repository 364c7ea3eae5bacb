"""New concepts from Python values, and ids for those that have none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError, kind_of
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats import obo
from taxosphere.taxonomy.formats.io.draft import LONGEST_TEXT
from taxosphere.taxonomy.ids import IdMinter, parse_pattern, style_of

New = str | tuple[str, str | None] | Concept


def with_ids(
    numbered: Iterable[tuple[int, Concept]],
    taxonomy: Taxonomy,
    source: Path | None = None,
    *,
    pattern: str = "",
    reserved: Collection[str] = (),
) -> list[Concept]:
    """Give ids to concepts that have none, and refuse ids that are taken.

    Parameters
    ----------
    numbered
        Concepts with their lines.
    taxonomy
        Where they are going to; its ids are taken.
    source
        The file they come from, for messages.
    pattern
        Of new ids, see `parse_pattern`; without, the style of the taxonomy goes on.
    reserved
        Ids that no new concept may get besides.

    Raises
    ------
    InputError
        With the line, where an id is taken.
    """
    concepts = list(numbered)
    stated, kept = {concept.id for _, concept in concepts}, obo.kept_ids(taxonomy)
    new = set[str]()

    def there(id: str) -> bool:
        return id in taxonomy or id in new or id in kept

    def taken(id: str) -> bool:
        return there(id) or id in stated or id in reserved

    used = (*taxonomy.ids, *kept, *reserved) if pattern else ()
    minter = IdMinter(parse_pattern(pattern) if pattern else style_of(taxonomy), taken, used)
    numbered_ids = []
    for number, concept in concepts:
        check_texts(concept, source, number or None)
        id = concept.id or minter.mint(concept.name or "image")
        if there(id):
            raise InputError(f"the id '{id}' is taken; choose another or leave it empty", source, number or None)
        new.add(id)
        numbered_ids.append(replace(concept, id=id))
    return numbered_ids


def as_concepts(concepts: Iterable[New], taxonomy: Taxonomy) -> list[Concept]:
    """Python values as concepts, each with an id of its own.

    Parameters
    ----------
    concepts
        Names, (name, description) pairs or `Concept` objects.
    taxonomy
        The taxonomy they are new to.

    Raises
    ------
    TypeError
        A value is none of these.
    InputError
        As for `with_ids`.
    """
    if isinstance(concepts, str | Concept):
        raise TypeError("a list of new concepts is expected, not one alone")
    if not isinstance(concepts, Iterable):
        raise TypeError(f"a list of new concepts is expected, not {kind_of(concepts)}")
    return with_ids([(0, _as_concept(value)) for value in concepts], taxonomy)


def one_concept(concept: New, description: str = "", images: Sequence[str | PathLike[str]] = ()) -> New:
    """One new concept from a name with its description and images, or what has these already.

    Parameters
    ----------
    concept
        A name, a (name, description) pair or a `Concept`.
    description, images
        Of a name alone.

    Raises
    ------
    TypeError
        A pair or a `Concept` has a description or images beside it.
    InputError
        There is neither a name nor an image.
    """
    if not isinstance(description, str | None):
        raise TypeError(f"a description is a text, not {kind_of(description)}")
    if description or images:
        if not isinstance(concept, str):
            raise TypeError("a pair or a Concept brings its own description and images")
        files = [images] if isinstance(images, str | PathLike) else images
        concept = Concept("", concept.strip(), description or "", images=tuple(map(str, files)))
    empty = not (concept.name.strip() or concept.images) if isinstance(concept, Concept) else concept in ("", ("", ""))
    if empty or (isinstance(concept, str) and not concept.strip()):
        raise InputError("a new concept needs a name (or images, where the model was fitted with some)")
    return concept


def _as_concept(value: New) -> Concept:
    if isinstance(value, Concept):
        return value
    name, description = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    if not isinstance(name, str) or not isinstance(description, str | None):
        raise TypeError(f"a new concept is a name, a (name, description) pair or a Concept, not {value!r}")
    return Concept("", name.strip(), description or "")


def check_texts(concept: Concept, source: Path | None, number: int | None) -> None:
    """Raise `InputError` where a text of ``concept`` cannot be written; it stands in ``source``, line ``number``."""
    extras = chain.from_iterable(concept.extras)
    for text in (concept.id, concept.name, concept.description, *concept.synonyms, *concept.images, *extras):
        if "\0" in text:
            raise InputError(f"a NUL character in {text!a}, which no format can hold", source, number)
        if len(text) > LONGEST_TEXT:
            raise InputError(f"a text of {len(text):,} characters; at most {LONGEST_TEXT:,} are read", source, number)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"half a character in {text!a}, which is no UTF-8 text", source, number) from None
