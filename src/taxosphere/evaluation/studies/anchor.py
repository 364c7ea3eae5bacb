"""What the alignment term pulls towards: a learned anchor, or the point itself."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, table, winner

STUDY = Study(
    name="anchor",
    title="Learned or self anchor in SVGD",
    claim="a learned anchor beats a point that is its own anchor",
    datasets=("mesh", "semeval_verb"),
    variants=(
        Variant("self", assignments(loss__anchor="self")),
        Variant("learned", assignments(loss__anchor="learned")),
    ),
    verdict=winner("learned"),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "self"): "30.89 61.57 24.87 52.31 36.63",
            ("mesh", "learned"): "33.59 62.66 27.03 54.97 38.65",
            ("semeval_verb", "self"): "11.97 35.01 11.75 33.50 22.24",
            ("semeval_verb", "learned"): "15.05 39.20 15.01 38.77 26.34",
        },
    ),
)
