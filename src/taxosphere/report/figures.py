"""Charts of results as inline SVG: bars with deviations, lines over a setting, histograms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from taxosphere.report.html import Markup
from taxosphere.report.svg import _svg, _text

_MOST_TICKS = 12  # numbers below an axis, so that they do not overlap
COLOURS = ("var(--accent)", "var(--warm)", "var(--good)", "var(--bad)", "var(--soft)")


_FILE_STYLE = """<style>svg { --ink: #1c2330; --soft: #5b6577; --line: #dfe3ea; --accent: #2f6fde; --good: #1c8a5a;
--bad: #c2453b; --warm: #d98a1f; background: #fff; } text { font: 12px sans-serif; fill: #1c2330; }
.soft { fill: #5b6577; }</style>"""


def standalone(figure: Markup) -> str:
    """An SVG figure as the content of a file of its own, with the colours that its page would define."""
    head, _, rest = figure.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{_FILE_STYLE}{rest}\n'


@dataclass(frozen=True)
class Bar:
    """A row of `bars`."""

    label: str
    value: float
    deviation: float = 0.0
    printed: float | None = None  # the paper's value, drawn as a ring


def bars(rows: Sequence[Bar], title: str, *, digits: int | None = None, width: int = 420) -> Markup:
    """Horizontal bars from 0, whiskers of one deviation, a ring where the paper's number lies.

    ``digits`` is the number of decimals: by default one, or three where all values are shares from 0 to 1.
    """
    step, top = 22, 8
    left = max([130, *(8 + math.ceil(7 * len(row.label)) for row in rows)])  # 7: width of a letter at 12 px
    if digits is None:
        digits = 3 if all(row.value <= 1 for row in rows) else 1
    largest = max((max(row.value + row.deviation, row.printed or 0.0) for row in rows), default=1.0)
    scale = width / (largest or 1.0)
    parts = []
    for number, row in enumerate(rows):
        y = top + number * step
        middle = y + step / 2 - 2
        x = left + row.value * scale
        parts.append(_text(left - 8, middle + 4, row.label, "end"))
        parts.append(
            f'<rect x="{left}" y="{y}" width="{max(0.0, row.value * scale):.1f}" height="{step - 6}" rx="3" '
            f'fill="var(--accent)" fill-opacity="0.65"><title>{escape(row.label)}: {row.value:.{digits}f}</title>'
            "</rect>"
        )
        if row.deviation:
            reach = row.deviation * scale
            parts.append(
                f'<line x1="{x - reach:.1f}" x2="{x + reach:.1f}" y1="{middle}" y2="{middle}" stroke="var(--ink)"/>'
            )
        if row.printed is not None:
            parts.append(
                f'<circle cx="{left + row.printed * scale:.1f}" cy="{middle}" r="5" fill="none" stroke="var(--warm)" '
                f'stroke-width="2"><title>printed in the paper: {row.printed:g}</title></circle>'
            )
        beyond = max(row.value + row.deviation, row.printed or 0.0) * scale
        parts.append(_text(left + beyond + 10, middle + 4, f"{row.value:,.{digits}f}", "start", 'class="soft"'))
    return _svg(left + width + 60, top + step * len(rows) + 6, title, parts)


Series = Mapping[str, Sequence[tuple[float, float]]]


def lines(series: Series, title: str, x_label: str = "", y_label: str = "") -> Markup:
    """One line per name through (x, y) points, axes fitted to all of them."""
    points = [point for line in series.values() for point in line]
    frame = _Frame.around([x for x, _ in points], [y for _, y in points])
    places = sorted({x for x, _ in points})
    ticks = places if len(places) <= _MOST_TICKS else places[:: math.ceil(len(places) / _MOST_TICKS)]
    parts = frame.axes(x_label, y_label, ticks)
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = [(frame.x(x), frame.y(y)) for x, y in sorted(line)]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), (at, value) in zip(path, sorted(line)):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">'
                f"<title>{escape(name)} at {at:g}: {value:.2f}</title></circle>"
            )
        parts.append(_legend(frame, number, name, colour))
    return _svg(frame.width + 220, frame.height + 60, title, parts)


def histogram(series: Mapping[str, tuple[Sequence[float], Sequence[float]]], title: str, x_label: str = "") -> Markup:
    """One outline per name from (edges, counts), counts as shares."""
    shares = {
        name: (edges, [count / (sum(counts) or 1) for count in counts]) for name, (edges, counts) in series.items()
    }
    xs = [x for edges, _ in shares.values() for x in edges]
    frame = _Frame.around(xs, [0.0, *(y for _, heights in shares.values() for y in heights)])
    ticks = [frame.left + (frame.right - frame.left) * i / 4 for i in range(5)]
    parts = frame.axes(x_label, "share", ticks)
    for number, (name, (edges, heights)) in enumerate(shares.items()):
        colour = COLOURS[number % len(COLOURS)]
        steps = [(edges[0], 0.0)]
        for low, high, height in zip(edges, edges[1:], heights):
            steps += [(low, height), (high, height)]
        steps.append((edges[-1], 0.0))
        way = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in steps)
        parts.append(f'<polyline points="{way}" fill="{colour}" fill-opacity="0.2" stroke="{colour}"/>')
        parts.append(_legend(frame, number, name, colour))
    return _svg(frame.width + 220, frame.height + 60, title, parts)


def _legend(frame: _Frame, number: int, name: str, colour: str) -> str:
    y = 20 + 18 * number
    box = f'<rect x="{frame.width + 56}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
    return box + _text(frame.width + 72, y, name, "start")


@dataclass(frozen=True)
class _Frame:
    """The area of a chart: coordinates of data to pixels."""

    left: float
    right: float
    bottom: float
    top: float
    width: int = 420
    height: int = 240

    @classmethod
    def around(cls, xs: Sequence[float], ys: Sequence[float]) -> _Frame:
        left, right, bottom, top = min(xs, default=0), max(xs, default=1), min(ys, default=0), max(ys, default=1)
        room = 0.08 * (top - bottom) or 1.0
        return cls(left, right if right > left else left + 1, bottom - room if bottom else 0.0, top + room)

    def x(self, value: float) -> float:
        return 48 + (value - self.left) / (self.right - self.left) * self.width

    def y(self, value: float) -> float:
        return 8 + (self.top - value) / (self.top - self.bottom) * self.height

    def axes(self, x_label: str, y_label: str, ticks: Sequence[float]) -> list[str]:
        floor = 8 + self.height
        parts = [
            f'<rect x="48" y="8" width="{self.width}" height="{self.height}" fill="none" stroke="var(--line)"/>',
            _text(48 + self.width / 2, floor + 38, x_label, extra='class="soft"'),
            _text(0, 0, y_label, extra=f'class="soft" transform="translate(10 {floor / 2}) rotate(-90)"'),
        ]
        parts += [_text(self.x(tick), floor + 18, f"{tick:.3g}", extra='class="soft"') for tick in ticks]
        for i in range(5):
            value = self.bottom + (self.top - self.bottom) * i / 4
            digits = max(0, 1 - math.floor(math.log10(max(1e-9, self.top - self.bottom))))
            parts.append(_text(42, self.y(value) + 4, f"{value:.{digits}f}", "end", 'class="soft"'))
        return parts
