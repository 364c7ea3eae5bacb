"""The parts of a study: variants of a method on data sets, the paper's numbers, and a verdict on its claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from taxosphere.errors import TaxosphereError
from taxosphere.evaluation import protocol, significance
from taxosphere.evaluation.bench import Cell, Setup
from taxosphere.evaluation.datasets import Dataset
from taxosphere.evaluation.records import Record

Printed = Mapping[tuple[str, str], Mapping[str, float]]  # (data set, variant): {metric: value}

# The paper's losses and weights with our corrections, ranked by cosine behind the gate, trained as our frame trains.
# Its own table of settings belongs to a fine-tuned encoder: with a frozen one its hundred steps teach the head nothing
# (validation MRR on the Environment seed, mean of five random states: 0.26, against 0.41 with these).
BASE = (
    ("loss.listwise", "0"),
    ("loss.geometric", "0.7"),
    ("loss.probabilistic", "0.3"),
    ("loss.svgd", "0.1"),
)


@dataclass(frozen=True)
class Variant:
    """A row of a study: what is changed, and how it is called."""

    label: str
    settings: tuple[tuple[str, str], ...] = ()
    method: str = "polaris-cosine"
    base: tuple[tuple[str, str], ...] = BASE
    removed: float = 0.0
    descriptions: bool = True
    x: float | None = None  # its place on the horizontal axis, where the study varies a number


@dataclass(frozen=True)
class Study:
    """One of the paper's ablations or figures: what is varied, on which data, and how its claim is judged."""

    name: str
    title: str
    claim: str  # completes "The paper's claim that …", or "Our expectation that …" where ``ours`` is set
    datasets: tuple[str, ...]
    variants: tuple[Variant, ...]
    verdict: Callable[[Findings], str]
    metrics: tuple[str, ...] = ("hit@1", "hit@5", "recall@1", "recall@5", "mrr")
    printed: Printed = field(default_factory=dict)
    figure: Literal["bars", "lines", "histograms"] = "bars"
    axis: str = ""  # name of the horizontal axis
    probe: str = ""
    derive: Callable[[Record], dict[str, float]] = lambda record: record["metrics"]
    ours: bool = False  # a study the paper does not have
    whole: tuple[str, str] | None = None  # (variant, metric): every row says how much of that value is left
    tested: str = ""  # a variant whose differences to all others are tested in tables of their own

    def cells(self, datasets: Sequence[Dataset], runs: int, random_state: int, setup: Setup) -> list[Cell]:
        """Cells of all variants on all data sets; random state by random state, so that variants progress alike."""
        return [
            Cell(
                dataset=dataset,
                method=variant.method,
                random_state=random_state + number,
                setup=replace(setup, descriptions=setup.descriptions and variant.descriptions),
                label=variant.label,
                settings=(*variant.base, *variant.settings),
                removed=variant.removed,
                probe=self.probe,
            )
            for number in range(runs)
            for dataset in datasets
            for variant in self.variants
        ]


@dataclass(frozen=True)
class Findings:
    """The records of a study, by data set and variant."""

    study: Study
    records: Sequence[Record]

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(record["dataset"] for record in self.records))

    def runs(self, dataset: str, label: str) -> list[Record]:
        """Records of a variant on a data set, by random state."""
        runs = [r for r in self.records if r["dataset"] == dataset and r["method"] == label]
        return sorted(runs, key=lambda record: record["seed"])

    def labels(self, dataset: str) -> list[str]:
        """Variants with runs on a data set, in the order of the study."""
        return [variant.label for variant in self.study.variants if self.runs(dataset, variant.label)]

    def mean_std(self, dataset: str, label: str) -> dict[str, protocol.Spread]:
        """Mean and deviation of every metric of a variant; with ``whole``, also how much of that value is left."""
        spreads = protocol.mean_std([self.study.derive(record) for record in self.runs(dataset, label)])
        if self.study.whole is None:
            return spreads
        variant, metric = self.study.whole
        before = self.runs(dataset, variant)
        full = protocol.mean_std([self.study.derive(record) for record in before])[metric]["mean"] if before else 0.0
        if full:
            now = spreads[metric]["mean"]
            spreads |= {"retention": {"mean": 100 * now / full, "std": 0.0}, "lost": {"mean": full - now, "std": 0.0}}
        return spreads

    def mean(self, dataset: str, label: str, metric: str = "mrr") -> float:
        """Mean of one metric of a variant."""
        return self.mean_std(dataset, label)[metric]["mean"]

    def best(self, dataset: str, *, among: Sequence[str] | None = None) -> str:
        """The variant with the highest mean MRR."""
        return max(among or self.labels(dataset), key=lambda label: self.mean(dataset, label, "mrr"))

    def compare(self, dataset: str, first: str, second: str) -> significance.Comparison:
        """MRR of one variant minus another's, from runs with the same random states."""
        ours, theirs = self.runs(dataset, first), self.runs(dataset, second)
        shared = {record["seed"] for record in ours} & {record["seed"] for record in theirs}
        kept = ([record for record in side if record["seed"] in shared] for side in (ours, theirs))
        pair = significance.paired(*kept) if shared else None
        if pair is None:
            raise TaxosphereError(f"'{first}' and '{second}' have no run on {dataset} in common; run the study again")
        return significance.compare(*pair)


