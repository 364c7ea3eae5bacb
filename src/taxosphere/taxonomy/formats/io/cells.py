"""What several tables share: column names, and lists of texts in one cell.

A list is joined with `|`. Where an item holds a `|` itself, the column is named `synonyms[]` and its items carry
backslash escapes; in a column without the brackets a backslash is just a backslash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import escapes, titles
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
EXTRA = titles.EXTRA
# Every title that some reader of tables understands, in plain form.
TITLES = frozenset((*RESERVED, *ALIASES, *CHILD, *chain.from_iterable(ROLES.values()), "class_id", "preferred_label"))


def plain(title: str) -> str:
    """A title as it is compared with ours: in any case, with or without brackets."""
    return title.strip().lower().removesuffix(ESCAPED).replace(" ", "_")


def column_name(cell: str) -> str:
    """Our columns in any case and either number; foreign ones as they are."""
    name = cell.strip()
    plain_name = name.lower().removesuffix(ESCAPED)
    plain_name = ALIASES.get(plain_name, plain_name)
    return plain_name + ESCAPED * name.endswith(ESCAPED) if plain_name in RESERVED else name


def detail_names(header: Sequence[str], taken: Collection[int]) -> dict[int, str]:
    """What each titled column that is not `taken` holds: `description`, `synonyms`, `image`, or an extra of its title.

    Parameters
    ----------
    header : sequence of str
        Titles of all columns, empty where a column has none.
    taken : collection of int
        Columns that make the hierarchy.

    Returns
    -------
    dict of int to str
        One of each of ours at most, under the most usual title; brackets of a title stay. Titles that are repeated are
        numbered.
    """
    names = {i: title.strip() for i, title in enumerate(header) if title.strip() and i not in taken}
    ranked: dict[str, list[tuple[int, int]]] = {}
    for i, title in names.items():
        item = titles.meaning(title)
        if item is not None and item.role in OWN:
            ranked.setdefault(item.role, []).append((item.rank, i))
    for role, columns in ranked.items():
        i = min(columns)[1]
        names[i] = role + ESCAPED * names[i].endswith(ESCAPED)
    uses: dict[str, int] = {}
    for i, name in names.items():
        uses[name] = uses.get(name, 0) + 1
        if uses[name] > 1:
            names[i] = f"{name} ({uses[name]})"
    return names


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
    texts: dict[str, list[str]] = {name: [] for name in OWN}
    extras = []
    for i, column in columns.items():
        if i < len(row) and row[i]:
            name, values = read_column(column, row[i])
            if name in texts:
                texts[name] += values
            else:
                extras += [(extra_key(name), value) for value in values]
    description, synonyms, images = texts.values()
    return "".join(description), synonyms, images, extras


DetailLists = tuple[list[str], list[tuple[str, ...]], list[tuple[str, ...]], list[tuple[Pair, ...]]]


def kept_note(details: Mapping[int, str]) -> list[str]:
    """What to say about columns that are neither hierarchy nor description, synonyms or image: nothing where none is.

    Parameters
    ----------
    details : mapping of int to str
        What the columns hold, as `detail_names` says.
    """
    others = [f"'{name[:40]}'" for name in details.values() if name.removesuffix(ESCAPED) not in OWN]
    more = f" and {len(others) - 8} more" if len(others) > 8 else ""
    what, kept = ("columns", "they are") if len(others) > 1 else ("column", "it is")
    return [f"{what} {', '.join(others[:8])}{more} kept as {kept}, not understood"] if others else []


def detail_lists(details: Mapping[int, str], columns: Sequence[Sequence[str]]) -> DetailLists:
    """Descriptions, synonyms, images and extras of all rows, from the cells by column; empty where no row has any.

    Parameters
    ----------
    details : mapping of int to str
        What the columns hold, as `detail_names` says.
    columns : sequence of sequences of str
        The cells of every column.
    """
    descriptions: list[str] = []
    lists: dict[str, list[tuple[str, ...]]] = {"synonyms": [], "image": []}
    extras: list[tuple[Pair, ...]] = []
    for i, column in details.items():
        name = column.removesuffix(ESCAPED)
        if name == "description":
            descriptions = ["".join(read_column(column, text)[1]) if text else "" for text in columns[i]]
        elif name in lists:
            lists[name] = [tuple(read_column(column, text)[1]) if text else () for text in columns[i]]
        else:
            key = extra_key(name)
            extras = extras or [()] * len(columns[i])
            for row, text in enumerate(columns[i]):
                if text:
                    extras[row] += tuple((key, value) for value in read_column(column, text)[1])
    return descriptions, lists["synonyms"], lists["image"], extras


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
        present = [key for key, _ in extras]
        for key, value in extras:
            keys[key] = keys.get(key, key.endswith(ESCAPED)) or not value or present.count(key) > 1
    return columns + [_extra_column(key) + ESCAPED * several for key, several in keys.items()]


def write_columns(concept: Concept, columns: Iterable[str]) -> list[str]:
    extras: dict[str, list[str]] = {}
    for key, value in concept.extras:
        extras.setdefault(_extra_column(key), []).append(value)
    details: dict[str, Sequence[str]] = {
        "description": [concept.description],
        "synonyms": concept.synonyms,
        "image": concept.images,
    }
    texts = []
    for column in columns:
        name = column.removesuffix(ESCAPED)
        values = details[name] if name in details else extras.get(name, ())
        texts.append(escapes.join_list(values, escaped=column != name))
    return texts


def place_details(
    header: list[str], taken: Collection[int], details: Iterable[str], meant: Collection[str]
) -> list[int]:
    """The column of each detail: the one that bears its title and is not ``taken``, or a new one whose title plays none
    of the roles that are ``meant`` for the hierarchy; new titles are added to ``header``."""
    place = {_key(name): i for i, name in detail_names(header, taken).items()}
    columns = []
    for column in details:
        i = place.get(_key(column), len(header))
        if i == len(header):
            header.append(EXTRA + column if _is_mistakable(column, meant) else column)
        else:
            header[i] = header[i].removesuffix(ESCAPED) + ESCAPED * column.endswith(ESCAPED)
        columns.append(i)
    return columns


def _is_mistakable(column: str, meant: Collection[str]) -> bool:
    """Whether a title would be read as something else than this detail."""
    item = titles.meaning(column)
    name = column.removesuffix(ESCAPED)
    return item is not None and (item.role in meant or (item.role in OWN and name not in OWN))


def _key(column: str) -> str:
    """By what a column is recognised: a title of ours may be an extra where another column plays that part."""
    name = column.removesuffix(ESCAPED)
    return name if extra_key(name) in OWN else extra_key(name)


def _ambiguous(lists: Iterable[tuple[str, ...]]) -> bool:
    return any("|" in item or not item for item in chain.from_iterable(lists))


def _extra_column(key: str) -> str:
    odd = not key or key != key.strip() or key.endswith(ESCAPED) or key.startswith(EXTRA)
    return EXTRA + key if odd or column_name(key) in RESERVED or column_name(key) != key else key
