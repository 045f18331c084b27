"""Times what else could store the samples, beside tcbuild's variants.

    python3 -m venv peers
    peers/bin/pip install -r python/requirements-peers.txt ./python
    tcbuild synth --scale yeast --samples 20000 --out yeast
    peers/bin/python python/benchmarks/peers.py --graph yeast/graph \\
        --perturbations yeast/perturbations.arrow

A package that is not installed leaves out its rows. Every system stores the same records: of each
sample its genes, its phenotypes, and the positions that its masks remove. In each round all systems
write, one after the other. Then all samples of every system, and the first batches of its loaders,
are compared with the source; a difference ends the run. In each round of reading all systems read,
one after the other, each in a process of its own. The table has medians over the rounds, and in
brackets medians of the ratios to tcbuild's indices in the same round.

write: until all files are on the disk. tcbuild reads graph and samples, makes the masks and
    digests; the others get the positions, which are in memory
bytes: per sample, of the files that grow with the samples
sample: a random sample's genes, phenotypes and masks, a byte per position, into memory in use
whole masks: a batch of a loader, per sample, whose workers make whole masks
positions: the same, but workers send the removed positions, of which the masks are written here,
    into the memory of an earlier batch; tcbuild's loaders do so
own MB, mapped MB: memory of a worker of the latter that no other process shares: what it allocated,
    and pages of mapped files, which the kernel may drop
"""

from __future__ import annotations

import argparse
import atexit
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, strftime
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

import tcbuild
import tcbuild.torch as tt
from systems import Loading, Source, System
from systems.variants import Indices, build

# Per row of the table the class, and what pip installs for it.
SYSTEMS = {
    "tcbuild incidence": ("variants.Incidence", ""),
    "tcbuild indices": ("variants.Indices", ""),
    "tcbuild full-masks": ("variants.FullMasks", ""),
    "torchcell records": ("torchcell.Records", "lmdb"),
    "torchcell indices": ("torchcell.Compact", "lmdb"),
    "MosaicML streaming": ("mosaicml.Mosaic", "mosaicml-streaming"),
    "LitData": ("litdata_chunks.LitData", "litdata"),
    "Hugging Face datasets": ("huggingface.HuggingFace", "datasets"),
    "PyG OnDiskDataset": ("pyg.OnDisk", "torch_geometric"),
    "HDF5, Blosc": ("hdf5.HDF5", "h5py hdf5plugin"),
    "Parquet, delta + zstd": ("parquet.Parquet", ""),
    "NumPy memmap": ("arrays.Memmap", ""),
    "in memory": ("arrays.Memory", ""),
}
BASE = "tcbuild indices"  # of the ratios
WARMING = 4  # batches that are not timed

