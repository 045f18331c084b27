"""Writes torchcell's HeteroData as input for the tcbuild program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from torch_geometric.data import Batch, HeteroData

from tcbuild.graph import NODE_TYPES
from tcbuild.pyg.cell_graph import index_name


def export_cell_graph(data: HeteroData, folder: str | Path) -> None:
    """Writes a cell graph as a folder that `tcbuild --graph` accepts: Arrow tables, edges in the
    order they have.

    data is torchcell's cell graph or the result of cell_graph. Other node types than gene, reaction
    and metabolite are a ValueError. The folder must not exist; it appears complete.
    """
    folder = Path(folder)
    unknown = [name for name in data.node_types if name not in NODE_TYPES]
    if unknown:
        raise ValueError(
            f"export cell graph: node type {unknown[0]!r}, expected {', '.join(NODE_TYPES)}\n"
            f"hint: delete or rename it: del data[{unknown[0]!r}]"
        )
    with _published(folder) as building:
        (building / "nodes").mkdir(parents=True)
        (building / "edges").mkdir()
        for node_type in data.node_types:
            store = data[node_type]
            columns = {"id": pa.array([str(name) for name in store.node_ids], pa.string())}
            if "gpr" in store:
                columns["gpr"] = pa.array(store.gpr, pa.string())
            if "w_growth" in store:
                columns["w_growth"] = pa.array(store.w_growth.cpu().double().numpy())
            _write(pa.table(columns), building / "nodes" / f"{node_type}.arrow")
        for edge_type in data.edge_types:
            name, store = "__".join(edge_type), data[edge_type]
            index = store[index_name(name)].cpu().numpy()
            columns = {"src_index": pa.array(index[0]), "dst_index": pa.array(index[1])}
            if "stoichiometry" in store:
                columns["stoichiometry"] = pa.array(store.stoichiometry.cpu().double().numpy())
            _write(pa.table(columns), building / "edges" / f"{name}.arrow")


def export_perturbations(samples: Iterable[HeteroData], path: str | Path) -> None:
    """Writes samples as an Arrow table that `tcbuild --perturbations` accepts, one row per sample.

    A sample of torchcell joins the experiments on one genotype (phenotype_sample_indices). They
    stay one row, with the columns that tcbuild gives the same record of a torchcell store: a
    label's name, and `fitness#2` and `fitness_se#2` for the second experiment with the label
    fitness. Rows are named by the sample's sample_id, or by its number. Two rows of one name are a
    ValueError, and so is everything that a row cannot hold. Memory holds all rows. path must not
    exist and must end in .arrow.
    """
    rows: dict[str, dict[str, float]] = {}
    genes = []
    for number, data in enumerate(samples):
        if not isinstance(data, HeteroData) or isinstance(data, Batch):
            raise TypeError(
                f"export perturbations: sample {number} is a {type(data).__name__}, expected a "
                "HeteroData of one sample\n"
                "hint: batch.to_data_list() has a batch's samples"
            )
        name = str(data.sample_id) if "sample_id" in data else str(number)
        if name in rows:
            raise ValueError(
                f"export perturbations: sample {number}: found the name {name!r} of an earlier "
                "sample\n"
                "hint: give each sample a unique sample_id"
            )
        rows[name] = _phenotypes(data["gene"], name)
        genes.append(sorted(data["gene"].ids_pert))
    columns = {
        "genes": pa.array(genes, pa.list_(pa.string())),
        "sample_id": pa.array(rows, pa.string()),
    }
    phenotypes = dict.fromkeys(phenotype for row in rows.values() for phenotype in row)
    if taken := sorted(columns.keys() & phenotypes.keys()):
        raise ValueError(
            f"export perturbations: found a phenotype named {taken[0]!r}, which is another column\n"
            "hint: rename it in phenotype_types"
        )
    for phenotype in phenotypes:
        columns[phenotype] = pa.array(
            [row.get(phenotype, np.nan) for row in rows.values()], pa.float64()
        )
    path = Path(path)
    if path.suffix != ".arrow":
        raise ValueError(
            f"export perturbations to {path}: it does not end in .arrow\n"
            "hint: the ending determines a table's format"
        )
    with _published(path) as building:
        _write(pa.table(columns), building)


def _phenotypes(gene: Any, name: str) -> dict[str, float]:
    """A sample's phenotypes and statistics by the names of their columns, NaN if missing."""
    labels, statistics = _measured(gene, "phenotype"), _measured(gene, "phenotype_stat")
    labels_of = {
        rank: {label for label, other, _ in labels if other == rank} for _, rank, _ in labels
    }  # by experiment
    ranks = {rank for _, rank, value in (*labels, *statistics)}
    if len(ranks) > 1 and (alone := sorted(ranks - labels_of.keys())):
        raise ValueError(
            f"export perturbations: sample {name}: experiment {alone[0]} has statistics and no "
            "phenotype, so they could be any label's\n"
            "hint: delete them, or give the experiment a phenotype_values entry, NaN if it is "
            "missing"
        )
    row = dict.fromkeys(
        (*getattr(gene, "phenotype_types", ()), *getattr(gene, "phenotype_stat_types", ())), np.nan
    )
    seen = set()
    for phenotype, rank, value in (*labels, *statistics):
        # tcbuild numbers the experiments of a label, and a statistic goes with its experiment.
        same_label = sum(
            other <= rank and not found.isdisjoint(labels_of.get(rank, ()))
            for other, found in labels_of.items()
        )
        column = phenotype if same_label < 2 else f"{phenotype}#{same_label}"
        if column in seen:
            raise ValueError(
                f"export perturbations: sample {name}: several values of {phenotype} in experiment "
                f"{rank}, expected one\n"
                "hint: a phenotype is one number; give each part of a vector its own name"
            )
        seen.add(column)
        row[column] = value
    return row


def _measured(gene: Any, prefix: str) -> list[tuple[str, int, float]]:
    """Name, experiment number and value of a sample's data in COO form, ordered by experiment."""
    if f"{prefix}_values" not in gene:
        return []
    types = gene[f"{prefix}_types"]
    coo = [
        gene[f"{prefix}_{part}"].tolist() for part in ("values", "type_indices", "sample_indices")
    ]
    return sorted(
        ((types[kind], rank, value) for value, kind, rank in zip(*coo, strict=True)),
        key=lambda entry: entry[1],
    )


def _write(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@contextmanager
def _published(path: Path) -> Iterator[Path]:
    """A path to build at, which becomes path at the end. On failure nothing is left."""
    if path.exists():
        raise FileExistsError(
            f"export to {path}: it already exists\nhint: remove it, or choose another name"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
        building = Path(scratch) / path.name
        yield building
        os.replace(building, path)
