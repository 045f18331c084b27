"""Writes torchcell's HeteroData as input for the tcbuild program."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor
from torch_geometric.data import Batch, HeteroData

from tcbuild._files.publish import published
from tcbuild._graph.graph import MRM, RMR, is_node_type, split_edge_type
from tcbuild.torchcell._cell_graph import GENES, cell_graph, index_name


def export_cell_graph(data: HeteroData, folder: str | Path) -> None:
    """Writes a cell graph as a folder that `tcbuild --graph` accepts: Arrow tables, edges in the
    order they have.

    data is torchcell's cell graph or the result of cell_graph, with any node types and edge types.
    Tensors with a row per node or edge, such as x, w_growth, edge_attr and scores, become columns,
    lists of text of nodes too. cell_graph makes an equal graph of the folder: what would differ is
    a ValueError that names it. The folder must not exist; it appears complete.
    """
    folder = Path(folder)
    with published(folder, "export to") as building:
        (building / "nodes").mkdir(parents=True)
        (building / "edges").mkdir()
        for node_type in data.node_types:
            store = data[node_type]
            if "node_ids" not in store:
                raise ValueError(
                    f"export cell graph: node type {node_type!r} has no node_ids\n"
                    f"hint: give it a list of ids, or delete it: del data[{node_type!r}]"
                )
            columns = {"id": pa.array([str(name) for name in store.node_ids], pa.string())}
            columns |= _columns(node_type, store, len(store.node_ids))
            if node_type == "reaction":
                columns |= _genes_of_reactions(data)
            _write(pa.table(columns), building / "nodes" / f"{node_type}.arrow")
        for edge_type in data.edge_types:
            name, store = "__".join(edge_type), data[edge_type]
            if index_name(name) not in store:
                raise ValueError(
                    f"export cell graph: edge type {edge_type} has no {index_name(name)}\n"
                    f"hint: give it one, or delete it: del data[{edge_type}]"
                )
            index = store[index_name(name)].cpu().numpy()
            columns = {"src_index": pa.array(index[0]), "dst_index": pa.array(index[1])}
            columns |= _columns(name, store, index.shape[1])
            _write(pa.table(columns), building / "edges" / f"{name}.arrow")
        _check(data, cell_graph(building))


def _columns(name: str, store: Any, rows: int) -> dict[str, pa.Array]:
    """What has a value per node or edge, as columns."""
    columns = {}
    for key, value in store.items():
        if key in ("node_ids", "edge_index", "hyperedge_index"):
            continue
        if key == "stratum_to_terms" and isinstance(value, dict):
            value = _ranks(value, rows)
        if isinstance(value, Tensor) and value.dim() and len(value) == rows:
            if value.numel() and value.layout == torch.strided:
                with suppress(TypeError, pa.ArrowException):  # _check names it
                    columns[key] = _column(value.detach().cpu().numpy())
        elif is_node_type(name) and isinstance(value, list) and len(value) == rows:
            if all(isinstance(item, str) for item in value):
                columns[key] = pa.array(value, pa.string())
    if name in (RMR, MRM) and "stoichiometry" in columns:
        columns["stoichiometry"] = columns["stoichiometry"].cast(pa.float64())
    return columns


def _column(values: npt.NDArray[Any]) -> pa.Array:
    """A row of an array is a value: a number, or a fixed-size list of numbers."""
    column = pa.array(np.ascontiguousarray(values).reshape(-1))
    for width in reversed(values.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, width)
    return column


def _ranks(stratum_to_terms: dict[int, Tensor], terms: int) -> Tensor:
    """The rank of each term among all, by stratum and in the order of the lists."""
    listed = torch.cat([stratum_to_terms[stratum] for stratum in sorted(stratum_to_terms)])
    ranks = torch.zeros(terms, dtype=torch.int64)
    ranks[listed] = torch.arange(len(listed))
    return ranks


def _genes_of_reactions(data: HeteroData) -> dict[str, pa.Array]:
    """torchcell's genes of reactions as a column; some may be no genes of the graph."""
    for edge_type in (RMR, MRM):
        kind = split_edge_type(edge_type)
        if kind in data.edge_types and GENES in data[kind]:
            names = [data[kind][GENES].get(row) for row in range(len(data["reaction"].node_ids))]
            return {GENES: pa.array(names, pa.list_(pa.string()))}
    return {}


def _check(data: HeteroData, written: HeteroData) -> None:
    """An error if a value is not in what was written."""
    for kind in (*data.node_types, *data.edge_types, None):
        store = data._global_store if kind is None else data[kind]
        for key, value in store.items():
            there = kind is not None and key in written[kind]
            if key == "num_edges" or there and _same(key, value, written[kind][key]):
                continue
            where = "data" if kind is None else f"data[{kind!r}]"
            raise ValueError(
                f"export cell graph: {where}.{key} cannot be carried, found "
                f"{_described(value)}, expected a tensor of numbers with a row per node or edge, a "
                "list of text of nodes, or what torchcell derives of the graph\n"
                f"hint: delete it: del {where}[{key!r}]"
            )


def _same(key: str, value: Any, written: Any) -> bool:
    if isinstance(value, Tensor):
        if not isinstance(written, Tensor):
            return False
        same_kind = (value.dtype, value.shape) == (written.dtype, written.shape)
        if key == "stoichiometry":
            value, same_kind = value.float(), value.shape == written.shape
        return same_kind and _bytes(value) == _bytes(written)
    if isinstance(value, dict):
        if not isinstance(written, dict) or value.keys() != written.keys():
            return False
        return all(_same("", item, written[name]) for name, item in value.items())
    if key == "node_ids":
        value = [str(name) for name in value]
    return bool(value == written)


def _bytes(tensor: Tensor) -> bytes:
    return bytes(tensor.detach().cpu().contiguous().numpy().tobytes())


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype} {list(value.shape)}"
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"a {type(value).__name__}{size}"


def export_perturbations(samples: Iterable[HeteroData], path: str | Path) -> None:
    """Writes samples as an Arrow table that `tcbuild --perturbations` accepts, one row per sample.
    The genes that it deletes are its ids_pert or perturbed_genes.

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
        genes.append(_deleted(data["gene"], name))
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
    with published(path, "export to") as building:
        _write(pa.table(columns), building)


def _deleted(gene: Any, name: str) -> list[str]:
    """The deleted genes; samples without a graph call them perturbed_genes."""
    found = [sorted(gene[key]) for key in ("ids_pert", "perturbed_genes") if key in gene]
    if not found or found[0] != found[-1]:
        raise ValueError(
            f"export perturbations: sample {name}: found {' and '.join(map(str, found)) or 'none'} "
            "as its deleted genes, expected one list of names, ids_pert or perturbed_genes\n"
            "hint: give it the list, empty for a wild type"
        )
    return found[0]


def _phenotypes(gene: Any, name: str) -> dict[str, float]:
    """A sample's phenotypes and statistics by the names of their columns, NaN if missing."""
    labels, statistics = _measured(gene, "phenotype"), _measured(gene, "phenotype_stat")
    labels_of = {
        rank: {label for label, other, _ in labels if other == rank} for _, rank, _ in labels
    }  # by experiment
    ranks = {rank for _, rank, _ in (*labels, *statistics)}
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
