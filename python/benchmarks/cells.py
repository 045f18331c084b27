"""CPU time per cell of reading expression, beside masks and beside other loaders.

    tcbuild synth --scale yeast --out yeast
    python python/benchmarks/cells.py yeast/graph --folder screen

writes screen/screen.h5ad and screen.zarr (sharded) with synthetic cells, their dataset, and times
batches in random order, in alternating rounds. Rows of scDataset and annbatch need these packages;
they read no controls, and annbatch reads and shuffles whole chunks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sparse

import tcbuild
import tcbuild.torch as tt
from tcbuild._build import read_graph_folder
from tcbuild.anndata import Cells

STORED = 100  # values of a cell that are not 0, per 1,000 columns


def write(folder: Path, graph: Path, cells: int, columns: int) -> None:
    """Writes cells that each have a gene of the graph, or none, perturbed."""
    random = np.random.default_rng(0)
    genes = np.array([*read_graph_folder(graph).nodes["gene"][:2000], *["ctrl"] * 200])
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(random.choice(genes, cells)),
            "cell_type": pd.Categorical(random.choice(["T", "NK", "B"], cells)),
            "batch": pd.Categorical(random.choice([f"b{number}" for number in range(20)], cells)),
        },
        index=[f"cell{number}" for number in range(cells)],
    )
    per_cell = columns * STORED // 1000
    step = columns // per_cell
    indices = random.integers(0, step, (cells, per_cell), np.int32) + np.arange(0, columns, step)
    values = random.random(cells * per_cell, np.float32)
    ends = np.arange(0, cells * per_cell + 1, per_cell)
    matrix = sparse.csr_matrix((values, indices.ravel(), ends), (cells, columns))
    found = anndata.AnnData(matrix, obs=obs)
    found.write_h5ad(folder / "screen.h5ad")
    if find_spec("annbatch"):
        import_module("annbatch").write_sharded(
            import_module("zarr").open_group(folder / "screen.zarr", mode="w"), found
        )
    tcbuild.build(
        graph,
        folder / "screen.h5ad",
        folder / "dataset",
        genes_columns="condition",
        controls=["ctrl"],
        allow_wildtype=True,
    )


def of_cells(folder: Path, size: int, written: bool = False, **options: Any) -> Iterator[Any]:
    """Batches of Cells, with controls."""
    cells = Cells(folder / "dataset", folder / "screen.h5ad", ["cell_type", "batch"])
    loader = tt.DataLoader(cells, size, sampler=tt.Order(cells, seed=1), **options)
    return (batch.masks if written else batch for batch in loader)


def of_anndata(folder: Path, size: int) -> Iterator[Any]:
    """As many rows as Cells reads, twice as many as the batch has."""
    matrix = anndata.io.sparse_dataset(h5py.File(folder / "screen.h5ad")["X"])
    order = np.random.default_rng(0).permutation(matrix.shape[0])
    return (_read(matrix, order[at : at + 2 * size]) for at in range(0, len(order), 2 * size))


def _read(matrix: Any, chosen: Any) -> Any:
    rows, places = np.unique(chosen, return_inverse=True)
    return matrix[rows][places].toarray()


def of_scdataset(folder: Path, size: int, block: int, fetch: int) -> Iterator[Any]:
    package = import_module("scdataset")
    matrix = anndata.io.sparse_dataset(h5py.File(folder / "screen.h5ad")["X"])
    strategy = package.BlockShuffling(block_size=block)
    return iter(
        package.scDataset(
            range(matrix.shape[0]),
            strategy,
            batch_size=size,
            fetch_factor=fetch,
            fetch_callback=lambda _, rows: matrix[np.asarray(rows)],
            fetch_transform=lambda rows: rows.toarray(),
        )
    )


def of_annbatch(folder: Path, size: int) -> Iterator[Any]:
    loader = import_module("annbatch").Loader(
        chunk_size=32, preload_nchunks=64, batch_size=size, shuffle=True, to=None
    )
    group = import_module("zarr").open_group(folder / "screen.zarr", mode="r")
    matrix = anndata.io.sparse_dataset(group["X"])
    loader.add_dataset(matrix)
    return (batch["X"].toarray() for batch in loader)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("screen"))
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--batches", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder, size = options.folder, options.batch_size
    if not (folder / "dataset").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, options.graph, options.cells, options.columns)

    loaders: dict[str, Callable[[], Iterator[Any]]] = {
        "anndata, expression and control": lambda: of_anndata(folder, size),
        "Cells, masks=None": lambda: of_cells(folder, size, masks=None),
        "Cells, removed positions": lambda: of_cells(folder, size),
        "Cells, masks written as bits": lambda: of_cells(folder, size, True, encoding="bits"),
        "Cells, masks written as bool": lambda: of_cells(folder, size, True),
    }
    if find_spec("scdataset"):
        loaders["scDataset, single cells"] = lambda: of_scdataset(folder, size, 1, 1)
        loaders["scDataset, blocks of 16"] = lambda: of_scdataset(folder, size, 16, 64)
    if find_spec("annbatch"):
        loaders["annbatch, chunks of 32"] = lambda: of_annbatch(folder, size)
    times: dict[str, list[float]] = {name: [] for name in loaders}
    for _ in range(options.rounds):
        for name, loader in loaders.items():
            batches = loader()
            start = time.process_time()
            count = sum(1 for _ in islice(batches, options.batches))
            times[name].append((time.process_time() - start) / (count * size))
    print("| loader | ms of CPU time per cell |\n| --- | --- |")
    for name, found in times.items():
        print(f"| {name} | {1000 * float(np.median(found)):.3f} |")


if __name__ == "__main__":
    main()
