"""The oracle itself, on a graph small enough to check by eye."""

import pytest

from oracle import Graph, removed_positions, rule_holds

#   genes A B C D; A-B, A loop, C-D, B-A again
#   R0: A or B   R1: A and C   R2: no rule, gene D by its edge   R3: nothing
GRAPH = Graph(
    nodes={"gene": list("ABCD"), "reaction": ["R0", "R1", "R2", "R3"], "metabolite": ["M0", "M1"]},
    rules=["A or B", "A and C", "", ""],
    edges={
        "gene__physical__gene": [(0, 1), (0, 0), (2, 3), (1, 0)],
        "gene__gpr__reaction": [(0, 0), (0, 1), (1, 0), (2, 1), (3, 2)],
        "reaction__rmr__metabolite": [(0, 0), (1, 0), (1, 1), (3, 1)],
    },
)


@pytest.mark.parametrize(
    ("deleted", "rule", "want"),
    [
        ([], "all", ([], [], [], [], [], [])),
        ([0], "all", ([0], [0, 1], [], [0, 1], [0, 1, 3], [0, 1, 2])),
        ([0], "gpr", ([0], [1], [], [0, 1], [0, 1, 3], [1, 2])),
        ([0, 1], "gpr", ([0, 1], [0, 1], [], [0, 1, 2], [0, 1, 3], [0, 1, 2])),
        ([3], "all", ([3], [2], [], [4], [2], [])),
        ([3], "gpr", ([3], [], [], [4], [2], [])),
    ],
)
def test_removed_positions(deleted, rule, want):
    order = [
        "gene",
        "reaction",
        "metabolite",
        "gene__gpr__reaction",
        "gene__physical__gene",
        "reaction__rmr__metabolite",
    ]
    assert list(removed_positions(GRAPH, deleted, rule).items()) == list(zip(order, want))


@pytest.mark.parametrize(
    ("rule", "deleted", "holds"),
    [
        ("", "A", True),
        ("A", "A", False),
        ("A", "B", True),
        ("A or B and C", "A", True),
        ("A or B and C", "AC", False),
        ("(A or B) and C", "A", True),
        ("(A or B) and C", "C", False),
        ("((A and B) or (A and C))", "B", True),
        ("((A and B) or (A and C))", "A", False),
    ],
)
def test_rule_holds(rule, deleted, holds):
    assert rule_holds(rule, set(deleted)) is holds
