"""What a genotype removes, computed from the incidence only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tcbuild._files.manifest import RESTORE
from tcbuild._graph.graph import CellGraph
from tcbuild._masks.rules import compile_rule, holds
from tcbuild.errors import DamagedError


class Rows(Protocol):
    """The positions that go with each gene, then with each reaction."""

    def rows(self, nodes: list[int]) -> npt.NDArray[np.int32]: ...


class Removal:
    """Finds the positions that a genotype removes, among the positions of all masks.

    rows: node -> its own position, and the edges that go with it: the edges that touch a gene,
        a reaction's edges to metabolites; reaction r is node genes + r
    rules: per reaction its compiled rule (tcbuild.rules); None under the rule `all`

    It is immutable, so any number of threads may use it.
    """

    def __init__(
        self,
        rows: Rows,
        genes: int,
        pairs: Iterable[tuple[int, int]],
        rules: list[tuple[int, ...]] | None,
    ):
        """genes: their number. pairs: genes and the reactions that their deletion may remove."""
        self.rows, self.rules, self._genes = rows, rules, genes
        self._reactions: dict[int, list[int]] = {}
        for gene, reaction in pairs:
            self._reactions.setdefault(gene, []).append(reaction)

    def removed_reactions(self, genes: Collection[int]) -> list[int]:
        """The reactions that the deletion of genes removes, ascending."""
        reactions = {reaction for gene in genes for reaction in self._reactions.get(gene, ())}
        if self.rules is None:
            return sorted(reactions)
        deleted = set(genes)
        return sorted(
            reaction for reaction in reactions if not holds(self.rules[reaction], deleted)
        )

    def positions(self, deleted: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """All removed positions, unordered; an edge between two deleted genes occurs twice."""
        genes = deleted.tolist()
        reactions = [self._genes + reaction for reaction in self.removed_reactions(genes)]
        return self.rows.rows(genes + reactions)


def compile_rules(graph: CellGraph) -> list[tuple[int, ...]]:
    """The compiled rule of each reaction."""
    genes = {name: index for index, name in enumerate(graph.nodes["gene"])}
    compiled = []
    for name, text in zip(
        graph.nodes["reaction"], graph.rules or [""] * len(graph.nodes["reaction"])
    ):
        try:
            compiled.append(compile_rule(text, genes))
        except ValueError as error:
            raise DamagedError(
                f"read the gpr rule {text!r} of reaction {name}: {error}", RESTORE
            ) from error
    return compiled


def genes_of_rules(rules: list[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """The genes that rules name, each with its reaction."""
    for reaction, rule in enumerate(rules):
        for gene in set(rule):
            if gene >= 0:
                yield gene, reaction
