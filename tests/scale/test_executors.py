"""Work in other processes: the same results in the same order, also when a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from taxosphere.errors import InputError, TaxosphereError
from taxosphere.scale.executors import DaskCluster, InProcess, Processes, open_executor


def double(number: int) -> int:
    return 2 * number


def zero_waits(item: tuple[int, str, str]) -> int:
    """The number; 1 makes the first file, and 0 waits for the second one."""
    number, made, awaited = item
    if number == 1:
        Path(made).touch()
    until = time.monotonic() + 120
    while number == 0 and not Path(awaited).exists() and time.monotonic() < until:
        time.sleep(0.01)
    return number


def die_once(item: tuple[int, str]) -> int:
    """Kills its process at the number 3, if it is the first to get there."""
    number, mark = item
    if number == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise InputError(f"{number} is wrong", "list.csv", 3)


def threads(_: int) -> str | None:
    return os.environ.get("OMP_NUM_THREADS")


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes(2) as pool:
        yield pool


def test_results_come_in_the_order_of_the_items(processes: Processes, tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    assert list(processes.map(zero_waits, [(number, mark, mark) for number in range(6)])) == list(range(6))
    assert list(InProcess().map(double, range(3))) == [0, 2, 4]


def test_results_may_come_as_they_finish(processes: Processes, tmp_path: Path) -> None:
    items = [(number, str(tmp_path / "done"), str(tmp_path / "go")) for number in range(4)]
    results = processes.unordered(zero_waits, items)
    first = next(results)
    (tmp_path / "go").touch()
    assert first[1] != 0
    assert sorted([first, *results]) == [(item, item[0]) for item in items]
    assert list(InProcess().unordered(double, [1, 2])) == [(1, 2), (2, 4)]


def test_items_are_taken_as_they_are_needed(processes: Processes) -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = processes.map(double, items())
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    assert len(taken) < 10


def test_an_error_of_the_work_arrives_whole(processes: Processes) -> None:
    with pytest.raises(InputError, match=r"list.csv:3: 7 is wrong"):
        list(processes.map(fail, [7]))


def test_a_dead_worker_loses_nothing(tmp_path: Path) -> None:
    with Processes(2) as pool:
        items = [(number, str(tmp_path / "mark")) for number in range(8)]
        assert list(pool.map(die_once, items)) == list(range(8))
    assert (tmp_path / "mark").exists()


def test_work_that_kills_every_worker_is_given_up() -> None:
    with Processes(1) as pool, pytest.raises(TaxosphereError, match="died 4 times"):
        list(pool.map(die, [1]))


def test_workers_share_the_cores(processes: Processes) -> None:
    assert next(processes.map(threads, [0])) == str(max(1, (os.cpu_count() or 1) // 2))


def test_no_scheduler_there() -> None:
    pytest.importorskip("distributed", reason="needs taxosphere[dask]")
    with pytest.raises(InputError, match="no dask scheduler"), open_executor(scheduler="tcp://127.0.0.1:9"):
        pass


def test_a_dask_cluster_gives_the_same_and_survives_a_kill(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs taxosphere[dask]")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, DaskCluster(cluster.scheduler_address) as executor:
        assert list(executor.map(double, range(9))) == [2 * number for number in range(9)]
        items = [(number, str(tmp_path / "mark")) for number in range(8)]
        assert list(executor.map(die_once, items)) == list(range(8))
        assert sorted(executor.unordered(double, range(5))) == [(number, 2 * number) for number in range(5)]
    assert (tmp_path / "mark").exists()
