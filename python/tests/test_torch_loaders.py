"""Batches of a DataLoader are those that the oracle works out, however datasets are nested."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils.data import BatchSampler, ConcatDataset, DataLoader, SequentialSampler, Subset

import tcbuild as package
import tcbuild.torch as tt
from conftest import REPOSITORY
from oracle import expected, read_samples
from torch_cases import VARIANTS, built_case, opened, want_mask

RULE = "gpr"


@pytest.fixture(scope="module")
def built(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", RULE, tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def leaves(built, tcbuild, tmp_path_factory):
    """Datasets of one graph, each with what the oracle says of its samples: those of the case in
    all variants, and other samples, of which one deletes nothing.
    """
    folder = tmp_path_factory.mktemp("other")
    genes = built.cell.nodes["gene"]
    rows = [genes[3], "|".join(genes[10:14]), "", genes[7], "|".join(genes[::5])]
    table = folder / "p.tsv"
    lines = [f"{deleted}\tother {row}\t{row}\tNaN\n" for row, deleted in enumerate(rows)]
    table.write_text("genes\tsample_id\tfitness\tgene interaction\n" + "".join(lines))
    inputs = ["--graph", built.graph, "--perturbations", table, "--reaction-rule", RULE]
    tcbuild.run(*VARIANTS["indices"], *inputs, "--allow-wildtype", "--out", folder / "dataset")
    others = list(expected(built.cell, read_samples(table, built.cell), RULE))
    found = [(opened(path), built.want) for path in built.datasets.values()]
    return [*found, (opened(folder / "dataset"), others)]


def check_batch(batch, want):
    assert batch.sample_ids == [sample["sample_id"] for sample in want]
    assert batch.sample_indices.tolist() == [sample["sample"] for sample in want]
    ptr = batch.deleted_ptr.tolist()
    assert [batch.deleted[a:b].tolist() for a, b in zip(ptr, ptr[1:])] == [
        sample["perturbation_indices"] for sample in want
    ]
    assert batch.phenotype_names == list(want[0]["phenotypes"])
    for name in batch.phenotype_names:
        got = [None if value != value else value for value in batch.phenotype(name).tolist()]
        assert got == [sample["phenotypes"][name] for sample in want], name
    assert list(batch.masks) == list(want[0]["masks"])
    for name, mask in batch.masks.items():
        assert mask.tolist() == [want_mask(sample, name) for sample in want], name


def nested(chance, leaves, depth):
    """Datasets in datasets at random, and the list of the samples that they have."""
    kind = chance.choice(["subset", "concat", "view"]) if depth else "view"
    if kind == "view":
        dataset, want = chance.choice(leaves)
        piece = chance.choice(
            [
                slice(None),
                slice(1, None, 2),
                slice(None, None, -1),
                slice(-3, None),
                [0, 0, -1],
                np.array([2, 1]),
                np.arange(len(want)) % 3 == 0,
            ]
        )
        if isinstance(piece, slice):
            return dataset[piece], want[piece]
        chosen = np.arange(len(want))[piece]
        return dataset[piece], [want[i] for i in chosen]
    if kind == "concat":
        parts = [nested(chance, leaves, depth - 1) for _ in range(chance.randint(1, 3))]
        return ConcatDataset([part for part, _ in parts]), sum((want for _, want in parts), [])
    inner, want = nested(chance, leaves, depth - 1)
    numbers = [chance.randrange(-len(want), len(want)) for _ in range(chance.randint(1, 9))]
    indices = chance.choice([numbers, np.array(numbers), [np.int32(i) for i in numbers]])
    return Subset(inner, indices), [want[i] for i in numbers]


def check_loader(dataset, want, **options):
    loader = tt.DataLoader(dataset, batch_size=4, **options)
    batches = list(loader)
    assert len(batches) == -(-len(want) // 4)
    for number, batch in enumerate(batches):
        check_batch(batch, want[4 * number : 4 * number + 4])


@pytest.mark.parametrize("seed", range(40))
def test_any_nesting_gives_its_samples(leaves, seed):
    chance = random.Random(seed)
    dataset, want = nested(chance, leaves, 3)
    assert len(dataset) == len(want)
    check_loader(dataset, want, collate_fn=tt.collate)
    check_batch(tt.collate(dataset[i] for i in range(-len(want), 0)), want)
    # with a collate_fn of one's own, which takes samples for a list
    (ids,) = DataLoader(
        dataset, len(want), collate_fn=lambda samples: [sample.id for sample in samples]
    )
    assert ids == [sample["sample_id"] for sample in want]


@pytest.mark.parametrize(
    ("context", "workers", "seed"), [("fork", 2, 1), ("fork", 2, 2), ("spawn", 1, 3)]
)
def test_any_nesting_in_workers(leaves, context, workers, seed):
    dataset, want = nested(random.Random(seed), leaves, 3)
    check_loader(
        dataset,
        want,
        collate_fn=tt.collate,
        num_workers=workers,
        multiprocessing_context=context,
    )


def test_a_loader_gives_batches(leaves):
    for dataset, want in leaves:
        check_loader(dataset, want)
        check_loader(ConcatDataset([dataset, dataset]), want + want)


def test_batches_that_a_sampler_makes(leaves):
    dataset, want = leaves[-1]
    picked = [[0, 0, -1], [np.int64(2)], np.array([4, 1]), torch.tensor([3, 3])]
    loader = tt.DataLoader(dataset, batch_sampler=picked)
    for batch, numbers in zip(loader, picked, strict=True):
        check_batch(batch, [want[i] for i in np.asarray(numbers)])
    for sampler in ([slice(0, 2), slice(2, 5)], BatchSampler(SequentialSampler(dataset), 2, False)):
        loader = DataLoader(dataset, sampler=sampler, batch_size=None, collate_fn=tt.collate)
        batches = list(loader)
        assert sum((batch.sample_ids for batch in batches), []) == [
            sample["sample_id"] for sample in want
        ]
        check_batch(batches[0], want[:2])
    one = next(iter(DataLoader(dataset, batch_size=None, collate_fn=tt.collate)))
    check_batch(one, want[:1])


def test_combinations_have_their_numbers_as_ids(built):
    dataset = package.open(built.datasets["indices"])
    triples = opened(dataset.combinations(dataset.genes, 3))
    last = len(triples) - 1
    for batch in (tt.collate(triples[[5, last]]), tt.collate([triples[5], triples[last]])):
        assert batch.sample_ids == ["5", str(last)] and batch.phenotype_names == []
        assert batch.sample_indices.tolist() == [5, last]


def test_what_no_loader_can_give_is_refused_in_words(leaves):
    (dataset, want), (other, _) = leaves[0], leaves[-1]
    chosen = np.arange(len(want)) < 3
    for booleans in (chosen, chosen.tolist(), torch.from_numpy(chosen)):
        for inner in (dataset, ConcatDataset([dataset, other])):
            with pytest.raises(TypeError, match=r"found the boolean .*\nhint: .*np.flatnonzero"):
                list(tt.DataLoader(Subset(inner, booleans)))
    for index in (len(want), -len(want) - 1):
        with pytest.raises(IndexError, match=rf"sample {index}.*{len(want)} samples\nhint: "):
            list(tt.DataLoader(Subset(dataset, [0, index])))
    for empty in ([], ()):
        with pytest.raises(ValueError, match="found no sample.*\nhint: "):
            tt.collate(empty)
    with pytest.raises(ValueError, match="found no sample.*\nhint: "):
        both = ConcatDataset([dataset, other])
        list(DataLoader(both, batch_sampler=[[0], []], collate_fn=tt.collate))
    (empty,) = DataLoader(dataset, batch_sampler=[[]], collate_fn=tt.collate)
    assert len(empty) == 0 and empty.sample_ids == []
    assert {mask.shape for mask in empty.masks.values()} == {
        (0, size) for size in dataset.mask_sizes
    }
    with pytest.raises(TypeError, match="found a int, expected .*tcbuild.Dataset\nhint: "):
        tt.collate([1, 2])
    batch = tt.collate(dataset[:2])
    with pytest.raises(
        package.errors.UnknownNameError, match="no phenotype 'fitnes'.*\nhint: .*'fitness'"
    ):
        batch.phenotype("fitnes")


def test_datasets_of_other_graphs_are_told_apart_by_their_masks(leaves, tcbuild, tmp_path):
    dataset, _ = leaves[0]
    for case, difference in (
        ("one edge type", r"mask reaction: none, expected 20 positions"),
        ("one bit past a byte", "mask gene: 65 positions, expected 40 positions"),
    ):
        folder = tmp_path / case
        other = opened(
            built_case(tcbuild, case, "all", folder, ["incidence"]).datasets["incidence"]
        )
        loader = tt.DataLoader(ConcatDataset([dataset, other]), batch_size=len(dataset) + 1)
        with pytest.raises(ValueError, match=f"{difference}\nhint: ") as error:
            list(loader)
        assert str(dataset.path) in str(error.value)
        assert str(other.path) in str(error.value)


def test_a_path_that_is_no_dataset(leaves, tmp_path):
    path = leaves[0][0].path
    for wrong, found in (
        (path / "manifest.json", "it is a file, .*\nhint: tcbuild.build makes"),
        (path / "graph", "it is a cell graph, .*\nhint: tcbuild.build makes"),
        (path / "samples", "there is no manifest.json, .*\nhint: .* unfinished"),
        (tmp_path / "nowhere", "there is no such folder, .*\nhint: check the path"),
    ):
        with pytest.raises(package.errors.UnreadableFileError, match=found):
            opened(wrong)


@pytest.mark.parametrize(
    ("module", "package_name"),
    [
        ("tcbuild.torch", "torch"),
        ("tcbuild.torchcell", "torch"),
        ("tcbuild.torchcell", "torch_geometric"),
    ],
)
def test_a_missing_package_is_named(module, package_name):
    code = f"import sys; sys.modules[{package_name!r}] = None; import {module}"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    needed = f"{module} needs the package {package_name}\nhint: pip install {package_name}\n"
    assert done.returncode == 1 and done.stderr.endswith(f"ModuleNotFoundError: {needed}")
