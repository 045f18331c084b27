"""Batches of tcbuild.torchcell: what they share, and that they are the same by every road."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import ConcatDataset, Subset
from torch.utils.data import DataLoader as TorchDataLoader
from torch_geometric.data import HeteroData

from tcbuild import torchcell
from test_pyg_torchcell import assert_same, contents
from torch_cases import VARIANTS, built_case

PHYSICAL = ("gene", "physical", "gene")


@pytest.fixture(scope="module")
def built(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "all", tmp_path_factory.mktemp("case"))


@pytest.fixture
def dataset(built):
    return torchcell.Dataset(built.datasets["incidence"], phenotypes=["fitness"])


def batch_of(dataset, rows, **options):
    return torchcell.LazyCollater(**options)([dataset[row] for row in rows])


def joined(dataset, rows) -> dict:
    """What a batch of these samples holds, from their own contents."""
    samples = [dataset[row] for row in rows]
    found = {"/num_graphs": len(samples)}
    for kind, store in (*samples[0].node_items(), *samples[0].edge_items()):
        for key in store:
            values = [sample[kind][key] for sample in samples]
            if key.endswith("edge_index"):
                ends = (kind[0], kind[2])
                sizes = torch.tensor([[samples[0][end].num_nodes] for end in ends])
                values = [index + place * sizes for place, index in enumerate(values)]
                value = torch.cat(values, dim=1)
            elif isinstance(values[0], torch.Tensor):
                value = torch.cat(values)
            else:
                value = sum(values) if key == "num_nodes" else values
            found[f"{kind if isinstance(kind, str) else '__'.join(kind)}/{key}"] = value
        if isinstance(kind, str):
            nodes = store.num_nodes
            found[f"{kind}/batch"] = torch.arange(len(rows)).repeat_interleave(nodes)
            found[f"{kind}/ptr"] = torch.arange(len(rows) + 1) * nodes
    found["gene/ids_pert"] = [sorted(names) for names in found["gene/ids_pert"]]
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_holds_what_its_samples_hold(built, variant):
    dataset = torchcell.Dataset(built.datasets[variant], phenotypes=["gene interaction", "fitness"])
    for rows in ([3, 1, 4, 1, 5], [0], list(range(len(dataset)))):
        assert_same(contents(batch_of(dataset, rows)), joined(dataset, rows))


@pytest.mark.parametrize(
    ("context", "workers"), [(None, 0), ("fork", 2), ("forkserver", 1)]
)  # which pickles as spawn does
def test_a_loader_gives_every_batch(dataset, context, workers):
    size = len(dataset)
    workers = {"num_workers": workers, "multiprocessing_context": context} if context else {}
    loader = torchcell.DataLoader(dataset, 7, follow_batch=["perturbation_indices"], **workers)
    firsts = range(0, size, 7)
    for first, batch in zip(firsts, loader, strict=True):
        rows = range(first, min(first + 7, size))
        want = batch_of(dataset, rows, follow_batch=["perturbation_indices"])
        assert batch._packed.graph is dataset.graph
        assert_same(contents(batch), contents(want))
    if not context:
        assert size % 7
        assert len(list(torchcell.DataLoader(dataset, 7, drop_last=True))) == size // 7
        loader = TorchDataLoader(Subset(dataset, [5, 2]), 2, collate_fn=torchcell.LazyCollater())
        assert_same(contents(next(iter(loader))), joined(dataset, [5, 2]))


@pytest.mark.filterwarnings("ignore:.*pin_memory")  # without a device, nothing is pinned
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_that_pins_gives_the_same(dataset, workers):
    loader = torchcell.DataLoader(dataset[:14], 7, pin_memory=True, num_workers=workers)
    for first, batch in zip((0, 7), loader, strict=True):
        assert_same(contents(batch.cpu()), joined(dataset, range(first, first + 7)))


@pytest.mark.parametrize("booleans", [[True, False], np.array([True, False]), torch.ones(2) > 0])
def test_booleans_as_indices_of_subsets_are_refused(dataset, booleans):
    with pytest.raises(TypeError, match="boolean.*expected an index\nhint: "):
        next(iter(torchcell.DataLoader(Subset(dataset, booleans), 2)))
    inner = Subset(dataset, [5, 2])
    (batch,) = torchcell.DataLoader(Subset(Subset(inner, [1, 0]), np.array([1])), 2)
    assert_same(contents(batch), joined(dataset, [5]))


@pytest.mark.parametrize("workers", [0, 1])
def test_what_is_kept_of_a_batch_never_changes(dataset, workers):
    """Whatever happens to other batches, and to tensors that they map from the same file."""
    batches = list(torchcell.DataLoader(dataset, 4, num_workers=workers, drop_last=True))
    want = [joined(dataset, range(4 * place, 4 * place + 4)) for place in range(len(batches))]
    kept = [contents(batch) for batch in batches[::2]]  # tensors of it alone
    masks = [batch["gene"].mask[5:].numpy() for batch in batches[1::2]]  # and part of one
    del batches
    for batch in torchcell.DataLoader(dataset, 4):
        for store in batch.stores:
            for value in store.values():
                if isinstance(value, torch.Tensor):
                    value.zero_()
    for got, expected in zip(kept, want[::2], strict=True):
        assert_same(got, expected)
    for mask, expected in zip(masks, want[1::2], strict=True):
        assert mask.tolist() == expected["gene/mask"][5:].tolist()


def test_changes_of_the_cell_graph_are_in_batches(dataset):
    batch_of(dataset, [0, 1]).num_graphs
    genes = dataset.cell_graph["gene"].num_nodes
    dataset.cell_graph["gene"].x = torch.rand(genes, 3)
    assert_same(contents(batch_of(dataset, [0, 1])), joined(dataset, [0, 1]))
    dataset.cell_graph["gene"].x.mul_(2)
    del dataset.cell_graph[PHYSICAL]
    batch = batch_of(dataset[::2], [0, 1])
    assert PHYSICAL not in batch.edge_types
    assert_same(contents(batch), joined(dataset[::2], [0, 1]))
    assert torch.equal(batch["gene"].x[genes:], dataset.cell_graph["gene"].x)


def test_what_travels_is_small(dataset):
    want = contents(batch_of(dataset, range(16)))
    sent = pickle.dumps(batch_of(dataset, range(16)))
    assert len(sent) < 16 * 3000
    assert_same(contents(pickle.loads(sent)), want)
    batch = batch_of(dataset, range(16))
    batch["gene"].note = torch.tensor([7])  # a change travels too
    got = contents(pickle.loads(pickle.dumps(batch)))
    assert got.pop("gene/note").tolist() == [7]
    assert_same(got, want)


def test_copies_of_a_batch_hold_all(dataset):
    want = contents(batch_of(dataset, [0, 1]))
    for made in (
        copy.copy(batch_of(dataset, [0, 1])),
        copy.deepcopy(batch_of(dataset, [0, 1])),
        pickle.loads(pickle.dumps(batch_of(dataset, [0, 1]))),
        batch_of(dataset, [0, 1]).clone(),
        batch_of(dataset, [0, 1]).to("cpu"),
        HeteroData.from_dict(batch_of(dataset, [0, 1]).to_dict()),
    ):
        assert_same(contents(made), want)
    kept = pickle.loads(pickle.dumps(dataset[0]))
    assert type(kept) is type(dataset[0])
    assert torch.equal(kept["gene"].mask, dataset[0]["gene"].mask)


def devices():
    return [torch.device("cpu"), *([torch.device("cuda", 0)] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", devices(), ids=str)
def test_a_batch_moves_with_what_was_changed(dataset, device):
    want = contents(batch_of(dataset, range(4)))
    batch = batch_of(dataset, range(4))
    assert batch.to(device) is batch
    assert batch[PHYSICAL].edge_index.device == batch["gene"].mask.device == device
    assert_same(contents(batch.cpu()), want)
    batch["gene"].mask[5] = ~batch["gene"].mask[5]
    batch["gene"].phenotype_values = batch["gene"].phenotype_values + 1
    del batch["metabolite"].mask
    want["gene/mask"][5] ^= True
    want["gene/phenotype_values"] = want["gene/phenotype_values"] + 1
    del want["metabolite/mask"]
    assert_same(contents(batch.to(device).to("cpu")), want)


@pytest.mark.cuda
def test_a_pinned_batch_moves(dataset):
    (batch,) = torchcell.DataLoader(dataset[:4], 4, pin_memory=True)
    assert batch.is_small and batch._packed.removals.addresses.is_pinned()
    assert_same(contents(batch.to("cuda", non_blocking=True).cpu()), joined(dataset, range(4)))


class Halved:
    """A transform as torchcell's: it changes a copy."""

    def __call__(self, sample):
        sample = copy.copy(sample)
        sample["gene"].phenotype_values_original = sample["gene"].phenotype_values.clone()
        sample["gene"].phenotype_values = sample["gene"].phenotype_values / 2
        return sample


