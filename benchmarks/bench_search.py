"""Exact gated search against a plain matrix product, and its memory against the matrix it searches.

python benchmarks/bench_search.py [candidates]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import torch

from taxosphere.orbit.search import Candidates, top_k

DIM, QUERIES, K = 128, 64, 10


def best(action: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main(count: int) -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.empty(count, DIM)
    for part in rows.split(1 << 16):  # filled in parts, so that making the matrix does not set the peak
        part.copy_(torch.nn.functional.normalize(torch.randn(len(part), DIM, generator=generator), dim=1))
    queries = torch.nn.functional.normalize(torch.randn(QUERIES, DIM, generator=generator), dim=1)
    threshold = torch.rand(count, generator=generator) * 0.4
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plain = best(lambda: top_k(queries, Candidates(rows), K))
    gated = best(lambda: top_k(queries, Candidates(rows), K, threshold=threshold, mode="hybrid"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    matrix = rows.numel() * 4 / 1024
    product = best(lambda: queries @ rows.T)
    single = best(lambda: top_k(queries[:1], Candidates(rows), K))
    print(f"{count:,} × {DIM}, {QUERIES} queries, top {K}, {torch.get_num_threads()} threads")
    print(f"memory of the search    {1 + peak / matrix:.2f} × the matrix")
    print(f"top-k / matrix product  {plain / product:.2f}  ({1000 * plain / QUERIES:.2f} ms a query)")
    print(f"gated / matrix product  {gated / product:.2f}  ({1000 * gated / QUERIES:.2f} ms a query)")
    print(f"one query alone         {1000 * single:.2f} ms")
    half = Candidates.compact(rows)
    compact = best(lambda: top_k(queries, half, K))
    same = (top_k(queries, half, K).positions == top_k(queries, Candidates(rows), K).positions).all(1).float().mean()
    print(f"half-size / full-size   {compact / plain:.2f}  (top {K} identical for {same:.0%} of the queries)")


if __name__ == "__main__":
    main(int(sys.argv[1].replace("_", "")) if len(sys.argv) > 1 else 1_000_000)
