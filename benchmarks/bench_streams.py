"""Long lists: memory while a list is answered, kills and resumes, growth of expand, and dask workers beside one.

    python benchmarks/bench_streams.py memory MODEL --names 50000 [--kills 3]
    python benchmarks/bench_streams.py expand MODEL --names 1000 3000 10000 30000
    python benchmarks/bench_streams.py workers MODEL --names 20000

`memory` answers lists of growing length in a process of its own and prints its largest memory, which must not grow;
with --kills it kills (SIGKILL) one run that often, resumes it, and compares the bytes with those of an undisturbed run.
What it has finished stays in --folder, so that a long run can be gone on with. `expand` prints processor seconds and
the exponent between list lengths. `workers` places a list with one dask worker and with two, and once more with two of
which one is killed in the middle; outputs must be equal. Names are made up from those of the model's taxonomy.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from taxosphere import artifact
from taxosphere.placing.list_reader import stream_list
from taxosphere.scale import Placer
from taxosphere.scale.executors import DaskCluster
from taxosphere.scale.stream import Stream
from taxosphere.taxonomy import Taxonomy


def write_names(model: Path, count: int, path: Path) -> Path:
    """A table of ``count`` different made-up names, with a column of its own."""
    if path.exists():
        return path
    taxonomy = Taxonomy.read(model / artifact.SEED)
    words = sorted({word for name in taxonomy.names for word in name.split() if word.isalpha() and len(word) > 3})
    chance = random.Random(0)
    seen: dict[str, None] = {}
    while len(seen) < count:
        name = f"{chance.choice(words)} {chance.choice(taxonomy.names)}"
        seen.setdefault(f"{chance.choice(words)} {name}" if chance.random() < 0.3 else name)
    rows = (f"{number}\t{name}\n" for number, name in enumerate(seen))
    path.write_text("number\tname\n" + "".join(rows), encoding="utf-8")
    return path


def suggest(model: Path, names: Path, out: Path, *more: str) -> list[str]:
    """The command that answers a list without sentences."""
    base = [sys.executable, "-m", "taxosphere", "suggest", str(model), "--file", str(names), "-o", str(out)]
    return [*base, "-k", "5", "--no-sentences", "--quiet", *more]


def measured(command: list[str]) -> tuple[float, float]:
    """Processor seconds and largest memory (MB) of a command and its children."""
    pid = os.spawnv(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def memory(model: Path, folder: Path, counts: list[int], kills: int) -> None:
    """Largest memory by list length, then kills of the longest."""
    for count in counts:
        out = folder / f"out{count}.jsonl"
        seconds, most = measured(suggest(model, write_names(model, count, folder / f"{count}.tsv"), out, "--resume"))
        print(
            f"{count:>9,} names: {seconds:8.1f} CPU s, {1e3 * seconds / count:6.2f} ms a name, {most:7.0f} MB",
            flush=True,
        )
    if kills:
        killed = folder / "killed.jsonl"
        command = suggest(model, folder / f"{counts[-1]}.tsv", killed, "--resume")
        chance = random.Random(1)
        parts = folder / f".{killed.name}.parts"
        for number in range(kills):
            process = subprocess.Popen(command)
            wanted = (number + 1) * (counts[-1] // 1024) // (kills + 1)
            while process.poll() is None and len(list(parts.glob("[0-9]*.part"))) < wanted:
                time.sleep(0.2)
            time.sleep(chance.random())
            process.kill()
            process.wait()
            print(f"killed with {len(list(parts.glob('[0-9]*.part')))} parts finished", flush=True)
        subprocess.run(command, check=True)
        same = digest(killed) == digest(folder / f"out{counts[-1]}.jsonl")
        print(f"after {kills} kills the same bytes: {'yes' if same else 'NO'}")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def expand(model: Path, folder: Path, counts: list[int]) -> None:
    """Processor seconds by list length, and exponents between them."""
    before: tuple[int, float] | None = None
    for count in counts:
        names = write_names(model, count, folder / f"{count}.tsv")
        base = [sys.executable, "-m", "taxosphere", "expand", str(model), str(names), "--quiet"]
        seconds, most = measured([*base, "-o", str(folder / f"grown{count}.obo"), "--accept", "0.5"])
        exponent = "" if before is None else f", exponent {math.log(seconds / before[1], count / before[0]):.2f}"
        print(f"{count:>9,} new: {seconds:8.1f} CPU s, {most:7.0f} MB{exponent}", flush=True)
        before = count, seconds


def workers(model: Path, folder: Path, count: int) -> None:
    """One dask worker, two, and two of which one is killed."""
    from distributed import LocalCluster

    names = write_names(model, count, folder / f"{count}.tsv")
    placer = Placer(model, k=5, sentences=False, threads=1)
    times: dict[str, float] = {}
    digests = set()
    for label, number, kill in (("one", 1, False), ("two", 2, False), ("one of two killed", 2, True)):
        options = {"n_workers": number, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with LocalCluster(**options) as cluster, DaskCluster(cluster.scheduler_address) as executor:
            list(executor.map(placer.documents, [[]] * 8))
            warm = [row.concept for row in stream_list(names)][:16]
            list(executor.map(placer.documents, [warm] * 4 * number))  # every worker has the model
            victim = next(iter(cluster.workers.values())).pid if kill else None
            out, began = folder / "workers.jsonl", time.perf_counter()

            def report(done: int, victim: int | None = victim) -> None:
                if victim is not None and done > count // 2 and Path(f"/proc/{victim}").exists():
                    os.kill(victim, signal.SIGKILL)

            rows = stream_list(names)
            stream = Stream(rows=rows, source=names, form="jsonl", placer=placer, executor=executor, report=report)
            with out.open("wb") as file:
                stream.to_stream(file)
            times[label] = time.perf_counter() - began
        digests.add(digest(out))
        print(f"{label}: {times[label]:.1f} s", flush=True)
    print(f"two are {times['one'] / times['two']:.2f} times as fast as one; outputs equal: {len(digests) == 1}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["memory", "expand", "workers"])
    parser.add_argument("model", type=Path)
    parser.add_argument("--names", type=int, nargs="+", default=[50_000])
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("bench-streams"))
    stated = parser.parse_args()
    stated.folder.mkdir(exist_ok=True)
    if stated.what == "memory":
        memory(stated.model, stated.folder, stated.names, stated.kills)
    elif stated.what == "expand":
        expand(stated.model, stated.folder, stated.names)
    else:
        workers(stated.model, stated.folder, stated.names[0])


if __name__ == "__main__":
    main()
