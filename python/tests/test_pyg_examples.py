"""Batches of tcbuild.torchcell give back their samples, names and targets."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.data import HeteroData
from torch_geometric.loader import DataLoader

from tcbuild import torchcell
from tcbuild.torch import MaskGenerator, collate
from test_pyg_torchcell import assert_same, contents
from torch_cases import built_case, want_mask

PHYSICAL = ("gene", "physical", "gene")


@pytest.fixture(scope="module")
def built(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"), ["indices"])


@pytest.fixture
def dataset(built):
    return torchcell.Dataset(built.datasets["indices"], ["fitness", "gene interaction"])


def batch_of(dataset, rows, **options):
    return torchcell.LazyCollater(**options)([dataset[row] for row in rows])


def assert_is_sample(got, want):
    assert type(got) is HeteroData
    assert got.node_types == want.node_types and got.edge_types == want.edge_types
    assert_same(contents(got), contents(want))


def test_the_samples_of_a_batch(dataset):
    rows = [3, 0, 3, 11]
    batch = batch_of(dataset, rows, follow_batch=["perturbation_indices"])
    assert len(batch) == 4
    found = batch.to_data_list()
    for got, also, again, row in zip(found, batch, batch[:], rows, strict=True):
        for each in (got, also, again):
            assert_is_sample(each, dataset[row])
    assert_is_sample(batch[-1], dataset[11])
    assert_is_sample(batch.get_example(1), dataset[0])
    chosen = batch[torch.tensor([False, True, True, False])]
    assert [each.sample_id for each in chosen] == [dataset[row].sample_id for row in (0, 3)]
    with pytest.raises(IndexError, match="one of 4 samples"):
        batch[4]


def test_samples_with_and_without_statistics(built):
    dataset = torchcell.Dataset(built.datasets["indices"], ["fitness"], ["gene interaction"])
    rows = range(len(dataset))
    batch = batch_of(dataset, rows)
    for got, row in zip(batch, rows, strict=True):
        assert_is_sample(got, dataset[row])


def test_samples_hold_what_was_changed_in_their_batch(dataset):
    batch = batch_of(dataset, [1, 2])
    genes = dataset.cell_graph["gene"].num_nodes
    batch["gene"].mask[genes] = ~batch["gene"].mask[genes]
    batch["gene"].h = torch.arange(2.0 * genes)
    batch["gene"].names = ["one", "two"]
    first, second = batch
    assert torch.equal(first["gene"].mask, dataset[1]["gene"].mask)
    assert second["gene"].mask[0] != dataset[2]["gene"].mask[0]
    assert second["gene"].h.tolist() == list(range(genes, 2 * genes))
    assert second["gene"].names == "two"
    batch["gene"].loose = torch.zeros(3)
    with pytest.raises(ValueError, match=r"which part of gene/loose belongs.*\nhint: "):
        batch[0]


def test_no_batch_is_homogeneous(dataset):
    with pytest.raises(ValueError, match=r"masks, which would be lost\nhint: .*filtered=True"):
        batch_of(dataset, [1, 2]).to_homogeneous()


@pytest.mark.parametrize("workers", [0, 1])
def test_names_and_dense_targets(built, dataset, workers):
    (batch,) = torchcell.DataLoader(dataset, 100, num_workers=workers)
    assert batch.sample_id == [sample["sample_id"] for sample in built.want]
    assert batch._mask_basis == dataset.stored._mask_basis
    want = [[sample["phenotypes"][name] for name in dataset.phenotypes] for sample in built.want]
    assert batch.phenotypes.dtype == torch.float32
    np.testing.assert_array_equal(batch.phenotypes.numpy(), np.array(want, np.float32))
    assert batch.to("cpu").phenotypes.shape == (len(dataset), 2)
    none = batch_of(torchcell.Dataset(built.datasets["indices"], []), [0, 1])
    assert none.phenotypes.shape == (2, 0)


def test_a_mask_generator_takes_batches_without_follow(built, dataset):
    generator = MaskGenerator(dataset.stored)
    for workers in (0, 1):
        batch, *_ = torchcell.DataLoader(dataset, 4, num_workers=workers)
        for used in (False, True):
            if used:
                batch["gene"].mask
            for name, mask in generator(batch).items():
                want = [want_mask(sample, name) for sample in built.want[:4]]
                assert mask.tolist() == want, name


def test_a_mask_generator_refuses_indices_of_another_graph(built, dataset, tcbuild, tmp_path):
    other = built_case(tcbuild, "dense", "all", tmp_path, ["incidence"]).datasets["incidence"]
    generator = MaskGenerator(other)
    ours = collate(dataset.stored[:3])
    theirs = next(iter(torchcell.DataLoader(dataset, 3, follow_batch=["perturbation_indices"])))[
        "gene"
    ]
    sample = dataset[0]["gene"].perturbation_indices
    few = torch.tensor([0, len(sample)])
    moved = pickle.loads(pickle.dumps(ours.to("cpu")))
    for genes, ptr in (
        (ours.deleted, ours.deleted_ptr),
        (moved.deleted, moved.deleted_ptr),
        (theirs.perturbation_indices, theirs.perturbation_indices_ptr),
        (sample, few),
    ):
        with pytest.raises(ValueError, match="another graph or reaction rule.*\nhint: "):
            generator(genes, ptr)
        assert MaskGenerator(dataset.stored)(genes, ptr)


def test_a_cell_graph_prints_on_a_screen(dataset):
    text = str(dataset.cell_graph)
    assert "reaction_to_genes=dict(len=" in text and "edge_index=[2, " in text
    assert len(text.splitlines()) == 2 + len(dataset.cell_graph.metadata()[0] + PHYSICAL_TYPES)
    assert max(map(len, text.splitlines())) < 200


PHYSICAL_TYPES = ["physical", "regulatory", "string12_0_coexpression", "gpr", "rmr"]


def test_phenotypes_and_statistics_are_positional(built):
    dataset = torchcell.Dataset(built.datasets["indices"], ["fitness"], ["gene interaction"])
    assert (dataset.phenotypes, dataset.statistics) == (["fitness"], ["gene interaction"])


def test_a_loader_rebuilt_by_lightning(dataset):
    loader = torchcell.DataLoader(dataset, 5, follow_batch=["perturbation_indices"])
    again = torchcell.DataLoader(
        dataset, 5, follow_batch=loader.follow_batch, collate_fn=loader.collate_fn
    )
    for got, want in zip(again, loader, strict=True):
        assert_same(contents(got), contents(want))
    assert isinstance(next(iter(DataLoader(dataset, 2))), HeteroData)
