"""Batches of Perturbation's samples hold what torch_geometric's batches of the samples hold."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import Subset
from torch_geometric.data import Batch

from tcbuild import torchcell
from test_pyg_torchcell import assert_same
from torch_cases import built_case
from torchcell_client import contents as contents_of

CHOICES = [(["fitness"], None), (["fitness", "gene interaction"], None), ([], None)]
CHOICES += [(["fitness"], ["gene interaction"]), (["gene interaction", "fitness"], [])]
FOLLOWED = ["perturbation_indices", "phenotype_values"]


@pytest.fixture(scope="module", params=["everything", "wild types", "genes alone"])
def path(request, tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, request.param, "all", folder, ["incidence"]).datasets["incidence"]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_batches_of_columns(path, choice):
    dataset = torchcell.Dataset(path, *choice, graph_processor="Perturbation")
    rows = [5, 0, 5, 17, 2]
    for workers in (0, 1) if choice == CHOICES[0] else (0,):
        loader = torchcell.DataLoader(
            Subset(dataset, rows), 3, follow_batch=FOLLOWED, num_workers=workers
        )
        for some, got in zip((rows[:3], rows[3:]), loader, strict=True):
            samples = [dataset[row] for row in some]
            want = Batch.from_data_list(samples, follow_batch=FOLLOWED)
            assert got.num_graphs == want.num_graphs == len(got) == len(some)
            assert got.sample_id == [dataset.stored[row].id for row in some]
            assert got.phenotypes.shape == (len(some), len(choice[0]))
            assert_same(contents_of(got), contents_of(want))
            for one, sample in zip(got.to_data_list(), samples, strict=True):
                assert_same(contents_of(one), contents_of(sample))


def test_samples_that_were_changed_or_joined(path):
    """They go one by one, and give the same."""
    dataset = torchcell.Dataset(path, ["fitness"], graph_processor="Perturbation")
    collate = torchcell.LazyCollater(FOLLOWED)
    want = contents_of(collate(dataset.__getitems__([3, 1])))
    assert_same(contents_of(collate([dataset[3], dataset[1]])), want)
    changed = dataset[3]
    changed["gene"].weight = torch.tensor([2.0])
    changed["gene"].mask[0] = False
    got = contents_of(collate([changed, dataset[1]]))
    assert got.pop("gene/weight").tolist() == [2.0]
    want["gene/mask"][0] = False
    assert_same(got, want)


def test_nothing_is_made_before_it_is_asked_for(path):
    batch = torchcell.LazyCollater()(
        torchcell.Dataset(path, [], graph_processor="Perturbation")[:4]
    )
    assert batch.is_small and batch._packed.removals is None
    assert len(batch["gene"].mask) == batch["gene"].num_nodes
