"""What repulsion and alignment contribute to the regulariser.

The paper's row "without both" has the same numbers as the row "without both" of its loss study.
"""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, table, winner

STUDY = Study(
    name="svgd",
    title="SVGD components",
    claim="the regulariser needs both repulsion and alignment",
    datasets=("mesh", "semeval_verb"),
    variants=(
        Variant("without repulsion", assignments(loss__kappa_repel=0)),
        Variant("without alignment", assignments(loss__kappa_align=0)),
        Variant("without both", assignments(loss__svgd=0)),
        Variant("full"),
    ),
    verdict=winner("full"),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "without repulsion"): "23.82 46.70 19.20 43.25 29.82",
            ("mesh", "without alignment"): "30.90 53.60 24.89 46.79 34.44",
            ("mesh", "without both"): "32.25 58.88 26.85 50.95 36.23",
            ("mesh", "full"): "33.59 62.66 27.03 51.95 37.85",
            ("semeval_verb", "without repulsion"): "12.79 33.88 12.77 32.91 23.00",
            ("semeval_verb", "without alignment"): "12.18 32.65 11.86 31.88 21.83",
            ("semeval_verb", "without both"): "14.12 35.00 13.77 32.57 23.21",
            ("semeval_verb", "full"): "16.27 39.71 16.24 39.63 27.03",
        },
    ),
)
