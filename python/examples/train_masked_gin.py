"""Trains a small graph model for an epoch on the CPU from each variant of one dataset, and compares
speed and loss.

    make quickstart && pip install ./python[torch]
    python python/examples/train_masked_gin.py data/quickstart/current

The model is a GIN in the static form: all samples share one edge_index, and each has its own mask
for it. The indices and full-masks variants bring their masks with the batch; from the incidence
variant only deleted genes are read, and the masks are made on the model's side.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Subset

import tcbuild
import tcbuild.torch as tt


class MaskedGIN(nn.Module):
    """Predicts P phenotypes [B, P] of masked graphs: learned gene features, then one GIN layer per
    round that adds up only kept edges.
    """

    def __init__(self, graph: tt.CellGraph, phenotypes: int, hidden: int = 8, rounds: int = 2):
        super().__init__()
        self.graph = graph
        self.genes = nn.Embedding(graph.num_nodes["gene"], hidden)
        self.rounds = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
            for _ in range(rounds)
        )
        self.head = nn.Linear(hidden, phenotypes)

    def forward(self, masks: dict[str, Tensor]) -> Tensor:
        x = self.genes.weight * masks["gene"][:, :, None]  # [B, N, F]
        for update in self.rounds:
            total = x
            for edge_type, (source, target) in self.graph.edge_index.items():
                messages = x[:, source] * masks[edge_type][:, :, None]  # [B, E, F]
                total = total.index_add(1, target, messages)
            x = update(total)
        return self.head(x.mean(dim=1))


def batches(
    dataset: tcbuild.Dataset, options: argparse.Namespace
) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Masks and targets of each batch, in an order that depends only on the seed."""
    targets = [dataset.phenotype_names.index(name) for name in options.phenotypes]
    make_masks = tt.MaskGenerator(dataset) if dataset.variant == "incidence" else None
    loader = DataLoader(
        Subset(dataset, range(min(options.samples, len(dataset)))),
        batch_size=options.batch_size,
        shuffle=True,
        generator=torch.Generator().manual_seed(options.seed),
        num_workers=options.workers,
        collate_fn=functools.partial(tt.collate, masks=None if make_masks else "stacked"),
    )
    for batch in loader:
        masks = make_masks(batch) if make_masks else batch.masks
        yield masks, batch.phenotypes[:, targets].float()


def train(path: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Trains for an epoch; returns steps per second and the last step's loss."""
    dataset = tcbuild.open(path)
    options.phenotypes = options.phenotypes or dataset.phenotype_names[:1]
    torch.manual_seed(options.seed)
    edge_types = options.edge_types or [smallest_gene_gene_edge_type(dataset)]
    model = MaskedGIN(tt.CellGraph(dataset, edge_types), len(options.phenotypes))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    steps, began = 0, time.perf_counter()
    for masks, phenotypes in batches(dataset, options):
        measured = ~phenotypes.isnan()
        loss = nn.functional.mse_loss(model(masks)[measured], phenotypes[measured])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    return steps / (time.perf_counter() - began), loss.item()


def smallest_gene_gene_edge_type(dataset: tcbuild.Dataset) -> str:
    sizes = {
        name: size
        for name, size in zip(dataset.mask_names, dataset.mask_sizes)
        if name.startswith("gene__") and name.endswith("__gene")
    }
    return min(sizes, key=sizes.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, help="the folder with the datasets incidence, indices and full-masks"
    )
    parser.add_argument(
        "--samples", type=int, default=560, help="samples of the epoch (default: %(default)s)"
    )
    parser.add_argument("--batch-size", type=int, default=28)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--phenotypes",
        nargs="+",
        metavar="NAME",
        help="what to predict (default: the first; others may be its statistics)",
    )
    parser.add_argument(
        "--edge-types",
        nargs="+",
        help="gene-gene edge types to pass messages on (default: the smallest)",
    )
    options = parser.parse_args()

    losses = []
    print(f"{'variant':>12}  steps/s       loss")
    for variant in ("incidence", "indices", "full-masks"):
        speed, loss = train(options.folder / variant, options)
        losses.append(loss)
        print(f"{variant:>12}  {speed:7.2f}  {loss:.7f}", flush=True)
    if max(losses) - min(losses) > 1e-6:
        raise SystemExit("the variants do not lead to the same loss: run `tcbuild verify` on each")


if __name__ == "__main__":
    main()
