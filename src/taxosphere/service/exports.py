"""Downloads: what was decided, in each of the export formats, made in a private folder and sent whole."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query

from taxosphere.decisions import exports
from taxosphere.decisions.exports import Content
from taxosphere.errors import InputError
from taxosphere.service import store_bases, store_events
from taxosphere.service.workbench import Workbench

AS: Any = Query(alias="as")
Suffix = Annotated[str, Query(max_length=20)]
# File of each export, and the export of `taxosphere.decisions.exports` that makes it.
_FILES = {
    "taxonomy": ("taxonomy", "taxonomy"),
    "decisions": ("decisions.jsonl", "decisions"),
    "decisions-csv": ("decisions.csv", "decisions"),
    "kgcl": ("changes.kgcl", "kgcl"),
    "sssom": ("mappings.sssom.tsv", "sssom"),
    "robot": ("template.tsv", "robot"),
    "patch": ("taxonomy.patch", "patch"),
}
_SUFFIX = re.compile(r"(\.[a-z0-9]{1,8}){1,2}")
_PLAIN = re.compile(r"[^A-Za-z0-9._-]")


def made(workbench: Workbench, name: str, suffix: str = "") -> tuple[str, bytes]:
    """Name and content of a download.

    Parameters
    ----------
    workbench
        The open workbench.
    name
        Key of the exports of the API.
    suffix
        Format of a taxonomy, such as ``.obo``; without, that of the file the base was read from. A taxonomy in our
        native form, which is a folder, is sent as a zip archive.

    Raises
    ------
    InputError
        Where no format has the suffix.
    """
    if suffix and not _SUFFIX.fullmatch(suffix):
        raise InputError("a suffix is a dot and letters, such as .obo")
    file, kind = _FILES[name]
    fold = workbench.ledger.fold
    events = store_events.all_events(workbench.store)
    with store_bases.source(workbench.store) as (source, _), tempfile.TemporaryDirectory() as folder:
        if kind == "taxonomy":
            file += suffix or "".join(Path(source.name).suffixes[-1:])
        target = Path(folder) / _PLAIN.sub("_", file)
        exports.write(kind, Content(fold, events, source), target)
        if target.is_dir():
            return f"{target.name}.zip", _zipped(target)
        return target.name, target.read_bytes()


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():  # without its time: equal content gives equal archives
                item = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
                archive.writestr(item, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()