def gap(test: significance.Comparison) -> str:
    """ "MRR +1.2 (0.3 … 2.1)", in percent with the 95 % interval."""
    difference, low, high = _points(test)
    return f"MRR {difference:+.1f}, 95 % interval {low:+.1f} … {high:+.1f}"


def _points(test: significance.Comparison) -> tuple[float, float, float]:
    """Difference and interval in points, to the tenth that is printed; a zero has no sign."""
    return round(100 * test.difference, 1) + 0.0, round(100 * test.low, 1) + 0.0, round(100 * test.high, 1) + 0.0


def decide(test: significance.Comparison) -> str:
    """What a difference supports, by the interval as it is printed: less than a tenth of a point decides nothing."""
    _, low, high = _points(test)
    return "holds" if low > 0 else "does not hold" if high < 0 else "cannot be told from chance"


def sentence(study: Study, parts: Mapping[str, Sequence[str]]) -> str:
    """ "The paper's claim that … holds here on a (…); it does not hold …"; ``parts``: decision → "set (numbers)"."""
    order = ("holds", "does not hold", "cannot be told from chance")
    clauses = [f"{decision} here on {', '.join(parts[decision])}" for decision in order if parts.get(decision)]
    who = "Our expectation" if study.ours else "The paper's claim"
    return (
        f"{who} that {study.claim} {'; it '.join(clauses)}."
        if clauses
        else "There are not enough runs for a verdict yet."
    )


def versus(*pairs: tuple[str, str]) -> Callable[[Findings], str]:
    """Verdict on "the first of each pair beats the second"."""

    def verdict(findings: Findings) -> str:
        parts: dict[str, list[str]] = {}
        for dataset in findings.datasets:
            for first, second in pairs:
                if {first, second} <= set(findings.labels(dataset)):
                    test = findings.compare(dataset, first, second)
                    parts.setdefault(decide(test), []).append(f"{dataset} ({first} against {second}: {gap(test)})")
        return sentence(findings.study, parts)

    return verdict


def winner(label: str, ignoring: Sequence[str] = ()) -> Callable[[Findings], str]:
    """Verdict on "this variant is the best": against the strongest of the others on each data set."""

    def verdict(findings: Findings) -> str:
        parts: dict[str, list[str]] = {}
        for dataset in findings.datasets:
            others = [other for other in findings.labels(dataset) if other not in (label, *ignoring)]
            if label not in findings.labels(dataset) or not others:
                continue
            rival = findings.best(dataset, among=others)
            test = findings.compare(dataset, label, rival)
            parts.setdefault(decide(test), []).append(f"{dataset} ({gap(test)}, against '{rival}')")
        return sentence(findings.study, parts)

    return verdict


def peak(low: float, high: float) -> Callable[[Findings], str]:
    """Verdict on "the best value lies in this range": the best inside against the best outside."""

    def verdict(findings: Findings) -> str:
        places = {variant.label: variant.x for variant in findings.study.variants}
        parts: dict[str, list[str]] = {}
        for dataset in findings.datasets:
            labels = findings.labels(dataset)
            inside = [label for label in labels if low <= (places[label] or 0.0) <= high]
            outside = [label for label in labels if label not in inside]
            if not inside or not outside:
                continue
            ours, rival = findings.best(dataset, among=inside), findings.best(dataset, among=outside)
            test = findings.compare(dataset, ours, rival)
            parts.setdefault(decide(test), []).append(f"{dataset} ({gap(test)}, {ours} against {rival})")
        return sentence(findings.study, parts)

    return verdict


def table(columns: str, rows: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], dict[str, float]]:
    """Printed numbers from ``{(data set, variant): "33.59 62.66 …"}`` under the metrics named in ``columns``."""
    names = columns.split()
    return {key: dict(zip(names, map(float, text.split()), strict=True)) for key, text in rows.items()}


def assignments(**values: Any) -> tuple[tuple[str, str], ...]:
    """``assignments(loss__svgd=0)`` is ``(("loss.svgd", "0"),)``."""
    return tuple((key.replace("__", "."), str(value)) for key, value in values.items())
