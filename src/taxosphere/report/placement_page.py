"""The page of a report on placements: charts first, then pictures, errors and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from taxosphere.evaluation.reliability import reliability
from taxosphere.percent import percent
from taxosphere.report import svg
from taxosphere.report.figures import Bar, bars
from taxosphere.report.html import Markup, cards, figure, page, table, tag
from taxosphere.report.placement_report import SHOWN, Answers, Case, PlacementReport, misses

_LONGEST = 160  # letters of a definition
_LINES = (0.5, 0.7, 0.8, 0.9, 0.95)  # of --accept
_FEWEST = 3  # hidden concepts of a branch that has a row of its own
_BRANCHES = 12
_ONE_BY_ONE = (
    "Counted from concepts that were asked one by one; right is a first suggestion that is a true parent. 'taxosphere "
    "expand' places a list as a whole, where new concepts can be parents of each other and a concept can get several "
    "parents, and what seems to be there already is left to a person: its counts can differ by a few."
)
_LEGEND = (
    ("✓", "good", "true parent"),
    ("✗", "bad", "suggested first, but wrong"),
    ("●", "accent", "passed the orbital gate"),
    ("○", "accent", "did not pass it"),
)


def write(report: PlacementReport) -> str:
    """The page as HTML, in one file without scripts."""
    return page(
        report.title,
        tag("h1", report.title),
        tag("p", report.lead),
        *(_figures(report.answers) if len(report.answers.rank) else [_nothing()]),
        *_orbits(report),
        *_misses(report),
        *_branches(report.cases),
        tag("h2", "The taxonomy"),
        *_taxonomy(report),
        *_every(report.cases),
        tag("p", "Made by ", tag("code", report.command), class_="soft"),
    )


def _nothing() -> Markup:
    return tag("p", "The taxonomy was too small to hide concepts while the model learned, so nothing was measured.")


def _figures(answers: Answers) -> list[Markup]:
    """Large numbers, and three charts of how good and how honest the answers are."""
    count = len(answers.rank)
    places = {
        "first": answers.share_within(1),
        "second or third": answers.share_within(3) - answers.share_within(1),
        "4th to 10th": answers.share_within(10) - answers.share_within(3),
        "not in ten": 1 - answers.share_within(10),
    }
    curve = reliability(answers.probability, answers.rank == 1, bins=10)
    sure, right = answers.at(0.8)
    numbers = [
        (f"{answers.share_within(1):.0%}", "first suggestion is right"),
        (f"{answers.share_within(3):.0%}", "among the first three"),
        (f"{answers.share_within(10):.0%}", "among the first ten"),
        (f"{sure:.0%}", "are 80 % sure" + ("" if math.isnan(right) else f", {right:.0%} of them right")),
    ]
    return [
        cards(numbers),
        tag("h2", "How good are the answers?"),
        tag(
            "div",
            figure(
                bars([Bar(name, 100 * share) for name, share in places.items()], "Place of the true parent", width=230),
                f"Place of the true parent among the suggestions, in percent of {count:,} hidden concepts.",
            ),
            figure(
                svg.reliability(curve),
                "Can the probabilities be trusted? Suggestions grouped by the probability they were given. On the "
                f"dashed line, what is called 80 % is right 80 % of the time; the mean gap is {curve.error:.1%}.",
            ),
            class_="charts",
        ),
        tag("h2", "What would be attached by itself?"),
        tag("p", _ONE_BY_ONE, class_="soft"),
        _accepted(answers),
    ]


def _accepted(answers: Answers) -> Markup:
    """What `expand --accept` would do at usual lines."""
    rows = []
    for line in _LINES:
        share, right = answers.at(line)
        shown = "–" if math.isnan(right) else f"{right:.0%}"
        rows.append([f"{line:.0%}", f"{share:.0%}", shown, f"{1 - share:.0%}"])
    header = ["--accept", "attached", "of these right", "for review"]
    return table(header, rows, numbers=[0, 1, 2, 3])


def _orbits(report: PlacementReport) -> list[Markup]:
    if not report.orbits:
        return []
    legend = tag(
        "p",
        *(part for mark, colour, text in _LEGEND for part in (tag("span", mark, class_=colour), f" {text} · ")),
        "larger circle: more probable",
        class_="soft",
    )
    return [
        tag("h2", "Candidates around a new concept"),
        tag(
            "p",
            "The new concept points straight up, along the dashed line. The further a candidate is turned away from "
            "it, the less alike the two are; angles are stretched to fill the picture. Distance from the centre grows "
            "with the orbital radius: broad concepts circle close to the centre, narrow ones far out.",
        ),
        legend,
        tag("div", *(figure(svg.orbit(name, items), "") for name, items in report.orbits), class_="charts"),
    ]


def _misses(report: PlacementReport) -> list[Markup]:
    """Wrong first suggestions, the surest first, with the candidates that came near."""
    cases, wrong = report.cases, misses(report.cases)
    if not wrong:
        return []
    near = sum(case.rank is not None for case in wrong)
    lead = f"{len(wrong):,} of {len(cases):,} first suggestions are wrong; {near:,} have the true parent further down."
    more = f" The {SHOWN} that were given the highest probability are shown." if len(wrong) > SHOWN else ""
    note = [tag("p", report.reasons_note, class_="soft")] if report.reasons_note else []
    return [tag("h2", "Where it went wrong"), tag("p", lead + more), *note, *map(_miss, wrong[:SHOWN])]


def _miss(case: Case) -> Markup:
    best = case.suggestions[0]
    head = tag(
        "summary",
        tag("b", case.suggestions.query.name),
        f": {_quoted([best.name])} ({percent(best.probability)}) instead of {_quoted(case.gold_names)}",
    )
    rows = []
    for place, suggestion in enumerate(case.suggestions[:5]):
        gold = suggestion.id in case.gold
        mark = "✓ " if gold else "✗ " if place == 0 else ""
        reasons = case.reasons[place] if place < len(case.reasons) else ()
        said = [tag("div", f"{'+' if reason.supports else '−'} {reason.text}") for reason in reasons]
        above = tag("div", " › ".join(suggestion.path[:-1]), class_="soft")
        name = tag("span", f"{mark}{suggestion.name}", class_="good" if gold else "bad" if place == 0 else "")
        rows.append([percent(suggestion.probability), tag("div", name, above), tag("div", *said, class_="soft")])
    about = tag("p", _short(case.suggestions.query.description), class_="soft")
    header = ["probability", "candidate", "for and against"]
    return tag("details", head, about, table(header, rows, numbers=[0]))


def _branches(cases: Sequence[Case]) -> list[Markup]:
    """Share of right first suggestions by branch, where several have enough hidden concepts."""
    by_branch: dict[str, list[bool]] = {}
    for case in cases:
        by_branch.setdefault(case.branch, []).append(case.rank == 1)
    many = [(name, right) for name, right in by_branch.items() if len(right) >= _FEWEST]
    if len(many) < 2:
        return []
    largest = sorted(many, key=lambda pair: -len(pair[1]))[:_BRANCHES]
    rows = [[name, f"{len(right):,}", f"{np.mean(right):.0%}"] for name, right in largest]
    left = len(by_branch) - len(largest)
    more = f" {left:,} smaller ones are not listed." if left else ""
    lead = f"Right first suggestions by branch, the branches with most hidden concepts first.{more}"
    return [
        tag("h2", "By branch"),
        tag("p", lead, class_="soft"),
        table(["branch", "hidden", "right at first"], rows, numbers=[1, 2]),
    ]


def _taxonomy(report: PlacementReport) -> list[Markup]:
    summary = report.summary
    rows = [Bar(f"level {level}", float(count)) for level, count in enumerate(report.levels)]
    facts = [
        (f"{summary.concepts:,}", "concepts"),
        (f"{summary.leaves:,}", "leaves"),
        (f"{summary.multi_parent:,}", "with several parents"),
        (f"{summary.with_description / max(1, summary.concepts):.0%}", "have a description"),
    ]
    return [
        cards(facts),
        figure(
            bars(rows, "Concepts by level", digits=0, width=230),
            "Concepts at each level; level 0 are the top concepts.",
        ),
    ]


def _every(cases: Sequence[Case]) -> list[Markup]:
    """The hidden concepts one by one; of many, the first."""
    if not cases:
        return []
    title = "Every hidden concept" if len(cases) <= SHOWN else f"{SHOWN} of {len(cases):,} hidden concepts"
    return [tag("h2", title), _suggested(cases[:SHOWN])]


def _suggested(cases: Sequence[Case]) -> Markup:
    rows = []
    for case in cases:
        best = case.suggestions[0]
        place = "not in ten" if case.rank is None else f"{case.rank}"
        colour = "good" if case.rank == 1 else "warm" if case.rank is not None else "bad"
        about = tag("div", _short(case.suggestions.query.description), class_="soft")
        mark = "✓" if case.rank == 1 else "✗"
        rows.append(
            [
                tag("div", case.suggestions.query.name, about),
                _quoted(case.gold_names) if len(case.gold_names) > 1 else case.gold_names[0],
                tag("span", f"{mark} {best.name}", class_="good" if case.rank == 1 else "bad"),
                percent(best.probability),
                tag("span", place, class_=colour),
            ]
        )
    header = ["hidden concept", "true parent", "suggested", "probability", "place"]
    return table(header, rows, numbers=[3, 4], caption="Place: where the true parent stands among the suggestions.")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
