"""What a genotype removes, from the incidence alone."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from tcbuild.errors import DamagedFileError
from tcbuild.graph import CellGraph
from tcbuild.incidence import CSR
from tcbuild.manifest import RESTORE
from tcbuild.masks import ascending
from tcbuild.rules import compile_rule, holds


class Rows(Protocol):
    """The positions that go with each gene, then with each reaction."""

    def rows(self, indices: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]: ...


class Removal:
    """Finds the positions that a genotype removes, among the positions of all masks.

    rows: node -> its own position, and those of the edges that go with it: those that touch a gene,
        those of a reaction to metabolites; reaction r is node genes + r
    reactions: gene -> the reactions that its deletion may remove
    rules: per reaction its compiled rule (tcbuild.rules); None under the rule `all`

    It is immutable, so any number of threads may use it.
    """

    def __init__(
        self,
        rows: Rows,
        genes: int,
        reactions_of_genes: npt.NDArray[np.int32],
        rules: list[tuple[int, ...]] | None,
    ):
        """genes: their number. reactions_of_genes: [2, pairs], in any order."""
        self.rows, self.rules, self._genes = rows, rules, genes
        pairs = reactions_of_genes[:, np.argsort(reactions_of_genes[1], kind="stable")]
        self.reactions = CSR.of_pairs(pairs[0], pairs[1], genes)

    def removed_reactions(
        self, perturbation_indices: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int32]:
        """The reactions that a genotype removes, ascending."""
        reactions = ascending(self.reactions.rows(perturbation_indices))
        if self.rules is None:
            return reactions
        deleted = set(perturbation_indices.tolist())
        gone = [
            reaction for reaction in reactions.tolist() if not holds(self.rules[reaction], deleted)
        ]
        return np.array(gone, np.int32)

    def positions(self, perturbation_indices: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """All removed positions, unordered; an edge between two deleted genes occurs twice."""
        removed = self.rows.rows(perturbation_indices)
        reactions = self.removed_reactions(perturbation_indices)
        if not len(reactions):
            return removed
        return np.concatenate([removed, self.rows.rows(reactions + self._genes)])


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
            raise DamagedFileError(
                f"read the gpr rule {text!r} of reaction {name}: {error}", RESTORE
            ) from error
    return compiled


def genes_of_rules(rules: list[tuple[int, ...]]) -> npt.NDArray[np.int32]:
    """The genes that rules name and their reactions, [2, pairs]."""
    pairs = [(gene, row) for row, rule in enumerate(rules) for gene in set(rule) if gene >= 0]
    return np.array(pairs, np.int32).reshape(-1, 2).T
