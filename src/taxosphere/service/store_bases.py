"""Taxonomies that decisions are made on, kept as the files they were read from."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.events import digest, now
from taxosphere.errors import InputError
from taxosphere.service.store import Store, StoreError
from taxosphere.service.store_tables import BASES
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions

_OPTIONS, _SOURCE = "options.json", "source"
# What the zip archive of a base says where its bytes were changed.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


@dataclass(frozen=True, slots=True)
class Base:
    """A taxonomy with its digest and the name of its file."""

    seq: int
    digest: str
    name: str
    taxonomy: Taxonomy


def put(store: Store, taxonomy: Taxonomy, path: Path | None = None, options: ReadOptions | None = None) -> str:
    """Make a taxonomy the base of the decisions to come; nothing is stored where it is the present base already.

    The same taxonomy from another file is stored anew, for patches are made against the file that was named last.

    Parameters
    ----------
    store
        The open store.
    taxonomy
        The taxonomy.
    path, options
        The file or folder it was read from, and how. Without one, or where its format cannot be written, the taxonomy
        is kept in our native form.

    Returns
    -------
    str
        The digest of the taxonomy.
    """
    wanted = digest(taxonomy)
    if path is None:
        with store.reading() as connection:
            last = _last(connection)
        if last is not None and last.digest == wanted:
            return wanted
    name, content = _packed(taxonomy, path, options or ReadOptions())
    with store.writing() as connection:
        last = _last(connection)
        if last is None or (last.digest, last.name, last.content) != (wanted, name, content):
            seq = 1 + (connection.scalar(sa.select(sa.func.max(BASES.c.seq))) or 0)
            row = {"seq": seq, "digest": wanted, "name": name, "content": content, "at": now()}
            connection.execute(BASES.insert().values(**row))
    return wanted


def _last(connection: Connection) -> Any:
    """The row of the present base, None where there is none."""
    return connection.execute(sa.select(BASES).order_by(BASES.c.seq.desc()).limit(1)).first()


def number(connection: Connection) -> int:
    """Number of the present base, 0 where there is none."""
    return connection.scalar(sa.select(sa.func.max(BASES.c.seq))) or 0


def load(store: Store) -> Base:
    """The present base, read again from the file that was kept; `InputError` where the store has none."""
    with source(store) as (path, base):
        assert path.exists()
        return base


@contextmanager
def source(store: Store) -> Iterator[tuple[Path, Base]]:
    """A copy of the file or folder of the present base, for as long as the block runs, and what it holds."""
    with store.reading() as connection:
        row = _last(connection)
    if row is None:
        raise InputError("holds no taxonomy yet; 'taxosphere apply TAX DECISIONS --db' puts one there", store.name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(io.BytesIO(row.content)) as archive:
                archive.extractall(folder)
            path = Path(folder) / _SOURCE / row.name
            stated: dict[str, Any] = json.loads((Path(folder) / _OPTIONS).read_text("utf-8"))
            stated = {key: tuple(value) if isinstance(value, list) else value for key, value in stated.items()}
            base = Base(row.seq, row.digest, row.name, registry.read(path, ReadOptions(**stated)))
        except (*_DAMAGED, InputError) as error:
            raise StoreError(f"{store.name}: the taxonomy in it is damaged ({error}); restore a backup") from None
        yield path, base


def _packed(taxonomy: Taxonomy, path: Path | None, options: ReadOptions) -> tuple[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        if path is None or registry.recognise(path).write is None:
            path, options = Path(folder) / "taxonomy", ReadOptions()
            taxonomy.write(path)
        name = path.name or "taxonomy"
        files = [path] if path.is_file() else sorted(part for part in path.rglob("*") if part.is_file())
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in files:
                place = Path(_SOURCE) / name / part.relative_to(path) if part != path else Path(_SOURCE) / name
                # Without the time of the file: equal files give equal archives.
                archive.writestr(zipfile.ZipInfo(place.as_posix()), part.read_bytes(), zipfile.ZIP_DEFLATED)
            stated = {key: getattr(options, key) for key in (*options.stated(), "strict", "dangling")}
            archive.writestr(zipfile.ZipInfo(_OPTIONS), json.dumps(stated, default=dict))
        return name, packed.getvalue()
