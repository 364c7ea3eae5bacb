"""Which key of a JSON or YAML object plays which role: its usual spellings, and what the values say.

Spellings are compared without case, blanks, hyphens and underscores, so `childIds` and `child_ids` are one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.graph import Taxonomy

# Each in the order of preference.
NAMES = (
    *("name", "label", "title", "text", "preflabel", "preferredlabel", "preferredname", "preferredterm", "prefterm"),
    *("displayname", "fullname", "term", "heading", "caption", "scientificname", "categoryname", "bezeichnung"),
    *("benennung", "titel", "nom", "libelle", "intitule", "nombre", "titulo", "nome", "naam", "namn"),
)
STRONG_IDS = (
    *("id", "uri", "iri", "code", "identifier", "uuid", "guid", "notation", "conceptid", "termid", "categoryid"),
    *("taxonid", "nodeid", "pk"),
)
IDS = (*STRONG_IDS, "uid", "key", "slug", "handle", "url", "no", "number")  # the others only where references name them
DESCRIPTIONS = (
    *("description", "definition", "scopenote", "desc", "gloss", "summary", "explanation", "beschreibung"),
    *("definitie", "descripcion", "descrizione"),
)
SYNONYMS = (
    *("synonyms", "synonym", "altnames", "altlabels", "altlabel", "alternativelabels", "alternativenames", "aliases"),
    *("alternatenames", "alias", "othernames", "usedfor", "nonpreferredterms", "synonyme", "synonymes", "sinonimos"),
)
PARENTS = (
    *("parents", "parent", "parentids", "parentid", "broader", "broaderterms", "broaderterm", "broaders", "bt"),
    *("parentcode", "parentcodes", "parenturi", "parenturis", "parentiri", "parentkey", "parentuid", "parentuuid"),
    *("parentname", "parentnames", "parentcategory", "parentcategoryid", "parentnode", "parentnodeid", "parentslug"),
    *("parentconcept", "parentterm", "subclassof", "superclasses", "superclass", "supertypes", "isa", "hypernyms"),
    *("hypernym", "oberbegriff", "oberbegriffe", "directparents", "superordinate", "parentstructureid", "pid"),
    *("inherits", "inheritsfrom", "extends"),
)
CHILDREN = (
    *("children", "childids", "childrenids", "childid", "childs", "child", "narrower", "narrowerterms", "narrowerterm"),
    *("narrowers", "nt", "subcategories", "subclasses", "subtypes", "subtopics", "subterms", "subitems", "subnodes"),
    *(
        "subconcepts",
        "subs",
        "childnodes",
        "childcategories",
        "hyponyms",
        "unterbegriffe",
        "directchildren",
        "kids",
        "childrendata",
    ),
)
LOOKS = ("icon", "image", "img", "picture", "color", "colour")  # texts that differ and name nothing
# Lists of objects under these keys are no concepts below the one that has them.
NOT_CHILDREN = frozenset(
    (*NAMES, *IDS, *DESCRIPTIONS, *SYNONYMS, *PARENTS, "images", "image", "ancestors", "attributes", "properties")
) | {
    *("related", "relatedterms", "seealso", "examples", "notes", "translations", "mappings", "matches", "references"),
    *("sources", "links", "changenotes", "scopenotes", "editorialnotes", "tags", "metadata", "xrefs", "path", "data"),
}
# Keys that say "has to do with", not "is below".
_SYMMETRIC = re.compile(r"related|seealso|match|similar|synonym|sameas|replace|usein|useinstead|usedfor|alias|opposite")
_RELATION = re.compile(
    r"parent|child|broader|narrower|super|^sub|hyper|hypo|^isa$|ancestor|descend|belongs|partof|under"
)
_NAME_LIKE = re.compile(r"name|label|title|term|text|bezeich|titel|nom")
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{2,8})*")
USUAL_LANGUAGE = "en"


def plain(key: str) -> str:
    """Return a key without case, blanks and punctuation."""
    return re.sub(r"[\W_]+", "", key).casefold()


@dataclass(frozen=True)
class Keys:
    """The keys that play each role in the objects of a file; empty where none does."""

    name: str = ""
    id: str = ""
    description: str = ""
    synonyms: str = ""
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()

    def renamed(self) -> dict[str, str]:
        """Return the roles under another key than ours, as role → key."""
        single = {"name": self.name, "id": self.id, "description": self.description, "synonyms": self.synonyms}
        lists = {"parents": self.parents, "children": self.children}
        used = single | {role: keys[0] for role, keys in lists.items() if keys}
        return {role: key for role, key in used.items() if key and key != role}


@dataclass
class KeyCounts:
    """How often each key stands in some objects, with its values.

    Parameters
    ----------
    entries : sequence of objects
        What the keys are counted in.
    """

    entries: Sequence[Mapping[str, Any]]
    values: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in self.entries:
            for key, value in entry.items():
                if value is not None and value != "":
                    self.values.setdefault(key, []).append(value)

    def usual(self, spellings: Collection[str], least: float = 0.0) -> list[str]:
        """Return the keys with one of these spellings that at least this share of the objects has, best first."""
        order = {spelling: rank for rank, spelling in enumerate(spellings)}
        needed = least * len(self.entries)
        present = [
            key
            for key, values in self.values.items()
            if plain(key) in order and len(values) >= needed and not key.endswith("[]")  # an extra of ours
        ]
        return sorted(present, key=lambda key: order[plain(key)])

    def is_unique(self, key: str) -> bool:
        """Return whether every object has a single value under this key and no two have the same."""
        values = self.values.get(key, [])
        texts = [value for value in values if isinstance(value, str | int | float)]
        return len(values) == len(texts) == len(self.entries) == len(set(map(str, texts)))


def name_key(counts: KeyCounts) -> str:
    """Return the key that holds the names, or an empty text where none or several could.

    A usual spelling that half of the objects have is taken; without one, the only key whose texts are there in almost
    all objects and almost all different, or the only one of several that sounds like a name.
    """
    usual = [key for key in counts.usual(NAMES) if any(map(is_name, counts.values[key]))]
    ours = [key for key in usual if key in jv.NAME]
    if ours:
        return ours[0]
    half = [key for key in usual if 2 * len(counts.values[key]) >= len(counts.entries)]
    if half:
        return half[0]
    candidates = []
    for key, values in counts.values.items():
        texts = [value for value in values if isinstance(value, str)]
        enough = len(texts) == len(values) >= 0.9 * len(counts.entries) and len(set(texts)) >= 0.9 * len(texts)
        if enough and plain(key) not in (*PARENTS, *DESCRIPTIONS, *IDS, *LOOKS):
            candidates.append(key)
    sounding = [key for key in candidates if _NAME_LIKE.search(plain(key))]
    best = sounding if len(candidates) > 1 else candidates
    return best[0] if len(best) == 1 else ""


def is_name(value: Any) -> bool:
    """Return whether a value can be a name: text, a number, a list of texts, or texts by language."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], str)
    return isinstance(value, str | int | float) or by_language(value)


