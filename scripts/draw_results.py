"""Draw all measured benches and studies again from their records, and the page that lists the studies' verdicts.

Usage: python scripts/draw_results.py [docs/results]
"""

from __future__ import annotations

import sys
from pathlib import Path

from taxosphere import atomic
from taxosphere.evaluation import records, studies
from taxosphere.evaluation.studies.base import Findings
from taxosphere.report import bench_page, study_page

if __name__ == "__main__":
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results")
    for place in sorted(file.parent for file in results.glob("*/about.json")):
        bench_page.write(place, records.read_about(place))
    for place in sorted(file.parent for file in results.glob("studies/*/about.json")):
        findings = Findings(studies.get(place.name), records.read(place / "runs.jsonl"))
        study_page.write(place, findings, findings.study.verdict(findings), records.read_about(place))
    atomic.write_text(results / "studies" / "README.md", study_page.index(results / "studies"))
