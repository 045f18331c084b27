"""Names of genes in a graph that is not a dataset yet: a folder, or tables by type."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from tcbuild._graph.names import Names
from tcbuild._tables import as_table
from tcbuild.errors import InputError

_SEPARATORS = {".tsv": "\t", ".csv": ","}


def names_of(graph: Any) -> Names:
    """The names of the genes of a graph folder, or of tables by type."""
    if hasattr(graph, "_resolver"):
        found: Names = graph._resolver()
        return found
    if isinstance(graph, Mapping):
        return Names(as_table(graph["gene"], "graph (gene)"), None, False)
    if not isinstance(graph, (str, os.PathLike)):
        raise TypeError(
            f"read names: found a graph of type {type(graph).__name__}, expected a folder or tables"
        )
    folder = Path(graph)
    genes = _read(folder / "nodes")
    if genes is None:
        raise InputError(
            f"read names: found no nodes/gene in {folder}", "name the folder of a graph"
        )
    about = folder / "graph.json"
    ignore_case = about.exists() and json.loads(about.read_text("utf-8")).get("ignore_case", False)
    return Names(genes, _read(folder / "names"), ignore_case)


def _read(folder: Path) -> pa.Table | None:
    for path in sorted(folder.glob("gene.*")):
        if path.suffix == ".arrow":
            return pa.ipc.open_file(path).read_all()
        separator = next((_SEPARATORS[end] for end in path.suffixes if end in _SEPARATORS), None)
        if separator is not None:
            pandas = import_module("pandas")
            table = pandas.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
            return pa.Table.from_pandas(table, preserve_index=False)
    return None