def by_language(value: Any) -> bool:
    """Return whether a value is an object of texts with a key per language."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(_LANGUAGE.fullmatch(key) and isinstance(text, str) for key, text in value.items())
    )


def text_in(value: Any, language: str | None) -> Any:
    """Return the text of a name or description: that of a language where there are several, the first of a list.

    Parameters
    ----------
    value : any JSON value
        A text, a list of texts or an object with a key per language.
    language : str, optional
        The language asked for; English, else the first one, where it is not there.
    """
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0]
    if not by_language(value):
        return value
    for wanted in (language, USUAL_LANGUAGE):
        for key, text in value.items():
            if wanted and key.lower().replace("_", "-").split("-")[0] == wanted.lower().split("-")[0] and text:
                return text
    return next((text for text in value.values() if text), "")


def reference_keys(counts: KeyCounts, spellings: Iterable[str], names: Collection[str]) -> list[tuple[str, float]]:
    """Return the keys with these spellings and the share of their references that are among `names`."""
    shares = []
    for key in counts.usual(list(spellings)):
        texts = [text for value in counts.values[key] for text in references(value)]
        shares.append((key, sum(text in names for text in texts) / max(1, len(texts))))
    return shares


def references(value: Any) -> list[str]:
    """Return the concepts that a value names, as texts: ids or names, alone, in a list or as objects."""
    texts = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = next((item[key] for key in KeyCounts([item]).usual((*IDS, *NAMES))), None)
        if item is not None and item is not False and item != "" and not isinstance(item, list | dict):
            texts.append(item if isinstance(item, str) else jv.spelling(item))
    return texts


def sounds_like_relation(key: str) -> bool:
    """Return whether a key sounds like one for parents or children."""
    return _RELATION.search(plain(key)) is not None


def relation_keys(counts: KeyCounts, used: Collection[str], names: Collection[str]) -> list[str]:
    """Return the keys, other than the used ones, that seem to name other concepts of the file.

    Parameters
    ----------
    counts : KeyCounts
        Keys and values of all objects.
    used : collection of str
        Keys that already play a role.
    names : collection of str
        Ids and names of the concepts.
    """
    keys = []
    for key, values in counts.values.items():
        if key in used or key.endswith("[]") or _SYMMETRIC.search(plain(key)):
            continue
        texts = [text for value in values for text in references(value)]
        hits = sum(text in names for text in texts)
        numbers = all(not isinstance(value, str | list | dict) for value in values)
        named = 2 * hits >= len(texts) and hits > 1 and not numbers
        if (named and len(set(texts)) > 1) or (texts and sounds_like_relation(key)):
            keys.append(key)
    return keys


def ambiguous_keys(taxonomy: Taxonomy, nested: bool = False) -> frozenset[str]:
    """Return the keys of extras that a reader would take for a role; writers mark them with `[]`.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    nested : bool
        Whether nesting says what is below what, so that no key for parents or children is read.
    """
    records: list[dict[str, Any]] = [dict(extras) for extras in taxonomy.extras]
    counts = KeyCounts(records)
    spellings = set[str]() if nested and len(taxonomy.edge_array) else {*PARENTS, *CHILDREN}
    if not any(taxonomy.descriptions):
        spellings |= set(DESCRIPTIONS)
    if not any(taxonomy.synonyms):
        spellings |= set(SYNONYMS)
    keys = {key for key in counts.values if plain(key) in spellings}
    if not len(taxonomy.edge_array):
        keys |= set(relation_keys(counts, (), {*taxonomy.ids, *taxonomy.names}))
    return frozenset(keys)


def has_other_ids(taxonomy: Taxonomy) -> bool:
    """Return whether an extra would be taken for the id where none is written.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    """
    counts = KeyCounts([dict(extras) for extras in taxonomy.extras])
    return any(plain(key) in STRONG_IDS and counts.is_unique(key) for key in counts.values)
