"""A dataset as Parquet files, for readers that do not know tcbuild."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._graph.graph import is_node_type
from tcbuild._table.columns import lists
from tcbuild.errors import InputError

_ROWS = 2048  # of a row group, and in memory at a time
_PLAIN: dict[str, Any] = {"compression": "zstd", "store_schema": False}  # types of Parquet's own


def write_parquet(dataset: Any, folder: Path) -> None:
    """Writes samples.parquet, nodes/TYPE.parquet and edges/TYPE.parquet into a folder."""
    parquet = import_module("pyarrow.parquet")
    for name in dataset.mask_names:
        path = folder / ("nodes" if is_node_type(name) else "edges") / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(dataset._cell.table(name), path, **_PLAIN)
    schema = _sample_table(dataset[:0]).schema
    repeated = [name for name in schema.names if schema.names.count(name) > 1]
    if repeated:
        raise InputError(
            f"write samples.parquet: found a phenotype or attribute named {repeated[0]!r}, which "
            "is another column of this file",
            "rename it in the perturbation set, and build the dataset again",
        )
    positions = [f"removed_{mask}.list.element" for mask in dataset.mask_names]
    packed: dict[str, Any] = {
        "use_dictionary": [name for name in schema.names if not name.startswith("removed_")],
        "column_encoding": {path: "DELTA_BINARY_PACKED" for path in positions},
    }
    with parquet.ParquetWriter(folder / "samples.parquet", schema, **_PLAIN, **packed) as file:
        for first in range(0, len(dataset), _ROWS):
            file.write_table(_sample_table(dataset[first : first + _ROWS]), row_group_size=_ROWS)


def _sample_table(view: Any) -> pa.Table:
    """A row per sample: its id, the ids and the names of its deleted genes, phenotypes, attributes,
    and for each mask the positions that it removes, from the start of the mask.
    """
    samples = view.to_arrow()
    deleted, genes = map(pa.array, lists(samples.column(PERTURBATION_INDICES)))
    columns: list[tuple[str, Any]] = []
    for name, column in zip(samples.column_names, samples.columns):
        if name != PERTURBATION_INDICES:
            columns.append((name, column))
            continue
        for label, texts in (("genes", view.genes), ("names", view._cell.names.labels)):
            words = pa.array(texts, pa.string()).take(deleted)
            columns.append((label, pa.ListArray.from_arrays(genes, words)))
    names = [f"removed_{mask}" for mask in view.mask_names]
    columns += zip(names, _removed(view))
    return pa.table([column for _, column in columns], [name for name, _ in columns])


def _removed(view: Any) -> list[pa.Array]:
    """For each mask a list of positions per sample."""
    read = [view._read_removed(sample) for sample in range(len(view))]
    bounds = [np.searchsorted(found, view._mask_offsets).tolist() for found in read]
    lists = []
    for mask, offset in enumerate(view._mask_offsets[:-1].tolist()):
        parts = [found[at[mask] : at[mask + 1]] for found, at in zip(read, bounds)]
        ends_of_lists = np.cumsum([0, *map(len, parts)])
        positions = np.concatenate([np.empty(0, np.uint32), *parts]) - np.uint32(offset)
        lists.append(
            pa.ListArray.from_arrays(pa.array(ends_of_lists, pa.int32()), pa.array(positions))
        )
    return lists
