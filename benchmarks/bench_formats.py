"""Time and memory of reading large files, in a process each: tables of a million rows, OBO and Turtle.

    python benchmarks/bench_formats.py [--rows 1000000]

Every line says the CPU seconds, the wall seconds and the peak memory of a process that does nothing else, and whether
it is within the line that is drawn for it. OBO and Turtle are compared with pronto and rdflib where they are installed,
each by the median of three processes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

READ = "from taxosphere import Taxonomy; t = Taxonomy.read({path!r}); size = len(t), len(t.edge_array)"
MEASURED = """
import json, resource, time
wall, cpu = time.perf_counter(), time.process_time()
{code}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall, usage.ru_maxrss / 1024, size]))
"""
SECONDS, MEGABYTES = 15, 1500  # the lines for a table of a million rows


def concept_table(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.write("id,name,parent_id,description,weight\n")
        for i in range(rows):
            parent = f"C{(i - 1) // 7:07d}" if i else ""
            handle.write(f'C{i:07d},Concept number {i},{parent},"A short text, about {i}",{i % 17}\n')


def level_table(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.write("Level 1,Level 2,Level 3,Level 4\n")
        for i in range(rows):
            handle.write(f"A{i % 10},B{i % 100},C{i % 10_000},D{i}\n")


def path_list(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as handle:
        for i in range(rows):
            handle.write(f"{i} - A{i % 10} > B{i % 100} > C{i % 10_000} > D{i}\n")


def ontology(path: Path, terms: int) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.write("format-version: 1.4\nontology: x\n")
        for i in range(terms):
            above = f"is_a: X:{(i - 1) // 7:07d} ! term {(i - 1) // 7}\n" if i else ""
            definition = f'def: "What term {i} means." [X:d]\nsynonym: "synonym {i}" EXACT []\n'
            handle.write(f"\n[Term]\nid: X:{i:07d}\nname: term {i}\n{definition}{above}")


def thesaurus(path: Path, concepts: int) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.write("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix x: <http://x.y/> .\n")
        for i in range(concepts):
            above = f" ; skos:broader x:c{(i - 1) // 7}" if i else ""
            handle.write(
                f'x:c{i} a skos:Concept ; skos:prefLabel "concept {i}"@en ; skos:altLabel "c {i}"@en{above} .\n'
            )


@cache
def compiled_environment() -> dict[str, str]:
    """The environment of all measured processes: nobody's modules are compiled while the time is taken."""
    others = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment = others | {"PYTHONPYCACHEPREFIX": tempfile.mkdtemp(prefix="compiled-")}
    code = "import importlib\nfrom taxosphere.taxonomy.formats.registry import FORMATS\n"
    code += "for form in FORMATS.values(): form.read\nfor name in ('rdflib', 'pronto'):\n"
    code += "    try: importlib.import_module(name)\n    except ImportError: pass\n"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=environment)
    return environment


def measured(code: str, times: int = 1) -> tuple[float, float, float, tuple[int, int]]:
    """CPU seconds, wall seconds, peak megabytes and size of what was read; of several fresh processes the median by
    CPU seconds."""
    command = [sys.executable, "-W", "ignore", "-c", MEASURED.format(code=code)]
    runs = []
    for _ in range(times):
        answer = subprocess.run(command, capture_output=True, text=True, check=True, env=compiled_environment())
        runs.append(json.loads(answer.stdout.splitlines()[-1]))
    cpu, wall, memory, size = sorted(runs)[times // 2]
    return cpu, wall, memory, tuple(size)


def show(what: str, code: str, other: float | None = None) -> float:
    cpu, wall, memory, (concepts, edges) = measured(code, times=3)
    ratio = f"  {other / cpu:5.1f} times as fast" if other else ""
    print(f"{what:34} {cpu:6.1f} CPU s {wall:6.1f} s {memory:7,.0f} MB {concepts:9,} {edges:9,}{ratio}", flush=True)
    return cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, make in (("concepts.csv", concept_table), ("levels.csv", level_table), ("paths.txt", path_list)):
            make(place / name, rows)
            cpu, wall, memory, size = measured(READ.format(path=str(place / name)))
            fits = "within" if cpu < SECONDS and memory < MEGABYTES else "BEYOND"
            told = f"{cpu:6.1f} CPU s {wall:6.1f} s {memory:7,.0f} MB"
            print(f"{name:34} {told} {size[0]:9,} {size[1]:9,}  {fits} {SECONDS} s, {MEGABYTES} MB", flush=True)
        ontology(place / "x.obo", rows // 10)
        other = None
        if importlib.util.find_spec("pronto"):
            code = f"import pronto; o = pronto.Ontology({str(place / 'x.obo')!r}); size = len(o.terms()), 0"
            other = show("x.obo by pronto", code)
        show("x.obo", READ.format(path=str(place / "x.obo")), other)
        thesaurus(place / "x.ttl", rows // 10)
        other = None
        if importlib.util.find_spec("rdflib"):
            code = f"import rdflib; g = rdflib.Graph().parse({str(place / 'x.ttl')!r}); size = len(g), 0"
            other = show("x.ttl by rdflib", code)
        show("x.ttl", READ.format(path=str(place / "x.ttl")), other)


if __name__ == "__main__":
    main()
