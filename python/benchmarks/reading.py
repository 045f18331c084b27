"""Times reading: python python/benchmarks/reading.py DATASET... [--samples 500]

Each dataset is read at random samples, in this process only. The first round is not measured. The
results are medians in milliseconds per sample. The last line says how fast combinations of three of
the last dataset's genes are computed, a batch of them at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np

import tcbuild

BATCH = 28
COMPUTED = 65_536  # combinations in a batch

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Times the reading of datasets, in ms per sample.",
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument(
        "--samples", type=int, default=500, help="samples to read from each (default 500)"
    )
    arguments = parser.parse_args()

    columns = ("labels", f"batch of {BATCH}", "removed", "all masks")
    print(f"{'ms per sample':>24}", *(f"{column:>12}" for column in columns))
    for path in arguments.datasets:
        dataset = tcbuild.open(path)
        if not len(dataset):
            parser.error(f"{path} has no samples")
        name = "-".join(filter(None, (dataset.variant, dataset.codec)))
        print(
            f"{name:>24}",
            *(f"{milliseconds:12.3f}" for milliseconds in measure(dataset, arguments.samples)),
            flush=True,
        )
    for order, per_second in zip(("one after the other", "at random"), combinations(dataset)):
        print(f"combinations of 3 genes, {order}: {per_second / 1e6:.1f} million per second")


def combinations(dataset: tcbuild.Dataset) -> list[float]:
    """Combinations of three genes per second, one after the other and at random."""
    triples = dataset.combinations(dataset.genes, min(3, len(dataset.genes)))
    size = min(COMPUTED, len(triples))
    chance = np.random.default_rng(0)
    runs = [
        range(start, start + size) for start in chance.integers(len(triples) - size + 1, size=50)
    ]
    batches = [chance.integers(len(triples), size=size) for _ in runs]
    return [
        size / median_milliseconds(triples.perturbations, runs) * 1e3,
        size / median_milliseconds(triples.perturbations, batches) * 1e3,
    ]


def measure(dataset: tcbuild.Dataset, samples: int) -> list[float]:
    """Milliseconds per sample for labels, perturbations of a batch, removed positions,
    and masks as bool.
    """
    chance = np.random.default_rng(0)
    order = chance.integers(len(dataset), size=samples).tolist()
    batches = [chance.integers(len(dataset), size=BATCH) for _ in range(-(-samples // BATCH))]
    return [
        median_milliseconds(lambda i: dataset[i].phenotypes, order),
        median_milliseconds(dataset.perturbations, batches) / BATCH,
        median_milliseconds(lambda i: dataset[i].removed, order),
        median_milliseconds(lambda i: dataset[i].masks, order),
    ]


def median_milliseconds(read: Callable[[T], object], arguments: Sequence[T]) -> float:
    for _ in range(2):  # the first round warms
        times: list[float] = []
        for argument in arguments:
            start = perf_counter()
            read(argument)
            times.append(perf_counter() - start)
    return median(times) * 1e3


if __name__ == "__main__":
    main()
