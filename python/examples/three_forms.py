"""One graph network of PyG's layers in three forms: what is removed of each sample is masked in the
messages, filtered from the edges, or weighted with 0.

    make quickstart && pip install ./python[pyg]
    python python/examples/three_forms.py data/quickstart/current/incidence

All three learn the same. Which is fastest depends on the graph and the device:
python/benchmarks/masked_or_filtered.py measures it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, MessagePassing, SimpleConv

from tcbuild import torchcell

FORMS = ("masked", "filtered", "weighted")


class MaskedGINConv(MessagePassing):
    """A GIN that leaves out the messages of removed edges."""

    def __init__(self, update: nn.Module):
        super().__init__(aggr="sum")
        self.nn = update

    def forward(self, x: Tensor, edge_index: Tensor, mask: Tensor) -> Tensor:
        return self.nn(self.propagate(edge_index, x=x, mask=mask) + x)

    def message(self, x_j: Tensor, mask: Tensor) -> Tensor:
        return x_j * mask[:, None]


class WeightedGINConv(nn.Module):
    """A GIN of PyG's SimpleConv, which adds up messages times their edges' weights."""

    def __init__(self, update: nn.Module):
        super().__init__()
        self.nn, self.sum = update, SimpleConv(aggr="sum")

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        return self.nn(self.sum(x, edge_index, weight) + x)


class GNN(nn.Module):
    """Predicts a number per sample: learned gene features, layers over each edge type between
    genes, and the mean of the genes that are left.
    """

    def __init__(self, cell_graph: Any, form: str, hidden: int = 16, layers: int = 2):
        super().__init__()
        kinds = [kind for kind in cell_graph.edge_types if kind[0] == kind[2] == "gene"]
        self.form, self.kinds = form, ["__".join(kind) for kind in kinds]
        self.genes = nn.Embedding(cell_graph["gene"].num_nodes, hidden)
        conv = {"masked": MaskedGINConv, "filtered": GINConv, "weighted": WeightedGINConv}[form]
        self.layers = nn.ModuleList(
            nn.ModuleDict({name: conv(update(hidden)) for name in self.kinds})
            for _ in range(layers)
        )
        self.head = nn.Linear(hidden, 1)
        random = torch.Generator().manual_seed(0)  # as GINConv draws its weights twice
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.5, 0.5, generator=random)

    def forward(self, batch: Any) -> Tensor:
        kept = batch["gene"].mask.view(len(batch), -1, 1)
        x = (self.genes.weight * kept).flatten(0, 1)
        edges = {name: self.edges(batch, name) for name in self.kinds}
        for layer in self.layers:
            x = torch.stack([layer[name](x, *edges[name]) for name in self.kinds]).mean(0).relu()
        mean = (x.view(len(batch), -1, x.size(1)) * kept).sum(1) / kept.sum(1).clamp(min=1)
        return self.head(mean).view(-1)

    def edges(self, batch: Any, name: str) -> tuple[Tensor, ...]:
        """What the form's layers take of the batch."""
        if self.form == "filtered":
            return (batch.edge_index(name, filtered=True),)
        edge_index, weight = batch.edge_index(name, edge_weight=True)
        return (edge_index, weight if self.form == "weighted" else weight.bool())


def update(hidden: int) -> nn.Module:
    return nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))


def train(dataset: torchcell.Dataset, form: str, steps: int, batch_size: int = 8) -> list[float]:
    """The losses of so many steps; equal for all forms but for rounding."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = GNN(dataset.cell_graph, form).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _, batch in zip(range(steps), torchcell.DataLoader(dataset, batch_size)):
        batch = batch.to(device)
        targets = batch.phenotypes[:, 0]
        measured = ~targets.isnan()
        loss = nn.functional.mse_loss(model(batch)[measured], targets[measured])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--phenotype", default="fitness")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=2)
    options = parser.parse_args()
    dataset = torchcell.Dataset(options.dataset, [options.phenotype])
    for form in FORMS:
        losses = train(dataset, form, options.steps, options.batch_size)
        print(f"{form:>9}  {'  '.join(f'{loss:.7f}' for loss in losses)}", flush=True)


if __name__ == "__main__":
    main()
