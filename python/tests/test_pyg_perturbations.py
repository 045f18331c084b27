"""Batches of Perturbation's samples are those that torch_geometric makes of the samples."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import Subset
from torch_geometric.data import Batch

from tcbuild import pyg
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
    dataset = pyg.Dataset(path, *choice, graph_processor="Perturbation")
    rows = [5, 0, 5, 17, 2]
    for workers in (0, 1) if choice == CHOICES[0] else (0,):
        loader = pyg.DataLoader(
            Subset(dataset, rows), 3, follow_batch=FOLLOWED, num_workers=workers
        )
        for some, got in zip((rows[:3], rows[3:]), loader, strict=True):
            samples = [dataset[row] for row in some]
            want = Batch.from_data_list(samples, follow_batch=FOLLOWED)
            assert type(got) is type(want) and got.num_graphs == len(got) == len(some)
            assert_same(contents_of(got), contents_of(want))
            for one, sample in zip(got.to_data_list(), samples, strict=True):
                assert_same(contents_of(one), contents_of(sample))
