"""Draw all measured benches and studies again from their records, the page that lists the studies' verdicts, and the
tables that pages quote between ``<!-- table FOLDER SET -->`` and ``<!-- end -->``.

Usage: python scripts/draw_results.py [docs/results]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from taxosphere import atomic
from taxosphere.evaluation import records, studies
from taxosphere.evaluation.studies.base import Findings
from taxosphere.report import bench_page, study_page, tables

QUOTED = re.compile(r"(<!-- table (\S+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def quoted(match: re.Match[str]) -> str:
    """The table of a data set as its records give it, without title and note."""
    drawn = tables.bench_tables(records.read(Path(match[2]) / "runs.jsonl"))
    text = tables.markdown([table for table in drawn if table.title == match[3]])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return "\n".join([match[1].rstrip(), *rows, match[4]])


if __name__ == "__main__":
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results")
    for place in sorted(file.parent for file in results.glob("*/about.json")):
        bench_page.write(place, records.read_about(place))
    for place in sorted(file.parent for file in results.glob("studies/*/about.json")):
        findings = Findings(studies.get(place.name), records.read(place / "runs.jsonl"))
        study_page.write(place, findings, findings.study.verdict(findings), records.read_about(place))
    atomic.write_text(results / "studies" / "README.md", study_page.index(results / "studies"))
    for page in sorted(results.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (drawn := QUOTED.sub(quoted, text)) != text:
            atomic.write_text(page, drawn)
