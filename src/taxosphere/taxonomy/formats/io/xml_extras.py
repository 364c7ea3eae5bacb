"""Extras in XML formats: as attributes of their own where their keys allow it, the others together as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.xml_tree import UNWRITABLE
from taxosphere.taxonomy.graph import Taxonomy

EXTRAS = "extras"
_XML_NAME = re.compile(r"(?!xml)[A-Za-z_][A-Za-z0-9_.-]*", re.IGNORECASE | re.ASCII)


def split_extras(
    extras: Iterable[tuple[str, str]], reserved: Collection[str]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the extras that can be attributes, and the others: reserved, repeated or with a key that is no XML name.

    Parameters
    ----------
    extras : iterable of (str, str)
        Keys and values.
    reserved : collection of str
        Attributes with a meaning of their own.
    """
    pairs = list(extras)
    counts = Counter(key for key, _ in pairs)
    plain = {
        key: value for key, value in pairs if counts[key] == 1 and key not in reserved and _XML_NAME.fullmatch(key)
    }
    return plain, [(key, value) for key, value in pairs if key not in plain]


def pairs_in(text: str) -> list[tuple[str, str]]:
    """Return the extras that `split_extras` could not make attributes, from their JSON; what is no such JSON is one.

    Parameters
    ----------
    text : str
        The value of the attribute `EXTRAS`.
    """
    if not text:
        return []
    try:
        value = json.loads(text)
        pairs = [(key, item) for key, item in value]
        if all(isinstance(part, str) for pair in pairs for part in pair):
            return pairs
    except (ValueError, TypeError, RecursionError):
        pass
    return [(EXTRAS, text)]


def check_characters(taxonomy: Taxonomy, path: Path) -> None:
    """Refuse to write characters that XML has no spelling for.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    path : Path
        Where to.

    Raises
    ------
    InputError
        It names the concept and the character.
    """
    for position, concept in enumerate(taxonomy.concepts()):
        texts = (concept.id, concept.name, concept.description, *concept.synonyms, *concept.images)
        for text in chain(texts, chain.from_iterable(concept.extras)):
            match = UNWRITABLE.search(text)
            if match:
                message = f"'{taxonomy.ids[position][:60]}' holds the character U+{ord(match[0]):04X}, which XML cannot"
                raise InputError(f"{message}; remove it or write another format", path)
