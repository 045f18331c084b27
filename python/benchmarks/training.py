"""What training costs, phase by phase, over models, batch sizes, workers and ranks.

    python python/benchmarks/training.py cell/incidence --out training
    python python/benchmarks/training.py cell/incidence --model dango --device cuda \\
        --batch-size 4 28 64 256 --workers 0 2 12 --prefetch 2 4 --ranks 1 2 4 8

Models: masked, filtered and weighted come from python/examples/three_forms.py; dango is
torchcell's GeneInteractionDango, for which torchcell must be installed. dango trains on torchcell's
own loader, too, and a loss that differs between loaders is an error.

Each run is in processes of its own, one per rank; the runs of different loaders alternate. The
phases of a step, which are labels for torch's profiler, too:

    load           the next batch comes from the loader
    move           it goes to the device
    masks          what tcbuild makes at the first use: masks or filtered edges
    forward        with the loss
    backward
    communication  the mean of the ranks' gradients, by one all_reduce after backward.
                   DistributedDataParallel does part of it during backward: this is the most
    optimiser      AdamW

On the CPU a phase is what the clock says. On a GPU, events mark the phases in its stream, and
nothing waits for them before the last step: a phase has the time in which the GPU does its work or
waits for it, so loading that happens while the GPU is busy counts nothing.

It prints a table of medians and writes OUT.json, with every step, and OUT.svg (it needs
matplotlib). Memory is the peak
of a rank's process, the private memory of its workers at the end, and the peak that torch had of
the GPU. The first step, in which tcbuild lays out edges, is only in OUT.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isclose
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.profiler import profile, record_function

import tcbuild
from masked_or_filtered import COLORS, save
from tcbuild import torchcell
from workers import private_memory

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from three_forms import FORMS, GNN  # noqa: E402

PHASES = ("load", "move", "masks", "forward", "backward", "communication", "optimiser")
FOLLOWED = ["perturbation_indices"]
OURS, THEIRS = "tcbuild", "torchcell"


class Run(NamedTuple):
    model: str
    loader: str
    ranks: int
    batch_size: int
    workers: int
    prefetch: int


class Form(GNN):
    """The model of an example, which makes the edges of a batch ahead."""

    def prepare(self, batch: Any) -> None:
        self.made = {name: GNN.edges(self, batch, name) for name in self.kinds}

    def edges(self, batch: Any, name: str) -> tuple[Tensor, ...]:
        return self.made[name]

    def loss(self, batch: Any) -> Tensor:
        return nn.functional.mse_loss(self(batch), batch.phenotypes[:, 0])


class Training:
    """The training of one rank."""

    def __init__(self, run: Run, rank: int, options: argparse.Namespace):
        self.device = torch.device(options.device, rank if options.device == "cuda" else None)
        if options.device == "cuda":
            torch.cuda.set_device(self.device)
        stored = rows_of(run, rank, options)
        dataset: Any = torchcell.Dataset(stored, [options.phenotype])
        collate: Any = torchcell.LazyCollater(FOLLOWED)
        torch.manual_seed(options.seed)
        self.model: Any
        if run.model == "dango":
            from torchcell.datamodules.lazy_collate import LazyCollater

            import torchcell_training

            graph = dataset.cell_graph
            self.model = torchcell_training.Dango(graph, options.hidden, options.layers)
            if run.loader == THEIRS:
                dataset = torchcell_training.Samples(stored, options.phenotype, graph)
                collate = LazyCollater(dataset, FOLLOWED)
        else:
            self.model = Form(dataset.cell_graph, run.model, options.hidden, options.layers)
        self.model.to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.batches = iter(
            torch.utils.data.DataLoader(
                dataset,
                run.batch_size,
                num_workers=run.workers,
                prefetch_factor=run.prefetch if run.workers else None,
                multiprocessing_context="fork" if run.workers else None,
                collate_fn=collate,
                pin_memory=options.device == "cuda",
            )
        )
        self.ranks, self.marks, self.losses = run.ranks, list[Any](), list[Tensor]()

    def step(self) -> None:
        torch.manual_seed(len(self.losses))  # for dropout, the same with all loaders
        self.marks.append(self.now())
        with self.phase("load"):
            batch = next(self.batches)
        with self.phase("move"):
            batch = batch.to(self.device, non_blocking=True)
        with self.phase("masks"):
            self.model.prepare(batch)
        with self.phase("forward"):
            loss = self.model.loss(batch)
        with self.phase("backward"):
            loss.backward()
        with self.phase("communication"):
            self.average()
        with self.phase("optimiser"):
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.losses.append(loss.detach())

    def average(self) -> None:
        if self.ranks == 1:
            return
        gradients = [each.grad for each in self.model.parameters() if each.grad is not None]
        together = torch.cat([gradient.view(-1) for gradient in gradients])
        dist.all_reduce(together)
        together /= self.ranks
        parts = together.split([gradient.numel() for gradient in gradients])
        torch._foreach_copy_([gradient.view(-1) for gradient in gradients], list(parts))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        with record_function(name):
            yield
        self.marks.append(self.now())

    def now(self) -> Any:
        if self.device.type != "cuda":
            return perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self) -> list[list[float]]:
        """Of each step's phases."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        of_steps = np.array(self.marks, object).reshape(-1, len(PHASES) + 1)
        return [[between(*ends) for ends in zip(step, step[1:])] for step in of_steps]


