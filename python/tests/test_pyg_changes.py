"""What users change in samples and batches counts everywhere, or is refused."""

from __future__ import annotations

import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import torch_geometric.transforms as T
from torch_geometric.nn import GCNConv

import tcbuild.torch as tt
from tcbuild import pyg, torchcell
from tcbuild.errors import SettingsError
from torch_cases import built_case, opened

PHYSICAL = ("gene", "physical", "gene")
NAMES = ["gene interaction", "fitness"]
ROOMS = pytest.mark.parametrize("room", [pyg, torchcell], ids=["pyg", "torchcell"])


@pytest.fixture(scope="module")
def built(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "everything", "gpr", folder, ["incidence", "full-masks"])


@pytest.fixture(params=["incidence", "full-masks"])
def path(request, built):
    return built.datasets[request.param]


def first(room, dataset, size=4, **options):
    return next(iter(room.DataLoader(dataset, size, **options)))


def targets(sample):
    sample.y = 2 * sample.y + 1
    return sample


@pytest.mark.parametrize("workers", [0, 1])
def test_a_phenotype_is_its_column_of_y(path, workers):
    plain = first(pyg, pyg.Dataset(path, NAMES), 9).y
    batch = first(pyg, pyg.Dataset(path, NAMES, targets), 9, num_workers=workers)
    for place, name in enumerate(NAMES):
        want = 2 * plain[:, place] + 1
        torch.testing.assert_close(batch.phenotype(name), want, equal_nan=True)
        batch.y = batch.y.double() - 1
        torch.testing.assert_close(batch.phenotype(name), want - 1, equal_nan=True)
        torch.testing.assert_close(batch.phenotypes[:, place], want - 1, equal_nan=True)
        batch.y += 1


@pytest.mark.parametrize("change", [lambda y: y[:, :1], lambda y: y[0], lambda y: y[None], None])
def test_another_y_has_no_phenotypes(path, change):
    batch = first(pyg, pyg.Dataset(path, NAMES))
    if change is None:
        del batch.y
    else:
        batch.y = change(batch.y)
    with pytest.raises(SettingsError, match=r"\[4, 2\].*\nhint: .*batch.y"):
        batch.phenotype("fitness")


USES = {
    "layer": lambda batch: pyg.SAGEConv(1, 1)(features(batch), batch.shared_edges()[PHYSICAL]),
    "keep": lambda batch: batch.keep,
    "removed": lambda batch: batch.removed("gene"),
}


def features(batch):
    return torch.ones(len(batch), genes(batch), 1)


def genes(batch):
    return len(batch._of_graph().stored.genes)


def without_an_edge(sample):
    mask = sample[PHYSICAL].mask.clone()
    mask[mask.nonzero()[0]] = False
    sample[PHYSICAL].mask = mask
    return sample


@ROOMS
@pytest.mark.parametrize("use", USES)
def test_what_takes_the_deleted_genes_refuses_a_changed_mask(path, room, use):
    generator = tt.MaskGenerator(path)
    dataset = room.Dataset(path, ["fitness"])
    changed = [first(room, dataset) for _ in range(4)]
    USES[use](changed[0])  # and keeps what it computed
    changed[0]["gene"].mask[0] ^= True
    changed[1][PHYSICAL].mask = changed[1][PHYSICAL].mask & (torch.arange(4).sum() < 0)
    changed[2]["reaction"].mask[3] ^= True
    changed[3][PHYSICAL].edge_index[:, 1] = changed[3][PHYSICAL].edge_index[:, 0]
    dataset.transform = without_an_edge
    changed += [first(room, dataset), pickle.loads(pickle.dumps(changed[0]))]
    changed += [copy.copy(changed[1]), changed[1].clone()]
    for batch in changed:
        with pytest.raises(SettingsError, match=r"changed.*\nhint: .*masked_edge_index_dict"):
            USES[use](batch)
        with pytest.raises(SettingsError, match="changed"):
            generator(batch)


@ROOMS
@pytest.mark.parametrize("use", USES)
def test_equal_masks_are_not_changed(path, room, use):
    def copied(sample):
        sample[PHYSICAL].mask = sample[PHYSICAL].mask.clone()
        return sample

    dataset = room.Dataset(path, ["fitness"])
    expanded = first(room, dataset)
    expanded["gene"].mask
    same = [expanded, expanded.clone(), pickle.loads(pickle.dumps(expanded)), copy.copy(expanded)]
    dataset.transform = copied
    for batch in [*same, first(room, dataset)]:
        for _ in range(2):
            USES[use](batch)
        assert tt.MaskGenerator(path)(batch)["gene"].shape[0] == 4


@pytest.mark.parametrize("use", USES)
def test_changed_masks_of_tensors(built, use):
    batch = tt.collate(opened(built.datasets["incidence"])[:4])
    USES[use](batch), batch.masks, USES[use](batch)
    batch.masks["gene__physical__gene"][0] = False
    with pytest.raises(SettingsError, match=r"changed.*\nhint: .*filtered=True"):
        USES[use](batch)


@ROOMS
def test_kept_edges_are_in_the_order_of_columns(path, room):
    batch = first(room, room.Dataset(path, ["fitness"]), 9)
    for kind, edges in batch.masked_edge_index_dict().items():
        assert torch.equal(edges, batch.edge_index(kind, filtered=True))
    mask = batch[PHYSICAL].mask
    weight = torch.rand(len(mask)).double()
    torch.manual_seed(1)
    layer, x = GCNConv(3, 3), torch.rand(9 * genes(batch), 3)
    want = layer(x, batch[PHYSICAL].edge_index, torch.where(mask, weight, 0).float())
    got = layer(x, batch.masked_edge_index_dict()[PHYSICAL], weight[mask].float())
    kept = batch["gene"].mask  # a removed node has a loop, of which the weight counts in want alone
    torch.testing.assert_close(got[kept], want[kept])


@pytest.mark.parametrize("transform", [T.AddSelfLoops(), T.RemoveDuplicatedEdges()])
def test_edges_without_their_masks_are_refused(path, transform):
    def doubled(sample):
        sample[PHYSICAL].edge_index = sample[PHYSICAL].edge_index.repeat(1, 2)
        return sample

    for change in (transform, doubled):
        with pytest.raises(SettingsError, match=r"edges.*mask.*\nhint: .*before tcbuild\.build"):
            first(pyg, pyg.Dataset(path, [], change))
