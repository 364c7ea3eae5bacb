"""Exact search for the nearest concepts against a plain matrix product, and its memory against the matrix it searches.

python benchmarks/bench_search.py [candidates]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from taxosphere.orbit.search import top_k

DIM, QUERIES, K = 96, 64, 300


def best(action: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def main(count: int) -> None:
    rng = np.random.default_rng(0)
    rows = np.empty((count, DIM), np.float32)
    for start in range(0, count, 1 << 16):  # filled in parts, so that making the matrix does not set the peak
        part = rows[start : start + (1 << 16)]
        part[:] = rng.standard_normal(part.shape, np.float32)
    queries = rng.standard_normal((QUERIES, DIM), np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    search = best(lambda: top_k(queries, rows, K))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    product = best(lambda: [queries @ rows[start : start + (1 << 16)].T for start in range(0, count, 1 << 16)])
    single = best(lambda: top_k(queries[:1], rows, K))
    print(f"{count:,} × {DIM}, {QUERIES} queries, top {K}")
    print(f"memory of the search    {1 + peak / (rows.nbytes / 1024):.2f} × the matrix")
    print(f"top-k / matrix product  {search / product:.2f}  ({1000 * search / QUERIES:.2f} CPU ms a query)")
    print(f"one query alone         {1000 * single:.2f} CPU ms")


if __name__ == "__main__":
    main(int(sys.argv[1].replace("_", "")) if len(sys.argv) > 1 else 1_000_000)
