"""Samples and batches as tensors hold the masks that the oracle works out."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild.torch as tt
from torch_cases import VARIANTS, built_case, want_mask
from torch.utils.data import DataLoader, Subset

FORMS = ["stacked", "concatenated"]
ENCODINGS = ["bool", "uint8", "bits"]


@pytest.fixture(scope="module", params=["everything", "one bit past a byte", "wild types", "no phenotypes, no sample ids"])
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, request.param, "gpr", tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "all", tmp_path_factory.mktemp("case"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sample_is_that_of_the_oracle(built, variant):
    dataset = tt.Dataset(built.datasets[variant])
    assert len(dataset) == len(built.want)
    for number, want in enumerate(built.want):
        sample = dataset[number]
        assert sample.perturbation_indices.dtype == torch.int64
        assert sample.perturbation_indices.tolist() == want["perturbation_indices"]
        phenotypes = [None if value != value else value for value in sample.phenotypes.tolist()]
        assert phenotypes == list(want["phenotypes"].values())
        assert list(sample.masks) == list(want["masks"])
        for name, mask in sample.masks.items():
            assert mask.dtype == torch.bool and mask.tolist() == want_mask(want, name)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_is_that_of_the_oracle(built, variant, form, encoding):
    dataset = tt.Dataset(built.datasets[variant])
    numbers = [0, len(dataset) - 1, len(dataset) // 2, 1, 1]
    batch = tt.collate([dataset[number] for number in numbers], masks=form, encoding=encoding)
    assert len(batch) == len(numbers) and batch.sample_indices.tolist() == numbers
    want = [built.want[number] for number in numbers]

    deleted = [sample["perturbation_indices"] for sample in want]
    assert batch.perturbation_indices.tolist() == sum(deleted, [])
    assert batch.perturbation_indices_ptr.tolist() == np.cumsum([0, *map(len, deleted)]).tolist()
    assert batch.perturbation_indices_batch.tolist() == [row for row, genes in enumerate(deleted) for _ in genes]
    phenotypes = [[np.nan if value is None else value for value in sample["phenotypes"].values()] for sample in want]
    assert batch.phenotypes.dtype == torch.float64
    np.testing.assert_array_equal(batch.phenotypes.numpy(), np.array(phenotypes).reshape(len(numbers), -1))

    assert list(batch.masks) == list(want[0]["masks"])
    for name, mask in batch.masks.items():
        rows = np.array([want_mask(sample, name) for sample in want], np.uint8)
        if encoding == "bits":
            rows = np.packbits(rows, axis=1, bitorder="little")
        assert mask.dtype == (torch.bool if encoding == "bool" else torch.uint8)
        assert mask.is_contiguous()
        np.testing.assert_array_equal(mask.numpy(), rows if form == "stacked" else rows.ravel())


def test_a_batch_without_masks_reads_none(everything):
    dataset = tt.Dataset(everything.datasets["indices"])
    dataset.stored.read_removed = None  # any use of it would fail
    batch = tt.collate([dataset[0], dataset[1]], masks=None)
    with pytest.raises(AttributeError, match="hint: "):
        batch.masks


def test_unknown_forms_and_encodings_are_refused(everything):
    dataset = tt.Dataset(everything.datasets["indices"])
    for options in ({"masks": "rows"}, {"encoding": "float"}):
        with pytest.raises(ValueError, match="hint: "):
            tt.collate([dataset[0]], **options)


@pytest.mark.parametrize(("variant", "context"), [*((variant, "fork") for variant in VARIANTS), ("indices", "spawn")])
def test_a_loader_with_workers_gives_what_one_without_gives(everything, variant, context):
    dataset = tt.Dataset(everything.datasets[variant])
    dataset[0].masks  # environments that are open before the fork
    want = list(DataLoader(dataset, batch_size=7, collate_fn=tt.collate))
    workers = DataLoader(dataset, batch_size=7, collate_fn=tt.collate, num_workers=2, multiprocessing_context=context)
    for got, batch in zip(workers, want, strict=True):
        assert_same(got, batch)


def test_a_subset_gives_its_samples(everything):
    dataset = tt.Dataset(everything.datasets["full-masks"])
    loader = DataLoader(Subset(dataset, [2, 0]), batch_size=2, collate_fn=functools.partial(tt.collate, masks=None))
    assert [batch.sample_indices.tolist() for batch in loader] == [[2, 0]]


def test_datasets_travel_as_a_path_and_batches_as_few_bytes(everything):
    dataset = tt.Dataset(everything.datasets["indices"])
    dataset[0].masks
    pickled = pickle.dumps(dataset)
    assert len(pickled) < 1000
    assert pickle.loads(pickled)[0].masks.keys() == dataset[0].masks.keys()
    batch = tt.collate([dataset[0], dataset[1]], encoding="bits")
    before = len(pickle.dumps(batch))
    batch.masks
    assert len(pickle.dumps(batch)) == before
    assert_same(pickle.loads(pickle.dumps(batch)), batch)


def test_a_batch_moves_to_a_device(everything):
    dataset = tt.Dataset(everything.datasets["indices"])
    batch = tt.collate([dataset[0], dataset[1]]).to("meta")
    tensors = [batch.sample_indices, batch.perturbation_indices, batch.perturbation_indices_ptr, batch.perturbation_indices_batch]
    assert {tensor.device.type for tensor in [*tensors, batch.phenotypes, *batch.masks.values()]} == {"meta"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_masks_of_a_pinned_batch_are_the_same_on_cuda(everything, encoding):
    dataset = tt.Dataset(everything.datasets["indices"])
    batch = tt.collate([dataset[0], dataset[1]], encoding=encoding)
    pinned = batch.pin_memory()
    assert pinned.phenotypes.is_pinned() and pinned.perturbation_indices.is_pinned()
    moved = pinned.to("cuda", non_blocking=True)
    assert all(mask.is_cuda for mask in moved.masks.values())
    assert_same(moved.to("cpu"), batch)


def test_memory_is_used_again_only_once_nothing_refers_to_it(everything):
    dataset = tt.Dataset(everything.datasets["indices"])
    samples = [dataset[0], dataset[1]]
    kept = tt.collate(samples).masks["gene"]
    before = kept.clone()
    for _ in range(4):
        for mask in tt.collate(samples[::-1]).masks.values():
            mask.fill_(False)
    assert torch.equal(kept, before)


def assert_same(got: tt.Batch, want: tt.Batch) -> None:
    for name in ("sample_indices", "perturbation_indices", "perturbation_indices_ptr", "perturbation_indices_batch", "phenotypes"):
        torch.testing.assert_close(getattr(got, name), getattr(want, name), rtol=0, atol=0, equal_nan=True)
    assert list(got.masks) == list(want.masks)
    for name, mask in got.masks.items():
        assert torch.equal(mask, want.masks[name]), name
