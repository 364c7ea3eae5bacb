"""What definitions add: they often contain the parent's name, so results must be known without them."""

from taxosphere.evaluation.studies.base import Study, Variant, versus

METHODS = ("polaris", "polaris-cosine", "encoder-cosine", "sibling-vote", "tfidf")

STUDY = Study(
    name="descriptions",
    title="With and without descriptions",
    claim="descriptions help to place a concept",
    datasets=("semeval_env", "semeval_sci", "semeval_food_temp", "wordnet_pooled"),
    variants=tuple(
        Variant(f"{method}{'' if described else ', names only'}", method=method, base=(), descriptions=described)
        for method in METHODS
        for described in (True, False)
    ),
    verdict=versus(("polaris", "polaris, names only")),
    metrics=("hit@1", "hit@5", "mr", "mrr"),
    ours=True,
)
