"""The shapes in which JSON and YAML files hold a hierarchy, all turned into a list of objects.

- objects in a list, nested or naming each other: they stay as they are;
- objects below keys that are their ids: `{"en:tea": {"name": …, "parents": […]}}`;
- a graph of `nodes` and `links` or `edges`;
- names as keys: `{"animal": {"bird": ["duck", "goose"]}}`, or a list of such, as people write YAML;
- any of these as the only list in an object that says more about the file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import record_keys as rk
from taxosphere.taxonomy.formats.io.draft import counted
from taxosphere.taxonomy.formats.io.keyed_tree import KeyedTree, is_branch, is_like_its_children, is_named
from taxosphere.taxonomy.formats.io.orientation import direction

SOURCE = ("source", "from", "subject", "sub", "start", "src")
TARGET = ("target", "to", "object", "obj", "end", "dst")
_PATH = re.compile(r"\S\s*(?: > |>|::| / | \| | » | → )\s*\S")
FEWEST_RECORDS = 3  # objects that tell fields of records from names of concepts
LINKS = ("links", "edges", "relations", "relationships")
# Keys that stand around the concepts of a file and are none themselves.
CONTAINERS = frozenset(
    (
        *("data", "concepts", "categories", "items", "results", "nodes", "terms", "taxonomy", "records", "entries"),
        *("response", "body", "content", "list", "topics", "classes", "values", "rows", "verticals", "tree", "root"),
        *("roots", "sectors", "tags", "vocabulary", "thesaurus", "ontology", "hierarchy", "objects", "elements"),
    )
)
# What an edge may be called that runs from the narrower to the broader concept.
UPWARD = frozenset(
    {"isa", "subclassof", "subclass", "broader", "parent", "hasparent", "childof", "subtypeof", "kindof"}
)


@dataclass
class Shape:
    """What a file holds.

    Parameters
    ----------
    entries : list
        The objects, or names, in the order of the file.
    edges : list of (str, str, int), optional
        Pairs of source and target with their lines, where the file is a graph of nodes and links.
    top : dict
        What the file says beside them.
    wrapper : str
        The key under which the list stands, if any.
    style : str
        ``"list"``, ``"tree"``, ``"by id"``, ``"graph"``, ``"lists"`` (of names below a name) or ``"keys"``.
    upward : bool or None
        Whether all links are called something that runs from child to parent; None where they are not called.
    """

    entries: list[Any]
    style: str = "list"
    edges: list[tuple[str, str, int]] = field(default_factory=list)
    top: dict[str, Any] = field(default_factory=dict)
    wrapper: str = ""
    upward: bool | None = None


def shape_of(value: Any, path: Path, naming: tuple[str, ...]) -> Shape:
    """Return the objects that a JSON or YAML document holds.

    Parameters
    ----------
    value : any JSON value
        The document, its objects with their lines.
    path : Path
        The file, for the messages.
    naming : tuple of str
        Keys that name a concept, those of ``--map`` among them.

    Raises
    ------
    InputError
        Where the document has none of the shapes; it names the keys that were seen.
    """
    if isinstance(value, list):
        return _of_list(value, path, naming)
    if not isinstance(value, jv.Entry):
        return Shape([value], "tree")
    return (
        _graph(value, path)
        or _headed(value, path, naming)
        or _one_tree(value, naming)
        or _by_id(value, naming)
        or _wrapped(value, path, naming)
        or _keyed(value, path)
    )


def _of_list(values: list[Any], path: Path, naming: tuple[str, ...]) -> Shape:
    paths = [value for value in values if isinstance(value, str) and _PATH.search(value)]
    if len(values) > 1 and 2 * len(paths) > len(values):
        message = f"is a list of paths ('{paths[0][:40]}'); save it as text with one path per line (.txt)"
        raise InputError(message, path, 1)
    objects = [value for value in values if isinstance(value, jv.Entry)]
    if objects and not any(is_named(entry, naming) or _refers(entry) for entry in objects):
        outlined = [entry for entry in objects if len(entry) == 1 and is_branch(next(iter(entry.values())))]
        if len(outlined) == len(objects):  # - animal: [bird, fish]
            tree = KeyedTree(values, path)
            entries = [item for value in values for item in tree.entries(value, 0)]
            return Shape(entries, "keys")
    return Shape(values)


def _refers(entry: jv.Entry) -> bool:
    return any(rk.plain(key) in (*rk.PARENTS, *rk.CHILDREN) for key in entry)


def _headed(top: jv.Entry, path: Path, naming: tuple[str, ...]) -> Shape | None:
    """Objects by id that name each other, below a key of an object whose name is that of the whole."""
    if _is_schema(top):
        classes = [
            jv.Entry([("id", key), *(value or {}).items()], getattr(value, "line", top.line))
            for key, value in top["classes"].items()
        ]
        return Shape(classes, "by id", top=_without(top, "classes"), wrapper="classes")
    by_id = [key for key, value in top.items() if isinstance(value, jv.Entry) and _by_id(value, naming) is not None]
    if len(by_id) > 1:  # a schema of LinkML: its classes, not its slots and enums
        by_id = [key for key in by_id if rk.plain(key) == "classes"]
    if len(by_id) != 1 or _refers(top) or len(top[by_id[0]]) < 2 or not _related(top[by_id[0]]):
        return None
    return _wrapped(top, path, naming)


def _is_schema(top: jv.Entry) -> bool:
    """Whether an object is a schema of LinkML in which a class names another as the one above it; many name none."""
    classes = top.get("classes")
    if not isinstance(classes, jv.Entry) or not {"prefixes", "imports", "default_prefix", "slots"} & top.keys():
        return False
    values = [value for value in classes.values() if value is not None]
    return all(isinstance(value, jv.Entry) for value in values) and any(value.get("is_a") for value in values)


def _one_tree(top: jv.Entry, naming: tuple[str, ...]) -> Shape | None:
    """The object is a concept, the root of all others: it has a name, or a list whose objects have that list too."""
    if _keyed_part(top):
        return None
    if jv.text_of(top, *jv.NAME, "id") or any(jv.text_of(top, key) for key in naming if key in top):
        return Shape([top], "tree")
    titled = any(rk.plain(key) in rk.NAMES and isinstance(top[key], str) and top[key] for key in top)
    if isinstance(top.get("children"), list) and not titled and not is_like_its_children(top):
        return Shape(top["children"], "list", top=_without(top, "children"), wrapper="children")
    nested = (key for key, items in top.items() if isinstance(items, list) and any(_holds(item, key) for item in items))
    usual = [key for key in top if rk.plain(key) in rk.CHILDREN and isinstance(top[key], list)]
    if next(nested, None) is not None or (usual and titled) or is_like_its_children(top):
        return Shape([top], "tree")
    return None


def _keyed_part(top: jv.Entry) -> str:
    """The key of names as keys in an object that else says something about the file: `{"id": …, "tree": {…}}`."""
    if _refers(top) or any(isinstance(value, list) for value in top.values()):
        return ""
    parts = [key for key, value in top.items() if isinstance(value, jv.Entry)]
    if len(parts) != 1 or rk.plain(parts[0]) not in CONTAINERS or len(top) == 1:
        return ""
    inside = top[parts[0]].values()
    return parts[0] if len(inside) > 1 and all(map(is_branch, inside)) and any(inside) else ""


def _holds(item: Any, key: str) -> bool:
    return isinstance(item, dict) and isinstance(item.get(key), list)


def _without(top: jv.Entry, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in top.items() if key not in keys}


def _by_id(top: jv.Entry, naming: tuple[str, ...]) -> Shape | None:
    """Objects below their ids: most of them have a name or say which are their parents."""
    values = [value for value in top.values() if isinstance(value, jv.Entry)]
    described = sum(_is_described(value, naming) for value in values)
    if len(values) < len(top) or 2 * described < len(values) or not values:
        return None
    entries = []
    for key, value in top.items():
        first = [] if "id" in value else [("id", key)]
        entries.append(jv.Entry([*first, *((name, _ungrouped(item)) for name, item in value.items())], value.line))
    return Shape(entries, "by id")


def _ungrouped(value: Any) -> Any:
    """A list of groups of names as one list of names: children that several ways add up to the same."""
    grouped = isinstance(value, list) and value and all(isinstance(item, list) and _texts(item) for item in value)
    return list(dict.fromkeys(name for group in value for name in group)) if grouped else value


def _is_described(entry: jv.Entry, naming: tuple[str, ...]) -> bool:
    counts = rk.KeyCounts([entry])
    named = [key for key in (*counts.usual(rk.NAMES), *naming) if key in entry and rk.is_name(entry[key])]
    related = counts.usual((*rk.PARENTS, *rk.CHILDREN))
    return bool(named) or any(not isinstance(entry[key], dict) for key in related)


def _records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, jv.Entry) for item in value)


def _wrapped(top: jv.Entry, path: Path, naming: tuple[str, ...]) -> Shape | None:
    """The only list of objects in an object that says more about the file, also some levels deep."""
    if part := _keyed_part(top):
        inner = _by_id(top[part], naming) or _keyed(top[part], path)
        return Shape(inner.entries, inner.style, inner.edges, _without(top, part), part, inner.upward)
    lists: list[tuple[str, ...]] = [(key,) for key, value in top.items() if _is_collection(value, naming)]
    lists += [
        (outer, key)
        for outer, value in top.items()
        if isinstance(value, jv.Entry) and not _is_collection(value, naming)
        for key, item in value.items()
        if _is_collection(item, naming)
    ]
    if len(lists) > 1:
        lists = [keys for keys in lists if rk.plain(keys[-1]) in CONTAINERS or _is_root_list(keys)]
    if len(lists) != 1:
        return None
    holder, key = (top if len(lists[0]) == 1 else top[lists[0][0]]), lists[0][-1]
    rooted = holder is not top and rk.plain(key) in rk.CHILDREN
    if rooted and (is_named(holder, naming) or is_like_its_children(holder)):  # the root of a tree
        return Shape([holder], "tree", top=_without(top, lists[0][0]), wrapper=lists[0][0])
    others = [value for name, value in top.items() if name != lists[0][0]]
    telling = any(value is not None and not isinstance(value, list | dict) for value in others)
    if not (telling or all(rk.plain(name) in CONTAINERS for name in lists[0]) or _related(holder[key])):
        return None
    shape = shape_of(holder[key], path, naming)
    return Shape(shape.entries, shape.style, shape.edges, _without(top, lists[0][0]), lists[0][0], shape.upward)


def _is_root_list(keys: tuple[str, ...]) -> bool:
    """Whether keys lead to the children of what stands below a key around the concepts: `{"tree": {"children": …}}`."""
    return len(keys) > 1 and rk.plain(keys[0]) in CONTAINERS and rk.plain(keys[-1]) in rk.CHILDREN


def _is_collection(value: Any, naming: tuple[str, ...]) -> bool:
    return _records(value) or (
        isinstance(value, jv.Entry) and (_by_id(value, naming) is not None or _graph(value, Path()) is not None)
    )


def _related(value: Any) -> bool:
    entries = value if isinstance(value, list) else list(value.values())
    nested = any(_records(item) for entry in entries for item in entry.values())
    texts = all(any(isinstance(item, str) for item in entry.values()) for entry in entries)
    return (nested and texts) or bool(rk.KeyCounts(entries).usual((*rk.PARENTS, *rk.CHILDREN)))


def _graph(top: jv.Entry, path: Path) -> Shape | None:
    """`nodes` and `links` as D3, networkx, Cytoscape and the JSON Graph Format write them."""
    holder = top
    for key in ("graph", "elements"):
        if isinstance(holder.get(key), jv.Entry) and "nodes" in holder[key]:
            holder = holder[key]
    links = next((key for key in holder if key in LINKS and isinstance(holder[key], list)), None)
    nodes = holder.get("nodes")
    if links is None or not isinstance(nodes, list | jv.Entry):
        return None
    if isinstance(nodes, jv.Entry):
        nodes = [
            jv.Entry(
                [("id", key), *(value.items() if isinstance(value, dict) else ())], getattr(value, "line", top.line)
            )
            for key, value in nodes.items()
        ]
    entries = [_flattened(node) for node in nodes]
    pairs, upward = _links(holder[links], entries, path)
    return Shape(entries, "graph", pairs, upward=upward)


def _flattened(node: Any) -> Any:
    """An object whose content stands below `data` (Cytoscape) or `metadata` (JSON Graph Format)."""
    for key in ("data", "metadata"):
        if isinstance(node, jv.Entry) and isinstance(node.get(key), jv.Entry):
            node = jv.Entry({**_without(node, key), **node[key]}.items(), node.line)
    return node


def _links(links: list[Any], entries: list[Any], path: Path) -> tuple[list[tuple[str, str, int]], bool | None]:
    ids = {text for entry in entries for text in rk.references(entry)[:1]}
    pairs: list[tuple[str, str, int]] = []
    called: list[Any] = []
    for link in map(_flattened, links):
        ends = [_end(link, spellings) for spellings in (SOURCE, TARGET)] if isinstance(link, dict) else link
        line = getattr(link, "line", 0)
        if not isinstance(ends, list) or len(ends) != 2 or None in ends:
            keys = ", ".join(link) if isinstance(link, dict) else jv.spelling(link)[:60]
            raise InputError(f"a link needs a 'source' and a 'target'; it has {keys}", path, line or None)
        named = [rk.references(end) for end in ends]
        if not all(named):
            raise InputError("an end of a link is neither an id nor a name", path, line or None)
        source, target = (_node(text[0], ids, entries) for text in named)
        pairs.append((source, target, line))
        if isinstance(link, dict):
            kinds = [link[key] for key in ("relation", "pred", "predicate", "label", "type", "name") if key in link]
            called.append(kinds[0] if kinds else None)
    return pairs, direction(called)


def _end(link: dict[str, Any], spellings: tuple[str, ...]) -> Any:
    return next((value for key, value in link.items() if rk.plain(key) in spellings), None)


def _node(text: str, ids: set[str], entries: list[Any]) -> str:
    """An id, or the number of a node in the list, as older versions of D3 have it."""
    if text in ids or not text.isdecimal() or int(text) >= len(entries):
        return text
    return next(iter(rk.references(entries[int(text)])), text)


def _keyed(top: jv.Entry, path: Path) -> Shape:
    """Names as keys. Refused where nothing but texts stands below them: that is a table, and no hierarchy."""
    if not any(isinstance(value, list | dict) for value in top.values()):
        keys = ", ".join(f"'{key[:40]}'" for key in list(top)[:8])
        message = (
            f"holds an object with the keys {keys} and neither names nor children in it; --map name=KEY states them"
        )
        raise InputError(message, path, top.line)
    if all(value is None or _texts(value) for value in top.values()):
        return _adjacency(top)
    if fields := _record_fields(top):
        keys = ", ".join(f"'{key[:40]}'" for key in fields[:6])
        message = f"the objects all have the keys {keys}, so these are no names of concepts, and none names a parent"
        ways = "--map parent=KEY or --map child=KEY states which one does, --map name=KEY which holds the name; what"
        ways += " stands deeper in a file is best saved as a table (.csv)"
        raise InputError(f"{message}; {ways}", path, top.line)
    return Shape(list(KeyedTree(top, path).entries(top, top.line)), "keys")


def _record_fields(top: jv.Entry) -> list[str]:
    """Keys that most objects of a group have, some with a text or number and some with a list or object: the fields of
    records. In a tree of names, what stands below a name is all of one kind, or an attribute beside its children."""
    waiting: list[Any] = [top]
    while waiting:
        item = waiting.pop()
        inner = list(item.values()) if isinstance(item, dict) else item
        group = [value for value in inner if isinstance(value, dict)]
        waiting += [value for value in inner if isinstance(value, list | dict)]
        if len(group) < FEWEST_RECORDS:
            continue
        counts = Counter(key for value in group for key in value)
        kinds = {key: [value[key] for value in group if value.get(key) is not None] for key in counts}
        single = [key for key, values in kinds.items() if values and not any(map(is_branch, values))]
        branches = [key for key, values in kinds.items() if any(map(is_branch, values))]
        shared = [key for key in single if 2 * counts[key] > len(group)]
        repeated = [key for key in branches if counts[key] >= max(FEWEST_RECORDS, 0.3 * len(group))]
        marked = [key for key in repeated if not key[:1].isalnum() and counts[key] >= 0.9 * len(group)]
        if marked or (shared and repeated):
            return marked or shared + repeated
    return []


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _adjacency(top: jv.Entry) -> Shape:
    """A list of names below each name: one that stands in both places is the same concept."""
    pairs = [(key, child, top.line) for key, children in top.items() for child in children or ()]
    names = dict.fromkeys([*top, *(child for _, child, _ in pairs)])
    return Shape([jv.Entry([("name", name)], top.line) for name in names], "lists", pairs)


def said_of_lists(shape: Shape) -> str:
    """How lists of names below names were understood; a name in several lists may have been meant as several.

    Parameters
    ----------
    shape : Shape
        Of the style ``"lists"``.

    Returns
    -------
    str
        One sentence.
    """
    above = Counter(child for _, child in {pair[:2] for pair in shape.edges})
    several = [name for name, number in above.items() if number > 1]
    said = "keys and the names in their lists read as concepts"
    if several:
        example = min(several)[:60]
        said += (
            f"; {counted(len(several), 'name')} in several lists, each one concept with several parents: '{example}'"
        )
    return said
