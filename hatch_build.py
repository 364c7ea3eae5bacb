"""The wheel holds the built page; a wheel built where the page cannot be built says so and goes without it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page before the files of the wheel are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the hook's interface)
        root = Path(self.root)
        script = root / "web" / "build.py"
        if version == "editable" or not script.is_file():
            return
        reason = runpy.run_path(str(script))["build"]()
        if reason and not (root / "src" / "taxosphere" / "service" / "page" / "index.html").is_file():
            self.app.display_warning(f"the page of the workbench is left out: {reason}")
