"""Our Riemannian Adam beside geoopt's: speed of a step, drift off the sphere, length lost in transport.

python benchmarks/bench_optimiser.py [--rows 256] [--columns 384] [--steps 1000]
"""

from __future__ import annotations

import argparse
import time
import warnings

import torch

from taxosphere.model.network import SphereParameter, unit
from taxosphere.model.riemannian import Group, RiemannianAdam
from taxosphere.sphere import maps

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import geoopt


def walk(optimiser: object, weight: torch.nn.Parameter, gradients: torch.Tensor) -> tuple[float, float]:
    """Seconds for one pass over the gradients, and how far the worst row is off the sphere afterwards."""
    began = time.perf_counter()
    for gradient in gradients:
        weight.grad = gradient.clone()
        optimiser.step()
    took = time.perf_counter() - began
    return took, (weight.detach().double().norm(dim=1) - 1).abs().max().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    torch.manual_seed(0)
    start = unit(torch.randn(options.rows, options.columns))
    gradients = torch.randn(20, options.rows, options.columns).repeat(max(1, options.steps // 20), 1, 1)

    ours = SphereParameter(start.clone())
    theirs = geoopt.ManifoldParameter(start.clone(), manifold=geoopt.SphereExact())
    found = {
        "ours": walk(RiemannianAdam([Group([ours], 0.03)]), ours, gradients),
        "geoopt": walk(geoopt.optim.RiemannianAdam([theirs], lr=0.03), theirs, gradients),
    }
    for name, (took, drift) in found.items():
        print(f"{name:7s} {1e3 * took / len(gradients):.2f} ms a step, worst row off the sphere by {drift:.1e}")

    x = unit(torch.randn(1000, options.columns, dtype=torch.float64))
    v = maps.project_tangent(x, torch.randn_like(x))
    for angle in (0.01, 0.1, 0.5):
        direction = unit(v)
        y = maps.expmap(x, angle * direction)
        sphere = geoopt.SphereExact()
        kept = maps.transport(x, y, v).norm(dim=1) / v.norm(dim=1)
        projected = sphere.transp(x, y, v).norm(dim=1) / v.norm(dim=1)
        print(f"after {angle} rad along it a momentum keeps {kept.mean():.6f} (ours), {projected.mean():.6f} (geoopt)")
    for distance in (1e-1, 1e-2, 1e-3, 1e-4):
        y = maps.expmap(x, distance * unit(v)).float()
        wrong = (maps.angle(x.float(), y) - distance).abs().max() / distance
        clamped = (geoopt.SphereExact().dist(x.float(), y) - distance).abs().max() / distance
        print(f"angle {distance:g} in float32: relative error {wrong:.0e} (ours), {clamped:.0e} (geoopt)")


if __name__ == "__main__":
    main()
