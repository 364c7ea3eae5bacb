"""The core works where nothing is installed but what it asks for: every other package is hidden from these tests."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HIDE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Absent())
"""


@cache
def hidden() -> list[str]:
    """Top-level modules of all installed packages that taxosphere without extras does not need."""
    needed, waiting = {"taxosphere", "pip", "setuptools"}, ["taxosphere"]
    while waiting:
        for line in requires(waiting.pop()) or []:
            requirement = Requirement(line)
            name = canonicalize_name(requirement.name)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and name not in needed:
                needed.add(name)
                waiting.append(name)
    owners = packages_distributions()
    return sorted(module for module, names in owners.items() if not needed & {canonicalize_name(n) for n in names})


def run(code: str) -> subprocess.CompletedProcess[str]:
    program = f"HIDDEN = {set(hidden())!r}\n{HIDE}{code}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_torch_is_among_what_is_hidden() -> None:
    assert {"torch", "transformers", "networkx", "pandas", "pyoxigraph"} <= set(hidden())
    assert {"numpy", "scipy", "typer", "taxosphere"}.isdisjoint(hidden())


def test_reading_checking_splitting_and_writing(tmp_path: Path) -> None:
    folder = tmp_path / "animals"
    folder.mkdir()
    (folder / "nodes.tsv").write_text("id\tname\tdescription\na\tanimal\t\nb\tbird\twith wings\nd\tdog\t\n", "utf-8")
    (folder / "edges.tsv").write_text("parent_id\tchild_id\na\tb\na\td\n", "utf-8")
    code = f"""
import taxosphere
from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.taxonomy import split
t = Taxonomy.read({str(folder)!r})
assert t.problems() == [] and t.descendants.tolist() == [2, 0, 0]
assert len(split.leaves(t, 0.5).queries) == 1
assert main(["inspect", {str(folder)!r}, "--json"]) == 0
assert main(["convert", {str(folder)!r}, {str(tmp_path / "animals.csv")!r}]) == 0
assert main(["convert", {str(tmp_path / "animals.csv")!r}, {str(tmp_path / "again")!r}]) == 0
assert main(["methods"]) == 0
back = Taxonomy.read({str(tmp_path / "again")!r})
assert list(back.edges()) == list(t.edges()) and back.descriptions == t.descriptions
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_what_needs_more_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("<http://e.org/a> <http://e.org/b> <http://e.org/c> .\n", "utf-8")
    done = run(f"from taxosphere.cli import main\nsys.exit(main(['inspect', {str(tmp_path / 'a.ttl')!r}]))")
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["error: this needs the package 'pyoxigraph': pip install 'taxosphere[rdf]'"]


def test_commands_that_need_more_say_which_extra_brings_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("parent,child\nanimal,bird\n", "utf-8")
    code = f"""
from taxosphere.cli import main
table = {str(tmp_path / "t.csv")!r}
for words in (["fit", table, "-o", "m"], ["suggest", "m", "owl"], ["expand", "m", "n.csv", "-o", "x.obo"],
              ["evaluate", table], ["demo"], ["serve", "--demo"], ["mcp", "m"]):
    assert main(words) == 1, words
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 7
    assert all(line.startswith("error: this needs the package '") for line in lines), lines
    assert "pip install 'taxosphere[serve]'" in lines[5]  # the one extra that brings all that 'serve' needs
