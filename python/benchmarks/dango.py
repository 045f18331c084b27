"""Training steps per second of torchcell's GeneInteractionDango, with torchcell's loader and with
tcbuild.pyg's.

    python python/benchmarks/dango.py data/yeast/incidence data/yeast/indices

The datasets are variants of one input, with a phenotype that stands for the gene interaction. It
needs torchcell (1.8.4) besides tcbuild[pyg].

All loaders train the same model on the same samples, in alternating rounds. torchcell's makes each
sample as its Neo4jCellDataset does, from the JSON of a record, but for LMDB: the records are in
memory. Per step it times:

    load   the next batch comes from the loader
    move   it goes to the device
    masks  what tcbuild makes at the first use: masks, and views of the edges
    model  forward, loss, backward, AdamW

Medians in seconds, by the clock or of CPU time. The first batch is not among them: then torchcell
builds its incidence cache, and tcbuild lays out the edges. A loss that differs between loaders by a
single bit is an error.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset
from torchcell.data.graph_processor import LazySubgraphRepresentation
from torchcell.datamodels.schema import (
    EXPERIMENT_REFERENCE_TYPE_MAP,
    EXPERIMENT_TYPE_MAP,
    GeneInteractionPhenotype,
)
from torchcell.datamodules.lazy_collate import LazyCollater
from torchcell.losses.logcosh import LogCoshLoss
from torchcell.models.hetero_cell_bipartite_dango_gi_lazy import GeneInteractionDango

import tcbuild
from tcbuild import pyg

FOLLOWED = ["perturbation_indices"]
GENE = re.compile(r"Y[A-P][LR]\d{3}[WC](-[A-Z])?").fullmatch  # torchcell refuses plasmids' genes
PARTS = ("load", "move", "masks", "model")
ENVIRONMENT = {
    "media": {"name": "YPD", "state": "solid", "is_synthetic": False},
    "temperature": {"value": 30.0},
}


class Torchcell(torch.utils.data.Dataset[Any]):
    """Samples as torchcell's Neo4jCellDataset makes them of records."""

    def __init__(self, stored: tcbuild.Dataset, phenotype: str, cell_graph: Any):
        self.cell_graph = cell_graph
        self.process = LazySubgraphRepresentation().process
        values = stored.phenotype(phenotype).tolist()
        self.records = [record(sample.genes, value) for sample, value in zip(stored, values)]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> Any:
        pairs = [
            {
                "experiment": EXPERIMENT_TYPE_MAP[kind](**pair["experiment"]),
                "experiment_reference": EXPERIMENT_REFERENCE_TYPE_MAP[kind](
                    **pair["experiment_reference"]
                ),
            }
            for pair in json.loads(self.records[index])
            for kind in [pair["experiment"]["experiment_type"]]
        ]
        return self.process(self.cell_graph, [GeneInteractionPhenotype], pairs)


def record(genes: list[str], value: float) -> str:
    """The JSON of a record with one gene interaction."""
    kind, name = "gene interaction", "BenchmarkDataset"
    phenotype = {"gene_interaction": value, "gene_interaction_p_value": 0.05}
    reference = {
        "experiment_reference_type": kind,
        "dataset_name": name,
        "genome_reference": {
            "species": "Saccharomyces cerevisiae",
            "strain": "S288C",
            "assembly_set": "sgd_S288C_R64-4-1_20230830",
            "assembly_accession": "GCF_000146045.2",
        },
        "environment_reference": ENVIRONMENT,
        "phenotype_reference": phenotype,
    }
    deleted = [
        {
            "systematic_gene_name": gene,
            "perturbed_gene_name": gene,
            "perturbation_type": "kanmx_deletion",
        }
        for gene in genes
    ]
    experiment = {
        "experiment_type": kind,
        "dataset_name": name,
        "genotype": {"perturbations": deleted},
        "environment": ENVIRONMENT,
        "phenotype": phenotype,
    }
    return json.dumps([{"experiment": experiment, "experiment_reference": reference}])


