"""Trains a small model from each dataset of a folder in each form, and says what is fastest.

    python -m tcbuild.compare data/quickstart/current
    python -m tcbuild.compare compared --build yeast/graph yeast/samples.tsv

Forms: shared (one sparse product for all samples, for layers that take sums and means), filtered
(the kept edges, for PyG's layers), masks (a message per edge, times its mask, as attention needs).

The first value of each option makes the baseline. Each dataset is trained in each form, and of the
other options one changes at a time; --cross trains every combination. Each row runs in a process of
its own, in rounds that alternate between rows. OUT.json has all figures, OUT.html a plot.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

import tcbuild
from tcbuild import _program
from tcbuild._files.scratch import scratch_beside
from tcbuild.compare._page import page
from tcbuild.compare._report import Result, recommendation, storage_table, training_table
from tcbuild.compare._train import Row, measure, model_of
from tcbuild.errors import DamagedError, DatasetError, SettingsError


def main() -> None:
    options, cores, loads = _arguments(), os.cpu_count() or 1, [os.getloadavg()[0]]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that copies are removed
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait take no CPU time
    stored = _stored(_built(options) if options.build else options.folder)
    rows = _plan([*stored], options)
    counts = [each["samples"] for each in stored.values()]
    options.samples, options.slice = min(options.samples, *counts), options.seconds / len(rows) / 6
    results = [Result(row, stored[row.dataset], []) for row in rows]
    _run_rounds(results, options, loads)
    lines = ["Storage (per sample includes files' fixed parts: for more samples, tcbuild bench)"]
    lines += storage_table([*stored.values()])
    lines.append(
        f"Training {options.model}, hidden {options.hidden}, layers {options.layers}, on "
        f"{options.samples:,} samples with {torch.get_num_threads()} threads. Figures are "
        "medians of rounds; memory and CPU time are the training process's."
    )
    lines += training_table(results)
    if busy := max(loads) > cores:
        lines.append(
            f"Programs waited (load {max(loads):.1f}, {cores} cores): compare CPU ms/sample, "
            "or measure again on a quiet machine."
        )
    lines += recommendation(results, busy)
    lines.append(
        f"Measured on {', '.join(options.device)}, files in the page cache. For a card: --device "
        "cuda there. For a file server: --folders DIR; its cold reads: tcbuild bench --out DIR/new."
    )
    print(*lines, sep="\n")
    found = {"torch": torch.__version__, "cores": cores, "loads": loads, "text": lines}
    found["rows"] = [each._asdict() | {"row": each.row._asdict()} for each in results]
    Path(f"{options.out}.json").write_text(json.dumps(found, indent=1) + "\n")
    Path(f"{options.out}.html").write_text(page(lines, results), encoding="utf-8")


def _built(options: argparse.Namespace) -> Path:
    """Builds a dataset with every variant and codec."""
    with scratch_beside(options.folder) as scratch:
        graph, samples = options.build
        words = [f"--graph={graph}", f"--perturbations={samples}", f"--out={scratch}/bench"]
        words += [f"--samples={options.samples}", "--rounds=1", "--keep", *options.set]
        _program.run("bench", *words)
        return (scratch / "bench/datasets").rename(options.folder)


def _stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Proves and measures the datasets of a folder, or the one that it is; incidence is first."""
    stored = {}
    folders = sorted(file.parent for file in folder.glob("*/manifest.json")) or [folder]
    for dataset in sorted(map(tcbuild.open, folders), key=lambda each: each.variant != "incidence"):
        path, sizes = Path(str(dataset.path)).resolve(), {True: 0, False: 0}
        for file in filter(Path.is_file, path.rglob("*")):
            top = file.relative_to(path).parts[0]
            sizes[top == "samples" or top.startswith("shard-")] += file.stat().st_size
        print(f"prove {path}", file=sys.stderr)
        run, start = path / "run.json", time.perf_counter()
        _program.run("verify", path)
        stored[dataset.path.name] = {
            "dataset": dataset.path.name,
            "path": str(path),
            "samples": len(dataset),
            "shared": sizes[False],
            "per_sample": sizes[True] / len(dataset),
            "build_s": json.loads(run.read_text())["seconds"] if run.exists() else None,
            "prove_s": time.perf_counter() - start,
        }
    return stored


