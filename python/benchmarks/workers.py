"""Times the first batch of a DataLoader's workers, and measures the memory that they take:

python python/benchmarks/workers.py DATASET [--kind torch] [--workers 2] [--batches 150]

For fork and spawn, and for tcbuild.torch and tcbuild.torchcell: the time from the start of a
worker's work to its first batch, by the clock and of the processor; the private memory that a
worker then has beyond what it began with, and after all batches. Samples are in random order.
Linux only.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import torch

import tcbuild
import tcbuild.torch

Collate = Callable[[Any], Any]

KINDS = ("torch", "torchcell")
METHODS = ("fork", "spawn")

began: tuple[float, float, float] = (0, 0, 0)  # in a worker: memory, clock, processor time


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("--kind", choices=KINDS, help="the room whose batches are timed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batches", type=int, default=150, help="of each worker (default 150)")
    parser.add_argument("--batch-size", type=int, default=28)
    arguments = parser.parse_args()

    print(f"{'':>20} {'first batch':>12} {'processor':>10} {'memory':>9}   after all")
    for kind in [arguments.kind] if arguments.kind else KINDS:
        dataset, collate = (of_torch if kind == "torch" else of_pyg)(arguments.dataset)
        for method in METHODS:
            batches = loader(dataset, collate, method, arguments)
            report(f"tcbuild.{kind} {method}", batches)


def of_torch(path: str) -> tuple[Any, Collate]:
    return tcbuild.open(path), tcbuild.torch.collate


def of_pyg(path: str) -> tuple[Any, Collate]:
    import tcbuild.torchcell  # not before, as PyG imports pandas

    stored = tcbuild.open(path)
    return tcbuild.torchcell.Dataset(
        stored, stored.phenotype_names[:1]
    ), tcbuild.torchcell.LazyCollater()


def loader(dataset: Any, collate: Collate, method: str, arguments: argparse.Namespace) -> Any:
    samples = arguments.batches * arguments.batch_size * arguments.workers
    order = torch.utils.data.RandomSampler(dataset, replacement=True, num_samples=samples)
    return torch.utils.data.DataLoader(
        dataset,
        arguments.batch_size,
        sampler=order,
        num_workers=arguments.workers,
        collate_fn=Measured(collate, arguments.batches),
        worker_init_fn=begin,
        multiprocessing_context=method,
    )


def report(name: str, batches: Any) -> None:
    found: dict[int, list[Any]] = {}
    for worker, measured in batches:
        found.setdefault(worker, []).extend(measured)
    for clock, processor, first, last, pandas in found.values():
        print(
            f"{name:>20} {clock * 1e3:9.0f} ms {processor * 1e3:7.0f} ms {first:6.1f} MB"
            f" {last:8.1f} MB{'   pandas was imported' if pandas else ''}",
            flush=True,
        )


def begin(worker: int) -> None:
    global began
    began = private_memory(), perf_counter(), process_time()


class Measured:
    """Makes a batch, and returns in its place what the worker has taken since it began."""

    def __init__(self, collate: Collate, batches: int):
        self.collate, self.first, self.left = collate, True, batches

    def __call__(self, samples: Any) -> tuple[int, list[float]]:
        self.collate(samples)
        self.left -= 1
        taken: list[float] = []
        if self.first:
            taken += perf_counter() - began[1], process_time() - began[2], since_beginning()
            self.first = False
        if not self.left:
            taken += since_beginning(), "pandas" in sys.modules
        return os.getpid(), taken


def since_beginning() -> float:
    return private_memory() - began[0]


def private_memory(process: int | str = "self") -> float:
    """What a process shares with no other, in MB."""
    with open(f"/proc/{process}/smaps_rollup") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1e3


if __name__ == "__main__":
    main()
