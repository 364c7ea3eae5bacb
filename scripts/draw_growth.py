"""Draw how fit and suggestions grow with the number of concepts: docs/figures/growth.svg from docs/results/growth.json.

python scripts/draw_growth.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD, TARGET = ROOT / "docs" / "results" / "growth.json", ROOT / "docs" / "figures" / "growth.svg"
LINES = (
    ("fit, CPU s", lambda r: r["fit"], "#2f6fde"),
    ("batch of 64, ms a query", lambda r: r["batch of 64, ms a query"], "#d98a1f"),
    ("one suggestion, ms", lambda r: r["one suggestion, ms"], "#1c8a5a"),
    ("memory of the fit, GB", lambda r: r["memory of the fit"], "#c2453b"),
)
WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT, TOP = 640, 340, 60, 40, 190, 20


def draw(record: dict[str, dict[str, float]]) -> str:
    """An SVG with both axes logarithmic: a slope of one is linear growth."""
    rows = sorted((row for key, row in record.items() if key.isdigit()), key=lambda row: row["concepts"])
    sizes = [row["concepts"] for row in rows]
    values = [value(row) for _, value, _ in LINES for row in rows]
    low, high = (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))
    first, last = math.log10(sizes[0]), max(math.log10(sizes[-1]), math.log10(sizes[0]) + 1e-9)

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Cost by number of concepts</title>",
        "<style>text { font: 12px sans-serif; fill: #1c2330; }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        place = y(10**power)
        parts.append(f'<path d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}" stroke="#dfe3ea"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{place + 4:.1f}" text-anchor="end">{10**power:g}</text>')
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>')
    for label, value, colour in LINES:
        points = [(x(row["concepts"]), y(value(row))) for row in rows]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}">{label}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(draw(json.loads(RECORD.read_text(encoding="utf-8"))), encoding="utf-8")
