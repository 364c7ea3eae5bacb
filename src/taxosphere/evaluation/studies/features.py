"""What each family of features adds to the learned ranker: all of them, and all but one."""

import json

from taxosphere.evaluation.studies.base import Study, Variant, winner
from taxosphere.ranking.features.catalogue import FAMILIES


def _without(*dropped: str) -> Variant:
    kept = [family for family in FAMILIES if family not in dropped]
    settings = (("ranking.families", json.dumps(kept)),)
    return Variant(f"without {' and '.join(dropped)}", settings, method="polaris", base=())


STUDY = Study(
    name="features",
    title="Feature families of the ranker",
    claim="every feature family of the ranker contributes",
    datasets=("semeval_env", "semeval_sci", "semeval_food_temp", "wordnet_pooled"),
    variants=(
        *(_without(family) for family in FAMILIES),
        _without("names", "descriptions"),
        Variant("all", method="polaris", base=()),
    ),
    verdict=winner("all"),
    metrics=("hit@1", "hit@5", "mr", "mrr"),
    ours=True,
)
