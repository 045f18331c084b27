"""Samples and batches as tensors hold the masks that the oracle works out."""

from __future__ import annotations

import functools
import pickle
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils.data import ConcatDataset, DataLoader, Subset, random_split

import tcbuild.torch as tt
from torch_cases import VARIANTS, built_case, opened, want_mask

FORMS = ["stacked", "concatenated"]


@pytest.fixture(
    scope="module",
    params=["everything", "one bit past a byte", "wild types", "no phenotypes, no sample ids"],
)
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, request.param, "gpr", tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "all", tmp_path_factory.mktemp("case"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sample_is_that_of_the_oracle(built, variant):
    dataset = opened(built.datasets[variant])
    assert len(dataset) == len(built.want)
    for number, want in enumerate(built.want):
        sample = dataset[number]
        assert sample.deleted.dtype == np.int32
        assert sample.deleted.tolist() == want["perturbation_indices"]
        phenotypes = [None if value != value else value for value in sample.phenotypes.tolist()]
        assert phenotypes == list(want["phenotypes"].values())
        assert list(sample.masks) == list(want["masks"])
        for name, mask in sample.masks.items():
            assert mask.dtype == bool and mask.tolist() == want_mask(want, name)


def test_the_text_of_a_batch_names_the_masks_that_were_made(everything):
    batch = tt.collate(opened(everything.datasets["incidence"])[:3])
    text = f"<Batch: 3 samples, {len(batch.deleted)} deleted genes, cpu, masks: "
    assert repr(batch) == f"{text}none made>"
    names = ", ".join(batch.masks)
    assert repr(batch) == f"{text}{names}>" and "gene__physical__gene" in names


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_is_that_of_the_oracle(built, variant, form):
    dataset = opened(built.datasets[variant])
    numbers = [0, len(dataset) - 1, len(dataset) // 2, 1, 1]
    batch = tt.collate([dataset[number] for number in numbers], masks=form)
    assert len(batch) == len(numbers) and batch.sample_indices.tolist() == numbers
    want = [built.want[number] for number in numbers]

    deleted = [sample["perturbation_indices"] for sample in want]
    assert batch.deleted.tolist() == sum(deleted, [])
    assert batch.deleted_ptr.tolist() == np.cumsum([0, *map(len, deleted)]).tolist()
    assert batch.deleted_batch.tolist() == [row for row, genes in enumerate(deleted) for _ in genes]
    phenotypes = [
        [np.nan if value is None else value for value in sample["phenotypes"].values()]
        for sample in want
    ]
    assert batch.phenotypes.dtype == torch.float64
    np.testing.assert_array_equal(
        batch.phenotypes.numpy(), np.array(phenotypes).reshape(len(numbers), -1)
    )

    assert list(batch.masks) == list(want[0]["masks"])
    for name, mask in batch.masks.items():
        rows = np.array([want_mask(sample, name) for sample in want], np.uint8)
        assert mask.dtype == torch.bool and mask.is_contiguous()
        np.testing.assert_array_equal(mask.numpy(), rows if form == "stacked" else rows.ravel())


def test_a_batch_without_masks_reads_none(everything):
    dataset = opened(everything.datasets["indices"])
    dataset._masks = None  # any use of it would fail
    batch = tt.collate([dataset[0], dataset[1]], masks=None)
    with pytest.raises(AttributeError, match="hint: "):
        batch.masks


def test_unknown_forms_are_refused(everything):
    with pytest.raises(ValueError, match="hint: "):
        tt.collate([opened(everything.datasets["indices"])[0]], masks="rows")


@pytest.mark.parametrize(
    ("variant", "context"), [*((variant, "fork") for variant in VARIANTS), ("indices", "spawn")]
)
def test_a_loader_with_workers_gives_what_one_without_gives(everything, variant, context):
    dataset = opened(everything.datasets[variant])
    dataset[0].masks  # environments that are open before the fork
    want = list(DataLoader(dataset, batch_size=7, collate_fn=tt.collate))
    workers = DataLoader(
        dataset,
        batch_size=7,
        collate_fn=tt.collate,
        num_workers=1 if context == "spawn" else 2,
        multiprocessing_context=context,
    )
    for got, batch in zip(workers, want, strict=True):
        assert_same(got, batch)


def test_a_subset_gives_its_samples(everything):
    dataset = opened(everything.datasets["full-masks"])
    loader = DataLoader(
        Subset(dataset, [2, 0]), batch_size=2, collate_fn=functools.partial(tt.collate, masks=None)
    )
    assert [batch.sample_indices.tolist() for batch in loader] == [[2, 0]]


def of_seed(tcbuild, folder, everything, rows, rule="all", graph=None):
    """A dataset of other samples."""
    folder.mkdir()
    genes = everything.cell.nodes["gene"]
    lines = []
    for row in range(rows):
        deleted = "|".join(genes[(7 * row + k) % len(genes)] for k in range(1 + row % 3))
        lines.append(f"{deleted}\t{row}\t{-row}\n")
    (folder / "p.tsv").write_text("genes\tfitness\tgene interaction\n" + "".join(lines))
    inputs = [
        "--graph",
        graph or everything.graph,
        "--perturbations",
        folder / "p.tsv",
        "--reaction-rule",
        rule,
    ]
    tcbuild.run("dataset", "--mode", "indices", *inputs, "--out", folder / "dataset")
    return opened(folder / "dataset")


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_of_several_datasets_has_the_masks_of_each(everything, tcbuild, tmp_path, form):
    first, second = (
        opened(everything.datasets["full-masks"]),
        of_seed(tcbuild, tmp_path / "other", everything, 9),
    )
    both = ConcatDataset([first, second, pickle.loads(pickle.dumps(first))])
    picked = [0, len(first) + 4, len(first) - 1, len(first) + 1, len(first) + len(second)]
    batch = tt.collate([both[i] for i in picked], masks=form)
    parts = [tt.collate([both[i]], masks=form) for i in picked]
    for name, mask in batch.masks.items():
        assert torch.equal(mask, torch.cat([part.masks[name] for part in parts])), name
    assert batch.sample_indices.tolist() == [0, 4, len(first) - 1, 1, 0]
    made = tt.MaskGenerator(first, form)(batch)
    assert all(torch.equal(made[name], mask) for name, mask in batch.masks.items())
    assert_same(
        next(iter(DataLoader(both, len(both), collate_fn=tt.collate, num_workers=1))),
        tt.collate(list(both)),
    )


def test_samples_that_no_batch_can_join_are_refused(everything, built, tcbuild, tmp_path):
    first = opened(everything.datasets["indices"])
    shutil.copytree(everything.graph, tmp_path / "graph")
    edges = tmp_path / "graph/edges/gene__physical__gene.tsv"
    header, *lines = edges.read_text().splitlines(keepends=True)
    edges.write_text(header + "".join(lines[::-1]))  # the same sizes, other positions
    table = tmp_path / "p.tsv"
    table.write_text(f"genes\tfitness\n{everything.cell.nodes['gene'][0]}\t0.5\n")
    tcbuild.run(
        "incidence",
        "--graph",
        everything.graph,
        "--perturbations",
        table,
        "--out",
        tmp_path / "phenotypes",
    )
    others = {
        "mask_basis .*gpr": of_seed(tcbuild, tmp_path / "rule", everything, 3, "gpr"),
        "mask_basis": of_seed(tcbuild, tmp_path / "order", everything, 3, graph=tmp_path / "graph"),
        "phenotype_names .'fitness'., expected .'fitness', 'gene interaction'": opened(
            tmp_path / "phenotypes"
        ),
    }
    for message, other in others.items():
        for masks in ("stacked", None):
            with pytest.raises(ValueError, match=f"(?s){message}.*\nhint: "):
                tt.collate([first[0], other[0]], masks=masks)
        batch = tt.collate([other[0]], masks=None)
        if "basis" in message:
            with pytest.raises(ValueError, match="(?s)another graph or reaction rule.*\nhint: "):
                tt.MaskGenerator(first)(batch)
    with pytest.raises(TypeError, match="found a Dataset"):
        tt.collate([first[0:2], first[0:2]])


def test_part_of_a_dataset(everything):
    dataset = opened(everything.datasets["incidence"])
    ids = np.array([sample.id for sample in dataset])
    for piece in (
        slice(3, 9),
        slice(None, None, -4),
        [4, 4, -1],
        (0, 1),
        range(2),
        np.array([5, 2]),
        torch.tensor([1, 3]),
        [],
    ):
        found = dataset[piece]
        assert [sample.id for sample in found] == [
            ids[i] for i in (range(len(ids))[piece] if isinstance(piece, slice) else piece)
        ]
        assert all(sample.masks for sample in found)
    for index in (np.int32(3), torch.tensor(3), np.array(3)):
        assert dataset[index].id == ids[3]
    for part in (Subset(dataset, np.array([2, 0])), *random_split(dataset, [4, len(dataset) - 4])):
        batch = tt.collate([part[i] for i in range(len(part))])
        assert batch.sample_indices.tolist() == list(part.indices)
    chosen = ids < ids[4]
    for booleans in (chosen, chosen.tolist(), torch.from_numpy(chosen)):
        view = dataset[booleans]
        assert [sample.id for sample in view] == ids[chosen].tolist()
        loader = DataLoader(view, batch_size=100, collate_fn=tt.collate, num_workers=1)
        (batch,) = loader
        assert batch.sample_indices.tolist() == np.flatnonzero(chosen).tolist()
        want = tt.collate([dataset[i] for i in np.flatnonzero(chosen)])
        assert_same(batch, want)
    view = dataset[::2]
    assert len(view) == len(view.indices) and view[-1].dataset is dataset
    with pytest.raises(IndexError):
        dataset[[True, False]]
    for wrong in (
        True,
        np.True_,
        torch.tensor(True),
        "0",
        b"01",
        1.0,
        [0.0],
        np.array([1.0]),
        {1, 2},
        {1: 2},
        None,
        np.array([[0, 1]]),
    ):
        with pytest.raises(TypeError):
            dataset[wrong]


def test_datasets_travel_as_a_path_and_batches_as_few_bytes(everything):
    dataset = opened(everything.datasets["indices"])
    dataset[0].masks
    pickled = pickle.dumps(dataset)
    assert len(pickled) < 1000
    assert pickle.loads(pickled)[0].masks.keys() == dataset[0].masks.keys()
    batch = tt.collate([dataset[0], dataset[1]])
    before = len(pickle.dumps(batch))
    batch.masks
    assert len(pickle.dumps(batch)) == before
    assert_same(pickle.loads(pickle.dumps(batch)), batch)


def test_a_batch_moves_to_a_device(everything):
    dataset = opened(everything.datasets["indices"])
    batch = tt.collate([dataset[0], dataset[1]]).to("meta")
    tensors = [
        batch.sample_indices,
        batch.deleted,
        batch.deleted_ptr,
        batch.deleted_batch,
    ]
    assert {
        tensor.device.type for tensor in [*tensors, batch.phenotypes, *batch.masks.values()]
    } == {"meta"}


@pytest.mark.cuda
def test_masks_of_a_pinned_batch_are_the_same_on_cuda(everything):
    dataset = opened(everything.datasets["incidence"])
    batch = tt.collate([dataset[0], dataset[1]])
    pinned = batch.pin_memory()
    assert pinned.phenotypes.is_pinned() and pinned.deleted.is_pinned()
    moved = pinned.to("cuda", non_blocking=True)
    assert all(mask.is_cuda for mask in moved.masks.values())
    assert_same(moved.to("cpu"), batch)


def test_memory_is_used_again_only_once_nothing_refers_to_it(everything):
    dataset = opened(everything.datasets["indices"])
    samples = [dataset[0], dataset[1]]
    kept = tt.collate(samples).masks["gene"]
    before = kept.clone()
    for _ in range(4):
        for mask in tt.collate(samples[::-1]).masks.values():
            mask.fill_(False)
    assert torch.equal(kept, before)


def assert_same(got: tt.Batch, want: tt.Batch) -> None:
    for name in (
        "sample_indices",
        "deleted",
        "deleted_ptr",
        "deleted_batch",
        "phenotypes",
    ):
        torch.testing.assert_close(
            getattr(got, name), getattr(want, name), rtol=0, atol=0, equal_nan=True
        )
    assert list(got.masks) == list(want.masks)
    for name, mask in got.masks.items():
        assert torch.equal(mask, want.masks[name]), name


def test_a_batch_of_a_worker_opens_the_dataset_of_its_loader(everything, tmp_path):
    """Datasets of one graph share its edges, whichever of them is still there."""
    shutil.copytree(everything.datasets["incidence"], tmp_path / "earlier")
    earlier = next(iter(tt.DataLoader(tmp_path / "earlier", 2)))
    assert earlier.edge_index("gene__physical__gene", filtered=True).shape[0] == 2
    shutil.rmtree(tmp_path / "earlier")
    loader = tt.DataLoader(everything.datasets["indices"], 2, num_workers=1)
    for batch in loader:
        assert batch.edge_index("gene__physical__gene", filtered=True).shape[0] == 2
    assert len(earlier) == 2