Figures = dict[str, float]  # by column
T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    systems = dict(installed())
    rounds = range(options.rounds)
    figures: dict[str, list[Figures]] = {name: [{} for _ in rounds] for name in systems}
    with tempfile.TemporaryDirectory(prefix="peers-", dir=options.scratch) as scratch:
        source = read_source(options, Path(scratch) / "source")
        # Workers must still be at work when their memory is measured.
        needed = options.batch_size * (WARMING + options.batches + 4 * options.workers)
        if len(source) < needed:
            raise SystemExit(
                f"found {len(source):,} samples, expected {needed:,} for these batches and workers"
            )

        def do(work: Callable[..., T], name: str) -> T:
            log(f"{work.__name__}: {name}")
            folder = Path(scratch) / name
            return in_process(lambda: work(systems[name](folder, source), source, options))

        for number in rounds:
            for name in systems:
                shutil.rmtree(Path(scratch) / name, ignore_errors=True)
                (Path(scratch) / name).mkdir()
                figures[name][number] |= do(write, name)
        for name in systems:
            for compare in (compare_samples, compare_batches):
                if wrong := do(compare, name):
                    raise SystemExit(f"compare {name}: {wrong}")
        for number in rounds:
            for name in systems:
                for read in (read_samples, read_whole_masks, read_positions):
                    figures[name][number] |= do(read, name)
    print(f"{len(source):,} samples, medians of {options.rounds} rounds\n")
    print(table(figures))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--perturbations", required=True)
    parser.add_argument("--tcbuild", type=Path, default=shutil.which("tcbuild"), help="the program")
    parser.add_argument("--scratch", type=Path, help="a folder for temporary files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=500, help="random samples in a round")
    parser.add_argument(
        "--batches",
        type=int,
        default=100,
        help="of a loader in a round, a quarter of them of whole masks",
    )
    parser.add_argument("--batch-size", type=int, default=28)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.tcbuild is None:
        parser.error("tcbuild is not in PATH: pass --tcbuild")
    options.loading = Loading(options.batch_size, options.workers)
    return options


def installed() -> Iterator[tuple[str, type[System]]]:
    """The systems whose packages are installed; the others are named."""
    for name, (path, packages) in SYSTEMS.items():
        module, _, found = path.partition(".")
        try:
            yield name, getattr(import_module(f"systems.{module}"), found)
        except ModuleNotFoundError:
            print(f"{name}: not installed: pip install {packages}")


def read_source(options: argparse.Namespace, folder: Path) -> Source:
    build(options.tcbuild, Indices.command, options.graph, options.perturbations, folder)
    stored = tcbuild.open(folder)
    genes, gene_ends, phenotypes = stored.perturbations(slice(None))
    removed = [sample.removed for sample in stored]
    return Source(
        graph=options.graph,
        perturbations=options.perturbations,
        program=options.tcbuild,
        stored=stored,
        genes=genes.astype(np.int32),
        gene_ends=gene_ends,
        phenotypes=phenotypes,
        removed=np.concatenate(removed).astype(np.int32),
        removed_ends=np.cumsum([0, *map(len, removed)]),
    )


def log(text: str) -> None:
    print(f"{strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def in_process(work: Callable[[], T]) -> T:
    """The result of work in a process of its own, which begins without open systems."""
    forking = multiprocessing.get_context("fork")
    receive, send = forking.Pipe(duplex=False)

    def run() -> None:
        atexit._clear()  # this process's own exit, which multiprocessing leaves out, is all
        send.send(work())
        atexit._run_exitfuncs()  # that MosaicML's needs to free shared memory

    process = forking.Process(target=run)
    process.start()
    send.close()
    try:
        result: T = receive.recv()
    except EOFError:
        raise SystemExit("a process ended with the error above") from None
    process.join()
    return result


def write(system: System, source: Source, options: argparse.Namespace) -> Figures:
    began = perf_counter()
    system.write(source)
    for path in system.folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    took = perf_counter() - began
    return {"write": took, "bytes": system.bytes_of_samples() / len(source)}


def compare_samples(system: System, source: Source, options: argparse.Namespace) -> str:
    """How the samples differ from the source's, "" if they do not."""
    found, expected = np.ones((2, int(source.stored._mask_offsets[-1])), np.uint8)
    for number, want in enumerate(source):
        record = system[number]
        record.write_masks(found)
        expected[want.removed] = 0
        if differ := difference(source, found, expected):
            return f"sample {number}: {differ}"
        for name in ("genes", "phenotypes"):
            got, wanted = getattr(record, name), getattr(want, name)
            if not np.array_equal(got, wanted, equal_nan=name == "phenotypes"):
                return f"sample {number}: {name}: found {got}, expected {wanted}"
        expected[want.removed] = 1
    return ""


def compare_batches(system: System, source: Source, options: argparse.Namespace) -> str:
    """How the first batch of a loader differs, "" if none does."""
    numbers = {tuple(want.genes.tolist()): number for number, want in enumerate(source)}
    expected = np.empty(int(source.stored._mask_offsets[-1]), np.uint8)
    for loader in (system.whole_masks(options.loading), system.positions(options.loading)):
        for genes, masks in rows(next(iter(loader))):
            number = numbers[tuple(genes.tolist())]  # of some sample with these genes
            source[number].write_masks(expected)
            if differ := difference(source, masks.numpy().view(np.uint8), expected):
                return f"sample {number} in a batch: {differ}"
    return ""


def rows(batch: Any) -> Iterator[tuple[Any, Tensor]]:
    """The genes and all masks of each sample."""
    if isinstance(batch, tt.Batch):
        genes = batch.deleted.tensor_split(batch.deleted_ptr[1:-1])
    else:
        genes = batch.genes
    masks = batch.masks
    yield from zip(genes, masks if isinstance(masks, Tensor) else torch.cat([*masks.values()], 1))


def difference(source: Source, found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> str:
    words = len(found) // 8 * 8  # are compared faster than bytes
    if np.array_equal(found[:words].view(np.uint64), expected[:words].view(np.uint64)) and (
        np.array_equal(found[words:], expected[words:])
    ):
        return ""
    position = int(np.argmax(found != expected))
    mask = int(np.searchsorted(source.stored._mask_offsets, position, side="right")) - 1
    return (
        f"mask {source.stored.mask_names[mask]}, position "
        f"{position - source.stored._mask_offsets[mask]}: found {found[position]}, expected "
        f"{expected[position]}"
    )


def read_samples(system: System, source: Source, options: argparse.Namespace) -> Figures:
    out = np.empty(int(system.stored._mask_offsets[-1]), np.uint8)
    times = []
    for index in np.random.default_rng().integers(len(system), size=options.samples).tolist():
        began = perf_counter()
        record = system[index]
        record.write_masks(out)
        _ = record.genes, record.phenotypes
        times.append(perf_counter() - began)
    return {"sample": median(times) * 1e3}


def read_whole_masks(system: System, source: Source, options: argparse.Namespace) -> Figures:
    took, _ = load(system.whole_masks(options.loading), options, max(1, options.batches // 4))
    return {"whole masks": took}


def read_positions(system: System, source: Source, options: argparse.Namespace) -> Figures:
    took, memory = load(system.positions(options.loading), options, options.batches)
    return {"positions": took} | memory


def load(loader: DataLoader[Any], options: argparse.Namespace, timed: int) -> tuple[float, Figures]:
    """Milliseconds per sample, and then the memory of a worker in MB."""
    batches = iter(loader)
    for number in range(WARMING + timed):
        if number == WARMING:
            began = perf_counter()
        _ = next(batches).masks
    took = perf_counter() - began
    workers = [private_memory(worker.pid) for worker in multiprocessing.active_children()]
    memory = {kind: median(worker[kind] for worker in workers) for kind in workers[0]}
    return took / timed / options.batch_size * 1e3, memory


def private_memory(process: int | None) -> Figures:
    text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    kinds = {"own MB": "Private_Dirty", "mapped MB": "Private_Clean"}
    return {
        kind: int(re.findall(rf"^{name}: +(\d+) kB", text, re.MULTILINE)[0]) / 1e3
        for kind, name in kinds.items()
    }


def table(figures: dict[str, list[Figures]]) -> str:
    """A row per system, in Markdown."""
    formats = {"write": "{:.2f} s", "bytes": "{:,.0f}", "own MB": "{:.0f}", "mapped MB": "{:.0f}"}
    columns = list(figures[BASE][0])
    lines = [["", *columns], ["---"] * (len(columns) + 1)]
    for name, rounds in figures.items():
        cells = []
        for column in columns:
            cell = formats.get(column, "{:.3f} ms").format(median(each[column] for each in rounds))
            if cell.endswith("s"):
                ratio = median(
                    mine[column] / base[column] for mine, base in zip(rounds, figures[BASE])
                )
                cell += f" ({ratio:.2g})"
            cells.append(cell)
        lines.append([name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