@pytest.mark.parametrize("workers", [0, 1])
def test_a_transform_is_applied(built, dataset, workers):
    for transformed in (
        torchcell.Dataset(built.datasets["indices"], ["fitness"], transform=Halved()),
        copy.copy(dataset),
    ):
        transformed.transform = Halved()
        (batch, *_) = torchcell.DataLoader(transformed, 5, num_workers=workers)
        assert batch._packed.keys[PHYSICAL] == ["edge_index", "mask", "num_edges"]
        got, want = contents(batch), joined(dataset, range(5))
        original = got.pop("gene/phenotype_values_original")
        assert torch.equal(original.nan_to_num(7), want["gene/phenotype_values"].nan_to_num(7))
        want["gene/phenotype_values"] = want["gene/phenotype_values"] / 2
        assert_same(got, want)


def test_changed_samples_stay_changed(dataset):
    samples = [dataset[0], dataset[1], dataset[2]]
    want = joined(dataset, range(3))
    samples[1]["gene"].mask.fill_(False)
    samples[2]["reaction"].weight = torch.tensor([3.0])
    samples[0]["reaction"].weight = torch.tensor([4.0])
    got = contents(torchcell.LazyCollater()(samples))
    genes = dataset.cell_graph["gene"].num_nodes
    want["gene/mask"][genes : 2 * genes] = False
    want["reaction/weight"] = torch.tensor([4.0, 3.0])
    assert_same(got, want)


