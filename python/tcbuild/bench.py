"""Times reading: python -m tcbuild.bench DATASET... [--samples N]

Each dataset is read at random samples, in this process only. The first round is not measured. The
results are medians in milliseconds per sample.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np

from tcbuild.dataset import Dataset
from tcbuild.dataset import open as open_dataset

BATCH = 28

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tcbuild.bench",
        description="Times the reading of datasets, in ms per sample.",
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument(
        "--samples", type=int, default=500, help="samples to read from each (default 500)"
    )
    arguments = parser.parse_args()

    columns = ("labels", f"batch of {BATCH}", "removed", "packed", "all masks")
    print(f"{'ms per sample':>24}", *(f"{column:>12}" for column in columns))
    for path in arguments.datasets:
        dataset = open_dataset(path)
        if not len(dataset):
            parser.error(f"{path} has no samples")
        name = "-".join(filter(None, (dataset.variant, dataset.codec)))
        print(
            f"{name:>24}",
            *(f"{milliseconds:12.3f}" for milliseconds in measure(dataset, arguments.samples)),
            flush=True,
        )


def measure(dataset: Dataset, samples: int) -> list[float]:
    """Milliseconds per sample for labels, perturbations of a batch, removed positions, packed
    masks, and masks as bool.
    """
    chance = np.random.default_rng(0)
    order = chance.integers(len(dataset), size=samples).tolist()
    batches = [chance.integers(len(dataset), size=BATCH) for _ in range(-(-samples // BATCH))]
    return [
        median_milliseconds(lambda i: dataset[i].phenotypes, order),
        median_milliseconds(dataset.perturbations, batches) / BATCH,
        median_milliseconds(lambda i: dataset[i].removed, order),
        median_milliseconds(lambda i: dataset[i].packed, order),
        median_milliseconds(lambda i: dataset[i].masks, order),
    ]


def median_milliseconds(read: Callable[[T], object], arguments: list[T]) -> float:
    for _ in range(2):  # the first round warms
        times: list[float] = []
        for argument in arguments:
            start = perf_counter()
            read(argument)
            times.append(perf_counter() - start)
    return median(times) * 1e3


if __name__ == "__main__":
    main()
