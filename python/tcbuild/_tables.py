"""Tables of Python's as the Arrow files that the program reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcbuild._anndata_file import read_obs
from tcbuild._files.manifest import SAMPLE_ID
from tcbuild.errors import InputError

_BATCH = 1 << 16  # rows of a record batch
_KINDS = {"numbers": Number, "texts": str, "times": date, "lists": object}


def is_cells(found: Any) -> bool:
    """Whether this is an AnnData."""
    return hasattr(found, "obs") and hasattr(found, "obs_names")


def as_table(found: Any, name: str) -> pa.Table:
    """A table, or a list of lists of genes, as an Arrow table without metadata of its own. Indices
    of pandas that have names are columns; other indices must be numbers, and are omitted.

    name: what messages call it
    """
    _check_index(found, name)
    try:
        return _without_opaque_words(_cast(_arrow(found)))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if hasattr(found, "iloc") and hasattr(found, "columns"):
            _refuse_mixed(found, name)
        raise InputError(
            f"read {name}: {' '.join(' '.join(map(str, error.args)).split())[:300]}",
            "give a pandas, polars or pyarrow table whose columns each have one type, a list of "
            "lists of genes, an AnnData, or a path",
        ) from error


def _check_index(found: Any, name: str) -> None:
    """Refuses an index of pandas without a name whose texts, such as strains, would be lost."""
    index: Any = found.index if hasattr(found, "iloc") else None
    if index is None or all(level is not None for level in index.names):
        return
    if index.inferred_type not in ("integer", "floating", "boolean", "empty"):
        raise InputError(
            f"read {name}: found an index of type {index.inferred_type} without a name, it begins "
            f"with {index[0]!r:.100}, expected its values in a column",
            'frame.reset_index() makes it the column "index", which id_column may name; '
            "frame.reset_index(drop=True) omits it",
        )


def _refuse_mixed(frame: Any, name: str) -> None:
    """Refuses the first value that is of another kind than most of its column."""
    for column, values in frame.reset_index(drop=True).items():
        values = values.dropna().astype(object)
        kinds = values.map(lambda one: next(k for k in _KINDS if isinstance(one, _KINDS[k])))
        expected = "".join(kinds.mode()[:1])
        for row in kinds.index[kinds != expected][:1]:
            found, hint = f"{values[row]!r:.100}", f"read texts with dtype={{{column!r}: str}}"
            if kinds[row] == "texts":
                hint = f"correct it; if it means missing, read with na_values=[{found}]"
            elif (kinds[row], expected) == ("times", "texts"):
                found = f'"{values[row]}" (a date, as Excel makes of names such as SEP7)'
                hint = "write the gene's name again; format Excel's column as text before you paste"
            where = f"read {name} {row_of(frame, row)}: column {column!r}"
            raise InputError(f"{where}: found {found}, expected {expected}", hint)


def row_of(found: Any, row: int) -> str:
    """A row as messages name it, with its label in a frame of pandas if that differs."""
    label = found.index[row] if hasattr(found, "iloc") else row
    return f"row {row}" if label == row else f"row {row} (index {label})"


def _arrow(found: Any) -> pa.Table:
    if hasattr(found, "iloc") and hasattr(found, "columns"):  # pandas
        if any(name is not None for name in found.index.names):
            found = found.reset_index()
        return pa.Table.from_pandas(found, preserve_index=False)
    if hasattr(found, "__arrow_c_stream__") or hasattr(found, "__arrow_c_array__"):
        return pa.table(found)
    if isinstance(found, (str, bytes)) or not isinstance(found, Sequence):
        raise TypeError(f"found {type(found).__name__}")
    for genes in found:
        if isinstance(genes, str) or not all(isinstance(gene, str) for gene in genes):
            raise TypeError(f"found {genes!r:.50} in the list, expected a list of genes")
    return pa.table({"genes": pa.array(map(list, found), pa.list_(pa.string()))})


def _cast(table: pa.Table) -> pa.Table:
    """The table with types that the program's library reads, also of items and of words."""

    def other(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_decimal(kind) and kind.bit_width < 128:
            return pa.decimal128(kind.precision, kind.scale)
        if pa.types.is_dictionary(kind):
            return pa.dictionary(kind.index_type, other(kind.value_type), kind.ordered)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            item = kind.value_field
            make = pa.list_ if pa.types.is_list(kind) else pa.large_list
            return make(item.with_type(other(item.type)))
        views = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
        return views.get(kind, kind)

    schema = pa.schema([field.with_type(other(field.type)) for field in table.schema])
    return table if schema == table.schema else table.cast(schema)


def _without_opaque_words(table: pa.Table) -> pa.Table:
    """Opaque categories, such as Periods, as structs, which the program reports and omits."""
    for place, field in enumerate(table.schema):
        words = field.type.value_type if pa.types.is_dictionary(field.type) else None
        if isinstance(words, pa.BaseExtensionType):
            nothing = pa.nulls(len(table), pa.struct([("extension", pa.null())]))
            table = table.set_column(place, field.name, nothing)
    return table


def write_table(table: pa.Table, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.replace_schema_metadata(None)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=_BATCH)
    return path


def cells_table(cells: Any, name: str, of_genes: Sequence[str], ids: Any = None) -> pa.Table:
    """A sample per cell of an AnnData, or of its file: its name, and all of obs."""
    obs = read_obs(Path(cells)) if isinstance(cells, (str, os.PathLike)) else cells.obs
    if SAMPLE_ID in obs.columns:
        raise InputError(
            f"read {name}: obs has a column {SAMPLE_ID!r}, which tcbuild makes of obs_names",
            "rename the column",
        )
    if ids not in (None, SAMPLE_ID, *obs.columns):
        raise InputError(
            f"read {name}: obs has no column {ids!r}",
            "omit id_column: a sample's id is its cell's name in obs_names",
        )
    if there := [column for column in of_genes if column in obs.columns]:
        values = obs[there].astype(object)
        missing = (values.isna() | (values.isin(["", " "]))).all(axis=1).to_numpy()
        if missing.any():
            raise InputError(
                f"read {name}: {missing.sum():,} of {len(obs):,} cells have no {there[0]!r}, the "
                f"first is {obs.index[missing.argmax()]!r:.100}",
                "name it in obs: controls by a label that you pass in controls; or leave them out: "
                f"adata[adata.obs[{there[0]!r}].notna()]",
            )
    table = as_table(obs.reset_index(drop=True), name)
    return table.add_column(0, SAMPLE_ID, pa.array(map(str, obs.index), pa.string()))


def write_graph(graph: Mapping[Any, Any], folder: Path) -> dict[Path, str]:
    """Writes tables by type. Returns what messages call each file, and the folder last."""
    names = {}
    for kind, found in {"gene": None, **graph}.items():
        type_name = kind if isinstance(kind, str) else "__".join(kind)
        is_edge, name = "__" in type_name, f"graph ({type_name})"
        if found is None or isinstance(found, (list, tuple)):
            what = "no table" if found is None else f"a {type(found).__name__}, expected a table"
            columns = "columns src and dst" if is_edge else "a column id"
            hint = f"set graph[{kind!r}] = a table with {columns}"
            raise InputError(f"read {name}: found {what}", hint)
        path = folder / ("edges" if is_edge else "nodes") / f"{type_name}.arrow"
        names[write_table(as_table(found, name), path)] = name
    return names | {folder: "graph"}


def tables_of(data: Any) -> tuple[dict[str, pa.Table], list[str]]:
    """The tables of a HeteroData whose nodes have node_ids, and entries that are no columns."""
    tables, left = {}, []
    for kind, store in (*data.node_items(), *data.edge_items()):
        name = kind if isinstance(kind, str) else "__".join(kind)
        columns = _ids(name, store) if isinstance(kind, str) else _ends(name, store)
        rows = len(next(iter(columns.values())))
        if name == "reaction":
            columns |= _genes_of_reactions(data, rows)
        for key, value in store.items():
            if key in _OWN:
                continue
            if key == "stratum_to_terms" and isinstance(value, dict):
                value = _ranks(value, rows)
            if (column := _column(value, rows)) is not None:
                columns[key] = column
            elif key != "reaction_to_genes" and (not hasattr(value, "numel") or value.numel()):
                left.append(f"{name}.{key}")
        tables[name] = pa.table(columns)
    return tables, left


_OWN = ("node_ids", "num_nodes", "num_edges", "edge_index", "hyperedge_index")


def _ids(name: str, store: Any) -> dict[str, Any]:
    if "node_ids" in store:
        return {"id": pa.array(map(str, store["node_ids"]), pa.string())}
    if name == "gene":
        raise InputError(
            "read graph (HeteroData): its genes have no names",
            'name them: data["gene"].node_ids = [...], a text per node',
        )
    return {"id": pa.array(range(store.num_nodes))}


def _ends(name: str, store: Any) -> dict[str, Any]:
    key = next((key for key in ("edge_index", "hyperedge_index") if key in store), None)
    if key is None:
        raise InputError(
            f"read graph (HeteroData): {name} has no edge_index", "add it: a tensor [2, edges]"
        )
    index = store[key].cpu().numpy()
    return {"src_index": pa.array(index[0]), "dst_index": pa.array(index[1])}


def _genes_of_reactions(data: Any, reactions: int) -> dict[str, Any]:
    """torchcell's genes of reactions as a column; some may be no genes of the graph."""
    for _, store in data.edge_items():
        if "reaction_to_genes" in store:
            names = [store["reaction_to_genes"].get(row) for row in range(reactions)]
            return {"reaction_to_genes": pa.array(names, pa.list_(pa.string()))}
    return {}


def _ranks(stratum_to_terms: Mapping[int, Any], terms: int) -> Any:
    """The rank of each term among all, by stratum and in the order of torchcell's lists."""
    listed = np.concatenate([stratum_to_terms[stratum] for stratum in sorted(stratum_to_terms)])
    ranks = np.zeros(terms, np.int64)
    ranks[listed] = np.arange(len(listed))
    return ranks


def _column(value: Any, rows: int) -> Any:
    """An entry of a store as a column; None if it is none."""
    if isinstance(value, list):
        texts = len(value) == rows and all(isinstance(text, str) for text in value)
        return pa.array(value) if texts else None
    try:
        values = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        if values.ndim == 0 or len(values) != rows or not values.size:
            return None
        column = pa.array(values.reshape(-1))
    except (TypeError, pa.ArrowException):  # such as of bfloat16, and of sparse tensors
        return None
    for width in reversed(values.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, width)
    return column
