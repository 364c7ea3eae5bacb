"""Wheel and source archive hold the built page; where it cannot be built, they say so and go without it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page before the files are gathered; a source archive that holds one keeps it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the hook's interface)
        root = Path(self.root)
        script = root / "web" / "build.py"
        page = root / "src" / "taxosphere" / "service" / "page" / "index.html"
        unpacked = (root / "PKG-INFO").is_file()  # only a source archive has one
        if version == "editable" or not script.is_file() or (unpacked and page.is_file()):
            return
        reason = runpy.run_path(str(script))["build"]()
        if reason and not page.is_file():
            self.app.display_warning(f"the page of the workbench is left out: {reason}")
