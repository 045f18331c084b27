"""What users of PyG and Lightning do with batches works as with PyG's own, or is refused."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import torch_geometric.loader
from torch_geometric.data import HeteroData

import tcbuild as reader
import tcbuild.torch as tt
from tcbuild import pyg, torchcell
from tcbuild.errors import SettingsError
from test_pyg_torchcell import assert_same, contents
from test_torch_filtered import oracle
from torch_cases import VARIANTS, built_case, opened, want_mask

PHYSICAL = ("gene", "physical", "gene")
ROOMS = [pyg, torchcell]


@pytest.fixture(scope="module")
def built(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"))


@pytest.fixture(params=ROOMS, ids=["pyg", "torchcell"])
def room(request):
    return request.param


@pytest.fixture
def dataset(built, room):
    return room.Dataset(built.datasets["incidence"], ["fitness"])


def first(room, dataset, size=4, **options):
    return next(iter(room.DataLoader(dataset, size, **options)))


def compared(data):
    """Without the order of names, which is none's."""
    return {key: value for key, value in contents(data).items() if key != "gene/ids_pert"}


def test_inference_mode_and_training_after_it(room, dataset):
    with torch.inference_mode():
        batch = first(room, dataset)
        batch["gene"].mask, batch.masked_edge_index_dict(), copy.deepcopy(batch), list(batch)
        tt.collate(dataset.stored[:3]).edge_index("gene__physical__gene", filtered=True)
    for made in (batch, first(room, dataset)):
        weight = torch.ones(1, requires_grad=True)
        (made["gene"].mask.float() * weight).sum().backward()
        assert weight.grad.item() == int(made["gene"].mask.sum())
        made["gene"].mask.zero_()
        made[PHYSICAL].edge_index.add_(1)


class Halved(pyg.Dataset):
    """A subclass with something of its own in each sample."""

    factor = 3

    def __getitem__(self, index):
        sample = super().__getitem__(index)
        if isinstance(sample, HeteroData):
            sample["gene"].h = torch.full((sample["gene"].num_nodes,), float(self.factor))
        return sample


@pytest.mark.parametrize("workers", [0, 1])
def test_a_subclass_has_its_way(built, workers):
    dataset = Halved(built.datasets["incidence"], ["fitness"])
    dataset.factor = 2
    for each in (dataset, pickle.loads(pickle.dumps(dataset)), dataset[:5], dataset[[3, 1]]):
        assert type(each) is Halved and each.factor == 2
        for loader in (pyg.DataLoader, torch_geometric.loader.DataLoader):
            batch = first(type("Room", (), {"DataLoader": loader}), each, 2, num_workers=workers)
            assert batch["gene"].h.tolist() == [2.0] * (2 * each.cell_graph["gene"].num_nodes)
    assert batch["gene"].batch.max() == 1
    (batch,) = pyg.DataLoader(dataset[:2], 2)  # what is the graph's was copied for no sample
    assert "edge_index" in batch._packed.keys[PHYSICAL]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_transform_is_applied(room, built, workers):
    def doubled(sample):
        sample["gene"].x = torch.ones(sample["gene"].num_nodes, 2) * 2
        sample.note = 7.0
        return sample

    dataset = room.Dataset(built.datasets["incidence"], ["fitness"], transform=doubled)
    batch = first(room, dataset, num_workers=workers)
    assert batch["gene"].x.shape == (4 * dataset.cell_graph["gene"].num_nodes, 2)
    assert batch["gene"].x.unique().tolist() == [2.0]
    plain = room.Dataset(built.datasets["incidence"], ["fitness"])
    want = compared(first(room, plain))
    got = compared(batch)
    assert list(got.pop("/note")) == [7.0] * 4
    got.pop("gene/x"), want.pop("gene/x", None)
    assert_same(got, want)


def test_transforms_that_change_the_shape_or_make_another(built):
    import torch_geometric.transforms as T

    dataset = pyg.Dataset(built.datasets["incidence"], [], T.ToUndirected())
    batch = first(pyg, dataset)
    assert ("reaction", "rev_gpr", "gene") in batch.edge_types
    assert batch["gene"].batch.max() == 3
    dataset.transform = lambda sample: sample["gene"].mask.sum()
    assert first(pyg, dataset).shape == (4,)


def test_a_write_stays_with_its_batch(room, dataset):
    want = [contents(batch) for batch in room.DataLoader(dataset, 4)]
    batches = [batch for batch in room.DataLoader(dataset, 4)]
    for batch in batches[::2]:
        for store in batch.stores:
            for value in store.values():
                if isinstance(value, torch.Tensor) and value.numel():
                    value.numpy()[...] = 0
                    value.data.zero_()
    for batch, expected in list(zip(batches, want))[1::2]:
        assert_same(contents(batch), expected)
    for batch, expected in zip(room.DataLoader(dataset, 4), want, strict=True):
        assert_same(contents(batch), expected)


