"""Draw all measured studies again from their records, and the page that lists them with their verdicts.

Usage: python scripts/draw_studies.py [docs/results/studies]
"""

from __future__ import annotations

import sys
from pathlib import Path

from taxosphere import atomic
from taxosphere.cli.study import write
from taxosphere.evaluation import records, studies
from taxosphere.evaluation.studies.frame import Findings
from taxosphere.report.studies import index

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results/studies")
    for place in sorted(file.parent for file in folder.glob("*/about.json")):
        findings = Findings(studies.get(place.name), records.read(place / "runs.jsonl"))
        write(place, findings, findings.study.verdict(findings), records.read_about(place))
    with atomic.file(folder / "README.md") as temporary:
        temporary.write_text(index(folder), encoding="utf-8")
