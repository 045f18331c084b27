"""The package reads every variant and codec as the oracle does."""

from __future__ import annotations

import json
import math
import random

import lmdb
import numpy as np
import pytest

import tcbuild as reader
from builds import BUILDS, build
from cases import CASES, CASES_AND_RULES, SHARDS, Case, write_case
from oracle import read_graph, rule_holds
from tcbuild._files.data_file import DataFile
from tcbuild._files.shard_file import ShardFile
from tcbuild._masks.rules import compile_rule, holds


@pytest.fixture(scope="module")
def sharded(built_once):
    return built_once(SHARDS, "all")


def as_inspected(dataset, sample):
    """A sample in the shape in which inspect and the oracle show it, from its masks."""
    return {
        "sample": sample.index,
        "sample_id": sample.id,
        "genes": sample.deleted_genes,
        "perturbation_indices": sample.deleted.tolist(),
        "phenotypes": {
            name: None if math.isnan(value) else value
            for name, value in zip(dataset.phenotype_names, sample.phenotypes.tolist(), strict=True)
        },
        "attributes": sample.attributes,
        "masks": {
            name: {"size": len(mask), "removed": np.flatnonzero(~mask).tolist()}
            for name, mask in sample.masks.items()
        },
    }


@pytest.mark.parametrize(
    ("case", "rule"), CASES_AND_RULES, ids=[f"{case.name}-{rule}" for case, rule in CASES_AND_RULES]
)
def test_samples_are_those_of_the_oracle(built_once, case, rule):
    datasets, want, _ = built_once(case, rule)
    for name, path in datasets.items():
        dataset = reader.open(path)
        assert len(dataset) == len(want)
        for sample, sample_of_oracle in zip(dataset, want):
            got = as_inspected(dataset, sample)
            assert got == sample_of_oracle, name
            assert list(got["masks"]) == dataset.mask_names
            check_the_forms_of_masks(dataset, sample)


def check_the_forms_of_masks(dataset, sample):
    """All ways to ask for a sample's masks say the same, whatever was in the caller's memory."""
    size = dataset._mask_offsets[-1]
    masks = np.concatenate(list(sample.masks.values()))
    assert masks.dtype == bool and np.array_equal(sample.all_masks, masks)
    assert all(
        np.shares_memory(sample.all_masks, mask) for mask in sample.masks.values() if len(mask)
    )
    assert sample.removed.dtype == np.uint32 and np.array_equal(
        sample.removed, np.flatnonzero(~masks)
    )
    for dirt in (0, 255):
        out = np.full(size, dirt, np.uint8)
        dataset._fill_masks(sample.index, out)
        assert np.array_equal(out, masks.astype(np.uint8))


@pytest.mark.parametrize("name", BUILDS)
def test_samples_by_index_slice_and_list(sharded, name):
    datasets, want, _ = sharded
    dataset = reader.open(datasets[name])
    ids = [sample["sample_id"] for sample in want]
    n = len(ids)
    assert [sample.id for sample in dataset] == ids
    assert dataset[-1].id == dataset[np.int64(n - 1)].id == ids[-1] and dataset[-1].index == n - 1
    for piece in (
        slice(None),
        slice(3, 9),
        slice(-2, None),
        slice(None, None, -7),
        slice(5, 5),
        slice(0, 10 * n),
    ):
        assert [sample.id for sample in dataset[piece]] == ids[piece]
    for indices in ([], [4, 4, -1], np.array([149, 150, 63, 64, 0]), range(2)):
        assert [sample.id for sample in dataset[indices]] == [ids[i] for i in indices]
    for outside in (n, -n - 1):
        with pytest.raises(IndexError, match=f"{n} samples"):
            dataset[outside]
        with pytest.raises(IndexError):
            dataset._read_removed(outside)
    with pytest.raises(TypeError):
        dataset["0"]


@pytest.mark.parametrize("name", BUILDS)
def test_perturbations_of_a_batch(sharded, name):
    datasets, want, _ = sharded
    dataset = reader.open(datasets[name])
    batch = [299, 0, 150, 150, 64]
    indices, ptr, phenotypes = dataset.perturbations(batch)
    assert (indices.dtype, ptr.dtype, phenotypes.dtype) == (np.int64, np.int64, np.float64)
    assert ptr[0] == 0 and phenotypes.shape == (len(batch), len(dataset.phenotype_names))
    for b, index in enumerate(batch):
        assert indices[ptr[b] : ptr[b + 1]].tolist() == want[index]["perturbation_indices"]
        values = [
            math.nan if value is None else value for value in want[index]["phenotypes"].values()
        ]
        np.testing.assert_array_equal(phenotypes[b], values)
    indices, ptr, phenotypes = dataset.perturbations([])
    assert (
        indices.shape == (0,)
        and ptr.tolist() == [0]
        and phenotypes.shape == (0, len(dataset.phenotype_names))
    )


def test_what_a_dataset_says_of_itself(tcbuild, sharded):
    datasets, want, _ = sharded
    for name, path in datasets.items():
        dataset = reader.open(str(path))
        assert dataset.manifest == tcbuild.manifest(path) and dataset.path == path
        assert dataset.mask_names == list(want[0]["masks"])
        assert dataset.mask_sizes == [mask["size"] for mask in want[0]["masks"].values()]
        assert (
            np.diff(dataset._mask_offsets).tolist() == dataset.mask_sizes
            and dataset._mask_offsets[0] == 0
        )
        assert dataset.phenotype_names == list(want[0]["phenotypes"])
        assert f"{dataset.variant}-{dataset.codec}".removesuffix("-None") == name
        assert "300 samples" in repr(dataset) and want[7]["genes"][0] in repr(dataset[7])


