"""Fusion: one ranking from that by a concept's text and that by its images.

Given the true parent, text and images are taken as independent, so their probabilities p and q combine as a product of
experts over the base rate b: p·q / b. Errors that both make would leave the product too confident; each ratio to the
base rate is therefore raised to a power below one, `TEXT_POWER` and `IMAGE_POWER`, chosen on leaves hidden from the
training parts of two collections (benchmarks/bench_fusion.py). A candidate that only one of the two lists is put at the
end of the other list; one that images cannot know, because it is as new as the query, is ranked by its text alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.calibration import softmax
from taxosphere.ranking.features.catalogue import BY_IMAGES, IMAGES, feature_of
from taxosphere.ranking.ranker import Ranking, scores_of_all
from taxosphere.typing import Floats, Longs

TEXT_POWER, IMAGE_POWER = 0.75, 0.5
LENGTH = 300  # candidates on the fused list
_TINY = 1e-9


def fuse(
    by_text: Ranking,
    by_image: Ranking,
    none_share: float,
    *,
    powers: tuple[float, float] = (TEXT_POWER, IMAGE_POWER),
) -> Ranking:
    """The fused ranking of q queries.

    Parameters
    ----------
    by_text
        Ranks n candidates.
    by_image
        Ranks the first of these candidates, all or fewer.
    none_share
        How common a concept without a right candidate is.
    powers
        Exponents of the ratios by text and by image.
    """
    n = scores_of_all(by_text).shape[1]
    base_rate = (1 - none_share) / n
    scores = powers[0] * _log_ratios(by_text, n, base_rate) + powers[1] * _log_ratios(by_image, n, base_rate)  # (q, n)
    scores[~np.isfinite(scores_of_all(by_text))] = -np.inf  # candidates that the query must not see
    none = np.log(none_share)
    for power, ranking in zip(powers, (by_text, by_image), strict=True):
        none = none + power * np.log(np.maximum(ranking.none_probability, _TINY) / none_share)
    length = min(LENGTH, int(np.isfinite(scores).sum(1).min(initial=n)))
    positions = np.argsort(-scores, axis=1, kind="stable")[:, :length]
    listed = np.take_along_axis(scores, positions, 1)
    probabilities = softmax(np.column_stack([listed + np.log(base_rate), none]))
    places = [_places(ranking, positions) for ranking in (by_text, by_image)]
    contributions = [
        power * _at_places(ranking.contributions, place)
        for power, ranking, place in zip(powers, (by_text, by_image), places, strict=True)
    ]
    return Ranking(
        positions=positions,
        probabilities=probabilities[:, :-1].astype(np.float32),
        none_probability=probabilities[:, -1].astype(np.float32),
        scores=listed.astype(np.float32),
        cosine=_mean_where_listed(places, [by_text.cosine, by_image.cosine]),
        gate=_mean_where_listed(places, [by_text.gate, by_image.gate]) > 0,
        contributions=np.concatenate(contributions, axis=-1).astype(np.float32),
        feature_names=(*by_text.feature_names, *map(_image_feature_name, by_image.feature_names)),
        all_scores=scores.astype(np.float32),
    )


def _image_feature_name(name: str) -> str:
    """The name under which a contribution to the image ranking is shown beside those to the text ranking."""
    return name if feature_of(name).family == IMAGES else name + BY_IMAGES


def _log_ratios(ranking: Ranking, n: int, base_rate: float) -> NDArray[np.float64]:
    """Log (q, n) of probability over base rate; unlisted candidates keep their order below the end of the list.

    Candidates beyond those of the ranking have ratio one.
    """
    probabilities = ranking.probabilities / np.maximum(1 - ranking.none_probability[:, None], _TINY)
    listed = np.log(np.maximum(probabilities, _TINY) / base_rate)
    everything = scores_of_all(ranking)
    n_ranked = everything.shape[1]
    rank = np.argsort(np.argsort(-everything, axis=1, kind="stable"), axis=1)
    ratios: NDArray[np.float64] = listed.min(1, keepdims=True) - 1e-3 * rank / n_ranked
    np.put_along_axis(ratios, ranking.positions, listed, 1)
    return ratios if n_ranked == n else np.hstack([ratios, np.zeros((len(ratios), n - n_ranked))])


def _places(ranking: Ranking, positions: Longs) -> Longs:
    """Place (q, k) of each position in the list of the ranking, -1 where it is not listed."""
    width = max(int(positions.max(initial=0)) + 1, scores_of_all(ranking).shape[1])
    place = np.full((len(positions), width), -1, np.int64)
    np.put_along_axis(place, ranking.positions, np.arange(ranking.positions.shape[1])[None, :], 1)
    return np.take_along_axis(place, positions, 1)


def _at_places(values: NDArray[np.generic], places: Longs) -> Floats:
    """Values (q, k, …) of a list at other places (q, e): (q, e, …), zero at -1."""
    wide = places.reshape(*places.shape, *(1,) * (values.ndim - 2))
    taken = np.take_along_axis(values.astype(np.float32), np.maximum(wide, 0), 1)
    return np.where(wide >= 0, taken, np.float32(0))


def _mean_where_listed(places: list[Longs], values: list[NDArray[np.generic]]) -> Floats:
    """Mean (q, k) over the rankings that list a candidate."""
    total = sum((_at_places(v, p) for v, p in zip(values, places, strict=True)), np.zeros(1, np.float32))
    count = sum(((p >= 0).astype(np.float32) for p in places), np.zeros(1, np.float32))
    return np.asarray(total / np.maximum(count, 1), np.float32)
