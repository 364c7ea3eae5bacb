"""What embedding all concepts of a taxonomy takes per concept, arithmetic apart from the system's part.

    python benchmarks/bench_embed.py 10000 30000 100000

That is most of what `bench_growth.py` calls assembling the model. Vectors and network are random.
"""

from __future__ import annotations

import argparse
import resource

import numpy as np
import torch

from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.queries import embed

DIM = 384


def used() -> np.ndarray:
    """Processor seconds of this process in its own code and in the system, and pages that it was handed."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([usage.ru_utime, usage.ru_stime, usage.ru_minflt])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = SphereNetwork(DIM, PolarisConfig().network).eval()
    print("| concepts | own code, µs a concept | system, µs | pages |")
    for size in options.sizes:
        vectors = np.random.default_rng(0).standard_normal((size, DIM), np.float32)
        before = used()
        embed(network, vectors)
        own, system, pages = (used() - before) / size
        print(f"| {size:,} | {1e6 * own:.1f} | {1e6 * system:.1f} | {pages:.2f} |", flush=True)


if __name__ == "__main__":
    main()