def test_kept_edges_in_threads(room, built, dataset):
    rows = [list(range(at, at + 3)) for at in range(0, 27, 3)] * 12
    want = {
        (tuple(few), name): sorted(oracle(built, few, name)[1])
        for few in rows[:9]
        for name in built.cell.edges
    }

    def wrong(few):
        batch = first(room, dataset[few], 3)
        found = batch.masked_edge_index_dict()
        assert len(found) == len(built.cell.edges)  # gpr and rmr, too
        return sum(
            sorted(map(tuple, edges.T.tolist())) != want[tuple(few), "__".join(kind)]
            for kind, edges in found.items()
        )

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(wrong, rows)) == 0


def test_a_batch_asked_by_threads_is_expanded_once(room, dataset):
    for _ in range(20):
        batch, barrier = first(room, dataset), threading.Barrier(8)

        def ask(_, batch=batch, barrier=barrier):
            barrier.wait()
            return batch[PHYSICAL].edge_index.data_ptr()

        with ThreadPoolExecutor(8) as pool:
            assert len({*pool.map(ask, range(8))}) == 1


def test_kept_edges_follow_a_changed_mask(room, dataset):
    batch = first(room, dataset)
    chance = torch.rand(batch[PHYSICAL].mask.shape, generator=torch.Generator().manual_seed(1))
    batch[PHYSICAL].mask &= chance < 0.5  # dropout of edges
    edges = batch.masked_edge_index_dict()[PHYSICAL]
    want = batch[PHYSICAL].edge_index[:, batch[PHYSICAL].mask]
    assert sorted(edges.T.tolist()) == sorted(want.T.tolist())
    batch[PHYSICAL].edge_index = batch[PHYSICAL].edge_index.flip(0)
    edges = batch.masked_edge_index_dict()[PHYSICAL]
    assert sorted(edges.T.tolist()) == sorted(want.flip(0).T.tolist())


def test_an_untouched_batch_is_compiled(room, dataset):
    def model(batch):
        return batch["gene"].mask.float().sum() + batch[PHYSICAL].edge_index.sum()

    compiled = torch.compile(model, backend="eager")
    for batch in room.DataLoader(dataset, 4):
        assert compiled(batch) == model(batch)


def test_threads_stay_as_they_were(room, dataset):
    before = torch.get_num_threads()
    with ThreadPoolExecutor(4) as pool:
        masks = pool.map(lambda _: first(room, dataset)["gene"].mask.sum(), range(20))
        assert len({int(mask) for mask in masks}) == 1
    assert torch.get_num_threads() == before


def test_copies_keep_class_and_methods(room, dataset, tmp_path):
    want = compared(first(room, dataset))

    def saved(batch):
        torch.save(batch, tmp_path / "batch.pt")
        return torch.load(tmp_path / "batch.pt", weights_only=False)

    for made in (copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b)), saved):
        for touched in (False, True):
            batch = first(room, dataset)
            if touched:
                batch["gene"].mask
            again = made(batch)
            assert type(again) is pyg.Batch and again.num_graphs == 4
            assert_same(compared(again), want)
            assert again.masked_edge_index_dict().keys() == batch.masked_edge_index_dict().keys()
            again["gene"].mask = ~again["gene"].mask
            assert torch.equal(batch["gene"].mask, want["gene/mask"])


def test_casts_leave_indices_alone(room, dataset):
    batch = first(room, dataset).to(torch.float16)
    assert batch[PHYSICAL].edge_index.dtype == torch.int64
    assert batch["gene"].mask.dtype == torch.bool
    values = batch.y if room is pyg else batch["gene"].phenotype_values
    assert values.dtype == torch.float16


@pytest.mark.parametrize("codec", ["raw", "zstd"])
def test_stored_masks_are_used(tcbuild, room, built, tmp_path, codec):
    inputs = ["--graph", built.graph, "--perturbations", built.perturbations]
    options = ["--mode", "full-masks", "--codec", codec, "--reaction-rule", "gpr"]
    tcbuild.run("dataset", *inputs, *options, "--out", tmp_path / "masks")
    stored, read = opened(tmp_path / "masks"), []
    room_dataset = room.Dataset(stored, ["fitness"])
    for name in ("read_into", "unordered"):
        method = getattr(stored._masks, name)
        setattr(stored._masks, name, lambda *of, m=method: read.append(of[0]) or m(*of))
    for _ in range(2):
        for place, batch in enumerate(room.DataLoader(room_dataset, 7)):
            some = built.want[7 * place : 7 * place + 7]
            for kind in (*batch.node_types, *batch.edge_types):
                name = kind if isinstance(kind, str) else "__".join(kind)
                want = [keep for sample in some for keep in want_mask(sample, name)]
                assert batch[kind].mask.tolist() == want
            batch["gene"].mask.zero_()
    assert {*read} == {*range(len(stored))}
    batch = tt.collate(stored[:2])
    again = batch.to("cpu")
    batch.masks["gene"].zero_()
    assert again.masks["gene"].any() and tt.collate(stored[:2]).masks["gene"].any()


