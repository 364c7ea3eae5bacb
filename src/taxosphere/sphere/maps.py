"""Maps of the unit sphere S^{d−1} in R^d; vectors live in the last dimension, everything else broadcasts.

No function returns NaN, in value or in gradient, for identical, antipodal or pole points; where a direction is
undefined (the logarithm of the antipode, the gradient of an angle at 0 and π) the answer is the zero vector.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

import torch
from torch import Tensor

Lift = Literal["exp", "retraction"]

# Below these lengths two terms of the Taylor series are exact to rounding.
_SMALL = {torch.float16: 1e-1, torch.bfloat16: 1e-1, torch.float32: 1e-2, torch.float64: 1e-4}


def project_tangent(x: Tensor, v: Tensor) -> Tensor:
    """The part of v that is tangent to the sphere at x.

    Parameters
    ----------
    x : Tensor of shape (…, d)
        Unit vectors.
    v : Tensor of shape (…, d)
        Any vectors.

    Returns
    -------
    Tensor of shape (…, d)
        v − ⟨x, v⟩ x.
    """
    return v - _dot(x, v) * x


def expmap(x: Tensor, v: Tensor) -> Tensor:
    """Where the geodesic from x with initial velocity v (tangent at x) arrives after unit time.

    Parameters
    ----------
    x : Tensor of shape (…, d)
        Unit vectors.
    v : Tensor of shape (…, d)
        Tangent at x.

    Returns
    -------
    Tensor of shape (…, d)
        Unit vectors.
    """
    cos, sinc = _cos_sinc(floating(v).square().sum(-1, keepdim=True))
    return cos * x + sinc * v


def logmap(x: Tensor, y: Tensor) -> Tensor:
    """The tangent vector at x whose exponential is y; zero when y = −x, where every direction would do.

    Parameters
    ----------
    x : Tensor of shape (…, d)
        Unit vectors.
    y : Tensor of shape (…, d)
        Unit vectors.

    Returns
    -------
    Tensor of shape (…, d)
        Tangent at x, as long as the angle between them.
    """
    x, y = floating(x), floating(y)
    # y − x instead of y: the projection of two close points would otherwise lose its digits.
    u = project_tangent(x, y - x)
    square = u.square().sum(-1, keepdim=True)  # sin² of the angle
    near = _dot(x, y) > 0
    small = square < _SMALL[square.dtype] ** 2
    sin = torch.where(square < torch.finfo(square.dtype).eps ** 2, 1, square).sqrt()
    sin = torch.where(small & near, 1, sin)
    scale = angle(x, y).unsqueeze(-1) / sin
    return torch.where(small & near, 1 + square / 6, scale) * u


def transport(x: Tensor, y: Tensor, v: Tensor) -> Tensor:
    """v, tangent at x, carried to the tangent space at y along the geodesic.

    On tangent vectors this is the reflection along x + y, so lengths and inner products are kept exactly.
    Between antipodes the geodesic is not unique and v, already tangent there, is returned as it is.

    Parameters
    ----------
    x : Tensor of shape (…, d)
        Unit vectors.
    y : Tensor of shape (…, d)
        Unit vectors.
    v : Tensor of shape (…, d)
        Tangent at x.

    Returns
    -------
    Tensor of shape (…, d)
        Tangent at y.
    """
    middle = floating(x + y)
    square = middle.square().sum(-1, keepdim=True)
    floor = torch.finfo(square.dtype).eps ** 2
    return v - 2 * _dot(middle, v) / square.clamp_min(floor) * middle


def angle(x: Tensor, y: Tensor) -> Tensor:
    """Geodesic distance θ = 2 atan2(‖x−y‖, ‖x+y‖); unlike acos it keeps its digits and its gradient near 0 and π.

    Parameters
    ----------
    x : Tensor of shape (…, d)
        Unit vectors.
    y : Tensor of shape (…, d)
        Unit vectors.

    Returns
    -------
    Tensor of shape (…)
        In [0, π].
    """
    return 2 * torch.atan2(norm(x - y), norm(x + y))


def norm(v: Tensor) -> Tensor:
    """Length of ``v`` (…, d) along the last dimension, with gradient zero at zero.

    Parameters
    ----------
    v : Tensor of shape (…, d)
        Any vectors.

    Returns
    -------
    Tensor of shape (…)
        Lengths.
    """
    square = v.square().sum(-1)
    positive = square > 0
    return torch.where(positive, torch.where(positive, square, 1).sqrt(), 0)


def to_angles(z: Tensor) -> Tensor:
    """(ψ_1, …, ψ_{d−2}, θ) of each point ``z`` (…, d): ψ_i ∈ [0, π] latitudes, θ ∈ [0, 2π) longitude.

    Parameters
    ----------
    z : Tensor of shape (…, d)
        Unit vectors, d at least 2.

    Returns
    -------
    Tensor of shape (…, d − 1)
        Angles.
    """
    tails = z.square().flip(-1).cumsum(-1).flip(-1)[..., 1:-1]  # Σ_{j>i} z_j²
    tail = torch.where(tails > 0, torch.where(tails > 0, tails, 1).sqrt(), 0)
    latitudes = torch.atan2(tail, z[..., :-2])
    longitude = torch.atan2(z[..., -1:], z[..., -2:-1])
    longitude = torch.where(longitude < 0, longitude + 2 * math.pi, longitude)
    longitude = torch.where(longitude < 2 * math.pi, longitude, 0)  # just below zero rounds to 2π itself
    return torch.cat([latitudes, longitude], dim=-1)


def from_angles(angles: Tensor) -> Tensor:
    """The points (…, d) with these ``angles`` (…, d − 1) as coordinates; inverse of `to_angles`.

    Parameters
    ----------
    angles : Tensor of shape (…, d − 1)
        As `to_angles` returns them.

    Returns
    -------
    Tensor of shape (…, d)
        Unit vectors.
    """
    ones = torch.ones_like(angles[..., :1])
    radii = torch.cat([ones, angles.sin().cumprod(-1)], dim=-1)  # what is left after each latitude
    return radii * torch.cat([angles.cos(), ones], dim=-1)


def pole(dim: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Tensor:
    """The point (0, …, 0, 1) of R^``dim``, as a tensor of this ``dtype`` on this ``device``.

    Parameters
    ----------
    dim : int
        d.
    dtype : torch.dtype, optional
        Of the result.
    device : torch.device, optional
        Of the result.

    Returns
    -------
    Tensor of shape (d,)
        The last unit vector.
    """
    point = torch.zeros(dim, dtype=dtype, device=device)
    point[-1] = 1
    return point


@lru_cache(maxsize=8)
def _pole(dim: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """`pole`, made once; nothing may write to it."""
    return pole(dim, dtype=dtype, device=device)


def lift(e: Tensor, how: Lift = "exp") -> Tensor:
    """Encoder vectors onto the sphere: their tangent part at the pole, then the exponential map or the retraction.

    Parameters
    ----------
    e
        (…, d) vectors.
    how
        `exp` wraps around the sphere when the tangent part is longer than π; `retraction` (p + v)/‖p + v‖ reaches the
        open northern hemisphere only, whatever the length.

    Returns
    -------
    (…, d) unit vectors.

    Raises
    ------
    ValueError
        There is no such way to lift.
    """
    check_choice("way to lift", how, get_args(Lift))
    e = floating(e)
    north = _pole(e.shape[-1], e.dtype, e.device)
    v = project_tangent(north, e)
    if how == "exp":
        return expmap(north, v)
    raised = north + v
    return raised / raised.square().sum(-1, keepdim=True).sqrt()  # never shorter than one


def floating(x: Tensor) -> Tensor:
    """x itself, or whole numbers in torch's default dtype: results have the dtype of the argument, and an integer one
    would cut off every decimal.

    Parameters
    ----------
    x : Tensor

    Returns
    -------
    Tensor
        With a floating point dtype.
    """
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def check_choice(what: str, name: str, names: Sequence[str]) -> None:
    """Raise `ValueError` for a ``name`` that is not one of ``names``; ``what`` says what kind of thing it names.

    Parameters
    ----------
    what : str
        For the message.
    name : str
        The choice.
    names : sequence of str
        What may be chosen.

    Raises
    ------
    ValueError
        It is none of them.
    """
    if name not in names:
        raise ValueError(f"there is no {what} '{name}'; choose one of: {', '.join(names)}")


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)


def _cos_sinc(square: Tensor) -> tuple[Tensor, Tensor]:
    """cos r and sin r / r from r², smooth at zero."""
    small = square < _SMALL[square.dtype] ** 2
    r = torch.where(small, 1, square).sqrt()
    return torch.where(small, 1 - square / 2, r.cos()), torch.where(small, 1 - square / 6, r.sin() / r)
