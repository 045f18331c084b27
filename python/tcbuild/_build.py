"""Builds datasets with the program, from what Python has."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from tcbuild import _program, _tables
from tcbuild._dataset import Dataset, open
from tcbuild._files.scratch import scratch_beside
from tcbuild._graph.graph import CellGraph
from tcbuild.errors import DamagedError, InputError, missing_package

_CELLS = (".h5ad", ".zarr")
_OF_PANDAS = {".xlsx": "read_excel", ".parquet": "read_parquet"}


def build(
    graph: Any,
    samples: Any,
    out: str | os.PathLike[str],
    *,
    timeout: float | None = None,
    **settings: Any,
) -> Dataset:
    """Builds a dataset with the program tcbuild, which logs to the logger `tcbuild`, and opens it.

    Args:
        graph: a folder; tables by node and edge type, such as `"gene"` and `("gene", "physical",
            "gene")`, as tcbuild.sources makes them; or a PyG HeteroData whose stores have node_ids
        samples: the path of a table that the program or pandas reads (of .xlsx, the first sheet); a
            pandas, polars or pyarrow table; an AnnData or its path (.h5ad, .zarr), with a sample
            per cell; a list of lists of genes; None for the graph's incidence only
        out: the dataset's folder. If it has this dataset already, nothing is done
        timeout: seconds until the program is asked to end
        **settings: as in YAML (`tcbuild docs settings`), such as `reaction_rule="gpr"`;
            `mode="indices"` or `"full-masks"` builds the variants that store masks

    Returns:
        The dataset, opened.

    Raises:
        SettingsError: a setting is wrong
        InputError: the graph or the samples are wrong
        BuildError: the program failed, or is missing

    Examples:
        >>> genes = [["YAL001C", "YAR002C"], ["YBL001C"]]
        >>> tcbuild.build("cell/graph", genes, out="cell/doubles")
        <tcbuild.Dataset ...cell/doubles: 2 samples, incidence>
    """
    path, mode = Path(out), settings.pop("mode", "incidence")
    kind = ["incidence"] if mode == "incidence" else ["dataset", f"--mode={mode}"]
    names: dict[str, str] = {}
    with scratch_beside(path) as scratch:
        folder = _graph(graph, scratch / "graph", names)
        words = [*kind, f"--graph={folder}", f"--out={path}"]
        if samples is not None:
            words.append(f"--perturbations={_samples(samples, scratch, names, settings)}")
        _program.show(_program.run(*words, settings=settings, names=names, timeout=timeout))
    return open(path)


def read_graph_folder(folder: str | os.PathLike[str]) -> CellGraph:
    """Reads a graph folder as a dataset has it: a second for a yeast graph.

    Args:
        folder: has nodes/gene.tsv, edges/gene__physical__gene.tsv and so on

    Raises:
        InputError: the graph is wrong

    Examples:
        >>> graph = tcbuild.read_graph_folder("cell/graph")
        >>> graph.edges["gene__physical__gene"].shape
        (2, 210)
    """
    with tempfile.TemporaryDirectory(prefix="tcbuild-") as scratch:
        out = Path(scratch) / "dataset"
        _program.run("incidence", f"--graph={os.path.abspath(folder)}", f"--out={out}")
        return open(out).graph


def diff(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> list[str]:
    """Compares the content of two datasets: graphs, rules, columns and the first sample that
    differs.

    Args:
        a: a dataset's folder
        b: another's

    Returns:
        A line per difference; an empty list if nothing differs.

    Raises:
        DamagedError: a dataset is damaged

    Examples:
        >>> tcbuild.diff("cell/dataset", "cell/dataset")
        []
    """
    try:
        _program.run("diff", os.path.abspath(a), os.path.abspath(b))
    except DamagedError as error:
        if not error.printed:  # a damaged dataset
            raise
        return error.printed
    return []


def _graph(graph: Any, folder: Path, names: dict[str, str]) -> Path:
    """A graph's folder; what messages call it goes to names."""
    if isinstance(graph, (str, os.PathLike)):
        return Path(graph)
    if hasattr(graph, "_write_into"):  # of tcbuild.sources
        names |= {str(path): name for path, name in graph._write_into(folder).items()}
        return folder
    if hasattr(graph, "node_items"):
        graph, left = _tables.tables_of(graph)
        if left:
            _program.warn("entries of the HeteroData that are no columns", left)
    elif not isinstance(graph, Mapping):
        raise TypeError(
            f"build: found a graph of type {type(graph).__name__}, expected a folder, tables by "
            "type, or a HeteroData"
        )
    names |= {str(path): name for path, name in _tables.write_graph(graph, folder).items()}
    return folder


def _samples(samples: Any, scratch: Path, names: dict[str, str], settings: dict[str, Any]) -> str:
    """The path of the samples; what messages call it goes to names."""
    is_path = isinstance(samples, (str, os.PathLike))
    ending = Path(samples).suffix.lower() if is_path and os.path.exists(samples) else ""
    if is_path and ending not in (*_CELLS, *_OF_PANDAS):
        return str(samples)
    if ending in _CELLS or _tables.is_cells(samples):
        name = str(samples) if is_path else "samples (AnnData)"
        of_genes = settings.get("genes_columns") or ["genes", "gene"]
        of_genes = of_genes.split(",") if isinstance(of_genes, str) else of_genes
        table = _tables.cells_table(samples, name, of_genes)
    elif is_path:
        name = str(samples)
        table = _tables.as_table(_read_by_pandas(name, _OF_PANDAS[ending]), name)
    else:
        kind = "list" if isinstance(samples, (list, tuple)) else type(samples).__name__
        name = f"samples ({kind})"
        table = _tables.as_table(samples, name)
    file = _tables.write_table(table, scratch / "samples.arrow")
    names[str(file)] = name
    return str(file)


def _read_by_pandas(path: str, reader: str) -> Any:
    try:
        if reader == "read_excel":
            import_module("openpyxl")  # pandas would say less of what is missing
        read = getattr(import_module("pandas"), reader)
    except ModuleNotFoundError as error:
        raise missing_package(f"reading {path}", error) from error
    try:
        return read(path)
    except Exception as error:  # of the many packages below pandas
        raise InputError(f"read {path}: {error}", "save the file again") from error
