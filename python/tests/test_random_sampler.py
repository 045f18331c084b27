"""An Order gives each index once, in an order that looks random and is the same each time."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild as package
import tcbuild.torch as tt
from torch_cases import built_case, opened


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4096, 4097, 70001])
def test_each_index_is_there_once(length):
    for seed in range(3):
        sampler = tt.Order(range(length), seed)
        order = list(sampler)
        assert sorted(order) == list(range(length)) and len(sampler) == length
        assert order == list(sampler) == list(tt.Order(range(length), seed))


def test_orders_differ_by_seed_and_epoch():
    sampler = tt.Order(range(1000), 1)
    orders = {tuple(tt.Order(range(1000), seed)) for seed in range(20)}
    for epoch in range(20):
        sampler.set_epoch(epoch)
        orders.add(tuple(sampler))
    assert len(orders) == 39  # seed 1 and epoch 0 is among both


def test_all_orders_of_few_are_equally_likely():
    """A chi-squared test with 119 degrees of freedom: 190 is 5 standard deviations off."""
    counts = dict.fromkeys(itertools.permutations(range(5)), 0)
    sampler, tries = tt.Order(range(5), 11), 4800
    for epoch in range(tries):
        sampler.set_epoch(epoch)
        counts[tuple(sampler)] += 1
    expected = tries / len(counts)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 200


def test_places_and_neighbours_are_not_related():
    order = np.array(list(tt.Order(range(100_000), 5)))
    assert abs(np.corrcoef(order, np.arange(100_000))[0, 1]) < 0.02
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize(("length", "replicas"), [(10, 3), (12, 3), (2, 5), (1001, 2), (0, 2)])
def test_ranks_share_an_epoch(length, replicas):
    for drop_last in (False, True):
        parts = [
            list(tt.Order(range(length), 3, replicas, rank, drop_last)) for rank in range(replicas)
        ]
        assert len({len(part) for part in parts}) == 1
        seen = [number for together in zip(*parts) for number in together]
        whole = list(tt.Order(range(length), 3))
        repeated = (whole * replicas)[: -(-length // replicas) * replicas]
        dropped = whole[: length // replicas * replicas]
        assert seen == (dropped if drop_last else repeated)
    with pytest.raises(ValueError, match=f"rank {replicas} of {replicas} replicas\nhint: "):
        tt.Order(range(length), 3, replicas, replicas)


def test_an_epoch_goes_on_where_it_was():
    sampler = tt.Order(range(10_000), 2)
    sampler.set_epoch(4)
    whole = list(sampler)
    for seen in (0, 1, 4095, 4096, 9_999):
        first = iter(sampler)
        assert list(itertools.islice(first, seen)) == whole[:seen]
        again = tt.Order(range(10_000), 7)
        again.load_state_dict(sampler.state_dict())
        first.close()
        assert list(again) == whole[seen:] and list(again) == whole
        sampler.set_epoch(4)
    for seen, ranks in ((0, 3), (5000, 2), (9998, 3)):  # on other ranks
        state = tt.Order(range(10_000), 2).state(seen, 1) | {"epoch": 4}
        parts = [tt.Order(range(10_000), 7, ranks, rank) for rank in range(ranks)]
        for part in parts:
            part.load_state_dict(state)
        rest = [number for together in zip(*parts, strict=True) for number in together]
        assert rest[: 10_000 - seen] == whole[seen:]
    with pytest.raises(ValueError, match="other samples: 10,000, expected 9\nhint: "):
        tt.Order(range(9)).load_state_dict(sampler.state_dict())


def test_weighted_draws():
    weights = np.array([0.0, 1, 3, 0, 4])
    order = tt.Order(np.empty(5), 3, weights=weights)
    counts = np.zeros(5)
    for epoch in range(2000):
        order.set_epoch(epoch)
        counts += np.bincount(list(order), minlength=5)
    assert counts[0] == counts[3] == 0
    np.testing.assert_allclose(counts / counts.sum(), weights / weights.sum(), atol=0.02)
    parts = [list(tt.Order(np.empty(5), 3, 2, rank, weights=weights)) for rank in (0, 1)]
    whole = list(tt.Order(np.empty(5), 3, weights=weights))
    assert [number for pair in zip(*parts) for number in pair][:5] == whole
    for wrong in ([1, 2], [1, -1, 1, 1, 1], [0] * 5, [1, np.nan, 1, 1, 1]):
        with pytest.raises(ValueError, match="draw by weights.*\nhint: "):
            tt.Order(np.empty(5), weights=wrong)


def test_it_resumes_again_until_nothing_is_left():
    whole, seen, state = list(tt.Order(range(10), 3)), [], None
    for _ in range(6):
        sampler = tt.Order(range(10), 3)
        if state:
            sampler.load_state_dict(state)
            assert sampler.state_dict() == state
        rest = iter(sampler)
        seen += itertools.islice(rest, 2)
        state = sampler.state_dict()
    assert seen == whole and next(rest, None) is None
    assert list(sampler) == whole


def test_computed_sets_are_shuffled_at_once(tcbuild, tmp_path):
    path = built_case(tcbuild, "sparse", "all", tmp_path, ["incidence"]).datasets["incidence"]
    stored = package.open(path)
    sets = opened(stored.combinations(stored.genes, 5))
    assert len(sets) > 10**9
    tracemalloc.start()
    loader = tt.DataLoader(sets, 64, sampler=tt.Order(sets, 1))
    batches = list(itertools.islice(loader, 20))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 << 20
    seen = torch.cat([batch.sample_indices for batch in batches])
    assert len(seen.unique()) == 20 * 64 and seen.float().std() > 0.2 * len(sets)
