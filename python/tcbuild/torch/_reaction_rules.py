"""Finds the reactions that a batch's deletions remove, for all samples and reactions at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from tcbuild._graph.graph import GPR, CellGraph
from tcbuild._masks.rules import AND, OR, compile_rule


class ReactionRules(nn.Module):
    """The reactions' rules as a circuit of gates, evaluated level by level.

    Every node is false or not: node 0 never is, node 1 + g is if gene g is deleted, then come the
    gates, level by level. A gate is false if at least `threshold` of its operands are: 1 for `and`,
    all of them for `or`. Under the reaction rule `all`, a reaction is the `and` of its gpr genes.

    A call takes, per sample, 1 byte per node and about 10 per operand of the largest level,
    whatever is deleted.
    """

    roots: Tensor  # int64 [reactions], the node that each reaction goes with

    def __init__(self, graph: CellGraph, reaction_rule: str):
        super().__init__()
        circuit = _Circuit()
        roots = [_NEVER_FALSE] * len(graph.nodes["reaction"])
        if reaction_rule == "gpr":
            ids = {name: index for index, name in enumerate(graph.nodes["gene"])}
            for reaction, text in enumerate(graph.rules):
                roots[reaction] = circuit.add_rule(compile_rule(text, ids))
        elif GPR in graph.edges:
            genes_of: dict[int, list[_Node]] = {}
            for gene, reaction in graph.edges[GPR].T.tolist():
                genes_of.setdefault(reaction, []).append(_gene(gene))
            for reaction, genes in genes_of.items():
                roots[reaction] = circuit.add(_Gate(AND, genes))

        starts = [0, 1 + len(graph.nodes["gene"])]  # of each level's nodes
        for level in circuit.levels:
            starts.append(starts[-1] + len(level))
        self.starts = starts
        self.levels = nn.ModuleList(_Level(level, starts) for level in circuit.levels)
        self.register_buffer(
            "roots",
            torch.tensor([starts[level] + index for level, index in roots]),
            persistent=False,
        )

    def forward(self, gene_mask: Tensor) -> Tensor:
        """The reaction mask, bool [B, reactions], for a gene mask, bool [B, genes]."""
        batch_size = gene_mask.size(0)
        false = gene_mask.new_zeros(batch_size, self.starts[-1])
        false[:, 1 : self.starts[1]] = ~gene_mask
        for level, start, end in zip(self.levels, self.starts[1:], self.starts[2:]):
            false[:, start:end] = level(false)
        return false.gather(1, self.roots.expand(batch_size, -1)).logical_not_()


class _Level(nn.Module):
    """Gates whose operands are all in earlier levels."""

    operands: Tensor  # nodes, gate after gate
    ends: Tensor  # [gates + 1], a gate's operands are operands[ends[i]:ends[i + 1]]
    thresholds: Tensor  # [gates]

    def __init__(self, gates: list[_Gate], starts: list[int]):
        super().__init__()
        operands = [starts[level] + index for gate in gates for level, index in gate.operands]
        ends = torch.tensor([0, *(len(gate.operands) for gate in gates)]).cumsum(0)
        self.register_buffer("operands", torch.tensor(operands), persistent=False)
        self.register_buffer("ends", ends, persistent=False)
        self.register_buffer(
            "thresholds", torch.tensor([gate.threshold for gate in gates]), persistent=False
        )

    def forward(self, false: Tensor) -> Tensor:
        """Which gates are false: bool [B, gates]."""
        batch_size = false.size(0)
        so_far = false.gather(1, self.operands.expand(batch_size, -1)).cumsum(1, dtype=torch.int32)
        at_ends = nn.functional.pad(so_far, (1, 0)).gather(1, self.ends.expand(batch_size, -1))
        return at_ends.diff(dim=1) >= self.thresholds


_Node = tuple[int, int]  # level and index in the level
_NEVER_FALSE: _Node = (0, 0)


def _gene(index: int) -> _Node:
    return (0, 1 + index) if index >= 0 else _NEVER_FALSE


@dataclass
class _Gate:
    operator: int
    operands: list[_Node]

    @property
    def threshold(self) -> int:
        return 1 if self.operator == AND else len(self.operands)


@dataclass
class _Circuit:
    levels: list[list[_Gate]] = field(
        default_factory=list
    )  # of gates; level 0 of the nodes has none and is not here

    def add(self, gate: _Gate) -> _Node:
        """Appends a gate after its operands."""
        level = 1 + max(level for level, _ in gate.operands)
        if level > len(self.levels):
            self.levels.append([])
        self.levels[level - 1].append(gate)
        return level, len(self.levels[level - 1]) - 1

    def add_rule(self, rule: tuple[int, ...]) -> _Node:
        """Adds a compiled rule's gates and returns its root. `a and b and c` becomes one gate."""
        if not rule:
            return _NEVER_FALSE
        waiting: list[_Gate | _Node] = []
        for item in rule:
            if item not in (AND, OR):
                waiting.append(_gene(item))
                continue
            right, left = waiting.pop(), waiting.pop()
            gate = (
                left
                if isinstance(left, _Gate) and left.operator == item
                else _Gate(item, [self._node(left)])
            )
            if isinstance(right, _Gate) and right.operator == item:
                gate.operands += right.operands
            else:
                gate.operands.append(self._node(right))
            waiting.append(gate)
        return self._node(waiting[0])

    def _node(self, item: _Gate | _Node) -> _Node:
        return self.add(item) if isinstance(item, _Gate) else item
