"""Trains a small model on the cells of an AnnData file for a few steps: from a cell's deleted genes
and its type, how its expression differs from a matched control's.

    pip install ./python[torch,anndata] anndata
    python -c 'import tcbuild; tcbuild.build(
        "graph", "adamson.h5ad", out="adamson", attributes=["cell_type"],
        genes_columns="condition", gene_delimiter="+", controls=["ctrl"], allow_wildtype=True)'
    python python/examples/train_cells.py adamson adamson.h5ad

The dataset says who was perturbed and where the cell's row is; the expression stays in the file,
whose X is a matrix of numbers, or a sparse one by rows (CSR).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

import tcbuild.anndata
import tcbuild.torch as tt


class CellsWithControls:
    """Makes a batch of samples, the expression of their cells, and that of their controls."""

    def __init__(self, dataset: tcbuild.Dataset, file: Path, by: list[str]):
        self.dataset, self.cells, self.matrix = dataset, tcbuild.anndata.Cells(file), None
        self.controls = dataset.controls(by=by)

    def __call__(self, samples: tcbuild.Dataset) -> tuple[tt.Batch, Tensor, Tensor]:
        batch = tt.collate(samples, masks=None, attributes=["cell_type"])
        controls = tt.collate(self.dataset[self.controls[samples.indices]], masks=None)
        return batch, self.expression(batch), self.expression(controls)

    def expression(self, batch: tt.Batch) -> Tensor:
        self.matrix = self.matrix or h5py.File(self.cells.path)["X"]  # a worker opens its own
        rows, order = np.unique(self.cells.rows(batch), return_inverse=True)
        return torch.from_numpy(read_rows(self.matrix, rows)[order]).float()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"matrix": None}


def read_rows(matrix: h5py.Dataset | h5py.Group, rows: np.ndarray) -> np.ndarray:
    """Some rows of an AnnData file's X, ascending: [B, genes]."""
    if isinstance(matrix, h5py.Dataset):
        return matrix[rows]
    if matrix.attrs["encoding-type"] != "csr_matrix":
        raise ValueError(f"X is a {matrix.attrs['encoding-type']}: write it with .X.tocsr()")
    found = np.zeros((len(rows), matrix.attrs["shape"][1]), np.float32)
    for place, row in enumerate(rows):
        some = slice(*matrix["indptr"][row : row + 2])
        found[place, matrix["indices"][some]] = matrix["data"][some]
    return found


def genes_measured(file: Path) -> int:
    with h5py.File(file) as opened:
        matrix = opened["X"]
        return (matrix.shape if isinstance(matrix, h5py.Dataset) else matrix.attrs["shape"])[1]


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
    collate = CellsWithControls(dataset, options.file, by=["cell_type"])
    loader = DataLoader(
        dataset,
        options.batch_size,
        shuffle=True,
        collate_fn=collate,
        num_workers=options.workers,
    )
    measured = genes_measured(options.file)
    model = Response(len(dataset.genes), len(dataset.categories("cell_type")), measured)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    step = 0
    while step < options.steps:
        for batch, expression, control in loader:
            loss = nn.functional.mse_loss(control + model(batch), expression)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(f"step {step}: loss {loss.item():.4f}")
            if step == options.steps:
                break


if __name__ == "__main__":
    main()
