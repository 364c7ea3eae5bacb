from __future__ import annotations

import re
from html.parser import HTMLParser

from taxosphere.evaluation.reliability import reliability
from taxosphere.report import svg
from taxosphere.report.html import Markup, cards, figure, page, table, tag

_VOID = {"meta", "circle", "line", "rect", "path", "polyline"}


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for key, value in attributes if key in ("src", "href")]
        if name not in _VOID:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, name: str) -> None:
        if name not in _VOID:
            assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _parse(document: str) -> _Balance:
    parser = _Balance()
    parser.feed(document)
    assert parser.open == []
    return parser


def test_a_page_escapes_what_it_is_given_and_loads_nothing() -> None:
    nasty = '<script src="http://x">alert("1")</script> & more'
    body = [
        tag("h1", nasty),
        table(["a", nasty], [[nasty, 3]], numbers=[1], caption=nasty),
        cards([(nasty, nasty)]),
        figure(svg.orbit(nasty, [svg.Satellite(nasty, 0.3, 0.5, 0.4, True, False)]), nasty),
        figure(svg.reliability(reliability([0.5, 0.6, 0.9], [1, 0, 1]), nasty), nasty),
    ]
    document = page(nasty, *body)
    parsed = _parse(document)
    assert "<script" not in document
    assert parsed.addresses == []
    assert nasty in parsed.text


def test_markup_passes_unescaped_and_numbers_align_right() -> None:
    assert tag("p", Markup("<b>x</b>"), " < ") == "<p><b>x</b> &lt; </p>"
    assert '<td class="number">3</td>' in table(["n"], [[3]], numbers=[0])


def test_the_orbit_puts_a_near_candidate_up_and_a_far_one_down() -> None:
    near, far = (
        svg.Satellite(name, angle, 1.0, 0.5, not angle, not angle) for name, angle in (("near", 0.0), ("far", 3))
    )
    drawn = svg.orbit("q", [near, far])
    heights = {name: float(y) for y, name in re.findall(r'cy="([\d.]+)"[^>]*><title>(\w+)', drawn)}
    assert heights["near"] < 100 < 248 < heights["far"]  # the centre is at 248
    assert "gate closed" in drawn


def test_a_calibration_plot_has_a_dot_for_every_bin_that_holds_an_answer() -> None:
    drawn = svg.reliability(reliability([0.05, 0.95, 0.99, 1.0, 0.4], [0, 1, 1, 0, 1], bins=10))
    assert drawn.count("<circle") == 3
    assert "said 98%, was right 67% of 3" in drawn
