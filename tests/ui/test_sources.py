"""The sources of the page: types, lint and unit tests, run by the tools they were written with."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "web"


@pytest.mark.parametrize("task", ["check", "lint", "test"])
def test_the_sources_pass(task: str) -> None:
    node = runpy.run_path(str(WEB / "build.py"))["find_node"]()
    if node is None or not (WEB / "node_modules" / "svelte").is_dir():
        pytest.skip("the page's packages are not installed (./run web)")
    path = f"{node}{os.pathsep}{os.environ.get('PATH', '')}"  # npm is a script that looks for node there
    done = subprocess.run(
        [node / "npm", "run", "--silent", task],
        cwd=WEB,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere() -> None:
    """Every address in the sources is one of the page itself; namespaces of SVG are not fetched."""
    elsewhere = re.compile(r"""(?:src|href|url|import|fetch)\W{1,3}https?://""")
    sources = [WEB / "index.html", *(path for path in (WEB / "src").rglob("*") if path.is_file())]
    assert [path.name for path in sources if elsewhere.search(path.read_text(encoding="utf-8"))] == []


def test_no_inline_script_or_style() -> None:
    """The service allows neither; Svelte sets styles by script, which is allowed."""
    inline = re.compile(r"""\sstyle=["{]|<script>(?!\s*</script>)|javascript:|\{@html""")
    sources = [WEB / "index.html", *(WEB / "src").rglob("*.svelte")]
    assert [path.name for path in sources if inline.search(path.read_text(encoding="utf-8"))] == []


def test_the_page_that_was_built_is_not_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/src/taxosphere/service/page/" in ignored
    assert "/web/node_modules/" in ignored
