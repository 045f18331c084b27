"""Combinations that are computed are those that the program builds of the same genes."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pytest

import tcbuild as reader
from builds import BUILDS
from cases import CASES
from torch_cases import opened

VARIANTS = ["incidence", "indices-zstd", "full-masks-zstd"]


@pytest.fixture(scope="module", params=["all", "gpr"])
def built(built_once, request):
    return built_once(CASES[0], request.param)


@pytest.fixture(scope="module", params=VARIANTS)
def dataset(built_once, request):
    return reader.open(built_once(CASES[0], "all").datasets[request.param])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_agrees_with_what_is_built(tcbuild, built, tmp_path, k):
    """Ids, order, masks, and of a part of the range as well."""
    chance = np.random.default_rng(k)
    names = reader.open(built.datasets["incidence"]).genes
    genes = chance.permutation(names)[:9].tolist()
    rows = [f"{n}\t{'|'.join(each)}\n" for n, each in enumerate(combinations(genes, k))]
    rule = reader.open(built.datasets["incidence"]).manifest["options"]["reaction_rule"]
    total = math.comb(9, k)
    for first, end in ((0, total), (total // 3, total // 2 + 1)):
        out, table = tmp_path / f"built {first}", tmp_path / "set.tsv"
        table.write_text("sample_id\tgenes\n" + "".join(rows[first:end]))
        tcbuild.run(
            *BUILDS["indices-zstd"],
            *("--graph", built.datasets["incidence"].parent / "graph", "--out", out),
            *("--perturbations", table, "--reaction-rule", rule),
        )
        want = reader.open(out)
        for name in VARIANTS:
            found = reader.open(built.datasets[name]).combinations(genes, k)[first:end]
            assert len(found) == len(want) == end - first
            for computed, stored in zip(found, want, strict=True):
                assert computed.id == stored.id and int(stored.id) == computed.index
                assert computed.deleted_genes == stored.deleted_genes
                assert computed.deleted.dtype == stored.deleted.dtype
                assert len(computed.phenotypes) == 0 and computed.attributes == {}
                assert np.array_equal(computed.removed, stored.removed)
                assert np.array_equal(computed.all_masks, stored.all_masks)
            for mine, theirs in zip(
                found.perturbations(slice(None)), want.perturbations(range(len(want)))
            ):
                assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
            assert found.to_arrow() == want.to_arrow()
            assert found._mask_basis == want._mask_basis


@pytest.mark.parametrize("n, k", [(1, 1), (7, 1), (7, 3), (7, 7), (12, 6), (40, 2), (40, 39)])
def test_order(dataset, n, k):
    genes = dataset.genes[:n][::-1]
    found = dataset.combinations(genes, k)
    want = [
        sorted(dataset.genes.index(gene) for gene in chosen) for chosen in combinations(genes, k)
    ]
    assert len(found) == len(want)
    deleted, ptr, phenotypes = found.perturbations(range(len(found)))
    assert deleted.reshape(-1, k).tolist() == want
    assert ptr.tolist() == list(range(0, len(want) * k + 1, k))
    assert phenotypes.shape == (len(want), 0)
    assert found[-1].deleted.tolist() == want[-1]


def test_large_numbers(tcbuild, tmp_path):
    """Ranks up to 2^63, each compared with the definition in integers of any size."""
    graph = tmp_path / "graph" / "nodes"
    graph.mkdir(parents=True)
    n = 6607
    (graph / "gene.tsv").write_text("id\n" + "".join(f"g{i}\n" for i in range(n)))
    tcbuild.run("incidence", "--graph", tmp_path / "graph", "--out", tmp_path / "dataset")
    dataset = reader.open(tmp_path / "dataset")
    chance = np.random.default_rng(5)
    for size, k in [(n, 1), (n, 2), (n, 3), (n, 5), (n, n - 1), (66, 33), (62, 40), (2000, 6)]:
        found = dataset.combinations(range(size), k)
        total = math.comb(size, k)
        assert len(found) == total
        # beside the borders of the first element's runs, where a step too few or many shows
        ranks = [0, 1, total - 1, total // 2]
        for first in chance.integers(size - k + 1, size=20).tolist():
            border = total - math.comb(size - first, k)
            ranks += [border - 1, border, border + 1]
        ranks += chance.integers(total, size=50).tolist()
        ranks = [rank for rank in ranks if 0 <= rank < total]
        deleted, _, _ = found.perturbations(ranks)
        for rank, places in zip(ranks, deleted.reshape(-1, k).tolist(), strict=True):
            before = sum(
                math.comb(size - 1 - place, k - column) for column, place in enumerate(places)
            )
            assert places == sorted(set(places)) and total - 1 - before == rank
        assert found[ranks].column("sample_id").tolist() == [str(rank) for rank in ranks]
    with pytest.raises(ValueError, match=r"more than 2\^63 - 2 sets of 6 of 6,607 genes"):
        dataset.combinations(range(n), 6)


def test_is_a_dataset(dataset):
    genes = dataset.genes[3:20]
    found = dataset.combinations(genes, 2)
    assert found.phenotype_names == found.attribute_names == []
    assert found.variant == "combinations" and found.codec is None
    assert repr(found).endswith("136 samples, combinations>") and "136" in found._repr_html_()
    assert repr(found[:5]).endswith("5 of 136 samples, combinations>")
    assert found.columns == ["sample_id", "perturbation_indices"]
    assert found.index_of("77") == 77 and found[77].id == "77"
    with pytest.raises(reader.errors.UnknownNameError):
        found.index_of("136")
    for view in (found[5:50:3], found[[7, 3, 7]], found[found.indices % 2 == 0], found[::-1]):
        assert [sample.id for sample in view] == [str(index) for index in view.indices]
        again = pickle.loads(pickle.dumps(view))
        assert again.indices.tolist() == view.indices.tolist()
        assert [sample.deleted_genes for sample in again] == [
            sample.deleted_genes for sample in view
        ]
        assert view.to_arrow().to_pylist() == [
            {
                "sample_id": sample.id,
                "perturbation_indices": sample.deleted.tolist(),
            }
            for sample in view
        ]
        deleted, ptr, _ = view.perturbations(range(len(view)))
        assert deleted.tolist() == [gene for sample in view for gene in sample.deleted]
    with_gene = found[found.deletes(genes[4])]
    assert len(with_gene) == 16 and all(genes[4] in sample.deleted_genes for sample in with_gene)
    assert found.graph is dataset.graph
    nested = found[:3].combinations(genes[:2], 1)
    assert len(nested) == 2 and pickle.loads(pickle.dumps(nested))[1].deleted_genes == [genes[1]]
    assert len(dataset[:2].combinations(genes[:3], 3)) == 1


def test_refuses(dataset, tmp_path):
    genes = dataset.genes
    for wanted, error, text in [
        ([genes[0], genes[1][:-1] + "X"], reader.errors.UnknownNameError, "did you mean"),
        ([genes[0], genes[1], genes[0]], ValueError, "listed twice"),
        ([genes[0], 1, 0], ValueError, "gene 0 is listed twice"),
        (iter([genes[0], genes[0]]), ValueError, "listed twice"),
        ([0, len(genes)], IndexError, f"gene {len(genes)}, expected 0 to {len(genes) - 1}"),
        ([0, -1], IndexError, "gene -1"),
        (genes[0], TypeError, "expected a list"),
        (set(genes), TypeError, "expected a list"),
        (5, TypeError, "expected a list"),
        ([0, True], TypeError, "found True"),
        ([0, 1.0], TypeError, "found 1.0"),
        ([0, None], TypeError, "found None"),
    ]:
        with pytest.raises(error, match=text):
            dataset.combinations(wanted, 2)
    for k in (0, -1, 4):
        with pytest.raises(ValueError, match=f"found k = {k}, expected 1 to the 3 genes"):
            dataset.combinations(genes[:3], k)
    with pytest.raises(TypeError):
        dataset.combinations(genes[:3], 2.0)
    found = dataset.combinations(genes[:5], 2)
    for index in (10, -11):
        with pytest.raises(IndexError):
            found[index]
    with pytest.raises(reader.errors.UnknownNameError, match="no phenotype"):
        found.phenotype("fitness")


def test_has_no_parts(dataset, tmp_path):
    """The rows of stored samples would be other samples here."""
    dataset.split(train=1, by="sample").save(tmp_path / "parts.tsv")
    with pytest.raises(reader.errors.SettingsError, match="combinations"):
        dataset.combinations(dataset.genes, 2).parts(tmp_path / "parts.tsv")


def test_batches_for_torch(dataset):
    torch = pytest.importorskip("torch")
    import tcbuild.torch as tt

    computed = opened(dataset.combinations(dataset.genes[::-3], 3))
    generator = tt.MaskGenerator(computed)
    for view in (computed[100:128], computed[[5, 300, 5]], computed[:0]):
        batch = tt.collate(view)
        one_by_one = tt.collate(list(view)) if len(view) else batch
        for made in (batch, one_by_one, tt.collate(view, masks=None)):
            assert made.sample_indices.tolist() == view.indices.tolist()
            assert torch.equal(made.deleted, batch.deleted)
            assert torch.equal(made.deleted_ptr, batch.deleted_ptr)
            assert torch.equal(made.deleted_batch, batch.deleted_batch)
            assert made.phenotypes.shape == (len(view), 0)
            for name, mask in generator(made).items():
                assert torch.equal(mask, batch.masks[name])
                for row, sample in zip(mask, view):
                    assert np.array_equal(row, sample.masks[name])
    deleted, ptr, _ = computed.perturbations(range(50))
    masks = generator(torch.from_numpy(deleted), torch.from_numpy(ptr))
    assert np.array_equal(masks["gene"][49], computed[49].masks["gene"])
    loader = torch.utils.data.DataLoader(
        computed, batch_size=64, num_workers=1, collate_fn=tt.collate
    )
    assert sum(len(batch) for batch in loader) == len(computed)
