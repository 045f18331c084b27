"""The graph that sources make: tables by type, what names of genes mean, and an account of rows."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from filecmp import cmp
from pathlib import Path
from shutil import copy2
from typing import Any

import polars as pl

from tcbuild import _tables
from tcbuild._files.scratch import scratch_beside
from tcbuild._graph.graph import ends_of, is_node_type, split_edge_type
from tcbuild._graph.names import Names
from tcbuild.errors import InputError, SettingsError
from tcbuild.sources._account import Account
from tcbuild.sources._files import read

_RELATION = re.compile(r"[A-Za-z0-9](_?[A-Za-z0-9.-])*")
_NAMES: Any = {"id": pl.String, "name": pl.String, "aliases": pl.List(pl.String)}


class Graph(dict[Any, pl.DataFrame]):
    """Tables by node type, such as "gene", and by (source, relation, target): nodes with the column
    id, edges with src and dst. Filter and replace them, also by tables of pandas or pyarrow; prune
    removes edges whose nodes are gone.

    Args:
        genes: the ids; the function genes reads them from a table
        ignore_case: whether names that differ only in case mean one gene

    Attributes:
        names: id, name and aliases of all known genes; those outside the graph keep their names
        ignore_case: whether names that differ only in case mean one gene
        account: what became of the rows of each source; print it
        downloads: file, address, bytes and sha256 of each download
    """

    def __init__(self, genes: Iterable[str], ignore_case: bool = False):
        super().__init__()
        self["gene"] = pl.DataFrame({"id": [*genes]}, {"id": pl.String})
        self.names = pl.DataFrame([(id, "", []) for id in self["gene"]["id"]], _NAMES, orient="row")
        self.ignore_case = ignore_case
        self.account = Account()
        self.downloads: list[dict[str, Any]] = []

    def __setitem__(self, kind: Any, table: Any) -> None:
        if isinstance(kind, str) and not is_node_type(kind):
            kind = split_edge_type(kind)
        if not isinstance(kind, str) and not _RELATION.fullmatch(kind[1]):
            raise InputError(
                f"add edges: found relation {kind[1]!r}, expected letters, digits, _ - and .",
                'replace other characters, such as spaces: relation.replace(" ", "_")',
            )
        super().__setitem__(kind, read(table))

    def prune(self) -> Graph:
        """Removes edges whose nodes are not in the graph, and returns the graph."""
        for kind in [kind for kind in self if not isinstance(kind, str)]:
            for column, end in zip(("src", "dst"), ends_of("__".join(kind)), strict=True):
                self[kind] = self[kind].filter(pl.col(column).is_in(self[end]["id"].implode()))
        return self

    def _with_names(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The table of genes, with their names if the graph has any, and that of genes outside."""
        genes, known = self["gene"], self.names
        outside = known.join(genes, on="id", how="anti", maintain_order="left")
        if len(outside) or (known["name"] != "").any() or known["aliases"].list.len().sum():
            absent = [column for column in ("name", "aliases") if column not in genes.columns]
            own = known.select("id", *absent)
            genes = genes.join(own, on="id", how="left", maintain_order="left")
            genes = genes.with_columns(
                pl.col("name").fill_null(""), pl.col("aliases").fill_null([])
            )
        return genes, outside

    def _resolver(self) -> Names:
        genes, outside = self._with_names()
        return Names(genes.to_arrow(), outside.to_arrow(), self.ignore_case)

    def _rows(self, kind: str, names: Iterable[str]) -> tuple[dict[str, int], list[str]]:
        """The rows of the nodes that names mean, and names that mean several genes."""
        if kind != "gene":
            if kind not in self:
                raise InputError(
                    f"add edges: the graph has no nodes {kind}",
                    f'add them first: graph["{kind}"] = pl.DataFrame({{"id": [...]}})',
                )
            return {text: row for row, text in enumerate(self[kind]["id"])}, []
        resolver, count = self._resolver(), len(self["gene"])
        owners = {name: resolver.owners(name) for name in names}
        meant = {name: of[0] for name, of in owners.items() if len(of) == 1 and of[0] < count}
        return meant, [name for name, of in owners.items() if len(of) > 1 and min(of) < count]

    def _write_into(self, folder: Path) -> dict[Path, str]:
        """Writes the files of a graph folder. Returns what messages call each."""
        genes, outside = self._with_names()
        names = _tables.write_graph({**self, "gene": _joined(genes)}, folder)
        if len(outside):
            others = _tables.as_table(_joined(outside), "names of genes")
            _tables.write_table(others, folder / "names/gene.arrow")
        if self.ignore_case:
            (folder / "graph.json").write_text('{"ignore_case": true}\n')
        about = {"sources": self.account, "downloads": self.downloads}
        text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
        (folder / "sources.json").write_text(text, encoding="utf-8")
        return names


def _joined(genes: pl.DataFrame) -> pl.DataFrame:
    """Genes with aliases as text, which every form of a graph folder can have."""
    lists = [name for name, kind in genes.schema.items() if name == "aliases" and kind == pl.List]
    return genes.with_columns(pl.col(lists).list.join("|"))


def write(graph: Graph, folder: str | os.PathLike[str]) -> Path:
    """Writes a graph as a folder, completely or not at all. Files with the same content stay
    untouched.

    Args:
        graph: of this module
        folder: to create, or to replace if it has a graph

    Raises:
        SettingsError: the folder has other files

    Examples:
        >>> folder = tcbuild.sources.write(graph, "own/graph")
    """
    out = Path(folder)
    ours = {"nodes", "edges", "names", "graph.json", "sources.json"}
    others = set(os.listdir(out)) - ours if out.exists() else set()
    if others:
        raise SettingsError(f"write graph {out}: found {min(others)} in it", "name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch_beside(out) as scratch:
        graph._write_into(new := scratch / "new")
        files = [path.relative_to(new) for path in new.rglob("*") if path.is_file()]
        there = [path.relative_to(out) for path in out.rglob("*") if path.is_file()]
        same = [file for file in files if file in there and cmp(new / file, out / file, False)]
        if len(same) == len(files) == len(there):
            return out
        for file in same:
            copy2(out / file, new / file)  # with its time
        if out.exists():
            out.rename(scratch / "old")
        new.rename(out)
    return out
