"""The page that the demo leaves behind: what was hidden, what was suggested, with which probability, and the errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxosphere.evaluation.reliability import Reliability
from taxosphere.placing.suggestions import Suggestions
from taxosphere.report import svg
from taxosphere.report.html import Markup, cards, figure, page, table, tag

_LONGEST = 160


@dataclass(frozen=True)
class Case:
    """A hidden concept, its true parents and what was suggested."""

    suggestions: Suggestions
    gold: tuple[str, ...]  # ids
    gold_names: tuple[str, ...]

    @property
    def rank(self) -> int | None:
        """Place of the best true parent among the suggestions, counted from 1."""
        places = (place for place, s in enumerate(self.suggestions, 1) if s.id in self.gold)
        return next(places, None)


@dataclass(frozen=True)
class Demo:
    """Everything the page tells."""

    title: str
    seed_size: int
    cases: Sequence[Case]
    out_of_fold: Reliability
    orbits: Sequence[tuple[str, Sequence[svg.Satellite]]]
    seconds: float
    command: str


def share_within(cases: Sequence[Case], k: int) -> float:
    """Share of the hidden concepts whose true parent is among the first k suggestions."""
    return sum(case.rank is not None and case.rank <= k for case in cases) / max(1, len(cases))


def write(demo: Demo) -> str:
    """The page as HTML."""
    wrong = sorted((c for c in demo.cases if c.rank != 1), key=lambda c: -_confidence(c))
    return page(
        demo.title,
        tag("h1", demo.title),
        tag(
            "p",
            f"{len(demo.cases)} concepts were taken out of the ontology. A model was trained on the {demo.seed_size:,} "
            f"that were left, in {demo.seconds:.0f} seconds, and asked where each of them belongs.",
        ),
        cards(
            [
                (f"{share_within(demo.cases, 1):.0%}", "first suggestion is right"),
                (f"{share_within(demo.cases, 3):.0%}", "among the first three"),
                (f"{share_within(demo.cases, 10):.0%}", "among the first ten"),
                (f"{demo.seed_size:,}", "candidates for each"),
            ]
        ),
        tag("h2", "What was hidden, what was suggested"),
        _suggested(demo.cases),
        tag("h2", "Can the probabilities be trusted?"),
        figure(
            svg.reliability(demo.out_of_fold),
            "Suggestions grouped by the probability they were given, for concepts hidden while the model learned. On "
            "the dashed line, what is called 80 % is right 80 % of the time.",
        ),
        tag("h2", "Where it went wrong"),
        *(_miss(case) for case in wrong),
        tag("h2", "Candidates around a new concept"),
        tag(
            "p",
            "The new concept points straight up. A candidate's distance from that direction is the angle between the "
            "two on the sphere, its distance from the centre is its orbital radius: concepts high in the hierarchy "
            "circle close to the centre. Filled circles passed the orbital gate, green is the true parent, size is "
            "probability.",
        ),
        tag("div", *(figure(svg.orbit(name, items), "") for name, items in demo.orbits), class_="row"),
        tag("p", "Made by ", tag("code", demo.command), class_="soft"),
    )


def _confidence(case: Case) -> float:
    return case.suggestions[0].probability if case.suggestions else 0.0


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _suggested(cases: Sequence[Case]) -> Markup:
    rows = []
    for case in cases:
        best = case.suggestions[0]
        place = "not in ten" if case.rank is None else f"{case.rank}"
        colour = "good" if case.rank == 1 else "warm" if case.rank is not None else "bad"
        about = tag("div", _short(case.suggestions.query.description), class_="soft")
        rows.append(
            [
                tag("div", case.suggestions.query.name, about),
                ", ".join(case.gold_names),
                tag("span", best.name, class_="good" if case.rank == 1 else ""),
                f"{best.probability:.0%}",
                tag("span", place, class_=colour),
            ]
        )
    header = ["hidden concept", "true parent", "suggested", "probability", "place of the true parent"]
    return table(header, rows, numbers=[3, 4])


def _miss(case: Case) -> Markup:
    best = case.suggestions[0]
    head = tag(
        "summary",
        tag("b", case.suggestions.query.name),
        f": {best.name} ({best.probability:.0%}) instead of {', '.join(case.gold_names)}",
    )
    rows = [
        [
            f"{s.probability:.0%}",
            tag("span", s.name, class_="good" if s.id in case.gold else ""),
            " › ".join(s.path[:-1]),
            ", ".join(f"{name} {weight:+.1f}" for name, weight in s.reasons.items()),
        ]
        for s in case.suggestions[:5]
    ]
    about = tag("p", _short(case.suggestions.query.description), class_="soft")
    return tag("details", head, about, table(["probability", "candidate", "under", "because of"], rows, numbers=[0]))
