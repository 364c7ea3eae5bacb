"""The folder of Caltech-UCSD Birds-200-2011 as its authors pack it (read only).

``classes.txt`` names the classes, ``images.txt`` the pictures below ``images/``, ``image_class_labels.txt`` joins them.
There is no tree in it: all classes lie below one root.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.image_folder import readable
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import numbered_lines

CLASSES, IMAGES, LABELS, FOLDER = "classes.txt", "images.txt", "image_class_labels.txt", "images"
ROOT, ROOT_NAME = "birds", "bird"
_PACKED = "CUB_200_2011"
_UNUSED = ("train_test_split.txt", "bounding_boxes.txt", "parts", "attributes")


def recognise(path: Path, head: bytes) -> bool:
    return all((_top(path) / name).is_file() for name in (CLASSES, IMAGES, LABELS))


def read(path: Path, options: ReadOptions) -> Draft:
    top = _top(path).absolute()
    paths = {key: name for _, key, name in _pairs(top / IMAGES)}
    classes = {key: (line, name) for line, key, name in _pairs(top / CLASSES)}
    shown: dict[str, list[str]] = {key: [] for key in classes}
    for line, image, key in _pairs(top / LABELS):
        if image not in paths or key not in classes:
            missing, where = (image, IMAGES) if image not in paths else (key, CLASSES)
            raise InputError(f"names '{missing}', which {where} does not", path=top / LABELS, line=line)
        shown[key].append(str(top / FOLDER / paths[image]))
    draft = Draft(path=top / CLASSES, format="cub")
    draft.concept(ROOT, ROOT_NAME)
    for key, (line, name) in classes.items():
        draft.concept(name, readable(name), images=shown[key], line=line)
        draft.edge(ROOT, name, line)
    unused = [name for name in _UNUSED if (top / name).exists()]
    if unused:
        draft.left_out(f"a taxonomy has no place for {', '.join(unused)}")
    return draft


def _top(path: Path) -> Path:
    """The folder itself, or the one that unpacking made inside it."""
    return path / _PACKED if (path / _PACKED / CLASSES).is_file() else path


def _pairs(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, number, rest) of a file of numbered entries."""
    seen: set[str] = set()
    for line, text in numbered_lines(path):
        if not text.strip():
            continue
        key, _, rest = text.strip().partition(" ")
        if not rest.strip():
            raise InputError("a number and an entry are needed, one space between them", path=path, line=line)
        if key in seen:
            raise InputError(f"the number {key} is used twice", path=path, line=line)
        seen.add(key)
        yield line, key, rest.strip()