def between(start: Any, end: Any) -> float:
    return float(end - start if isinstance(start, float) else start.elapsed_time(end) / 1e3)


def rows_of(run: Run, rank: int, options: argparse.Namespace) -> tcbuild.Dataset:
    """A rank's samples, at random: enough that workers are busy until the last step."""
    stored = tcbuild.open(options.dataset)
    known = np.flatnonzero(~np.isnan(stored.phenotype(options.phenotype)))
    random = np.random.default_rng(options.seed)
    if run.model == "dango":
        from torchcell_training import GENE

        some = random.permutation(known)[:10_000].tolist()
        known = np.array([row for row in some if all(map(GENE, stored[row].deleted_genes))])
    batches = 2 + options.steps + run.workers * run.prefetch
    rows = random.choice(known, (run.ranks, batches * run.batch_size))
    return stored[rows[rank]]


def train(rank: int, run: Run, options: argparse.Namespace, folder: str) -> None:
    """Runs in a process of its own, and writes what it found into the folder."""
    torch.set_num_threads(max(1, torch.get_num_threads() // run.ranks))
    training = Training(run, rank, options)  # forks workers before there are gloo's threads
    backend = "nccl" if options.device == "cuda" else "gloo"
    if run.ranks > 1:
        dist.init_process_group(
            backend, f"file://{folder}/meeting", rank=rank, world_size=run.ranks
        )
    for _ in range(options.steps + 1):
        training.step()
    first, *seconds = training.seconds()
    workers = [each.pid for each in multiprocessing.active_children()]
    with open("/proc/self/status") as lines:
        (peak,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    of_device = torch.cuda.max_memory_allocated() if options.device == "cuda" else 0
    found = {
        "seconds": seconds,
        "first": first,
        "losses": torch.stack(training.losses).tolist(),
        "host_mb": peak / 1e3,
        "workers_mb": sum(map(private_memory, workers)),
        "device_mb": of_device / 1e6,
    }
    if options.trace:
        with profile() if rank == 0 else nullcontext() as profiler:
            training.step()
        if rank == 0:
            profiler.export_chrome_trace(str(options.trace))
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
    if run.ranks > 1:
        dist.destroy_process_group()


def measured(run: Run, options: argparse.Namespace) -> list[dict[str, Any]] | None:
    """What the ranks found, or None if memory was not enough."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            torch.multiprocessing.start_processes(
                train, (run, options, folder), run.ranks, start_method="forkserver"
            )
        except torch.multiprocessing.ProcessRaisedException as error:
            if "OutOfMemoryError" not in str(error):
                raise
            return None
        except torch.multiprocessing.ProcessExitedException as error:
            if error.signal_name != "SIGKILL":  # with which the kernel takes its memory back
                raise
            return None
        return [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(run.ranks)]


def merged(rounds: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians over all steps of all rounds and ranks; memory is the most of a rank."""
    every = [found for ranks in rounds for found in ranks]
    steps = [step for found in every for step in found["seconds"]]
    phases = [median(of_phase) for of_phase in zip(*steps)]
    return {
        "steps_per_second": 1 / median(map(sum, steps)),
        "shares": dict(zip(PHASES, (phase / sum(phases) for phase in phases))),
        **{name: max(found[name] for found in every) for name in every[0] if name[-3:] == "_mb"},
        "rounds": rounds,
    }


def check_losses(run: Run, found: Any, expected: Any, device: str) -> None:
    """Loaders give the same samples, so the losses are equal; a GPU adds in any order."""
    for rank, (ours, theirs) in enumerate(zip(found, expected)):
        for step, pair in enumerate(zip(ours["losses"], theirs["losses"])):
            if not isclose(*pair, rel_tol=1e-3 if device == "cuda" else 0):
                sys.exit(f"compare losses of rank {rank} at step {step}: found {pair} ({run})")


def title(run: Run) -> list[str]:
    prefetch = str(run.prefetch) if run.workers else ""
    return [run.model, run.loader, *map(str, (run.ranks, run.batch_size, run.workers)), prefetch]


def table(results: dict[Run, dict[str, Any] | None]) -> str:
    """The figures as Markdown."""
    memory = ("host_mb", "workers_mb", "device_mb")
    columns = ["model", "loader", "ranks", "batch", "workers", "prefetch", "it/s", *PHASES]
    columns += ["host GB", "workers GB", "device GB"]
    lines = [columns, ["---"] * len(columns)]
    for run, result in results.items():
        cells = ["out of memory", *[""] * (len(PHASES) + 3)]
        if result:
            shares = [f"{share:.0%}" for share in result["shares"].values()]
            used = [f"{result[name] / 1e3:.2f}" for name in memory]
            cells = [f"{result['steps_per_second']:.3g}", *shares, *used]
        lines.append([*title(run), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plot(results: dict[Run, dict[str, Any] | None], path: Path, device: str) -> None:
    """A stacked bar per run: what each phase has of a step."""
    done = {run: result for run, result in results.items() if result}
    shares = {
        phase: np.array([100 * result["shares"][phase] for result in done.values()])
        for phase in PHASES
    }
    thin = [phase for phase, of_runs in shares.items() if of_runs.max() < 0.5]
    if thin:
        shares["other: " + ", ".join(thin)] = sum(shares.pop(phase) for phase in thin)
    figure = Figure((9, 1.6 + 0.36 * len(done)), layout="constrained")
    axes = figure.subplots()
    places, left = np.arange(len(done)), np.zeros(len(done))
    for color, (phase, width) in zip(COLORS, shares.items()):
        bars = axes.barh(places, width, left=left, color=color, label=phase)
        labels = [f"{share:.0f} %" if share >= 4 else "" for share in width]
        axes.bar_label(bars, labels, label_type="center", color="white")
        left += width
    varying = [field for field, values in zip(Run._fields, zip(*done)) if len(set(values)) > 1]
    same = [field for field in Run._fields if field not in varying]
    axes.set_yticks(places, [named(run, varying) for run in done])
    speeds = [f"{result['steps_per_second']:.3g} it/s" for result in done.values()]
    axes.secondary_yaxis("right").set_yticks(places, speeds)
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel=f"% of a step on {device}\n{named(next(iter(done)), same)}")
    axes.spines["top"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(shares), frameon=False, fontsize="small")
    save(figure, path)


def named(run: Run, fields: list[str]) -> str:
    return ", ".join(f"{field.replace('_', ' ')} {getattr(run, field)}" for field in fields)


def device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else f"{os.cpu_count()} CPU cores"


def main() -> None:
    options = arguments()
    # so that runs begin at once
    multiprocessing.set_forkserver_preload(
        ["matplotlib.figure", "tcbuild.torchcell", "torch._dynamo"]
    )
    results: dict[Run, dict[str, Any] | None] = {}
    settings = itertools.product(
        options.model, options.ranks, options.batch_size, options.workers, options.prefetch
    )
    seen = dict.fromkeys((*each[:4], each[4] if each[3] else 0) for each in settings)
    for model, *setting in seen:
        runs = [Run(model, loader, *setting) for loader in (OURS, THEIRS)[: 1 + (model == "dango")]]
        found: dict[Run, list[Any]] = {run: [] for run in runs}
        for _, run in itertools.product(range(options.rounds), runs):
            found[run].append(measured(run, options))
            if found[run][-1] and found[runs[0]][0]:
                check_losses(run, found[run][-1], found[runs[0]][0], options.device)
        results |= {run: merged(rounds) if all(rounds) else None for run, rounds in found.items()}
        lines = table(results).splitlines()
        print(*lines[-len(runs) if len(results) > len(runs) else 0 :], sep="\n", flush=True)
    about = {
        "device": device_name(options.device),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "hidden": options.hidden,
        "layers": options.layers,
    }
    runs_of = [run._asdict() | {"result": result} for run, result in results.items()]
    options.out.with_suffix(".json").write_text(json.dumps(about | {"runs": runs_of}) + "\n")
    plot(results, options.out.with_suffix(".svg"), about["device"])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("dataset", help="folder of a dataset")
    add("--model", nargs="+", choices=[*FORMS, "dango"], default=["masked"])
    add("--phenotype", help="the target (default: the first)")
    add("--hidden", type=int, default=64, help="channels (default 64)")
    add("--layers", type=int, default=3, help="convolutions (default 3)")
    add("--batch-size", type=int, nargs="+", default=[4], help="of a rank (default 4)")
    add("--workers", type=int, nargs="+", default=[0], help="of a rank's loader (default 0)")
    add("--prefetch", type=int, nargs="+", default=[2], help="batches of a worker (default 2)")
    add("--ranks", type=int, nargs="+", default=[1], help="processes or GPUs (default 1)")
    add("--steps", type=int, default=5, help="timed ones of a run (default 5)")
    add("--rounds", type=int, default=3, help="in which loaders alternate (default 3)")
    add("--device", choices=["cpu", "cuda"], default="cpu")
    add("--seed", type=int, default=0)
    add("--trace", type=Path, help="write one more step of the last run for chrome://tracing")
    add(
        "--out", type=Path, default=Path("training"), help="OUT.json and OUT.svg (default training)"
    )
    options = parser.parse_args()
    most = torch.cuda.device_count() if options.device == "cuda" else max(options.ranks)
    if max(options.ranks) > most:
        parser.error(f"--ranks {max(options.ranks)}: found {most} GPUs")
    names = tcbuild.open(options.dataset).phenotype_names
    options.phenotype = options.phenotype or names[0]
    return options


if __name__ == "__main__":
    main()
