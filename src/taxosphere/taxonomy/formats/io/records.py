"""Objects of a JSON or YAML file under any usual keys, brought under ours: id, name, children, parents and so on.

Nested objects stay nested. Objects that name each other, by id or by name, become records with `parents` and
`children`. Everything else in them is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import nesting
from taxosphere.taxonomy.formats.io import record_keys as rk
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.inner_objects import brought_out
from taxosphere.taxonomy.formats.io.keyed_tree import said_of_keys
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.orientation import oriented
from taxosphere.taxonomy.formats.io.record_shapes import Shape, said_of_lists, shape_of

NO_PARENT = frozenset({"0", "-1", "#", "none", "null", "root", "nan"})
OURS = ("id", "children", *jv.DETAILS, *jv.PARENTS, "child", "child_id")
_MANY = 2  # objects inside a lone concept that are more than a detail of it


@dataclass
class Records:
    """Objects under our keys.

    Parameters
    ----------
    entries : list
        The objects; where they are nested, names alone may stand among them.
    nested : bool
        Whether nesting says what is below what; otherwise `parents` and `children` do.
    style : dict
        How the file holds them, for writing it back.
    keys : Keys
        Which keys played which role in the file.
    notes : list of str
        What the user should know about the reading.
    """

    entries: list[Any]
    nested: bool
    style: dict[str, Any]
    keys: rk.Keys
    notes: list[str] = field(default_factory=list)


def understand(value: Any, path: Path, options: ReadOptions) -> Records:
    """Return the objects of a JSON or YAML document under our keys.

    Parameters
    ----------
    value : any JSON value
        The document, its objects with their lines.
    path : Path
        The file, for the messages.
    options : ReadOptions
        `mapping` names keys for the roles id, name, description, synonyms, parent and child; `language` is the one
        of names that stand there in several; `columns` is the direction of links.

    Raises
    ------
    InputError
        Where no hierarchy is recognised, or a key of `mapping` is nowhere in the file.
    """
    value, inner = brought_out(value)
    shape = shape_of(value, path, tuple(options.mapping.values()))
    style: dict[str, Any] = {"shape": shape.style}
    if shape.wrapper:
        style |= {"top": shape.top, "wrapper": shape.wrapper}
    shape.entries, notes = _out_of_groups(shape.entries)
    notes += inner
    if shape.style == "keys":
        notes.append(said_of_keys(shape.entries))
    if shape.style == "lists":
        notes.append(said_of_lists(shape))
    objects = [entry for entry in shape.entries if isinstance(entry, jv.Entry)]
    _check_mapping(options, shape.entries, path)
    if shape.edges or shape.style in ("graph", "lists"):
        return _of_graph(shape, objects, style, options, notes)
    if shape.style != "tree" and len(objects) == len(shape.entries):
        flat = flat_records(objects, options, style, notes)
        if flat is not None:
            return flat
    return _nested(shape.entries, style, options, path, notes)


def flat_records(
    objects: list[jv.Entry], options: ReadOptions, style: dict[str, Any] | None = None, notes: Iterable[str] = ()
) -> Records | None:
    """Return objects that name each other under our keys; None where they do not, or are nested.

    Parameters
    ----------
    objects : list of Entry
        The objects, edges of a parent and a child among them.
    options : ReadOptions
        See `understand`.
    style : dict, optional
        What is said already about how the file holds them.
    notes : iterable of str
        What is to be said already.
    """
    concepts = [entry for entry in objects if not _is_edge(entry)]
    keys = _flat_keys(concepts, options) if concepts else rk.Keys()
    if keys is None:
        return None
    entries, more = _flat(objects, keys, options)
    directions = [role for role, used in (("parents", keys.parents), ("children", keys.children)) if used]
    style = (style or {}) | {"keys": keys.renamed(), "directions": directions}
    return Records(entries, False, style, keys, [*notes, *more])


def check_edges(draft: Draft, records: Records) -> None:
    """Refuse a file of concepts without one edge whose keys seem to name other concepts.

    Parameters
    ----------
    draft : Draft
        What was read.
    records : Records
        What it was read from.
    """
    if draft.parents or draft.faults:
        return
    if len(draft.ids) < 2:
        _check_unread(draft, records)
        return
    counts = rk.KeyCounts([entry for entry in records.entries if isinstance(entry, dict)])
    keys = rk.relation_keys(counts, OURS, {*draft.ids, *draft.names})
    if keys:
        shown = ", ".join(f"'{key[:40]}'" for key in keys[:4])
        message = f"{counted(len(draft.ids), 'concept')} and not one edge, although {shown} seem to name other concepts"
        raise InputError(
            f"{message}; state with --map parent=KEY or --map child=KEY what is above or below", draft.path
        )
    shown = ", ".join(f"'{key[:40]}'" for key in list(counts.values)[:8])
    seen = f" among the keys {shown}" if shown else ""
    draft.notes.append(f"not one edge: no relation{seen}; --map parent=KEY or --map child=KEY states one")


def _check_unread(draft: Draft, records: Records) -> None:
    """Refuse a file with one concept that holds many objects which are no part of it."""
    top = records.entries[0] if records.entries and isinstance(records.entries[0], dict) else {}
    counts = {key: _objects(value) for key, value in top.items() if isinstance(value, dict | list)}
    unread = [key for key, count in counts.items() if count >= (1 if rk.plain(key) == "classes" else _MANY)]
    if unread:
        shown = ", ".join(f"'{key[:40]}'" for key in unread[:4])
        message = f"one concept, '{draft.names[0][:40]}', and {shown} hold objects that are not read as below it"
        raise InputError(
            f"{message}; save what one of them holds as a file of its own, or state --map child=KEY", draft.path
        )


def _objects(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value
    return sum(isinstance(item, dict) for item in items)


def _check_mapping(options: ReadOptions, entries: list[Any], path: Path) -> None:
    if not options.mapping:
        return
    seen: dict[str, None] = {}
    waiting = list(entries)
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            seen |= dict.fromkeys(item)
        waiting += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    for role, key in options.mapping.items():
        if key not in seen:
            shown = ", ".join(list(seen)[:12])
            raise InputError(f"--map {role}={key}: no object has that key; they have {shown}", path)


def _out_of_groups(entries: list[Any]) -> tuple[list[Any], list[str]]:
    """Records in groups that only sort them (Shopify's verticals): the records themselves say what is above them."""
    groups = [entry for entry in entries if isinstance(entry, jv.Entry)]
    if len(groups) < len(entries) or not groups or rk.KeyCounts(groups).usual((*rk.PARENTS, *rk.CHILDREN)):
        return entries, []
    lists = [key for key, value in groups[0].items() if isinstance(value, list) and value]
    for key in lists:
        inner = [item for group in groups for item in group.get(key) or ()]
        objects = [item for item in inner if isinstance(item, jv.Entry)]
        if len(objects) == len(inner) and rk.KeyCounts(objects).usual(rk.PARENTS):
            return objects, [f"{counted(len(groups), 'group')} around the lists under '{key}' left out"]
    return entries, []


def _stated(options: ReadOptions, *roles: str) -> str:
    return next((options.mapping[role] for role in roles if role in options.mapping), "")


def _is_edge(entry: jv.Entry) -> bool:
    return not any(key in entry for key in ("id", "name")) and all(
        any(rk.plain(key) in spellings for key in entry) for spellings in (("parent", "parentid"), ("child", "childid"))
    )


def _flat_keys(objects: list[jv.Entry], options: ReadOptions) -> rk.Keys | None:
    """The roles of keys where objects name each other; None where they do not, or are nested."""
    counts = rk.KeyCounts(objects)
    parent, child = _stated(options, "parent"), _stated(options, "child")
    above = [parent] if parent else counts.usual(rk.PARENTS)
    below = [child] if child else counts.usual(rk.CHILDREN)
    items = [item for key in below for value in counts.values.get(key, ()) for item in _items(value)]
    if not all(map(_is_reference, items)):
        return None
    id, names = _id_key(counts, [*above, *below], options)
    up = rk.reference_keys(counts, map(rk.plain, above), names)
    down = [(key, share) for key, share in rk.reference_keys(counts, map(rk.plain, below), names) if share >= 0.5]
    named = any(key in entry for entry in objects for key in (*jv.PARENTS, *above))
    if "id" in counts.values and not counts.is_unique("id") and not above:
        return None
    if not down and (items or not named):
        return None
    return rk.Keys(
        name=_stated(options, "name") or rk.name_key(counts),
        id=id,
        description=_stated(options, "description") or _text_key(counts, rk.DESCRIPTIONS),
        synonyms=_stated(options, "synonyms") or _list_key(counts, rk.SYNONYMS),
        parents=_chosen(up),
        children=_chosen(down),
    )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_reference(item: Any) -> bool:
    """A text or number, or an object that has no more than an id and a name."""
    if isinstance(item, dict):
        return bool(item) and all(rk.plain(key) in (*rk.IDS, *rk.NAMES) for key in item)
    return not isinstance(item, list)


def _id_key(counts: rk.KeyCounts, references: list[str], options: ReadOptions) -> tuple[str, set[str]]:
    """The key whose values the references name, and all ids and names that they may name."""
    name = _stated(options, "name") or rk.name_key(counts)
    named = {jv.text_of({"": rk.text_in(value, options.language)}, "") for value in counts.values.get(name, ())}
    stated = _stated(options, "id")
    unique = [key for key in counts.usual(rk.IDS) if key == "id" or counts.is_unique(key)]
    candidates = [stated] if stated else unique
    texts = {text for key in references for value in counts.values.get(key, ()) for text in rk.references(value)}
    best, most, ids = "", -1, set[str]()
    for key in candidates:
        values = {value if isinstance(value, str) else jv.spelling(value) for value in counts.values[key]}
        hits = len(values & texts)
        if hits > most and (hits or rk.plain(key) in rk.STRONG_IDS):
            best, most, ids = key, hits, values
    return best, ids | named


def _chosen(shares: list[tuple[str, float]]) -> tuple[str, ...]:
    """All keys that name concepts as well as the best one does; others only repeat it in other words."""
    best = max((share for _, share in shares), default=0.0)
    return tuple(key for key, share in shares if share >= best * 0.5)


def _text_key(counts: rk.KeyCounts, spellings: tuple[str, ...]) -> str:
    if any(key in counts.values for key in jv.DESCRIPTION):
        return ""
    texts = [key for key in counts.usual(spellings) if all(isinstance(value, str) for value in counts.values[key])]
    return texts[0] if texts else ""


def _list_key(counts: rk.KeyCounts, spellings: tuple[str, ...]) -> str:
    keys = [
        key
        for key in counts.usual(spellings)
        if all(isinstance(item, str) for value in counts.values[key] for item in _items(value))
    ]
    return keys[0] if keys else ""


def _flat(entries: list[jv.Entry], keys: rk.Keys, options: ReadOptions) -> tuple[list[jv.Entry], list[str]]:
    """Records with `parents` and `children`, and what is to be said about them."""
    records = [_edge(entry) if _is_edge(entry) else _renamed(entry, keys, options) for entry in entries]
    ids = {jv.text_of(record, key) for record in records for key in ("id", *jv.NAME)}
    rootless: dict[str, int] = {}
    for record in records:
        for reference in record.get("parents", ()) if not _is_edge(record) else ():
            if reference.casefold() in NO_PARENT and reference not in ids:
                rootless[reference] = rootless.get(reference, 0) + 1
                record["parents"] = [text for text in record["parents"] if text != reference]
    return records, [
        f"{counted(count, 'concept')} below '{text}', which is none: read as top-level"
        for text, count in rootless.items()
    ]


def _edge(entry: jv.Entry) -> jv.Entry:
    ours = {"parent": "parent", "parentid": "parent_id", "child": "child", "childid": "child_id"}
    return jv.Entry([(ours.get(rk.plain(key), key), value) for key, value in entry.items()], entry.line)


def _renamed(entry: jv.Entry, keys: rk.Keys, options: ReadOptions, nested: bool = False) -> jv.Entry:
    """The same object under our keys; what stood under one of ours and plays no role there is kept as an extra."""
    roles = {keys.name: "name", keys.id: "id", keys.description: "description", keys.synonyms: "synonyms"}
    roles = {key: role for key, role in roles.items() if key and not (role == "name" and key in jv.NAME)}
    taken = set(roles.values())
    pairs: list[tuple[str, Any]] = []
    above: dict[str, None] = {}
    below: dict[str, None] = {}
    for key, value in entry.items():
        if key in keys.parents and not nested:
            above |= dict.fromkeys(rk.references(value))
        elif key in keys.children and not nested:
            below |= dict.fromkeys(rk.references(value))
        elif key in roles or key in jv.NAME or key in jv.DESCRIPTION:
            text = value if roles.get(key) in ("id", "synonyms") else rk.text_in(value, options.language)
            pairs.append((roles.get(key, key), text))
            if text is not value and value:
                pairs.append((f"{key}[]", [value]))
        else:
            relation = not nested and key in (*jv.PARENTS, "children")
            if not relation or value:
                pairs.append((f"{key}[]", [value]) if relation or key in taken else (key, value))
    if keys.name == "" and keys.id and not nested:
        pairs.append(("name", entry.get(keys.id)))
    lists = [("parents", list(above)), ("children", list(below))]
    return jv.Entry([*pairs, *(pair for pair in lists if pair[1])], entry.line)


def _of_graph(
    shape: Shape, objects: list[jv.Entry], style: dict[str, Any], options: ReadOptions, notes: list[str]
) -> Records:
    """Nodes as records, links as edges between them."""
    counts = rk.KeyCounts(objects)
    name = _stated(options, "name") or rk.name_key(counts)
    ends = {end for pair in shape.edges for end in pair[:2]}
    ids = [key for key in counts.usual(rk.IDS) if ends & set(rk.references(counts.values[key]))]
    id = _stated(options, "id") or ("id" if "id" in counts.values else ids[0] if ids else "")
    keys = rk.Keys(name=name, id=id)
    records = [_renamed(entry, keys, options, nested=True) for entry in objects]
    for record in records:
        record.setdefault("name", record.get("id"))
    records += [jv.Entry([("name", node)]) for node in shape.entries if isinstance(node, str)]
    if not records:  # links alone
        records = [jv.Entry([("name", end)]) for pair in shape.edges for end in pair[:2]]
        records = list({record["name"]: record for record in records}.values())
    pairs, note = oriented(shape.edges, options.columns, shape.upward)
    edges = [jv.Entry([("parent", parent), ("child", child)], line) for parent, child, line in pairs]
    return Records([*records, *edges], False, style | {"shape": "list"}, keys, [*notes, *([note] if note else [])])


def _nested(entries: list[Any], style: dict[str, Any], options: ReadOptions, path: Path, notes: list[str]) -> Records:
    """The same nesting under our keys."""
    roots = list(entries)
    nodes = nesting.walk(roots, _stated(options, "child"), path)
    names = nesting.name_keys(nodes, _stated(options, "name"), path)
    counts = rk.KeyCounts([node.entry for node in nodes])
    id = _stated(options, "id") or next(iter(_nested_ids(counts)), "")
    if id == "id" and nesting.repeated_ids(nodes):
        id = ""
        notes = [*notes, "ids that repeat on other levels are kept beside the names, which are the ids here"]
    description = _stated(options, "description") or _text_key(counts, rk.DESCRIPTIONS)
    synonyms = _stated(options, "synonyms") or _list_key(counts, rk.SYNONYMS)
    for node in reversed(nodes):  # what is below first
        keys = rk.Keys(names[node.via], id, description, synonyms)
        renamed = _renamed(_without_children(node, id), keys, options, nested=True)
        if node.key:
            renamed["children"] = node.entry[node.key] if node.below is None else node.below
        node.holder[node.place] = renamed
    used = {node.key for node in nodes if node.key}
    single = rk.Keys(
        name=next(iter(names.values())) if len(set(names.values())) == 1 else "",
        id=id,
        description=description,
        synonyms=synonyms,
        children=tuple(used) if len(used) == 1 else (),
    )
    return Records(roots, True, style | {"keys": single.renamed()}, single, notes)


def _nested_ids(counts: rk.KeyCounts) -> list[str]:
    if "id" in counts.values:
        return ["id"]
    return [key for key in counts.usual(rk.STRONG_IDS) if counts.is_unique(key)]


def _without_children(node: nesting.Node, id: str) -> jv.Entry:
    """The object without what is below it, and with an id that says nothing here kept as an extra."""
    pairs = [pair for pair in node.entry.items() if pair[0] != node.key]
    if not id:
        pairs = [("id[]", [value]) if key == "id" else (key, value) for key, value in pairs]
    return jv.Entry(pairs, node.entry.line)