def test_samples_that_do_not_fit_are_refused(tcbuild, built, dataset, tmp_path):
    collate = torchcell.LazyCollater()
    with pytest.raises(ValueError, match="expected at least one"):
        collate([])
    other = HeteroData({"gene": {"x": torch.ones(2, 1)}})  # joined by torch_geometric
    assert collate([other, other])["gene"].batch.tolist() == [0, 0, 1, 1]
    for change in ("edge_index", "num_edges"):
        sample = dataset[0]
        sample[PHYSICAL][change] = dataset.cell_graph[PHYSICAL].edge_index.clone()
        with pytest.raises(ValueError, match=rf"changed {change} of .*physical.*\nhint: "):
            collate([dataset[1], sample])
    sample = dataset[0]
    sample["protein"].x = torch.zeros(2, 2)
    with pytest.raises(ValueError, match="protein"):
        collate([sample])
    variants = [torchcell.Dataset(path, ["fitness"]) for path in built.datasets.values()]
    batches = list(torchcell.DataLoader(ConcatDataset(variants), 50))
    assert sum(batch.num_graphs for batch in batches) == 3 * len(dataset)
    other = built_case(tcbuild, "genes alone", "all", tmp_path, ["incidence"])
    with pytest.raises(ValueError, match=r"mask_basis .*\nhint: "):
        collate([dataset[0], torchcell.Dataset(other.datasets["incidence"], ["fitness"])[0]])
