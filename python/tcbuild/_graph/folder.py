"""Reads graph folders of Arrow tables, as datasets and exports have them: nodes/gene.arrow,
edges/gene__physical__gene.arrow and so on.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa

from tcbuild._files.data_file import DataFile
from tcbuild._graph.graph import CellGraph, canonical_order, load_graph
from tcbuild.errors import GraphError

_HINT = "`tcbuild incidence --graph` names the file and line of each error in a graph"
_ENDING = ".arrow"
_TYPED = re.compile(  # what only a table's name has
    r"(gene|reaction|metabolite)(__|\.|$)|[a-z0-9]\w*"
    r"(__.+__[a-z0-9]|\.(tsv|csv|txt|tab|parquet|arrow)(\.(gz|zst|bz2|xz|zip|7z|lz4|br))?$)",
    re.IGNORECASE | re.ASCII,
)


def read_graph_folder(folder: str | os.PathLike[str]) -> CellGraph:
    """Reads a graph folder of Arrow tables, or the graph in a folder's subfolder graph. Of others,
    `tcbuild incidence --graph` makes a dataset, which has the graph.
    """
    root = Path(folder)
    if not os.path.lexists(root / "nodes"):
        root = root / "graph"
    nodes, edges = _tables(root / "nodes"), _tables(root / "edges")
    if "gene" not in nodes:
        raise GraphError(
            f"read graph {folder}: found no table nodes/gene in it or in its graph/",
            _HINT,
        )
    names = canonical_order(nodes) + sorted(edges, key=str.encode)
    try:
        return load_graph(names, lambda name: _read((nodes | edges)[name]))
    except (ValueError, KeyError, OSError) as error:
        raise GraphError(f"read graph {root}: {error}", _HINT) from error


def _tables(folder: Path) -> dict[str, Path]:
    """The tables in a subfolder of a graph by the names of their types, whatever kind of file they
    are.

    A name that is nearly a table's is an error, so that no table is missed, unless it is that of a
    copy next to its table.
    """
    tables: dict[str, Path] = {}
    others: list[str] = []
    for path in _entries(folder):
        if path.suffix == _ENDING and not path.name.startswith("."):
            tables[path.stem] = path
        else:
            others.append(path.name)
    for other in others:
        if _TYPED.match(other) and not any(other.startswith(f"{name}.") for name in tables):
            raise GraphError(
                f"read graph {folder.parent}: found {folder.name}/{other}"
                f", expected Arrow tables, ending {_ENDING}",
                "build a dataset of it with `tcbuild incidence --graph`, and open that",
            )
    return tables


def _entries(folder: Path) -> list[Path]:
    if not os.path.lexists(folder):
        return []
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise GraphError(
            f"read graph: {error}, expected a folder", "replace it by a folder"
        ) from error


def _read(path: Path) -> pa.Table:
    """A table whose file is read once, into memory: it may change under its reader, and what is no
    file is never waited for.
    """
    file = DataFile(path)
    return pa.ipc.open_file(pa.py_buffer(file.read(0, file.size))).read_all()
