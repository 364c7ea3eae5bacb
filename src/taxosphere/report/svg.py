"""Small charts as inline SVG; colours come from the page's variables, so they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from taxosphere.evaluation.reliability import Reliability
from taxosphere.percent import percent
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


_REACH, _LEFT, _TOP = 190, 26, 58  # radius of the outermost orbit, and where its centre line and its upper end are
_COLUMN, _LINE = 262, 24  # where labels begin, and how far apart they are
_LABEL = 30  # letters
_CLOSEST = 0.01  # orbital radius that is drawn; roots are used, so that the many broad concepts do not cover each other
_WIDEST, _STRETCH = 2.0, 4.0  # largest angle that is drawn, in radians, and by how much small ones are stretched


def orbit(query: str, satellites: Sequence[Satellite]) -> Markup:
    """Candidates around a query, which points straight up; the best comes first.

    All are drawn on the right half, their angles stretched to fill it. Labels stand in a column beside it, in the
    order of their circles from top to bottom, each joined to its circle by a line, so that no two labels meet. A true
    parent is marked with a tick, a wrong first answer with a cross.
    """
    centre = _TOP + _REACH
    stretch = min(_STRETCH, _WIDEST / max([0.01, *(item.angle for item in satellites)]))
    places = []
    for number, item in enumerate(satellites):
        distance, angle = _REACH * math.sqrt(max(_CLOSEST, item.radius)), stretch * item.angle
        x, y = _LEFT + math.sin(angle) * distance, centre - math.cos(angle) * distance
        places.append((y, x, number, item))
    places.sort(key=lambda place: place[:3])
    lines = _label_lines([y for y, *_ in places])
    height = max(centre + 30, *(y for y, *_ in places), lines[-1] + 20) if places else centre + 30
    parts = []
    for reach in (_REACH * math.sqrt(radius) for radius in (0.1, 0.25, 0.5, 0.75, 1.0)):
        end_x, end_y = _LEFT + reach * math.sin(_WIDEST), centre - reach * math.cos(_WIDEST)
        way = f"M {_LEFT} {centre - reach:.1f} A {reach:.1f} {reach:.1f} 0 0 1 {end_x:.1f} {end_y:.1f}"
        parts.append(f'<path d="{way}" fill="none" stroke="var(--line)"/>')
    parts.append(
        f'<line x1="{_LEFT}" y1="{centre}" x2="{_LEFT}" y2="{_TOP - 14}" stroke="var(--soft)" stroke-dasharray="3 5"/>'
    )
    parts.append(_text(4, 22, _shortened(query, 52), "start", 'font-weight="600"'))
    marks = [_satellite(place, line) for place, line in zip(places, lines, strict=True)]
    parts += [part for drawn, _ in marks for part in drawn]
    parts += [label for _, label in marks]
    return _svg(520, round(height), f"Candidates around {query}", parts)


def _satellite(place: tuple[float, float, int, Satellite], line: float) -> tuple[list[str], str]:
    """The circle of a candidate with the line to its label, and the label at height ``line``."""
    y, x, number, item = place
    wrong = number == 0 and not item.gold
    colour = "var(--good)" if item.gold else "var(--bad)" if wrong else "var(--accent)"
    size = 4 + 10 * math.sqrt(max(0.0, item.probability))
    title = (
        f"{item.label}: {percent(item.probability)}, {math.degrees(item.angle):.0f}° away, radius {item.radius:.2f}, "
        f"gate {'open' if item.accepted else 'closed'}"
    )
    drawn = [
        f'<polyline points="{x:.1f},{y:.1f} {_COLUMN - 26},{line:.1f} {_COLUMN - 8},{line:.1f}" fill="none" '
        'stroke="var(--soft)" stroke-opacity="0.45"/>',
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{colour if item.accepted else "var(--paper)"}" '
        f'fill-opacity="{0.75 if item.accepted else 1}" stroke="{colour}" stroke-width="1.5">'
        f"<title>{escape(title)}</title></circle>",
    ]
    mark = "✓ " if item.gold else "✗ " if wrong else ""
    weight = ' font-weight="600"' if item.gold or wrong else ""
    label = f"{mark}{_shortened(item.label, _LABEL)}"
    style = f'style="fill: {colour}"{weight}' if item.gold or wrong else ""
    return drawn, _text(_COLUMN, line + 4, label, "start", style) + _text(
        512, line + 4, percent(item.probability), "end", 'class="soft"'
    )


def _label_lines(heights: Sequence[float]) -> list[float]:
    """Heights of labels for circles at ascending ``heights``: near them, in their order, at least a line apart."""
    lines: list[float] = []
    for height in heights:
        lines.append(max(height, lines[-1] + _LINE) if lines else max(height, _TOP))
    bottom = max(_TOP + 1.35 * _REACH, _TOP + _LINE * (len(lines) - 1))
    for i in range(len(lines) - 1, -1, -1):  # the lowest move up where the column has become too long
        lines[i] = min(lines[i], bottom - _LINE * (len(lines) - 1 - i))
    return lines


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
