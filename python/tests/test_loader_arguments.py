"""Loaders, models and orders take a folder, its text, a Dataset or a view: the same batches."""

from __future__ import annotations

import pytest

import tcbuild as reader

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import tcbuild.pyg as tcpyg
import tcbuild.torch as tt
import tcbuild.torchcell as torchcell
from torch_cases import built_case

NAME = "no phenotypes, no sample ids"
LOADERS = {"torch": tt.DataLoader, "pyg": tcpyg.DataLoader, "torchcell": torchcell.DataLoader}
MADE = {
    "mask generator": lambda given: tt.MaskGenerator(given).genes,
    "pyg's dataset": lambda given: [sample.sample_id for sample in tcpyg.Dataset(given)],
    "torchcell's dataset": lambda given: [
        sample.sample_id for sample in torchcell.Dataset(given, phenotypes=[])
    ],
}


@pytest.fixture(scope="module")
def folder(tcbuild, tmp_path_factory):
    case = built_case(tcbuild, NAME, "all", tmp_path_factory.mktemp("case"), ["indices"])
    return case.datasets["indices"]


def forms(folder):
    dataset = reader.open(folder)
    return [folder, str(folder), dataset, dataset[:]]


def ids(batch) -> list[str]:
    return batch.sample_ids if isinstance(batch, tt.Batch) else batch.sample_id


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_loaders(folder, loader):
    whole = reader.open(folder)
    want = [sample.id for sample in whole]
    for given in forms(folder):
        assert sum((ids(batch) for batch in loader(given, 4)), []) == want
    for part in (whole[2:9], whole[[5, 1, 1]]):
        batches = [*loader(part, 4)]
        assert sum(map(ids, batches), []) == [sample.id for sample in part]
        assert torch.equal(masks(batches[0]), masks(next(iter(loader(whole[part.indices[:4]], 4)))))


@pytest.mark.parametrize("make", [*LOADERS.values(), tt.Order, tt.MaskGenerator])
def test_bytes_are_not_read_letter_by_letter(folder, make):
    with pytest.raises(TypeError, match="bytes"):
        make(str(folder).encode())


def masks(batch) -> torch.Tensor:
    return batch.masks["gene"].view(-1) if isinstance(batch, tt.Batch) else batch["gene"].mask


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_loaders_and_models_are_made_of(folder, make):
    found = [make(given) for given in forms(folder)]
    assert found == [found[0]] * len(found)
    for wrong in (5, None, ["dataset"], tcpyg.Dataset(folder)):
        with pytest.raises(TypeError, match=r"open a dataset: found \w+, expected a tcbuild.Data"):
            make(wrong)


def test_orders(folder):
    want = [*tt.Order(reader.open(folder), seed=3)]
    assert len(want) == len(reader.open(folder))
    for given in forms(folder):
        order = tt.Order(given, seed=3)
        assert [*order] == want and order.state_dict()["samples"] == tt.Order(folder).state_dict()[
            "samples"
        ]


def test_views_are_not_verified(folder):
    whole = reader.open(folder)
    assert whole.verify()["samples"] == len(whole)
    for part in (whole[:3], whole[:], whole[[1]]):
        with pytest.raises(reader.errors.SettingsError, match=r"view.*\nhint: .*whole.verify"):
            part.verify()
        assert part.whole.verify()["samples"] == len(whole)
