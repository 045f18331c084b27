"""Trains a small GIN for an epoch, with sums over neighbours that all samples of a batch share.

    make quickstart && pip install './python[torch]'
    python python/examples/train_gin.py data/quickstart/current/incidence

`python -m tcbuild.compare` measures other forms and variants.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

import tcbuild
import tcbuild.torch as tt


class GIN(nn.Module):
    """Predicts a phenotype [B]: learned gene features, and layers over gene-gene edge types."""

    def __init__(self, dataset: tcbuild.Dataset, hidden: int = 16, layers: int = 2):
        super().__init__()
        names = [name.split("__") for name in dataset.graph.edges]
        self.edge_types = ["__".join(name) for name in names if name[0] == name[2] == "gene"]
        self.genes = nn.Embedding(len(dataset.genes), hidden)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
            for _ in range(layers)
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, batch: tt.Batch) -> Tensor:
        kept = batch.keep["gene"][:, :, None].float()  # [B, N, 1]
        x = self.genes.weight * kept  # [B, N, F]
        for layer in self.layers:
            sums = [tt.propagate(x, batch, name) for name in self.edge_types]
            x = layer(sum(sums, x)) * kept
        return self.head(x.sum(1) / kept.sum(1).clamp(min=1)).view(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset")
    parser.add_argument("--phenotype", default="fitness")
    parser.add_argument("--batch-size", type=int, default=28)
    options = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dataset = tcbuild.open(options.dataset)
    order = tt.Order(dataset, seed=0)
    loader = tt.DataLoader(dataset, options.batch_size, sampler=order, masks=None)
    model = GIN(dataset).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, batch in enumerate(loader, 1):
        batch = batch.to(device)
        target = batch.phenotype(options.phenotype).float()
        error = model(batch) - target
        loss = torch.where(target.isnan(), 0, error).square().mean()  # missing ones count 0
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
