"""Small charts as inline SVG; colours come from the page's variables, so they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from taxosphere.evaluation.reliability import Reliability
from taxosphere.report.html import Markup


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> Markup:
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return Markup(
        f'<svg {box} role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(text)}</text>'


def reliability(curve: Reliability, title: str = "Calibration") -> Markup:
    """Reliability diagram: a circle per bin that is not empty, against the diagonal of perfect calibration."""
    size, left, top = 260, 44, 12
    largest = max(1, curve.counts.max())
    parts = [
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="var(--line)"/>',
        f'<line x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}" stroke="var(--soft)" '
        'stroke-dasharray="4 4"/>',
    ]
    for tick in (0.0, 0.5, 1.0):
        parts.append(_text(left + tick * size, top + size + 16, f"{tick:g}", extra='class="soft"'))
        parts.append(_text(left - 8, top + (1 - tick) * size + 4, f"{tick:g}", "end", 'class="soft"'))
    for probability, right, count in zip(curve.confidence, curve.accuracy, curve.counts, strict=True):
        if count == 0:
            continue
        x, y = left + probability * size, top + (1 - right) * size
        radius = 3 + 8 * math.sqrt(count / largest)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="var(--accent)" fill-opacity="0.75">'
            f"<title>said {probability:.0%}, was right {right:.0%} of {count}</title></circle>"
        )
    parts.append(_text(left + size / 2, top + size + 34, "stated probability", extra='class="soft"'))
    parts.append(
        _text(0, 0, "share right", extra=f'class="soft" transform="translate(12 {top + size / 2}) rotate(-90)"')
    )
    return _svg(left + size + 16, top + size + 42, title, parts)


@dataclass(frozen=True, slots=True)
class Satellite:
    """A candidate in the drawing of `orbit`."""

    label: str
    angle: float  # radians between its direction and the query's, 0 … π
    radius: float  # orbital radius, 0 … 1
    probability: float
    accepted: bool  # by the gate
    gold: bool


def orbit(query: str, satellites: Sequence[Satellite]) -> Markup:
    """Candidates around a query, whose direction is straight up; angles are drawn to both sides in turn."""
    size, reach = 520, 200
    middle = size / 2
    parts = [
        f'<circle cx="{middle}" cy="{middle}" r="{reach * share:.1f}" fill="none" stroke="var(--line)"/>'
        for share in (0.25, 0.5, 0.75, 1.0)
    ]
    parts.append(
        f'<line x1="{middle}" y1="{middle}" x2="{middle}" y2="{middle - reach - 18}" stroke="var(--soft)" '
        'stroke-dasharray="3 5"/>'
    )
    parts.append(_text(middle, middle - reach - 26, query, extra='font-weight="600"'))
    for number, item in enumerate(satellites):
        side = -1 if number % 2 else 1
        x = middle + side * math.sin(item.angle) * reach * max(0.08, item.radius)
        y = middle - math.cos(item.angle) * reach * max(0.08, item.radius)
        colour = "var(--good)" if item.gold else "var(--accent)" if item.accepted else "var(--soft)"
        fill = colour if item.accepted else "none"
        dot = 4 + 12 * math.sqrt(max(0.0, item.probability))
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}" fill="{fill}" fill-opacity="0.7" stroke="{colour}">'
            f"<title>{escape(item.label)}: {item.probability:.0%}, {math.degrees(item.angle):.0f}° away, "
            f"radius {item.radius:.2f}, gate {'open' if item.accepted else 'closed'}</title></circle>"
        )
        parts.append(_text(x + side * (dot + 4), y + 4, item.label, "start" if side > 0 else "end"))
    return _svg(size, size - 20, f"Orbits around {query}", parts)
