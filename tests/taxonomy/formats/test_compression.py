"""Compressed files: what is in them, and those that would fill the memory."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import resource
import time
import zipfile
from functools import cache
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import compression, streams

TABLE = b"parent\tchild\nanimal\tbird\n"
ZEROS = b"\0" * (1 << 20)


def archive(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return buffer.getvalue()


@cache
def bomb(suffix: str) -> bytes:
    """A few megabytes at most that hold three thousand times as much."""
    megabytes = 3_000
    if suffix == ".zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("x.tsv", "w") as member:
            for _ in range(megabytes // 10):
                member.write(ZEROS)
        return buffer.getvalue()
    one = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix](ZEROS)
    return one * megabytes  # each of these formats may follow itself


@pytest.mark.parametrize("suffix", compression.MAGIC)
def test_a_bomb_is_refused_soon_and_in_little_memory(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.tsv{suffix}"
    path.write_bytes(bomb(suffix))
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with (
        pytest.raises(InputError, match=r"when decompressed, as no taxonomy does; refused"),
        streams.open_bytes(path) as handle,
    ):
        handle.read()
    assert time.process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # kilobytes


def test_a_file_may_grow_as_far_as_text_does(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv.gz"
    lines = b"".join(b"concept %d\tits child %d\n" % (i, i * i % 997) for i in range(100_000))
    path.write_bytes(gzip.compress(lines))
    assert streams.read_bytes(path) == lines


def test_what_is_in_a_zip_archive_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(archive(("a.tsv", TABLE), ("b.tsv", TABLE)))
    with pytest.raises(InputError, match=r"holds 2 files \(a\.tsv, b\.tsv\), and one was expected; unpack it"):
        Taxonomy.read(path)
    path.write_bytes(archive())
    with pytest.raises(InputError, match="holds no file"):
        Taxonomy.read(path)
    path.write_bytes(archive(("a.tsv", TABLE), ("folder/", b""), (".DS_Store", b"x")))
    assert Taxonomy.read(path).names == ("animal", "bird")


def test_a_suffix_that_promises_what_is_not_there(tmp_path: Path) -> None:
    for suffix, name in compression.NAMES.items():
        path = tmp_path / f"x.tsv{suffix}"
        path.write_bytes(TABLE)
        with pytest.raises(InputError, match=f"{name} data|zip data"):
            Taxonomy.read(path)


@pytest.mark.parametrize("suffix", compression.MAGIC)
def test_damaged_data_is_one_line(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.tsv{suffix}"
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    whole = archive(("x.tsv", TABLE)) if suffix == ".zip" else compress[suffix](TABLE)
    for cut in (len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="cut off or damaged"):
            Taxonomy.read(path)
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(InputError):  # and nothing else
            Taxonomy.read(path)


def test_zip_is_only_read(tmp_path: Path, animals: Taxonomy) -> None:
    with pytest.raises(InputError, match=r"zip is only read; write to \.gz"):
        animals.write(tmp_path / "x.obo.zip")


def test_the_directory_of_a_workbook_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(bomb(".zip"))
    with pytest.raises(InputError, match="far beyond its size"):
        compression.check_zip(io.BytesIO(path.read_bytes()), path)
    path.write_bytes(archive(("a", TABLE)))
    compression.check_zip(io.BytesIO(path.read_bytes()), path)
