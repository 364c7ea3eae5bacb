"""Probabilities as people read them, the same on terminals, in tables, in reports and in sentences.

They are rounded down: what is 89.6 % sure is left out where 90 % is asked for, so it must not read 90 %.
"""

from __future__ import annotations

import math

_ROUNDING = 1e-9  # 0.29 * 100 is a little less than 29


def percent(probability: float, digits: int = 0) -> str:
    """A probability in percent, rounded down; one that would be shown as 0 is "<1%".

    Parameters
    ----------
    probability : float
        From 0 to 1.
    digits : int
        Decimals.

    Returns
    -------
    str
        For example "89%" for 0.896, with one digit "89.6%".
    """
    step = 10**-digits
    whole = math.floor(100 * probability / step + _ROUNDING) * step
    return f"<{step:.{digits}f}%" if whole == 0 < probability else f"{whole:.{digits}f}%"
