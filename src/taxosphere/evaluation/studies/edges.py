"""How much is left when the seed loses edges."""

from itertools import pairwise

from taxosphere.evaluation.studies.base import Findings, Study, Variant, sentence

SHARES = tuple(range(0, 55, 5))
_ENVIRONMENT = (53.0, 52.2, 51.0, 51.0, 50.0, 47.2, 45.2, 42.3, 40.4, 36.5, 32.7)
_WORDNET = (26.5, 24.3, 23.3, 22.0, 20.7, 18.2, 16.4, 15.4, 15.0, 15.0, 12.6)


def _printed(dataset: str, values: tuple[float, ...]) -> dict[tuple[str, str], dict[str, float]]:
    """The paper's retention and loss are these, to the digit it prints."""
    return {
        (dataset, f"{share} %"): {"hit@1": value, "retention": 100 * value / values[0], "lost": values[0] - value}
        for share, value in zip(SHARES, values, strict=True)
    }


def verdict(findings: Findings) -> str:
    """Small losses of edges cost no more than the paper's own (17 %), and no step of 5 % costs over 15 % at once."""
    parts: dict[str, list[str]] = {}
    for dataset in findings.datasets:
        means = {label: findings.mean(dataset, label, "hit@1") for label in findings.labels(dataset)}
        if "0 %" not in means or len(means) < 3 or not means["0 %"]:
            continue
        kept = {label: mean / means["0 %"] for label, mean in means.items()}
        small = min(kept.get(label, 1.0) for label in ("5 %", "10 %", "15 %"))
        values = list(kept.values())
        steepest = max(before - after for before, after in pairwise(values))
        decision = "holds" if small >= 0.83 and steepest <= 0.15 else "does not hold"
        last = list(kept)[-1]
        figures = f"at least {small:.0%} of Hit@1 kept up to 15 % of edges, {kept[last]:.0%} at {last}"
        text = f"{dataset} ({figures}, largest loss in one step {max(0.0, steepest):.0%})"
        parts.setdefault(decision, []).append(text)
    return sentence(findings.study, parts)


STUDY = Study(
    name="edges",
    title="Edges removed from the seed, 0 to 50 %",
    claim="performance degrades smoothly and small losses of edges cost little",
    datasets=("semeval_env", "wordnet_pooled"),
    variants=tuple(Variant(f"{share} %", removed=share / 100, x=share) for share in SHARES),
    verdict=verdict,
    metrics=("hit@1", "retention", "lost", "hit@5", "mrr"),
    printed=_printed("semeval_env", _ENVIRONMENT) | _printed("wordnet_pooled", _WORDNET),
    whole=("0 %", "hit@1"),
    figure="lines",
    axis="edges removed, %",
)