def _plan(datasets: list[str], options: argparse.Namespace) -> list[Row]:
    factors = datasets, options.form, options.batch, options.workers, options.device
    rows = [Row(*values) for values in itertools.product(*factors, options.folders)]
    changed = [[a != b for a, b in zip(row, rows[0])] for row in rows]
    wanted = [options.cross or not any(each[2:]) or sum(each) == 1 for each in changed]
    return list(itertools.compress(rows, wanted))


def _run_rounds(results: list[Result], options: argparse.Namespace, loads: list[float]) -> None:
    """Measures every row twice, and again as long as the time suffices."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tcbuild.compare._train", "torch._dynamo"])
    began, took, losses = time.monotonic(), [0.0] * len(results), dict[int, float]()
    with ExitStack() as copies:
        paths = {(each.row.dataset, "as given"): each.storage["path"] for each in results}
        for number, (place, each) in itertools.product(range(5), enumerate(results)):
            start, key = time.monotonic(), (each.row.dataset, each.row.folder)
            late = start + took[place] - began > options.seconds
            if each.of("failure") or (late and number > 1):
                continue
            print(f"{start - began:3.0f} s, round {number + 1}: {each.name}", file=sys.stderr)
            if key not in paths:
                scratch = tempfile.TemporaryDirectory(prefix="tcbuild-compare-", dir=key[1])
                to = f"{copies.enter_context(scratch)}/dataset"
                paths[key] = shutil.copytree(each.storage["path"], to)
            try:
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    each.rounds.append(pool.submit(measure, each.row, paths[key], options).result())
            except (MemoryError, torch.OutOfMemoryError, BrokenProcessPool):
                each.rounds.append({"failure": "out of memory"})
                continue
            loss = each.rounds[-1]["first_loss"]
            if abs(loss - (other := losses.setdefault(each.row.batch, loss))) > abs(other) / 1000:
                raise DamagedError(
                    f"train {each.name}: found a first loss of {loss:.6g}, expected {other:.6g}",
                    "compare datasets of the same graph and samples; tcbuild diff tells them apart",
                )
            loads.append(os.getloadavg()[0])
            took[place] = time.monotonic() - start


def _arguments() -> argparse.Namespace:
    raw, shm = argparse.RawDescriptionHelpFormatter, ["/dev/shm"] * Path("/dev/shm").exists()
    parser = argparse.ArgumentParser("tcbuild.compare", description=__doc__, formatter_class=raw)
    add = parser.add_argument
    devices = ["cuda", "cpu"] if torch.cuda.is_available() else ["cpu"]
    add("folder", type=Path, help="the folder of the datasets, or a dataset")
    add("--build", nargs=2, metavar=("GRAPH", "SAMPLES"), help="build the datasets first")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the build")
    add("--samples", type=int, default=2000, help="to build and train on (default 2000)")
    add("--form", nargs="+", help="default: shared filtered masks")
    add("--batch", nargs="+", type=int, default=[4, 28], help="sizes (default 4 28)")
    add("--workers", nargs="+", type=int, default=[0, 2], help="of the loader (default 0 2)")
    add("--device", nargs="+", default=devices, help=f"here {' '.join(devices)}")
    add("--folders", nargs="+", default=["as given", *shm], help="to copy to (default /dev/shm)")
    add("--cross", action="store_true", help="train every combination")
    add("--model", default="gin", help="gin, or a module that has a class Model")
    add("--hidden", type=int, default=8, help="channels (default 8)")
    add("--layers", type=int, default=1, help="default 1")
    add("--seconds", type=float, default=180, help="of training (default 180); two rounds at least")
    add("--out", default="compare", help="default compare: replaces compare.json and compare.html")
    options = parser.parse_args()
    options.form = options.form or model_of(options.model).forms
    for device in options.device:
        try:
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError) as error:
            message = f"read --device {device}: {str(error).splitlines()[0]}"
            hint = f"give {' '.join(devices)}, or run this where that device is"
            raise SettingsError(message, hint) from None
    for folder in {*options.folders, str(Path(options.out).parent)} - {"as given"}:
        if not Path(folder).is_dir():
            raise SettingsError(f"read --folders, --out: {folder} is no folder", "create it")
    return options


if __name__ == "__main__":
    try:
        main()
    except DatasetError as error:
        sys.exit(f"compare: {error}")
