import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from taxosphere.sphere import maps

DTYPES = [torch.float32, torch.float64]
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-14}

every_shape = pytest.mark.parametrize("shape", [(2,), (5, 3), (4, 1, 8), (16, 128)], ids=str)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_seed = pytest.mark.parametrize("seed", range(3))


def points(shape: tuple[int, ...], seed: int, dtype: torch.dtype) -> Tensor:
    return normalize(torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), dim=-1).to(
        dtype
    )


def close(a: Tensor, b: Tensor, slack: float = 1.0) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=slack * TOLERANCE[a.dtype])


@every_shape
@every_dtype
@every_seed
def test_exponential_and_logarithm_are_inverse(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    x, y = points(shape, seed, dtype), points(shape, seed + 100, dtype)
    v = maps.logmap(x, y)
    close((v * x).sum(-1), torch.zeros(shape[:-1], dtype=dtype), 4)
    close(v.norm(dim=-1), maps.angle(x, y), 4)
    close(maps.expmap(x, v), y, 10)
    close(maps.expmap(x, v).norm(dim=-1), torch.ones(shape[:-1], dtype=dtype), 4)


@every_dtype
@pytest.mark.parametrize("length", [0.0, 1e-12, 1e-5, 3e-3, 9.9e-3, 1.01e-2, 0.5, 3.1])
def test_logarithm_recovers_short_and_long_steps(length: float, dtype: torch.dtype) -> None:
    x = points((6, 9), 0, torch.float64)
    v = length * normalize(maps.project_tangent(x, points((6, 9), 1, torch.float64)), dim=-1)
    x, v = x.to(dtype), v.to(dtype)
    # A step shorter than the rounding of x is lost in expmap, not in logmap; close to π the direction is worth less.
    slack = 2 if length < 1 else 20 / (math.pi - length)
    close(maps.logmap(x, maps.expmap(x, v)), v, slack)


@every_shape
@every_dtype
@every_seed
def test_transport_is_an_isometry_between_tangent_spaces(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    x, y = points(shape, seed, dtype), points(shape, seed + 100, dtype)
    v, w = (maps.project_tangent(x, points(shape, seed + k, dtype)) for k in (200, 300))
    moved_v, moved_w = maps.transport(x, y, v), maps.transport(x, y, w)
    close((moved_v * y).sum(-1), torch.zeros(shape[:-1], dtype=dtype), 4)
    close((moved_v * moved_w).sum(-1), (v * w).sum(-1), 4)
    # The velocity of the geodesic from x to y arrives as the velocity it has at y.
    close(maps.transport(x, y, maps.logmap(x, y)), -maps.logmap(y, x), 20)


@every_dtype
@every_seed
def test_angle_is_the_arc_and_ignores_rotations(dtype: torch.dtype, seed: int) -> None:
    x, y = points((7, 16), seed, dtype), points((7, 16), seed + 100, dtype)
    exact = torch.arccos((x.double() * y.double()).sum(-1)).to(dtype)
    close(maps.angle(x, y), exact, 2)
    rotation = torch.linalg.qr(torch.randn(16, 16, dtype=torch.float64))[0].to(dtype)
    close(maps.angle(x @ rotation, y @ rotation), maps.angle(x, y), 4)


def test_angle_keeps_the_digits_of_close_points() -> None:
    x = torch.tensor([1.0, 0.0], dtype=torch.float64)
    for tiny in (1e-3, 1e-9, 1e-15):
        y = torch.tensor([math.cos(tiny), math.sin(tiny)], dtype=torch.float64)
        assert maps.angle(x, y).item() == pytest.approx(tiny, rel=1e-12)
        assert maps.angle(x, -y).item() == pytest.approx(math.pi - tiny, rel=1e-15)


@every_dtype
def test_singular_points_give_finite_values_and_gradients(dtype: torch.dtype) -> None:
    north = maps.pole(4, dtype=dtype)
    for y in (north, -north, points((4,), 0, dtype)):
        for function in (
            maps.angle,
            maps.logmap,
            lambda a, b: maps.transport(a, b, torch.ones_like(a)),
            lambda a, b: maps.expmap(a, maps.logmap(a, b)),
            lambda a, b: maps.to_angles(a) + maps.to_angles(b),
            lambda a, b: maps.lift(a) + maps.lift(b * 0, how="retraction"),
        ):
            x, z = north.clone().requires_grad_(), y.clone().requires_grad_()
            value = function(x, z)
            gradients = torch.autograd.grad(value.sum(), (x, z))
            assert torch.isfinite(value).all()
            assert all(torch.isfinite(g).all() for g in gradients)


@every_dtype
def test_angle_has_no_gradient_between_identical_and_antipodal_points(dtype: torch.dtype) -> None:
    x = points((3, 5), 0, dtype).requires_grad_()
    same, opposite = maps.angle(x, x.detach()), maps.angle(x, -x.detach())
    assert torch.equal(same, torch.zeros(3, dtype=dtype))
    close(opposite, torch.full((3,), math.pi, dtype=dtype))
    assert not torch.autograd.grad((same + opposite).sum(), x)[0].any()


def test_gradients_are_right() -> None:
    x = points((3, 4), 0, torch.float64).requires_grad_()
    y = points((3, 4), 1, torch.float64).requires_grad_()
    near = (points((3, 4), 0, torch.float64) + 1e-6 * points((3, 4), 2, torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(maps.angle, (x, y))
    assert torch.autograd.gradgradcheck(maps.angle, (x, y))
    assert torch.autograd.gradcheck(maps.logmap, (x, y))
    assert torch.autograd.gradcheck(maps.logmap, (x, near), eps=1e-8, atol=1e-4)
    assert torch.autograd.gradcheck(maps.expmap, (x, y))
    assert torch.autograd.gradcheck(maps.transport, (x, y, near))
    zero = torch.zeros(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(maps.expmap, (x, zero))
    assert torch.autograd.gradgradcheck(maps.expmap, (x, zero))
    assert torch.autograd.gradcheck(maps.to_angles, x)
    assert torch.autograd.gradcheck(maps.from_angles, y[:, :3])


@every_shape
@every_dtype
@every_seed
def test_angular_coordinates_round_trip(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    z = points(shape, seed, dtype)
    angles = maps.to_angles(z)
    assert angles.shape == (*shape[:-1], shape[-1] - 1)
    assert ((angles[..., :-1] >= 0) & (angles[..., :-1] <= math.pi)).all()
    assert ((angles[..., -1] >= 0) & (angles[..., -1] < 2 * math.pi)).all()
    close(maps.from_angles(angles), z, 4)


def test_angular_coordinates_by_hand() -> None:
    half = math.sqrt(0.5)
    cases = {
        (1.0, 0.0, 0.0): (0.0, 0.0),
        (0.0, 1.0, 0.0): (math.pi / 2, 0.0),
        (0.0, 0.0, -1.0): (math.pi / 2, 3 * math.pi / 2),
        (-half, -half, 0.0): (3 * math.pi / 4, math.pi),
    }
    z = torch.tensor(list(cases), dtype=torch.float64)
    close(maps.to_angles(z), torch.tensor(list(cases.values()), dtype=torch.float64))
    just_below = maps.to_angles(torch.tensor([1.0, -1e-30]))
    assert just_below.item() == 0


@every_dtype
def test_lift_reaches_the_sphere_from_any_vector(dtype: torch.dtype) -> None:
    e = torch.cat([points((5, 6), 0, dtype), 14 * points((5, 6), 1, dtype), torch.zeros(1, 6, dtype=dtype)])
    for how in ("exp", "retraction"):
        close(maps.lift(e, how=how).norm(dim=-1), torch.ones(len(e), dtype=dtype), 2)
    unit = e[:5]
    # The last coordinate of e is dropped and the length of the rest becomes the angle from the pole.
    height = maps.lift(unit, how="exp")[:, -1]
    close(height, unit[:, :-1].norm(dim=-1).cos(), 2)
    assert (maps.lift(e, how="retraction")[:, -1] > 0).all()
    close(maps.lift(torch.zeros(6, dtype=dtype)), maps.pole(6, dtype=dtype))


def test_whole_numbers_are_computed_as_decimals() -> None:
    x, y, v = torch.tensor([[1, 0, 0], [0, 1, 0], [0, -2, 0]])
    e = torch.tensor([1, 2, 0])
    cases = [
        (maps.project_tangent, (x, v)),
        (maps.expmap, (x, v)),
        (maps.logmap, (x, y)),
        (maps.transport, (x, y, v)),
        (maps.angle, (x, y)),
        (maps.norm, (v,)),
        (maps.to_angles, (y,)),
        (maps.from_angles, (e,)),
        (maps.lift, (e, "exp")),
        (maps.lift, (e, "retraction")),
    ]
    for function, arguments in cases:
        decimals = [a.float() if isinstance(a, Tensor) else a for a in arguments]
        close(function(*arguments).float(), function(*decimals))


def test_an_unknown_way_to_lift_is_refused() -> None:
    with pytest.raises(ValueError, match="no way to lift 'exponential'; choose one of: exp, retraction"):
        maps.lift(torch.ones(3), how="exponential")
