from __future__ import annotations

import xml.etree.ElementTree as xml

import pytest

from taxosphere.report import figures
from taxosphere.report.figures import Bar


def parse(image: str) -> xml.Element:
    return xml.fromstring(image)


def test_bars_are_as_long_as_their_values() -> None:
    drawn = parse(figures.bars([Bar("a", 50.0, 2.0, 40.0), Bar("b <i>", 25.0), Bar("c", 0.0)], "t"))
    lengths = [float(rect.get("width", "")) for rect in drawn.iter("rect")]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.2)
    assert lengths[2] == 0.0
    ring = next(drawn.iter("circle"))
    left = float(next(drawn.iter("rect")).get("x", ""))
    assert float(ring.get("cx", "")) - left == pytest.approx(0.8 * lengths[0], abs=0.2)


def test_bars_leave_room_for_long_labels_and_write_shares_with_decimals() -> None:
    label = "polaris-paper-frozen (not honest)"
    drawn = parse(figures.bars([Bar(label, 0.852), Bar("b", 0.777)], "t"))
    text = next(drawn.iter("text"))
    assert text.get("text-anchor") == "end"
    assert float(text.get("x", "")) >= 6 * len(label)
    assert [words.text for words in drawn.iter("text")] == [label, "0.852", "b", "0.777"]


def test_lines_go_through_their_points_in_order() -> None:
    drawn = parse(figures.lines({"up": [(2, 4.0), (1, 2.0), (3, 6.0)], "flat": [(1, 3.0), (3, 3.0)]}, "t", "x", "y"))
    up, flat = [
        [tuple(map(float, p.split(","))) for p in line.get("points", "").split()] for line in drawn.iter("polyline")
    ]
    assert [x for x, _ in up] == sorted(x for x, _ in up)
    assert up[0][1] - up[1][1] == pytest.approx(up[1][1] - up[2][1], abs=0.2)
    assert flat[0][1] == flat[1][1]


def test_a_single_point_and_nothing_at_all_can_be_drawn() -> None:
    assert parse(figures.lines({"one": [(1, 1.0)]}, "t")).tag.endswith("svg")
    assert parse(figures.bars([], "t")).tag.endswith("svg")


def test_histogram_outlines_shares() -> None:
    drawn = parse(figures.histogram({"a": ([0.0, 1.0, 2.0], [3, 1]), "b": ([0.0, 1.0, 2.0], [0, 8])}, "t", "angle"))
    a, b = [[float(p.split(",")[1]) for p in line.get("points", "").split()] for line in drawn.iter("polyline")]
    floor = a[0]
    assert (floor - a[1]) == pytest.approx(3 * (floor - a[3]), abs=0.3)
    assert (floor - b[3]) == pytest.approx((floor - a[1]) / 0.75, abs=0.3)


def test_a_image_stands_alone_as_a_file() -> None:
    drawn = parse(figures.standalone(figures.bars([Bar("a", 1.0)], "t")))
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert "--accent:" in next(drawn.iter("{http://www.w3.org/2000/svg}style")).text
