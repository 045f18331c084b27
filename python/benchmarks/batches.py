"""Times batches and masks: python python/benchmarks/batches.py DATASET... [--batches 200]

pyg batch: a batch of tcbuild.torchcell.DataLoader on the CPU, in milliseconds per sample, until all
of its edges and masks are there. The batch before is not kept.

torch batch: milliseconds of CPU per sample of a batch of tcbuild.torch, 64 samples at random, until
its masks are there: when the samples are read first, and again. copy is as many bytes to new
memory. The least of all batches counts, as other programs take turns.

masks: microseconds to write the masks of a sample, at random, to given memory, and how many
times as long that is as NumPy takes to expand the same positions, which it has in RAM, to the same
memory. This is the memory of one sample, which stays in the processor's cache, or of a batch, whose
rows take turns. Of five rounds in which the two alternate, the least time of each sample counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import tcbuild
import tcbuild.torch
import tcbuild.torchcell

BATCH, TORCH_BATCH = 28, 64


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--batches", type=int, default=200)
    arguments = parser.parse_args()

    torchs = "ms, torch batch: first again copy"
    print(f"{'':>12} {'ms, pyg batch':>16} {torchs:>36} {'us, masks: sample':>24} {'batch':>18}")
    for path in arguments.datasets:
        dataset = tcbuild.open(path)
        read = torch_batches(dataset, min(arguments.batches, 20))
        batches = np.array(pyg_batches(dataset, arguments.batches)) * 1e3 / BATCH
        filled = [fills(dataset, arguments.batches, rows) for rows in (1, BATCH)]
        print(
            f"{dataset.variant:>12} {median(batches):6.3f} min {min(batches):.3f}",
            f"{read[0]:22.3f} {read[1]:.3f} {read[2]:.3f}",
            *(f"{ours * 1e6:12.1f} = {ours / numpys:.2f} NumPy" for ours, numpys in filled),
            flush=True,
        )


def pyg_batches(dataset: tcbuild.Dataset, count: int) -> list[float]:
    """Seconds per batch."""
    of_pyg = tcbuild.torchcell.Dataset(dataset, dataset.phenotype_names[:1])
    order = np.random.default_rng(0).integers(len(dataset), size=(count + 1) * BATCH)
    batches = iter(tcbuild.torchcell.DataLoader(of_pyg[order], BATCH))
    use(next(batches))  # lays out the edges
    return [seconds(lambda: use(next(batches))) for _ in range(count)]


def use(batch: Any) -> None:
    for store in batch.stores:
        for key in ("mask", "edge_index", "hyperedge_index"):
            if key in store:
                store[key]


def torch_batches(dataset: tcbuild.Dataset, count: int) -> list[float]:
    """Milliseconds per sample at the first and second reading, and for a copy."""
    order = np.random.default_rng(2).integers(len(dataset), size=(count, TORCH_BATCH))
    whole = np.ones(int(dataset._mask_offsets[-1]), np.uint8)
    ways: list[Callable[[Any], object]] = [
        lambda some: tcbuild.torch.collate(dataset[some]).masks,
        lambda some: tcbuild.torch.collate(dataset[some]).masks,
        lambda some: np.copyto(np.empty((TORCH_BATCH, len(whole)), np.uint8), whole),
    ]
    least = [min(seconds(lambda: way(some), process_time) for some in order) for way in ways]
    return [1e3 * time / TORCH_BATCH for time in least]


def fills(dataset: tcbuild.Dataset, count: int, rows: int) -> tuple[float, float]:
    """Median seconds per sample of writing masks, and of NumPy, into rows of memory."""
    samples = np.random.default_rng(1).integers(len(dataset), size=count).tolist()
    positions = [dataset._read_removed(sample).astype(np.intp) for sample in samples]
    memory = np.ones((rows, int(dataset._mask_offsets[-1])), np.bool_)

    def expand(number: int, out: Any) -> None:
        out.fill(1)
        out[positions[number]] = 0

    ways: list[Callable[[int, Any], None]] = [
        lambda number, out: dataset._fill_masks(samples[number], out),
        expand,
    ]
    times: list[list[list[float]]] = [[], []]
    for _ in range(5):
        for way, found in zip(ways, times):
            found.append(
                [seconds(lambda: way(number, memory[number % rows])) for number in range(count)]
            )
    ours, numpys = (median(np.min(found, axis=0).tolist()) for found in times)
    return ours, numpys


def seconds(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    main()
