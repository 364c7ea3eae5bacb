"""What a result must say about itself: how, where and when it was made."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def about(encoder: str) -> dict[str, str]:
    from taxosphere import artifact

    return {
        "command": shlex.join(["taxosphere", *sys.argv[1:]]),
        "encoder": encoder,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "date": datetime.now(UTC).date().isoformat(),
        "versions": ", ".join(f"{name} {number}" for name, number in artifact.versions().items()),
    }


def history(folder: Path, encoder: str) -> dict[str, Any]:
    """How the results in a folder came about: what was continued or widened keeps all its commands."""
    from taxosphere.evaluation import records

    now: dict[str, Any] = about(encoder)
    before = records.read_about(folder)
    now["commands"] = list(dict.fromkeys([*before.get("commands", []), now.pop("command")]))
    return now
