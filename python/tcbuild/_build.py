"""Builds datasets with the program, from what Python has."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcbuild import _program, _tables
from tcbuild._dataset import Dataset, open
from tcbuild._files.scratch import scratch_beside
from tcbuild._graph.graph import CellGraph
from tcbuild.errors import InputError

_CELLS = (".h5ad", ".zarr")


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
        samples: the path of a table that the program reads; a pandas, polars or pyarrow table; an
            AnnData or its path (.h5ad, .zarr), with a sample per cell; a list of lists of genes;
            None for the graph's incidence only
        out: the dataset's folder. If it has this dataset already, nothing is done
        timeout: seconds until the program is asked to end
        **settings: as in YAML (`tcbuild docs settings`), such as `reaction_rule="gpr"`;
            `mode="indices"` or `"full-masks"` builds the variants that store masks

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
        try:
            _program.show(_program.run(*words, settings=settings, names=names, timeout=timeout))
        except InputError as error:
            rows = re.compile(r"(?<=samples \(DataFrame\) )row (\d+)")
            named = rows.sub(lambda row: _tables.row_of(samples, int(row[1])), error.message)
            raise InputError(named, error.hint) from None
    return open(path)


def read_graph_folder(folder: str | os.PathLike[str]) -> CellGraph:
    """The graph in a folder that the program reads, as a dataset has it: 1 s for a yeast graph."""
    with tempfile.TemporaryDirectory(prefix="tcbuild-") as scratch:
        out = Path(scratch) / "dataset"
        _program.run("incidence", f"--graph={os.path.abspath(folder)}", f"--out={out}")
        return open(out).graph


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
    if is_path and ending not in _CELLS:
        return str(samples)
    if ending in _CELLS or _tables.is_cells(samples):
        name = str(samples) if is_path else "samples (AnnData)"
        of_genes = settings.get("genes_columns") or ["genes", "gene"]
        of_genes = of_genes.split(",") if isinstance(of_genes, str) else of_genes
        table = _tables.cells_table(samples, name, of_genes, settings.get("id_column"))
    else:
        kind = "list" if isinstance(samples, (list, tuple)) else type(samples).__name__
        name = f"samples ({kind})"
        table = _tables.as_table(samples, name)
    file = _tables.write_table(table, scratch / "samples.arrow")
    names[str(file)] = name
    return str(file)
