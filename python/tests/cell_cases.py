"""Screens of cells as AnnData files, and their datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sparse

import tcbuild as reader

GENES = ["A", "B", "HLA-A", "ENSG01.12"]
CONDITIONS = ["ctrl", "A+ctrl", "ctrl+B", "A+B", "B+A", "HLA-A+ctrl", "A", "NT+ctrl", "ENSG01.12+A"]
CONTROLS = ["ctrl", "NT"]
COLUMNS = 11


def frame(count: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)

    def some(values: list) -> list:
        return [values[place] for place in random.integers(0, len(values), count)]

    dose = random.normal(size=count)
    dose[::7] = np.nan
    return pd.DataFrame(
        {
            "condition": pd.Categorical(some(CONDITIONS)),
            "cell_type": pd.Categorical(some(["T", "NK", "B", None])),
            "batch": pd.Categorical(some([1, 2, 3])),
            "guide": [f"g{place}" for place in random.integers(0, 50, count)],
            "dose": dose,
            "passage": pd.array(some([1, 2, None]), "Int64"),
        },
        index=[f"cell{place}" for place in range(count)],
    )


def screen(obs: pd.DataFrame, seed: int = 1) -> anndata.AnnData:
    """Cells whose matrices all differ: X, layers counts and columns, obsm pca and few."""
    random = np.random.default_rng(seed)

    def matrix(columns: int) -> np.ndarray:
        values = random.random((len(obs), columns), np.float32)
        return np.where(values < 0.6, 0, values).astype(np.float32)

    counts = sparse.csr_matrix(np.floor(matrix(COLUMNS) * 100).astype(np.int64))
    return anndata.AnnData(
        sparse.csr_matrix(matrix(COLUMNS)),
        obs=obs.copy(),
        layers={"dense": matrix(COLUMNS), "counts": counts, "columns": sparse.csc_matrix(counts)},
        obsm={"pca": random.random((len(obs), 3)), "few": sparse.csr_matrix(matrix(14))},
    )


def write(path: Path, cells: anndata.AnnData) -> Path:
    cells.write_zarr(path) if path.suffix == ".zarr" else cells.write_h5ad(path)
    return path


def deleted(condition: str) -> list[str]:
    """The slow meaning of a condition."""
    return [name for name in condition.split("+") if name not in CONTROLS]


def build(cells: Any, out: Path, **settings: Any) -> reader.Dataset:
    options: dict[str, Any] = {
        "genes_columns": "condition",
        "gene_delimiter": "+",
        "controls": CONTROLS,
        "allow_wildtype": True,
        "attributes": ["cell_type", "batch", "dose"],
    }
    graph = {
        "gene": pd.DataFrame({"id": GENES}),
        ("gene", "string", "gene"): pd.DataFrame({"src": ["A", "B"], "dst": ["B", "HLA-A"]}),
    }
    return reader.build(graph, cells, out, **options | settings)
