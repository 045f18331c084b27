"""Trains a small model on the cells of an AnnData file for a few steps: from a cell's deleted genes
and its type, how its expression differs from a matched control's.

    pip install './python[torch,anndata]'
    python -c 'import tcbuild; tcbuild.build(
        "graph", "adamson.h5ad", out="adamson", attributes=["cell_type"],
        genes_columns="condition", gene_delimiter="+", controls=["ctrl"], allow_wildtype=True)'
    python python/examples/train_cells.py adamson adamson.h5ad
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

import tcbuild.anndata
import tcbuild.torch as tt


class Response(nn.Module):
    """The difference that the deletion of genes makes in a type of cells."""

    def __init__(self, genes: int, types: int, measured: int, hidden: int = 32):
        super().__init__()
        self.genes = nn.EmbeddingBag(genes, hidden, mode="sum", include_last_offset=True)
        self.types = nn.Embedding(types + 1, hidden)  # the last for cells of unknown type
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(hidden, measured))

    def forward(self, batch: tt.Batch) -> Tensor:
        codes = batch.attribute("cell_type").codes
        deleted = self.genes(batch.deleted, batch.deleted_ptr)
        return self.head(deleted + self.types(codes % self.types.num_embeddings))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("file", type=Path, help="the .h5ad file that it was made from")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(0)
    dataset = tcbuild.open(options.dataset)
    cells = tcbuild.anndata.Cells(dataset, options.file, controls_by=["cell_type"])
    loader = tt.DataLoader(
        cells,
        options.batch_size,
        sampler=tt.Order(cells, seed=0),
        attributes=["cell_type"],
        masks=None,
        num_workers=options.workers,
    )
    model = Response(len(dataset.genes), len(dataset.categories("cell_type")), cells.columns)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    step = 0
    while step < options.steps:
        for batch in loader:
            loss = nn.functional.mse_loss(batch.control + model(batch), batch.expression)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(f"step {step}: loss {loss.item():.4f}")
            if step == options.steps:
                break


if __name__ == "__main__":
    main()