def test_the_caller_owns_what_he_is_given(sharded):
    datasets, _, _ = sharded
    for path in datasets.values():
        dataset = reader.open(path)
        for read in (
            lambda s: s.deleted,
            lambda s: s.phenotypes,
            lambda s: s.removed,
            lambda s: s.all_masks,
        ):
            values = read(dataset[5])
            before = values.copy()
            values[:] = 1
            np.testing.assert_array_equal(read(dataset[5]), before)


@pytest.mark.parametrize("name", [name for name in BUILDS if name != "incidence"])
def test_values_are_those_that_lmdb_finds(tcbuild, tmp_path, name):
    """Enough values for a tree of two levels, and values too small for pages of their own."""
    case = Case(
        "many values",
        genes=6,
        relations=("physical",),
        edges=4,
        metabolism=False,
        samples=12000,
        most_deleted=1,
        phenotypes=(),
    )
    datasets, _, _ = build(tcbuild, case, tmp_path, builds=[name])
    manifest = reader.open(datasets[name]).manifest
    for shard in manifest["shards"]:
        folder = datasets[name] / shard["name"]
        with (
            lmdb.open(str(folder), readonly=True, lock=False) as environment,
            environment.begin() as transaction,
        ):
            want = {int.from_bytes(key, "big"): value for key, value in transaction.cursor()}
            assert environment.stat()["depth"] == 2
        keys = range(
            shard["first"], shard["first"] + shard["samples"], manifest["samples_per_value"]
        )
        file = ShardFile(DataFile(folder / "data.mdb"), keys)
        assert {key: file.read(i, 0, file.length(i)) for i, key in enumerate(keys)} == want


def test_a_table_without_samples_is_an_empty_dataset(tcbuild, tmp_path):
    graph, _ = write_case(CASES[0], tmp_path)
    tcbuild.run("incidence", "--graph", graph, "--out", tmp_path / "table")
    dataset = reader.open(tmp_path / "table")
    assert (
        len(dataset) == 0
        and list(dataset) == []
        and dataset.genes == read_graph(graph).nodes["gene"]
    )
    with pytest.raises(IndexError):
        dataset[0]


@pytest.mark.parametrize("rule", ["all", "gpr"])
def test_graph_and_incidence(tcbuild, tmp_path, rule):
    case = Case("everything", samples=1)
    datasets, _, _ = build(
        tcbuild, case, tmp_path, rule, ["incidence", "indices-zstd", "full-masks-zstd"]
    )
    want = read_graph(tmp_path / "graph")
    mapped, *built = [reader.open(path) for path in datasets.values()]
    for dataset in (mapped, *built):
        assert dataset.graph.nodes == want.nodes and dataset.genes == want.nodes["gene"]
        assert list(dataset.graph.edges) == want.edge_types() == list(dataset.incidence)
        for name, edges in want.edges.items():
            assert list(map(tuple, dataset.graph.edges[name].T.tolist())) == edges
        assert dataset.graph.rules == want.rules
        for name, csr in dataset.incidence.items():
            assert np.array_equal(csr.offsets, mapped.incidence[name].offsets)
            assert np.array_equal(csr.positions, mapped.incidence[name].positions)
        # One reads them from its file, the others make them of the graph.
        for nodes in ([0], [], [5, 3, 41, 5], [59, 40], list(range(60))):
            assert np.array_equal(
                dataset._cell.removal.rows.rows(nodes), mapped._cell.removal.rows.rows(nodes)
            )
    table = (
        (tmp_path / "graph" / "edges" / "reaction__rmr__metabolite.tsv")
        .read_text()
        .splitlines()[1:]
    )
    assert mapped.graph.stoichiometry.tolist() == [float(line.split("\t")[2]) for line in table]


def test_rules_are_those_of_the_oracle():
    chance = random.Random(5)
    genes = {f"Y{i}": i for i in range(8)}

    def rule(depth: int) -> str:
        if depth == 0 or chance.random() < 0.3:
            return chance.choice([*genes, "Q0"])  # Q0 is not in the graph
        text = chance.choice([" and ", " or "]).join(
            rule(depth - 1) for _ in range(chance.randint(2, 3))
        )
        return f"({text})" if chance.random() < 0.6 else text

    for _ in range(500):
        text = rule(4)
        signs = text.replace(" and ", chance.choice([" AND ", "&", " && "])).replace(
            " or ", chance.choice([" Or ", "||", " | "])
        )
        for _ in range(8):
            deleted = {gene for gene in genes if chance.random() < 0.4}
            indices = {genes[gene] for gene in deleted}
            assert (
                holds(compile_rule(text, genes), indices)
                == holds(compile_rule(signs, genes), indices)
                == rule_holds(text, deleted)
            ), text
    assert holds(compile_rule("  ", genes), {1})
    assert not holds(compile_rule("(" * 5000 + "Y1" + ")" * 5000, genes), {1})
    for text in ("Y1 and", "and Y1", "(Y1", "Y1)", "Y1 Y2", "()", "Y1 (Y2)", "or"):
        with pytest.raises(ValueError, match="expected|without"):
            compile_rule(text, genes)


def test_json_of_the_manifest_is_plain(sharded):
    datasets, _, _ = sharded
    for path in datasets.values():
        assert json.loads(json.dumps(reader.open(path).manifest)) == reader.open(path).manifest