def test_options_of_loaders(room, dataset):
    key = "deleted" if room is pyg else "perturbation_indices"
    (batch,) = room.DataLoader(dataset[:5], 5, follow_batch=key)
    assert batch["gene"][f"{key}_ptr"][-1] == len(batch["gene"][key])
    with pytest.raises(TypeError, match="HeteroData|Sample"):  # as of any dataset of PyG
        next(iter(torch.utils.data.DataLoader(dataset, 2)))
    samples = list(room.DataLoader(dataset, batch_size=None))
    assert len(samples) == len(dataset) and isinstance(samples[0], HeteroData)
    sampler = torch.utils.data.BatchSampler(range(6), 3, False)
    batches = list(room.DataLoader(dataset, batch_size=None, sampler=sampler))
    assert [batch.num_graphs for batch in batches] == [3, 3]
    assert first(room, dataset, device="cpu").is_small is False


def _of_child(path, sent):
    batch = first(pyg, pyg.Dataset(path, []))
    sent.put(int(batch["gene"].mask.sum()))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_processes(built, context):
    path = built.datasets["incidence"]
    want = int(first(pyg, pyg.Dataset(path, []))["gene"].mask.sum())
    loader = pyg.DataLoader(
        pyg.Dataset(path, []), 4, num_workers=1, multiprocessing_context=context
    )
    assert int(next(iter(loader))["gene"].mask.sum()) == want
    if context == "fork":
        of = multiprocessing.get_context("fork")
        sent = of.Queue()
        child = of.Process(target=_of_child, args=(path, sent))
        child.start()
        assert sent.get(timeout=60) == want
        child.join()


@pytest.mark.parametrize("variant", VARIANTS)
def test_samples_and_batches_of_pyg_are_those_of_the_oracle(built, variant):
    dataset = pyg.Dataset(built.datasets[variant], ["fitness", "gene interaction"])
    (batch,) = pyg.DataLoader(dataset, len(dataset))
    for place, want in enumerate(built.want):
        for data in (dataset[place], batch[place]):
            assert data["gene"].deleted.tolist() == want["perturbation_indices"]
            assert data.sample_id == want["sample_id"]
            for name, edges in built.cell.edges.items():
                kind = tuple(name.split("__"))
                assert data[kind].edge_index.T.tolist() == [list(edge) for edge in edges]
                assert data[kind].mask.tolist() == want_mask(want, name)
            found = [None if value != value else value for value in data.y[0].tolist()]
            named = [want["phenotypes"][name] for name in dataset.phenotypes]
            assert found == [each and float(torch.tensor(each)) for each in named]
    assert batch.validate()


def test_y_has_the_phenotypes_that_are_named(built):
    path = built.datasets["incidence"]
    with pytest.raises(SettingsError, match=r"2 phenotypes.*\nhint: .*\['fitness', 'gene inter"):
        pyg.Dataset(path)
    with pytest.raises(SettingsError, match=r"hint: Dataset\(dataset, phenotypes="):
        pyg.DataLoader(path)
    whole = reader.open(path)
    for names in (["gene interaction"], ["gene interaction", "fitness"], [*whole.phenotypes], []):
        (batch,) = pyg.DataLoader(pyg.Dataset(path, names), len(whole))
        assert batch.y.shape == (len(whole), len(names))
        for column, name in zip(batch.y.T, names, strict=True):
            np.testing.assert_array_equal(column, np.float32(whole.phenotype(name)))


def test_one_phenotype_needs_no_name(tcbuild, tmp_path):
    screen = pd.DataFrame({"genes": ["A", "B"], "fitness": [0.5, 1]})
    graph = {"gene": pd.DataFrame({"id": ["A", "B"]})}
    path = reader.build(graph, screen, tmp_path / "dataset").path
    (batch,) = pyg.DataLoader(path, 2)
    assert batch.y.tolist() == [[0.5], [1]]


@pytest.mark.parametrize("workers", [0, 1])
def test_phenotypes_of_a_batch_by_name(room, built, workers):
    names = ["gene interaction", "fitness"]
    dataset = room.Dataset(built.datasets["incidence"], names)
    batch = first(room, dataset, len(dataset), num_workers=workers)
    for name in names:
        want = np.float32(dataset.stored.phenotype(name))
        np.testing.assert_array_equal(batch.phenotype(name), want)
    assert batch.is_small
    other = first(room, room.Dataset(built.datasets["incidence"], ["fitness"]))
    with pytest.raises(KeyError, match=r"no phenotype 'fitnes'.*\nhint: did you mean 'fitness'"):
        other.phenotype("fitnes")
    with pytest.raises(KeyError, match="'gene interaction' among 1\nhint: .*'fitness'"):
        other.phenotype("gene interaction")
