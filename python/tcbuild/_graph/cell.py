"""The cell of a dataset: its genes and graph, and what each gene removes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from tcbuild._files.manifest import RESTORE, Manifest
from tcbuild._graph.graph import GPR, CellGraph, edges_of, is_node_type, load_graph
from tcbuild._graph.names import Names
from tcbuild._lazy import lazy_property
from tcbuild._masks.incidence import CSR, build_incidence, rows_of_nodes
from tcbuild._masks.incidence_file import IncidenceFile
from tcbuild._masks.removal import Removal, Rows, compile_rules, genes_of_rules
from tcbuild.errors import DamagedError

T = TypeVar("T")


class Cell:
    """What all samples of a dataset share. Each part is read at its first use, and kept."""

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._sizes = {mask["name"]: mask["size"] for mask in manifest["masks"]}
        self._ends = {mask["name"]: mask.get("ends", []) for mask in manifest["masks"]}

    @lazy_property
    def genes(self) -> list[str]:
        names: list[str] = self._read(
            lambda table: table.column("id").to_pylist(), "graph/nodes/gene.arrow"
        )
        return names

    @lazy_property
    def gene_indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.genes)}

    @lazy_property
    def names(self) -> Names:
        genes, others, properties = (
            "graph/nodes/gene.arrow",
            "graph/names/gene.arrow",
            "graph/graph.json",
        )
        outside = self._read(_whole, others) if self._manifest.has_file(others) else None
        ignore_case = False
        if self._manifest.has_file(properties):
            ignore_case = json.loads(self._manifest.read_file(properties))["ignore_case"]
        return Names(self._read(_whole, genes), outside, ignore_case)

    @lazy_property
    def graph(self) -> CellGraph:
        return self._load(self._sizes)

    def table(self, name: str) -> pa.Table:
        """The table of a node or edge type, as its file has it."""
        folder = "nodes" if is_node_type(name) else "edges"
        return self._read(_whole, f"graph/{folder}/{name}.arrow")

    def _load(self, names: Collection[str]) -> CellGraph:
        """The graph's tables of these names, in canonical order."""

        try:
            graph = load_graph({name: self._ends[name] for name in names}, self.table)
        except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise DamagedError(
                f"read {self._manifest.folder / 'graph'}: {error}", RESTORE
            ) from error
        sizes = {name: len(ids) for name, ids in graph.nodes.items()}
        sizes |= {name: edges.shape[1] for name, edges in graph.edges.items()}
        expected = {name: self._sizes[name] for name in names}
        if sizes != expected:
            raise DamagedError(
                f"read {self._manifest.folder / 'graph'}: its tables have {sizes} rows, expected "
                f"{expected}",
                RESTORE,
            )
        return graph

    @lazy_property
    def incidence(self) -> dict[str, CSR]:
        incidence = build_incidence(self.graph)
        self._join(incidence)
        return incidence

    @lazy_property
    def removal(self) -> Removal:
        """The incidence variant reads only the part of the graph that ties genes to reactions."""
        rules = None
        pairs: Iterable[tuple[int, int]] = ()
        if self._manifest["options"]["reaction_rule"] == "gpr" and "reaction" in self._sizes:
            rules = compile_rules(self._load(["gene", "reaction"]))
            pairs = genes_of_rules(rules)
        elif GPR in self._sizes:
            nodes = self._sizes["gene"], self._sizes["reaction"]
            edges = self._read(
                lambda table: edges_of(table, GPR, *nodes), f"graph/edges/{GPR}.arrow"
            )
            pairs = zip(*edges.tolist())
        return Removal(self._rows_of_nodes(), self._sizes["gene"], pairs, rules)

    def _rows_of_nodes(self) -> Rows:
        if self._manifest["variant"] == "incidence":
            nodes = self._sizes["gene"] + self._sizes.get("reaction", 0)
            return IncidenceFile(self._manifest, nodes)
        # The rows are as large as the incidence that they are made from, so an incidence that
        # nobody asked for is not kept.
        return self._join(vars(self).get("incidence") or build_incidence(self.graph))

    def _join(self, incidence: dict[str, CSR]) -> CSR:
        """What goes with each gene and reaction, compared with the digest of the program's."""
        ends = np.cumsum(list(self._sizes.values())).tolist()
        starts = dict(zip(self._sizes, [0, *ends]))
        nodes = self._sizes["gene"] + self._sizes.get("reaction", 0)
        rows = rows_of_nodes(starts, incidence, nodes)
        computed = hashlib.sha256(rows.positions.astype("<i4", copy=False).data)
        self._manifest.check_incidence(computed.hexdigest())
        return rows

    def _read(self, make: Callable[[pa.Table], T], name: str) -> T:
        """Returns make(table) for the table in an Arrow file."""
        content = self._manifest.read_file(name)
        try:
            table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
            table.validate(full=True)  # pyarrow would follow any offset
            return make(table)
        except (ValueError, LookupError, TypeError, OSError, pa.ArrowException) as error:
            raise DamagedError(f"read {self._manifest.folder / name}: {error}", RESTORE) from error


def _whole(table: pa.Table) -> pa.Table:
    return table
