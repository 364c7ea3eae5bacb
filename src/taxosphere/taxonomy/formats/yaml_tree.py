"""YAML: trees of `name` and `children`, names as keys, and lists of objects that name their parents or children.

Read as JSON is. Written as a tree, or as the list of objects that it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import json_tree
from taxosphere.taxonomy.formats.io import yaml_edits, yaml_values
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.kept_text import reads_as
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.record_writer import Objects, is_flat, style_of, tree_steps
from taxosphere.taxonomy.formats.io.streams import open_to_write, read_text
from taxosphere.taxonomy.graph import Taxonomy

FORMAT = "yaml"


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the concepts of a YAML file in any of the shapes that `record_shapes` lists.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `mapping`, `columns` and `language` are used.
    """
    draft = Draft(path=path, format=FORMAT)
    json_tree.read_value(draft, yaml_values.parse(read_text(path, options.encoding), path), options)
    return draft


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return the text of a YAML file with the new concepts of a taxonomy in it.

    Parameters
    ----------
    text : str
        What the file held.
    taxonomy : Taxonomy
        The same and more.
    size, edges : int
        How many concepts and edges the text holds.

    Returns
    -------
    str or None
        None where the text cannot be extended so that it reads as this taxonomy.
    """
    if not is_flat(taxonomy):
        return None
    try:
        longer = yaml_edits.extend(text, taxonomy, size, edges)
        draft = Draft(path=Path("extended"), format=FORMAT)
        if longer is not None:
            json_tree.read_value(draft, yaml_values.parse(longer.removeprefix("\ufeff"), draft.path), ReadOptions())
    except (InputError, ValueError):
        return None
    return longer if reads_as(draft, taxonomy) else None


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a tree, or the objects that name each other where the source had those."""
    style = style_of(taxonomy)
    top, wrapper = style.get("top"), style.get("wrapper", "children")
    with open_to_write(path) as handle:
        handle.write("---\n")
        if top is not None:
            handle.writelines(f"{line}\n" for line in _lines(top))
            handle.write(f"{yaml_values.spelling(wrapper)}:\n")
        if is_flat(taxonomy):
            objects = Objects(taxonomy, nested=False)
            for position in range(len(taxonomy)):
                handle.writelines(_item(objects.entry(position), 0))
            return
        objects, depth = Objects(taxonomy, nested=True), 0
        for step, position in tree_steps(taxonomy):
            if step == "close":
                depth -= 1
                continue
            handle.writelines(_item(objects.entry(position) if step == "open" else objects.reference(position), depth))
            if step == "open":
                depth += 1
                if len(taxonomy.child_csr.row(position)):
                    handle.write(f"{'  ' * depth}{yaml_values.spelling(objects.children)}:\n")


def _item(entry: dict[str, Any], depth: int) -> Iterator[str]:
    """Lines of an object in a list at this depth; a list stands as deep as the key it belongs to."""
    start = "  " * depth + "- "
    for line in _lines(entry):
        yield f"{start}{line}\n"
        start = "  " * depth + "  "


def _lines(entry: dict[str, Any]) -> Iterator[str]:
    for key, value in entry.items():
        start = f"{yaml_values.spelling(key)}:"
        if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
            yield start
            for item in value:
                yield f"- {yaml_values.spelling(item)}"
        else:
            yield f"{start} {yaml_values.spelling(value)}"
