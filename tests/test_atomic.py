from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from taxosphere import atomic
from taxosphere.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def interrupt_after(written: int) -> None:
    assert written
    raise KeyboardInterrupt


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with atomic.file(target) as part:
        part.write_text("new", encoding="utf-8")
        assert not target.exists()
        assert part.parent == tmp_path
    assert target.read_text(encoding="utf-8") == "new"
    assert names(tmp_path) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), atomic.file(target) as part:
        interrupt_after(part.write_text("half", encoding="utf-8"))
    assert target.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_replaces_the_old_one_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:  # as on a system that cannot exchange two names
        monkeypatch.setattr(atomic, "_exchanged", lambda *_: False)
    target = tmp_path / "model"
    target.mkdir()
    (target / "stale").touch()
    with atomic.folder(target) as part:
        (part / "fresh").touch()
        assert names(target) == ["stale"]
    assert names(target) == ["fresh"]
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names in one call")
def test_a_folder_that_is_replaced_is_never_missing(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with atomic.folder(target) as part:
        (part / "content").touch()
    code = "import os, sys\nwhile os.path.exists(sys.argv[1]):\n    pass"
    with subprocess.Popen([sys.executable, "-c", code, str(target)]) as watcher:  # ends where it is missing
        try:
            for _ in range(300):
                with atomic.folder(target) as part:
                    (part / "content").touch()
            assert watcher.poll() is None
        finally:
            watcher.kill()
    assert names(tmp_path) == ["model"]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "stale").touch()
    with pytest.raises(KeyboardInterrupt), atomic.folder(target) as part:
        interrupt_after((part / "fresh").write_text("half", encoding="utf-8"))
    assert names(target) == ["stale"]
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic.file(tmp_path / "a.txt"):
            pass
        with atomic.folder(tmp_path / "model") as folder:
            (folder / "part").mkdir(mode=0o700)
            (folder / "part" / "private.bin").touch(mode=0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    for place in ("model", "model/part"):
        assert stat.S_IMODE((tmp_path / place).stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "model" / "part" / "private.bin").stat().st_mode) == 0o640


@pytest.mark.parametrize("maker", [atomic.file, atomic.folder])
def test_a_missing_parent_folder_is_the_users_to_make(tmp_path: Path, maker) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="folder does not exist"), maker(tmp_path / "no" / "a"):
        pass
    assert names(tmp_path) == []


def test_a_relative_path_lands_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with atomic.file("a.txt") as part:
        part.write_text("x", encoding="utf-8")
    assert names(tmp_path) == ["a.txt"]


def test_what_a_link_points_at_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name, make in (("a.txt", Path.touch), ("model", Path.mkdir)):
        make(tmp_path / "there" / name)
        (tmp_path / name).symlink_to(tmp_path / "there" / name)
    atomic.write_text(tmp_path / "a.txt", "new")
    with atomic.folder(tmp_path / "model") as part:
        (part / "fresh").touch()
    assert (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "there" / "a.txt").read_text(encoding="utf-8") == "new"
    assert (tmp_path / "model").is_symlink()
    assert names(tmp_path / "there" / "model") == ["fresh"]
    assert names(tmp_path / "there") == ["a.txt", "model"]


def test_a_link_to_nothing_yet_leads_to_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("b.txt")
    atomic.write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_a_file_that_is_replaced_passes_its_mode_on(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.touch()
    target.chmod(0o600)
    atomic.write_text(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX systems")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    atomic.write_text(pipe, "new")
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]
    with pytest.raises(InputError, match="pipe: exists and is no folder"), atomic.folder(pipe):
        pass
    assert pipe.is_fifo()


def test_a_file_takes_no_folders_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path}: is a folder"):
        atomic.write_text(tmp_path, "new")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
@pytest.mark.parametrize("maker", [atomic.file, atomic.folder])
def test_a_folder_without_permission_is_said_with_the_name_that_was_given(maker) -> None:  # type: ignore[no-untyped-def]
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        locked = Path(name)
        locked.chmod(0o555)
        os.seteuid(user or 65534)
        try:
            with pytest.raises(InputError, match=f"{locked / 'a'}: no permission"), maker(locked / "a"):
                pass
        finally:
            os.seteuid(user)


def test_the_file_that_output_goes_to_is_not_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("precious\n", encoding="utf-8")
    code = "import sys; from taxosphere import atomic; atomic.write_text('/dev/stdout', 'new')"
    with log.open("a", encoding="utf-8") as out:
        ended = subprocess.run([sys.executable, "-c", code], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert "is where the output of this command goes" in ended.stderr
    assert log.read_text(encoding="utf-8") == "precious\n"
