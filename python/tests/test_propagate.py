"""Sums over shared edges are those over masked messages and over filtered edges."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import tcbuild as reader
import tcbuild.torch as tt
from builds import build
from cases import CASES, Case
from oracle import ends
from tcbuild import pyg
from torch_cases import want_mask

AWKWARD = [case for case in CASES if case.name in ("everything", "further types", "wild types")]


def random_case(number: int) -> Case:
    """A small graph; its name is the seed."""
    chance = random.Random(number)
    return Case(
        f"random {number}",
        genes=chance.randrange(1, 30),
        edges=chance.choice([0, 1, 20, 90]),
        reactions=chance.randrange(1, 15),
        stoichiometries=chance.randrange(40),
        samples=6,
        most_deleted=chance.randrange(1, 5),
        wildtypes=chance.randrange(3),
        further=chance.random() < 0.3,
    )


@pytest.fixture(
    scope="module",
    params=[
        (case, rule) for case in (*AWKWARD, *map(random_case, range(6))) for rule in ("all", "gpr")
    ],
    ids=lambda pair: f"{pair[0].name} {pair[1]}",
)
def built(request, tcbuild, tmp_path_factory):
    case, rule = request.param
    return build(tcbuild, case, tmp_path_factory.mktemp("case"), rule, ["incidence"])


def dataset_of(built):
    return reader.open(built.datasets["incidence"])


def looped(x, built, name, weight, reduce):
    """The sums by a loop over edges, from the oracle's masks of them."""
    source, target = ends(name)
    rows = []
    for sample, features in zip(built.want, x):
        mask = want_mask(sample, name)
        sums = [torch.zeros_like(features[0]) for _ in built.cell.nodes[target]]
        counts = [0] * len(sums)
        for (a, b), factor, stays in zip(built.cell.edges[name], weight, mask):
            if stays:
                sums[b] = sums[b] + factor * features[a]
                counts[b] += 1
        if reduce == "mean":
            sums = [total / max(count, 1) for total, count in zip(sums, counts)]
        rows.append(torch.stack(sums))
    return torch.stack(rows)


def test_keep_is_the_masks_of_nodes(built):
    dataset = dataset_of(built)
    for batch in (
        tt.collate(dataset[:], masks=None),
        next(iter(pyg.DataLoader(pyg.Dataset(dataset, []), len(dataset)))),
    ):
        assert list(batch.keep) == list(built.cell.nodes)
        for node_type, keep in batch.keep.items():
            assert keep.tolist() == [want_mask(sample, node_type) for sample in built.want]


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_values_and_gradients_of_a_loop_over_edges(built, reduce):
    dataset = dataset_of(built)[:5]
    batch = tt.collate(dataset, masks=None)
    for name, edges in built.cell.edges.items():
        x = torch.randn(5, len(built.cell.nodes[ends(name)[0]]), 3, dtype=torch.float64)
        weight = torch.randn(len(edges), dtype=torch.float64)
        found, wanted = ([each.clone().requires_grad_() for each in (x, weight)] for _ in range(2))
        sums = tt.propagate(found[0], batch, name, reduce, weight=found[1])
        loop = looped(wanted[0], built, name, wanted[1], reduce)
        torch.testing.assert_close(sums, loop, rtol=1e-9, atol=1e-9)
        gradient = torch.randn_like(loop)
        for each, other in zip(
            torch.autograd.grad(sums, found, gradient),
            torch.autograd.grad(loop, wanted, gradient, allow_unused=True) if edges else [None] * 2,
        ):
            other = torch.zeros_like(each) if other is None else other
            torch.testing.assert_close(each, other, rtol=1e-9, atol=1e-9)
