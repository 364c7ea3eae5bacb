"""Draws docs/figures/svgd_variants.png and prints the tables of docs/method/svgd.md.

    python scripts/svgd_figure.py

A cluster of particles is moved either by minimising the norm of the `paper` field or along the `corrected` field;
nothing else acts on it. Three dimensions for the image, 64 for the curves and the tables.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import normalize

from taxosphere.sphere import maps, svgd

FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "svgd_variants.png"
STEP = 0.1
NORM_STEP = 0.01  # the norm has a kink where it is smallest; longer steps only bounce across it
STEPS = 600
SHOWN = (30, 100, 300, 600)
PARTICLES = 100
SETTING = {"kernel": "vmf+score", "kappa_repel": 2.0, "kappa_align": 1.0}

Move = Callable[[Tensor, Tensor | None], Tensor]  # particles, anchors (None: each its own)


def cluster(dim: int, seed: int = 0, height: float = 0.3, spread: float = 0.15) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    centre = torch.zeros(dim, dtype=torch.float64)
    centre[0], centre[-1] = (1 - height**2) ** 0.5, height
    noise = normalize(torch.randn(PARTICLES, dim, generator=generator, dtype=torch.float64), dim=-1)
    return normalize(centre + spread * noise, dim=-1)


def minimise_norm(**changes: object) -> Move:
    def move(z: Tensor, anchors: Tensor | None) -> Tensor:
        free = z.clone().requires_grad_()
        phi = svgd.field(free, free if anchors is None else anchors, **{**SETTING, "variant": "paper", **changes})
        (gradient,) = torch.autograd.grad(svgd.norm_loss(phi) * len(z), free)
        return normalize(maps.expmap(z, -NORM_STEP * maps.project_tangent(z, gradient)), dim=-1)

    return move


def follow(**changes: object) -> Move:
    def move(z: Tensor, anchors: Tensor | None) -> Tensor:
        phi = svgd.field(z, z if anchors is None else anchors, **{**SETTING, "variant": "corrected", **changes})
        return normalize(maps.expmap(z, STEP * phi), dim=-1)

    return move


def positions(start: Tensor, move: Move, anchors: Tensor | None = None) -> Iterator[Tensor]:
    z = start
    yield z
    for _ in range(STEPS):
        z = move(z, anchors)
        yield z


def mean_angle(z: Tensor) -> float:
    rows, columns = torch.triu_indices(len(z), len(z), 1)
    return torch.rad2deg(maps.angle(z[rows], z[columns]).mean()).item()


def mean_height(z: Tensor) -> float:
    return z[:, -1].abs().mean().item()


MOVES: dict[str, Move] = {
    "paper: norm minimised": minimise_norm(),
    "paper: field followed": follow(variant="paper"),
    "corrected": follow(),
    "corrected, pole term ≤ 10": follow(pole_clip=10.0),
}
COLOURS = dict(zip(MOVES, ("tab:red", "tab:orange", "tab:blue", "tab:cyan"), strict=True))


def draw() -> None:
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=(2, 3))
    start = cluster(3)
    for column, (name, move) in enumerate(MOVES.items()):
        axes = figure.add_subplot(grid[0, column], projection="mollweide")
        *_, end = positions(start, move)
        for points, colour in ((start, "lightgrey"), (end, COLOURS[name])):
            axes.scatter(torch.atan2(points[:, 1], points[:, 0]), torch.asin(points[:, 2]), s=7, color=colour)
        axes.set_title(name, fontsize=10)
        axes.set_xticklabels([])
        axes.set_yticklabels([])
        axes.grid(alpha=0.3)
    angles, heights = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    for name, move in MOVES.items():
        track = list(positions(cluster(64), move))
        angles.plot([mean_angle(z) for z in track], color=COLOURS[name], label=name)
        heights.plot([mean_height(z) for z in track], color=COLOURS[name])
    angles.set(xlabel="step", ylabel="mean pairwise angle (°), d = 64", xlim=(0, 120), ylim=(0, 45))
    heights.set(xlabel="step", ylabel="mean |z_d|, d = 64", xlim=(0, 120), ylim=(0, 1.02))
    angles.legend(fontsize=8, loc="center right")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=110)


def tables() -> None:
    start = cluster(64)
    print(f"start: mean angle {mean_angle(start):.1f}°, mean |z_d| {mean_height(start):.2f}")
    print("| moved by | anchors |", *(f"{step} steps |" for step in SHOWN))
    rows: dict[str, Move] = {
        **MOVES,
        "paper: norm minimised, κ_align = 0": minimise_norm(kappa_align=0.0),
        **{f"corrected, pole term ≤ {clip}": follow(pole_clip=clip) for clip in (0.5, 1.0, 2.0)},
        **{f"corrected, {kernel}": follow(kernel=kernel) for kernel in ("vmf", "rbf", "imq")},
    }
    for name, move in rows.items():
        for anchor, anchors in (("self", None), ("start", start)):
            track = list(positions(start, move, anchors))
            cells = (f"{mean_angle(track[step]):.1f}° {mean_height(track[step]):.2f} |" for step in SHOWN)
            print(f"| {name} | {anchor} |", *cells)


if __name__ == "__main__":
    torch.set_num_threads(1)
    tables()
    draw()
