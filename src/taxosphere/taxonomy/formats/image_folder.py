"""A folder of images: every folder is a concept, below the folder it lies in (read only).

An image shows the concept of its folder, unless a text file of the same name stands beside it: a captioned image is
a concept of its own, named after the file and described by the caption's first line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import reading
from taxosphere.taxonomy.formats.native import OUR_FILES

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
ROOT = "."
_LONGEST_CAPTION = 4096  # bytes read of a caption; its first line is all that counts
_LEADING_NUMBER = re.compile(r"^\d+[.\s-]+(?=\S)")


@dataclass(frozen=True)
class _Place:
    """A folder by its path from the top, and the names of what lies in it."""

    id: str
    folders: tuple[str, ...]
    images: tuple[str, ...]
    captions: frozenset[str]
    others: tuple[str, ...]


def recognise(path: Path, head: bytes) -> bool:
    """Whether a folder holds images and none of the tables of the native form."""
    return not OUR_FILES & {item.name for item in path.iterdir()} and holds_images(path)


def holds_images(path: Path) -> bool:
    return any(place.images for place in _walk(path))


def read(path: Path, options: ReadOptions) -> Draft:
    with reading(path):
        places = {place.id: place for place in _walk(path)}
    used = _with_images(places)
    if not used:
        raise InputError("the folder holds no pictures", path=path)
    draft = Draft(path=path, format="image folder")
    top = path.absolute()
    for place in places.values():
        if place.id in used:
            _add_folder(draft, top, place)
    for place in places.values():
        for name in place.folders if place.id in used else ():
            if (below := _join(place.id, name)) in used:
                draft.edge(place.id, below)
    _say_what_is_missing(draft, list(places.values()), len(places) - len(used))
    return draft


def readable(name: str) -> str:
    """A file or folder name as a person would write it: '001.Black_footed_Albatross' is 'Black footed Albatross'."""
    words = " ".join(re.sub(r"[_\-]+", " ", name).split())
    return _LEADING_NUMBER.sub("", words) or name


def _walk(top: Path) -> Iterator[_Place]:
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and _sayable(name))
        visible = sorted(name for name in files if not name.startswith(".") and _sayable(name))
        by_kind: dict[bool, list[str]] = {True: [], False: []}
        for name in visible:
            by_kind[Path(name).suffix.lower() in SUFFIXES].append(name)
        stems = {Path(name).stem for name in by_kind[True]}
        captions = frozenset(s for n in by_kind[False] if Path(n).suffix == ".txt" and (s := Path(n).stem) in stems)
        others = tuple(name for name in by_kind[False] if not (name.endswith(".txt") and Path(name).stem in captions))
        id = PurePosixPath(Path(folder).relative_to(top).as_posix()).as_posix()
        yield _Place(id, tuple(folders), tuple(by_kind[True]), captions, others)


def _sayable(name: str) -> bool:
    """Whether a name is valid text; file systems allow any bytes."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _with_images(places: dict[str, _Place]) -> set[str]:
    """Folders that hold an image, themselves or further down."""
    used: set[str] = set()
    for place in places.values():
        if place.images:
            used |= {place.id, ROOT, *(parent.as_posix() for parent in PurePosixPath(place.id).parents)}
    return used


def _join(folder: str, name: str) -> str:
    return name if folder == ROOT else f"{folder}/{name}"


def _add_folder(draft: Draft, top: Path, place: _Place) -> None:
    folder = top / place.id
    plain = tuple(str(folder / name) for name in place.images if Path(name).stem not in place.captions)
    draft.concept(place.id, readable(folder.name or str(folder)), images=plain)
    taken = {_join(place.id, name) for name in place.folders}
    for stem in sorted(place.captions):
        id = _join(place.id, stem)
        if id in taken:  # a folder of the same name is another concept
            id += ".txt"
        shown = tuple(str(folder / name) for name in place.images if Path(name).stem == stem)
        draft.concept(id, readable(stem), _caption(folder / f"{stem}.txt"), images=shown)
        draft.edge(place.id, id)


def _caption(path: Path) -> str:
    with reading(path), path.open("rb") as file:
        head = file.read(_LONGEST_CAPTION).decode("utf-8", "replace").lstrip("\ufeff")
    return " ".join(head.splitlines()[0].split()) if head.strip() else ""


def _say_what_is_missing(draft: Draft, places: list[_Place], empty: int) -> None:
    suffixes = sorted({Path(name).suffix.lower() or "no suffix" for place in places for name in place.others})
    count = sum(len(place.others) for place in places)
    if count:
        listed = ", ".join(suffixes[:5]) + (" …" if len(suffixes) > 5 else "")
        draft.left_out(f"{count:,} files that are no images here ({listed})")
    if empty:
        draft.left_out(f"{empty:,} folders without an image")
