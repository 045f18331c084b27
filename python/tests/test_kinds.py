"""Kinds of perturbations, against a reading of the table itself."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

import tcbuild as reader
import tcbuild.torch as tct
from tcbuild._table.kinds import Kinds
from torch_cases import opened

GENES = [f"G{i}" for i in range(8)]
KINDS = ["deletion", "knockdown", "overexpression"]


def build(
    tcbuild, folder: Path, *settings: str, kinds: bool = True
) -> tuple[reader.Dataset, list[dict[str, str]]]:
    """A dataset, and of each sample the kind of each gene that it perturbs."""
    rng = random.Random(1)
    samples = [{gene: rng.choice(KINDS) for gene in rng.sample(GENES, 3)} for _ in range(50)]
    samples[0] = {"G0": "overexpression"}
    graph = folder / "graph"
    (graph / "nodes").mkdir(parents=True)
    (graph / "edges").mkdir()
    (graph / "nodes" / "gene.tsv").write_text("\n".join(["id", *GENES]) + "\n")
    edges = [f"{a}\t{b}" for a, b in zip(GENES, GENES[1:])]
    (graph / "edges" / "gene__physical__gene.tsv").write_text("\n".join(["src\tdst", *edges]))
    rows = ["|".join(s) + ("\t" + "|".join(s.values()) if kinds else "") for s in samples]
    header = "genes\tkinds" if kinds else "genes"
    (folder / "set.tsv").write_text("\n".join([header, *rows]) + "\n")
    out = folder / "dataset"
    tcbuild.run(
        "incidence",
        "--graph",
        graph,
        "--perturbations",
        folder / "set.tsv",
        "--out",
        out,
        *settings,
    )
    return reader.open(out), samples


@pytest.mark.parametrize("removing", [KINDS, [], ["deletion"], ["deletion", "knockdown"]])
def test_kinds(tcbuild, tmp_path: Path, removing: list[str]) -> None:
    setting = {3: "all", 0: "none"}.get(len(removing), ",".join(removing).title())
    dataset, samples = build(tcbuild, tmp_path, f"removing_kinds=[{setting}]")
    assert dataset.kinds == KINDS
    for stored, expected in zip(dataset, samples):
        genes = sorted(expected)
        assert [GENES[gene] for gene in stored.perturbed] == genes
        assert [KINDS[kind] for kind in stored.perturbed_kinds] == [expected[g] for g in genes]
        assert stored.perturbed_kinds.dtype == np.int8
        deleted = [g for g in genes if expected[g] in removing]
        assert stored.deleted_genes == deleted
        assert [GENES[i] for i in np.flatnonzero(~stored.masks["gene"])] == deleted
    for view in (opened(dataset[10:30]), [opened(dataset)[i] for i in range(10, 30)]):
        batch = tct.collate(view)
        ptr = batch.perturbed_ptr
        assert batch.perturbed_kinds.dtype == torch.int8 and ptr[-1] == len(batch.perturbed_kinds)
        for b, stored in enumerate(dataset[10:30]):
            part = slice(int(ptr[b]), int(ptr[b + 1]))
            assert batch.perturbed[part].tolist() == stored.perturbed.tolist()
            assert batch.perturbed_kinds[part].tolist() == stored.perturbed_kinds.tolist()
    assert tct.collate(opened(dataset), masks=None).pin_memory is not None


def test_kinds_in_batches_of_pyg(tcbuild, tmp_path: Path) -> None:
    torchcell = pytest.importorskip("tcbuild.torchcell", reason="torch_geometric is not installed")
    dataset, _ = build(tcbuild, tmp_path, "removing_kinds=[deletion]")
    want = tct.collate(opened(dataset[10:30]))
    for processor in ("LazySubgraphRepresentation", "Perturbation"):
        samples = torchcell.Dataset(dataset, [], graph_processor=processor)
        (loaded,) = torchcell.DataLoader(samples[10:30], 20, num_workers=1)
        for batch in (loaded, torchcell.LazyCollater()([samples[i] for i in range(10, 30)])):
            for name in ("perturbed", "perturbed_kinds", "perturbed_ptr"):
                assert torch.equal(getattr(batch.to("cpu"), name), getattr(want, name))
    assert tct.collate(opened(dataset[:0])).perturbed_ptr.tolist() == [0]


def test_set_without_kinds(tcbuild, tmp_path: Path) -> None:
    dataset, samples = build(tcbuild, tmp_path, kinds=False)
    assert dataset.kinds == [] and "kinds" not in dataset.manifest
    assert dataset[0].perturbed.tolist() == [0]
    assert dataset[0].perturbed_kinds.tolist() == [-1]
    assert tct.collate(opened(dataset[:4])).perturbed_kinds is None


def test_unknown_kinds(tcbuild, tmp_path: Path) -> None:
    dataset, _ = build(tcbuild, tmp_path, "removing_kinds=all")
    kinds = Kinds(dataset.manifest, lambda: {"A=B": 3})
    genes, codes = kinds.of(np.array([1, 5]), "|deletion|A=B=knockdown")
    assert genes.tolist() == [1, 3, 5] and codes.tolist() == [-1, 1, 0]
    with pytest.raises(reader.errors.DamagedError, match="found 1 kinds, expected 2"):
        kinds.of(np.array([1, 5]), "deletion")
    with pytest.raises(reader.errors.DamagedError, match="'kinds': 'other'"):
        kinds.of(np.array([1]), "other")


def test_case_does_not_matter(tcbuild, tmp_path: Path) -> None:
    """Spellings of one kind have one code, and one genotype."""
    dataset, _ = build(tcbuild, tmp_path, "removing_kinds=all")
    lower = (tmp_path / "set.tsv").read_text()
    upper = "".join(
        line.upper() if i % 2 else line for i, line in enumerate(lower.splitlines(keepends=True))
    )
    (tmp_path / "set.tsv").write_text(upper.replace("GENES\tKINDS", "genes\tkinds"))
    for out, settings in {
        "upper": ("removing_kinds=ALL",),
        "some": ("removing_kinds=[KnockDown]",),
    }.items():
        tcbuild.run(
            "incidence",
            "--graph",
            tmp_path / "graph",
            "--perturbations",
            tmp_path / "set.tsv",
            "--out",
            tmp_path / out,
            *settings,
        )
    found = reader.open(tmp_path / "upper")
    assert [name.lower() for name in found.kinds] == KINDS
    for one, other in zip(found, dataset):
        assert one.perturbed_kinds.tolist() == other.perturbed_kinds.tolist()
        assert one.deleted_genes == other.deleted_genes
    for one, other in zip(reader.open(tmp_path / "some"), dataset):
        kinds = dict(zip(other.perturbed, other.perturbed_kinds))
        assert [*one.deleted] == [g for g, k in kinds.items() if KINDS[k] == "knockdown"]


def test_controls_perturb_nothing(tcbuild, tmp_path: Path) -> None:
    """A sample that only overexpresses a gene deletes nothing, and is no control."""
    dataset, _ = build(tcbuild, tmp_path, "removing_kinds=[deletion]")
    assert len(dataset[0].deleted) == 0
    with pytest.raises(ValueError, match="50 of 50 samples have none"):
        dataset.controls()
