from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Polaris, Taxonomy, memory
from taxosphere.errors import InputError


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GB free, without other limits."""
    (tmp_path / "meminfo").write_text("MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "cgroup").write_text("0::/\n")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    return tmp_path


def _limit(group: Path, limit: str, used: int, pages: int, *, version: int) -> None:
    """A control group of version 1 or 2; ``pages`` bytes of what is used are pages of files."""
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    group.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, str(used)), strict=True):
        (group / name).write_text(text + "\n")
    own, prefix = ("", "") if version == 2 else ("active_file 1\ninactive_file 1\n", "total_")
    whole = "".join(f"{prefix}{kind} {pages // 2}\n" for kind in ("active_file", "inactive_file"))
    (group / "memory.stat").write_text(own + whole)


def test_what_is_free_is_the_least_of_all_limits(system: Path) -> None:
    assert memory.available() == 8 << 30
    _limit(system, "max", 1 << 30, 0, version=2)
    assert memory.available() == 8 << 30
    _limit(system, str(4 << 30), 1 << 30, 0, version=2)
    assert memory.available() == 3 << 30


@pytest.mark.parametrize(("version", "line"), [(2, "0::/jobs/fit"), (1, "0::/\n4:memory:/jobs/fit")])
def test_limits_of_the_own_control_group_and_of_those_around_it(system: Path, version: int, line: str) -> None:
    (system / "cgroup").write_text(f"9:cpu:/\n{line}\n")
    mount = system if version == 2 else system / "memory"
    _limit(mount / "jobs" / "fit", str(4 << 30), 2 << 30, 0, version=version)
    assert memory.available() == 2 << 30
    _limit(mount / "jobs" / "fit", str(4 << 30), 2 << 30, 1 << 30, version=version)  # pages of files can be dropped
    assert memory.available() == 3 << 30
    _limit(mount / "jobs", str(2 << 30), 1 << 30, 0, version=version)
    assert memory.available() == 1 << 30


def test_a_control_group_that_cannot_be_seen_from_within_a_container(system: Path) -> None:
    (system / "cgroup").write_text("0::/system.slice/docker-1.scope\n")
    _limit(system, str(2 << 30), 1 << 30, 0, version=2)
    assert memory.available() == 1 << 30


def test_a_system_that_does_not_say_refuses_nothing(system: Path) -> None:
    (system / "meminfo").unlink()
    assert memory.available() is None
    memory.require(1e30, "this", "nothing")


def test_more_than_there_is_is_refused_in_one_line(system: Path) -> None:
    memory.require(7 << 30, "fitting", "fit less")
    with pytest.raises(InputError, match=r"^fitting needs about 9\.0 GB of memory, 8\.0 GB are free; fit less$"):
        memory.require(9 << 30, "fitting", "fit less")


def test_a_fit_that_cannot_succeed_is_refused_before_it_begins(
    system: Path, monkeypatch: pytest.MonkeyPatch, animals: Taxonomy
) -> None:
    (system / "meminfo").write_text("MemAvailable: 1 kB\n")

    def never(self: GramEncoder, texts: object) -> None:
        raise AssertionError("encoded although the memory was not there")

    monkeypatch.setattr(GramEncoder, "encode", never)
    with pytest.raises(InputError, match=r"^fitting .* concepts .* needs about .*; fit a part of the taxonomy"):
        Polaris().fit(animals, encoder=GramEncoder())


def test_a_list_that_cannot_be_placed_is_refused_before_it_is_ranked(
    system: Path, monkeypatch: pytest.MonkeyPatch, animals: Taxonomy
) -> None:
    model = Polaris().fit(animals, encoder=GramEncoder())
    (system / "meminfo").write_text("MemAvailable: 40 kB\n")
    monkeypatch.setattr(GramEncoder, "encode", None)
    with pytest.raises(InputError, match=r"^placing 2 new concepts together needs about .*; divide the list"):
        model.expand(["red bird", "blue bird"])


def test_queries_that_do_not_fit_are_refused_before_they_are_encoded(
    system: Path, monkeypatch: pytest.MonkeyPatch, animals: Taxonomy
) -> None:
    model = Polaris().fit(animals, encoder=GramEncoder())
    (system / "meminfo").write_text("MemAvailable: 400 kB\n")

    def never(self: GramEncoder, texts: object) -> None:
        raise AssertionError("encoded although the memory was not there")

    monkeypatch.setattr(GramEncoder, "encode", never)
    with pytest.raises(InputError, match=r"^placing 2 concepts among .* needs about .* fewer at a time$"):
        list(model.suggest_many(["sea eagle", "reed warbler"]))


def test_a_model_larger_than_the_memory_is_refused_before_it_is_opened(
    system: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, animals: Taxonomy
) -> None:
    Polaris().fit(animals, encoder=GramEncoder()).save(tmp_path / "model")
    Polaris.load(tmp_path / "model", encoder=GramEncoder())
    monkeypatch.setattr(memory, "_of_process", lambda: 1000)  # mapped files count for the limit of the address space
    with pytest.raises(InputError, match=r"^loading the model '.*model' needs about .* GB are free; raise the limit"):
        Polaris.load(tmp_path / "model", encoder=GramEncoder())
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    (system / "meminfo").write_text("MemAvailable: 1 kB\n")
    with pytest.raises(InputError, match=r"^loading the model '.*model' needs about"):
        Polaris.load(tmp_path / "model", encoder=GramEncoder())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_freed_memory_is_used_again_within_and_given_back_in_the_end() -> None:
    """In a process of its own: counted in pages that the system had to clear, and in memory held afterwards."""
    script = """
import resource, numpy as np
from pathlib import Path
from taxosphere import memory

def cleared():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.ones(8 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

outside, before = cleared(), held()
with memory.reused():
    cleared()  # its first block comes from the system
    within = cleared()
print(outside, within, held() - before)
"""
    run = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True)
    outside, within, kept = map(int, run.stdout.split())
    assert within < 0.2 * outside
    assert kept < 8 << 20  # of arrays of 64 MB
