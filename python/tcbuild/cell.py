"""The cell of a dataset: its genes and graph, and what each gene removes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa

from tcbuild.errors import DamagedFileError
from tcbuild.graph import NODE_TYPES, CellGraph, load_graph
from tcbuild.incidence import CSR, build_incidence, read_incidence
from tcbuild.manifest import RESTORE, Manifest
from tcbuild.removal import Removal

T = TypeVar("T")


class Cell:
    """What all samples of a dataset share. Each part is read at its first use, and kept."""

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._sizes = {mask["name"]: mask["size"] for mask in manifest["masks"]}

    @cached_property
    def genes(self) -> list[str]:
        names: list[str] = self._read(
            lambda table: table.column("id").to_pylist(), "graph/nodes/gene.arrow"
        )
        return names

    @cached_property
    def gene_indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.genes)}

    @cached_property
    def graph(self) -> CellGraph:
        def read(name: str) -> pa.Table:
            return self._read(
                lambda table: table,
                f"graph/{'nodes' if name in NODE_TYPES else 'edges'}/{name}.arrow",
            )

        try:
            graph = load_graph(self._sizes, read)
        except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise DamagedFileError(
                f"read {self._manifest.folder / 'graph'}: {error}", RESTORE
            ) from error
        sizes = {name: len(ids) for name, ids in graph.nodes.items()}
        sizes |= {name: edges.shape[1] for name, edges in graph.edges.items()}
        if sizes != self._sizes:
            raise DamagedFileError(
                f"read {self._manifest.folder / 'graph'}: its tables have {sizes} rows, expected "
                f"{self._sizes}",
                RESTORE,
            )
        return graph

    @cached_property
    def incidence(self) -> dict[str, CSR]:
        return self._make_incidence()

    def _make_incidence(self) -> dict[str, CSR]:
        if self._manifest["variant"] == "incidence":
            return self._read(read_incidence, "incidence.arrow")
        return build_incidence(self.graph)

    @cached_property
    def removal(self) -> Removal:
        ends = np.cumsum(list(self._sizes.values())).tolist()
        starts = dict(zip(self._sizes, [0, *ends]))
        # Removal is as large as the incidence it is made from, so an incidence that nobody asked
        # for is not kept.
        incidence = vars(self).get("incidence") or self._make_incidence()
        rule = self._manifest["options"]["reaction_rule"]
        return Removal(self.graph, incidence, starts, rule)

    def _read(self, make: Callable[[pa.Table], T], name: str) -> T:
        """Returns make(table) for the table in an Arrow file."""
        content = self._manifest.read_file(name)
        try:
            return make(pa.ipc.open_file(pa.py_buffer(content)).read_all())
        except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise DamagedFileError(
                f"read {self._manifest.folder / name}: {error}", RESTORE
            ) from error
