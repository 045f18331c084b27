"""Graph folders as tcbuild takes them: nodes/gene.tsv, edges/gene__physical__gene.tsv and so on, in any table format."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tcbuild.errors import GraphError
from tcbuild.graph import NODE_TYPES, CellGraph, load_graph

_HINT = "`tcbuild incidence --graph` names the file and the line of what is wrong with a graph"
_TEXT_COLUMNS = {name: pa.string() for name in ("id", "gpr", "src", "dst")}


def read_graph_folder(folder: str | os.PathLike[str]) -> CellGraph:
    """Reads a graph folder, or the graph of the folder around it. Tables are .tsv, .csv (also .gz, .zst), .parquet or .arrow."""
    root = Path(folder)
    if not (root / "nodes").is_dir():
        root = root / "graph"
    nodes, edges = _tables(root / "nodes"), _tables(root / "edges")
    if "gene" not in nodes:
        raise GraphError(f"read graph {folder}: there is no table nodes/gene, neither in it nor in its graph/", _HINT)
    names = [name for name in NODE_TYPES if name in nodes] + sorted(edges, key=str.encode)
    try:
        return load_graph(names, lambda name: _read((nodes | edges)[name]))
    except (ValueError, KeyError, OSError) as error:
        raise GraphError(f"read graph {root}: {error}", _HINT) from error


def _tables(folder: Path) -> dict[str, Path]:
    """The tables of a part of a graph by the names of their types."""
    if not folder.is_dir():
        return {}
    found = [path for path in folder.iterdir() if _format(path) and not path.name.startswith(".")]
    return {path.name[: path.name.rindex(_format(path))]: path for path in found}


def _format(path: Path) -> str:
    """The ending that tells a table's format, or nothing."""
    ending = Path(path.stem).suffix if path.suffix in (".gz", ".zst") else path.suffix
    return ending if ending in (".tsv", ".csv", ".parquet", ".arrow") else ""


def _read(path: Path) -> pa.Table:
    ending = _format(path)
    if ending == ".arrow":
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    if ending == ".parquet":
        return pa.parquet.read_table(path, partitioning=None)
    text = {"delimiter": "\t", "quote_char": False} if ending == ".tsv" else {"newlines_in_values": True}
    with pa.input_stream(str(path)) as stream:
        return pa.csv.read_csv(
            stream,
            parse_options=pa.csv.ParseOptions(**text),
            convert_options=pa.csv.ConvertOptions(column_types=_TEXT_COLUMNS),
        )
