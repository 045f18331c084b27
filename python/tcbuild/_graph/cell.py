"""The cell of a dataset: its genes and graph, and what each gene removes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable

import numpy as np
import pyarrow as pa

from tcbuild._files.manifest import Manifest, decoding
from tcbuild._graph.graph import GPR, CellGraph, edges_of, is_node_type, load_graph
from tcbuild._graph.names import Names
from tcbuild._lazy import lazy_property
from tcbuild._masks.incidence import CSR, build_incidence, rows_of_nodes
from tcbuild._masks.incidence_file import IncidenceFile
from tcbuild._masks.removal import Removal, Rows, compile_rules, genes_of_rules

_GENES, _OTHERS, _PROPERTIES = (
    "graph/nodes/gene.arrow",
    "graph/names/gene.arrow",
    "graph/graph.json",
)


class Cell:
    """What all samples of a dataset share. Each part is read at its first use, and kept."""

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._sizes = {mask["name"]: mask["size"] for mask in manifest["masks"]}
        self._ends = {mask["name"]: mask.get("ends", []) for mask in manifest["masks"]}

    @lazy_property
    def genes(self) -> list[str]:
        table = self._read(_GENES)
        with decoding(self._manifest.folder / _GENES):
            names: list[str] = table.column("id").to_pylist()
        return names

    @lazy_property
    def gene_indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.genes)}

    @lazy_property
    def names(self) -> Names:
        files = self._manifest.files
        outside = self._read(_OTHERS) if _OTHERS in files else None
        ignore_case = False
        if _PROPERTIES in files:
            ignore_case = json.loads(self._manifest.read_file(_PROPERTIES))["ignore_case"]
        return Names(self._read(_GENES), outside, ignore_case)

    @lazy_property
    def graph(self) -> CellGraph:
        return self._load(self._sizes)

    def table(self, name: str) -> pa.Table:
        """The table of a node or edge type, as its file has it."""
        folder = "nodes" if is_node_type(name) else "edges"
        return self._read(f"graph/{folder}/{name}.arrow")

    def _load(self, names: Collection[str]) -> CellGraph:
        """The graph's tables of these names, in canonical order."""
        with decoding(self._manifest.folder / "graph"):
            graph = load_graph({name: self._ends[name] for name in names}, self.table)
            sizes = {name: len(ids) for name, ids in graph.nodes.items()}
            sizes |= {name: edges.shape[1] for name, edges in graph.edges.items()}
            if sizes != (expected := {name: self._sizes[name] for name in names}):
                raise ValueError(f"its tables have {sizes} rows, expected {expected}")
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
            table = self.table(GPR)
            with decoding(self._manifest.folder / f"graph/edges/{GPR}.arrow"):
                pairs = zip(*edges_of(table, GPR, *nodes).tolist())
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

    def _read(self, name: str) -> pa.Table:
        """The table in an Arrow file."""
        content = self._manifest.read_file(name)
        with decoding(self._manifest.folder / name):
            table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
            table.validate(full=True)  # pyarrow would follow any offset
        return table
