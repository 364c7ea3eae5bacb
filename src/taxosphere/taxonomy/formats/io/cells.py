"""What several tables share: column names, and lists of texts in one cell.

A list is joined with `|`. Where an item holds a `|` itself, the column is named `synonyms[]` and its items carry
backslash escapes; in a column without the brackets a backslash is just a backslash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import escapes
from taxosphere.taxonomy.graph import Taxonomy

Pair = tuple[str, str]

RESERVED = ("id", "name", "parent", "child", "parent_id", "child_id", "description", "synonyms", "image")
PARENT = ("parent", "parent_name", "hypernym", "broader", "superclass", "parent_id")
CHILD = ("child", "child_name", "hyponym", "narrower", "subclass", "child_id")
# The columns of a concept table that make the hierarchy, the better title first.
ROLES = {
    "id": ("id", "code"),
    "name": ("name", "label", "title"),
    "parent": ("parent_id", "parent_ids", "parents", *PARENT),
}
OWN = ("description", "synonyms", "image")
ALIASES = {"synonym": "synonyms", "images": "image", "definition": "description"}
ESCAPED = "[]"
EXTRA = "extra:"  # marks an extra whose own name would be mistaken for something else
# Every title that some reader of tables understands, in plain form.
TITLES = frozenset((*RESERVED, *ALIASES, *CHILD, *chain.from_iterable(ROLES.values()), "class_id", "preferred_label"))


def plain(title: str) -> str:
    """A title as it is compared with ours: in any case, with or without brackets."""
    return title.strip().lower().removesuffix(ESCAPED).replace(" ", "_")


def column_name(cell: str) -> str:
    """Our columns in any case and either number; foreign ones as they are."""
    name = cell.strip()
    own = name.lower().removesuffix(ESCAPED)
    own = ALIASES.get(own, own)
    return own + ESCAPED * name.endswith(ESCAPED) if own in RESERVED else name


def read_column(column: str, text: str) -> tuple[str, list[str]]:
    """What a column is called without brackets, and the values of one of its non-empty cells."""
    name = column.removesuffix(ESCAPED)
    if column != name:
        values = list(escapes.split_list(text, escaped=True))
    elif name in ("synonyms", "image"):
        values = list(escapes.split_list(text, escaped=False))
    else:
        values = [text]
    return name, values


def read_details(columns: Mapping[int, str], row: Sequence[str]) -> tuple[str, list[str], list[str], list[Pair]]:
    """Description, synonyms, images and extras in the cells of a row."""
    own: dict[str, list[str]] = {name: [] for name in OWN}
    extras = []
    for i, column in columns.items():
        if row[i]:
            name, values = read_column(column, row[i])
            if name in own:
                own[name] += values
            else:
                extras += [(extra_key(name), value) for value in values]
    description, synonyms, images = own.values()
    return "".join(description), synonyms, images, extras


def extra_key(name: str) -> str:
    """The extra that a column holds which is none of ours."""
    return name.removeprefix(EXTRA)


def detail_columns(taxonomy: Taxonomy) -> list[str]:
    """Columns for everything beyond id and name that any concept has."""
    columns = ["description"] if any(taxonomy.descriptions) else []
    for name, lists in (("synonyms", taxonomy.synonyms), ("image", taxonomy.images)):
        if any(lists):
            columns.append(name + ESCAPED * _ambiguous(lists))
    keys: dict[str, bool] = {}
    for extras in taxonomy.extras:
        own = [key for key, _ in extras]
        for key, value in extras:
            keys[key] = keys.get(key, key.endswith(ESCAPED)) or not value or own.count(key) > 1
    return columns + [_extra_column(key) + ESCAPED * several for key, several in keys.items()]


def write_columns(concept: Concept, columns: Iterable[str]) -> list[str]:
    extras: dict[str, list[str]] = {}
    for key, value in concept.extras:
        extras.setdefault(_extra_column(key), []).append(value)
    known: dict[str, Sequence[str]] = {
        "description": [concept.description],
        "synonyms": concept.synonyms,
        "image": concept.images,
    }
    texts = []
    for column in columns:
        name = column.removesuffix(ESCAPED)
        values = known[name] if name in known else extras.get(name, ())
        texts.append(escapes.join_list(values, escaped=column != name))
    return texts


def place_details(
    titles: list[str], taken: Collection[int], details: Iterable[str], meant: Collection[str]
) -> list[int]:
    """The column of each detail: the one that bears its title and is not ``taken``, or a new one that is none of those
    ``meant`` for the hierarchy."""
    place = {_key(column_name(title)): i for i, title in enumerate(titles) if i not in taken}
    found = []
    for column in details:
        i = place.get(_key(column), len(titles))
        if i == len(titles):
            titles.append(EXTRA + column if plain(column) in meant else column)
        else:
            titles[i] = titles[i].removesuffix(ESCAPED) + ESCAPED * column.endswith(ESCAPED)
        found.append(i)
    return found


def _key(column: str) -> str:
    """By what a column is recognised: a title of ours may be an extra where another column plays that part."""
    name = column.removesuffix(ESCAPED)
    return name if extra_key(name) in OWN else extra_key(name)


def _ambiguous(lists: Iterable[tuple[str, ...]]) -> bool:
    return any("|" in item or not item for item in chain.from_iterable(lists))


def _extra_column(key: str) -> str:
    odd = not key or key != key.strip() or key.endswith(ESCAPED) or key.startswith(EXTRA)
    return EXTRA + key if odd or column_name(key) in RESERVED or column_name(key) != key else key