class Training:
    """A model that trains on a loader's batches, timed."""

    def __init__(self, dataset: Any, collate: Any, options: argparse.Namespace):
        self.device = torch.device(options.device)
        self.clock = process_time if options.cpu_time else perf_counter
        self.cell_graph = dataset.cell_graph.clone().to(self.device)
        torch.manual_seed(options.seed)
        names = [graph for _, graph, kind in dataset.cell_graph.edge_types if kind == "gene"]
        with redirect_stdout(None):
            self.model = GeneInteractionDango(
                dataset.cell_graph["gene"].num_nodes,
                options.hidden,
                options.layers,
                dict.fromkeys(names),  # it takes the names of the graphs alone
                gene_encoder_config={"encoder_type": "gin"},
            ).to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.batches = self._batches(dataset, collate, options)
        self.losses: list[float] = []
        self.seconds: list[list[float]] = []

    def _batches(self, dataset: Any, collate: Any, options: argparse.Namespace) -> Iterator[Any]:
        random = torch.Generator().manual_seed(options.seed)
        order = torch.randperm(len(dataset), generator=random).tolist()
        loader = DataLoader(
            Subset(dataset, order),
            options.batch_size,
            num_workers=options.workers,
            collate_fn=collate,
            pin_memory=self.device.type == "cuda",
        )
        while True:
            yield from loader

    def step(self) -> None:
        times = [self._now()]
        batch = next(self.batches)
        times.append(self._now())
        batch = batch.to(self.device)
        times.append(self._now())
        targets = batch["gene"].phenotype_values
        times.append(self._now())
        torch.manual_seed(len(self.losses))  # for dropout, the same in all trainings
        self.optimizer.zero_grad()
        predictions, _ = self.model(self.cell_graph, batch)
        loss = LogCoshLoss()(predictions.view(-1), targets)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        times.append(self._now())
        self.seconds.append(np.diff(times).tolist())

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return self.clock()


def main() -> None:
    options = arguments()
    stored = [tcbuild.open(path) for path in options.datasets]
    phenotype = options.phenotype or stored[0].phenotype_names[0]
    random = np.random.default_rng(options.seed)
    wanted = options.batch_size * (options.steps + 1)
    rows = random.permutation(np.flatnonzero(~np.isnan(stored[0].phenotype(phenotype))))
    known = [row for row in rows[: 4 * wanted].tolist() if all(map(GENE, stored[0][row].genes))]
    rows = np.array(known[:wanted])
    ours = [pyg.Dataset(each[rows], [phenotype]) for each in stored]
    theirs = Torchcell(stored[0][rows], phenotype, ours[0].cell_graph)
    trainings = {"torchcell": Training(theirs, LazyCollater(theirs, FOLLOWED), options)}
    for dataset in ours:
        name = dataset.stored.variant
        trainings[name] = Training(dataset, pyg.LazyCollater(FOLLOWED), options)
    print(
        f"{machine(options.device)}; {torch.get_num_threads()} threads; torch {torch.__version__}"
    )
    for number in range(options.steps + 1):
        for name, training in trainings.items():
            training.step()
            first = trainings["torchcell"]
            if training.losses != first.losses:
                sys.exit(
                    f"step {number}: loss {training.losses[-1]}, torchcell's {first.losses[-1]}"
                )
    print(table(trainings))


def table(trainings: dict[str, Training]) -> str:
    """The figures as Markdown."""
    lines = ["| loader | " + " | ".join(PARTS) + " | step | steps/s | ratio | first batch |"]
    lines.append("|" + " --- |" * (len(PARTS) + 5))
    slowest = 0.0
    for name, training in trainings.items():
        parts = [median(part) for part in zip(*training.seconds[1:])]
        step = median(map(sum, training.seconds[1:]))
        slowest = slowest or step
        cells = [f"{part:.4f}" for part in (*parts, step)]
        cells += [f"{1 / step:.2f}", f"{slowest / step:.2f}", f"{sum(training.seconds[0][:3]):.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def machine(device: str) -> str:
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return platform.processor() or platform.machine()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET", help="variants of one input")
    parser.add_argument("--phenotype", help="its target (default: the first)")
    parser.add_argument("--batch-size", type=int, default=28)
    parser.add_argument("--steps", type=int, default=5, help="timed ones (default 5)")
    parser.add_argument("--hidden", type=int, default=4, help="channels (default 4)")
    parser.add_argument("--layers", type=int, default=1, help="convolutions (default 1)")
    parser.add_argument("--workers", type=int, default=0, help="of each loader (default 0)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--cpu-time", action="store_true", help="time this process's CPU, for a busy machine"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
