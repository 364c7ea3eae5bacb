"""Write the command reference from the commands' own help: docs/reference/commands.md.

Usage: python scripts/draw_commands.py
"""

from __future__ import annotations

from pathlib import Path

from taxosphere import atomic
from taxosphere.cli.reference import page

TARGET = Path(__file__).resolve().parents[1] / "docs" / "reference" / "commands.md"

if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    atomic.write_text(TARGET, page())
