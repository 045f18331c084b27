"""torchcell's HeteroData as input of the tcbuild program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from torch_geometric.data import HeteroData

from tcbuild.graph import NODE_TYPES
from tcbuild.pyg.cell_graph import index_name


def export_cell_graph(data: HeteroData, folder: str | Path) -> None:
    """Writes a cell graph as a folder that `tcbuild --graph` accepts: Arrow tables, edges in the order they have.

    data is torchcell's cell graph or what cell_graph gives. Node types other than gene, reaction and metabolite are a ValueError. The folder
    must not exist; it appears whole.
    """
    folder = Path(folder)
    unknown = [name for name in data.node_types if name not in NODE_TYPES]
    if unknown:
        raise ValueError(f"export cell graph: node type {unknown[0]!r} (expected {', '.join(NODE_TYPES)})\nhint: delete or rename it: del data[{unknown[0]!r}]")
    with _published(folder) as building:
        (building / "nodes").mkdir(parents=True)
        (building / "edges").mkdir()
        for node_type in data.node_types:
            store = data[node_type]
            columns = {"id": pa.array([str(name) for name in store.node_ids], pa.string())}
            if "gpr" in store:
                columns["gpr"] = pa.array(store.gpr, pa.string())
            _write(pa.table(columns), building / "nodes" / f"{node_type}.arrow")
        for edge_type in data.edge_types:
            name, store = "__".join(edge_type), data[edge_type]
            index = store[index_name(name)].cpu().numpy()
            columns = {"src_index": pa.array(index[0]), "dst_index": pa.array(index[1])}
            if "stoichiometry" in store:
                columns["stoichiometry"] = pa.array(store.stoichiometry.cpu().double().numpy())
            _write(pa.table(columns), building / "edges" / f"{name}.arrow")


def export_perturbations(samples: Iterable[HeteroData], path: str | Path) -> None:
    """Writes samples as an Arrow table that `tcbuild --perturbations` accepts, one row per measurement of a genotype.

    A sample of torchcell that joins several measurements (phenotype_sample_indices) becomes several rows. Rows are named by the sample's sample_id,
    else by its number, with .1, .2 … behind the name of a further measurement. Takes memory for all rows. path must not exist and end in .arrow.
    """
    rows: list[dict[str, float]] = []
    ids, genes = [], []
    for number, data in enumerate(samples):
        name = str(data.sample_id) if "sample_id" in data else str(number)
        measured = _measurements(data["gene"], name)
        for rank in sorted(measured):
            ids.append(f"{name}.{rank}" if rank else name)
            genes.append(sorted(data["gene"].ids_pert))
            rows.append(measured[rank])
    phenotypes = list(dict.fromkeys(phenotype for row in rows for phenotype in row))
    columns = {"genes": pa.array(genes, pa.list_(pa.string())), "sample_id": pa.array(ids, pa.string())}
    for phenotype in phenotypes:
        columns[phenotype] = pa.array([row.get(phenotype, np.nan) for row in rows], pa.float64())
    path = Path(path)
    if path.suffix != ".arrow":
        raise ValueError(f"export perturbations to {path}: it does not end in .arrow\nhint: the ending tells tcbuild what a table is")
    with _published(path) as building:
        _write(pa.table(columns), building)


def _measurements(gene: Any, name: str) -> dict[int, dict[str, float]]:
    """Per measurement of a sample, in torchcell's numbering, its phenotypes and statistics."""
    measured: dict[int, dict[str, float]] = {}
    for prefix in ("phenotype", "phenotype_stat"):
        if f"{prefix}_values" not in gene:
            continue
        types = gene[f"{prefix}_types"]
        for phenotype in types:
            measured.setdefault(0, {}).setdefault(phenotype, np.nan)
        coo = (gene[f"{prefix}_{part}"].tolist() for part in ("values", "type_indices", "sample_indices"))
        for value, type_index, rank in zip(*coo):
            if value != value:
                continue
            row, phenotype = measured.setdefault(rank, {}), types[type_index]
            if row.get(phenotype, np.nan) == row.get(phenotype, np.nan):
                raise ValueError(
                    f"export perturbations: sample {name}: several values of {phenotype} in measurement {rank} (expected one)\n"
                    "hint: a phenotype is one number; give the parts of a vector names of their own"
                )
            row[phenotype] = value
    return measured or {0: {}}


def _write(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@contextmanager
def _published(path: Path) -> Iterator[Path]:
    """A path to build at, which becomes path at the end; nothing is left if that is not reached."""
    if path.exists():
        raise FileExistsError(f"export to {path}: it exists already\nhint: remove it, or choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
        building = Path(scratch) / path.name
        yield building
        os.replace(building, path)
