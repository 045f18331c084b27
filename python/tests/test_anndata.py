"""Datasets of AnnData files: what obs says becomes samples, or is an error that names the file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tcbuild as reader

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")

import tcbuild.anndata
from cell_cases import GENES, build, deleted, frame, screen, write
from torch_cases import opened

OLD = Path(__file__).parent / "testdata/anndata"


@pytest.fixture(autouse=True)
def program(tcbuild, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")


def found_of(table: pd.DataFrame, out: Path, **settings) -> list[list[str]]:
    """The deleted genes of each cell."""
    cells = anndata.AnnData(np.zeros((len(table), 1), np.float32), obs=table)
    return [sample.deleted_genes for sample in build(cells, out, attributes=[], **settings)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_samples_are_what_pandas_has(tmp_path, ending, seed):
    obs = frame(300, seed)
    dataset = build(write(tmp_path / f"norman.{ending}", screen(obs)), tmp_path / "cells")
    assert dataset.column("sample_id").tolist() == obs.index.tolist()
    want = [sorted(deleted(condition), key=GENES.index) for condition in obs["condition"]]
    assert [sample.deleted_genes for sample in dataset] == want
    assert dataset.attribute_names == ["cell_type", "batch", "dose"]
    assert np.array_equal(dataset.attribute("dose"), obs["dose"], equal_nan=True)
    types = [None if pd.isna(value) else value for value in obs["cell_type"]]
    assert dataset.attribute("cell_type").tolist() == types


def test_kinds_are_those_of_genes(tmp_path):
    """A kind for all names of a cell, or one for each, controls included."""
    conditions = ["A", "A+ctrl", "ctrl", "A+B", "ctrl+B"]
    kinds = ["CRISPRa", "CRISPRa", "CRISPRa", "CRISPRa+deletion", "none+CRISPRa"]
    obs = pd.DataFrame({"condition": conditions, "kind": kinds}, index=list("vwxyz"))
    cells = anndata.AnnData(np.zeros((5, 1), np.float32), obs=obs)
    options = {"kinds_column": "kind", "removing_kinds": ["deletion"], "attributes": []}
    dataset = build(cells, tmp_path / "cells", **options)
    found = [[dataset.kinds[kind] for kind in sample.perturbed_kinds] for sample in dataset]
    assert found == [["CRISPRa"], ["CRISPRa"], [], ["CRISPRa", "deletion"], ["CRISPRa"]]
    assert [sample.deleted_genes for sample in dataset] == [[], [], [], ["B"], []]
    assert dataset.controls().tolist() == [2] * 5


@pytest.mark.parametrize(
    ("delimiter", "controls", "condition", "want"),
    [
        ("_", ["ctrl"], "A_ctrl", ["A"]),
        ("_", ["ctrl"], "ctrl_A", ["A"]),
        (";", ["ctrl"], "A;ctrl;B", ["A", "B"]),
        ("+", ["non-targeting"], "non-targeting", []),
    ],
)
def test_delimiters_and_controls(tmp_path, delimiter, controls, condition, want):
    obs = pd.DataFrame({"condition": [condition, "B"]}, index=["u", "v"])
    found = found_of(obs, tmp_path / "cells", gene_delimiter=delimiter, controls=controls)
    assert found == [want, ["B"]]


UNDECLARED = ["control", "ctrl", "non-targeting", "NT", "Non_Targeting", "negative_control"]


@pytest.mark.parametrize("wildtypes", [True, False])
@pytest.mark.parametrize("label", UNDECLARED)
@pytest.mark.parametrize("beside", ["", "A+", "+B"])
def test_undeclared_controls_are_said(tmp_path, label, beside, wildtypes):
    """No unknown label is a gene's perturbation, or a control, unless the user says so."""
    condition = beside + label if beside.endswith("+") else label + beside
    obs = pd.DataFrame({"condition": ["A", condition]}, index=["u", "v"])
    with pytest.raises(reader.errors.InputError, match="row 1.*" + label) as refused:
        found_of(obs, tmp_path / "cells", controls=[], allow_wildtype=wildtypes)
    assert f'controls="{label}"' in refused.value.hint or "_" in label


@pytest.mark.parametrize("delimiter", ["_", ",", ";", "|"])
def test_pairs_with_another_delimiter_are_said(tmp_path, delimiter):
    obs = pd.DataFrame({"condition": ["A", f"A{delimiter}B"]}, index=["u", "v"])
    with pytest.raises(reader.errors.InputError, match="row 1: found gene"):
        found_of(obs, tmp_path / "cells")


@pytest.mark.parametrize("missing", [None, np.nan, "", " "])
@pytest.mark.parametrize("categorical", [True, False])
def test_missing_conditions_are_no_controls(tmp_path, missing, categorical):
    obs = pd.DataFrame({"condition": ["A", missing, "ctrl", missing]}, index=list("wxyz"))
    obs = obs.astype("category") if categorical else obs
    cells = anndata.AnnData(np.zeros((4, 1), np.float32), obs=obs)
    with pytest.raises(reader.errors.InputError, match="2 of 4 cells have no 'condition'.*'x'"):
        build(cells, tmp_path / "cells", attributes=[])
    kept = cells[(cells.obs["condition"].notna() & cells.obs["condition"].str.strip().ne(""))]
    dataset = build(kept, tmp_path / "cells", attributes=[])
    assert dataset.column("sample_id").tolist() == ["w", "y"]


def test_second_genes_may_be_missing(tmp_path):
    obs = pd.DataFrame({"a": ["A", "B", "ctrl"], "b": ["B", None, None]}, index=list("xyz"))
    options = {"genes_columns": ["a", "b"], "gene_delimiter": None}
    assert found_of(obs, tmp_path / "cells", **options) == [["A", "B"], ["B"], []]
    obs.loc["z", "a"] = None
    with pytest.raises(reader.errors.InputError, match="1 of 3 cells have no 'a'.*'z'"):
        found_of(obs, tmp_path / "more", **options)


@pytest.mark.parametrize("version", ["0.6.22", "0.7.8"])
def test_files_of_old_versions(tmp_path, version):
    """obs as a compound dataset, and categories apart from their columns (write.py made them)."""
    file = OLD / f"anndata-{version}.h5ad"
    if version == "0.6.22":
        with pytest.raises(reader.errors.InputError, match="old format.*\nhint: .* 0.7 or later"):
            build(file, tmp_path / "cells")
        file = write(tmp_path / "new.h5ad", anndata.read_h5ad(file))
    dataset = build(file, tmp_path / "cells")
    assert [sample.deleted_genes for sample in dataset] == [[], ["B"], ["B"], ["B"], ["A", "B"], []]
    assert dataset.attribute("cell_type").tolist() == ["T", None, "NK", "T", "T", "NK"]
    assert dataset.attribute("batch").tolist() == [2, 1, 1, 2, 3, 3]


def test_files_that_are_not_anndata(tmp_path):
    (tmp_path / "text.h5ad").write_text("no")
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["X"] = 1
    (tmp_path / "empty.zarr").mkdir()
    for name in ("text.h5ad", "other.h5ad", "empty.zarr"):
        with pytest.raises(reader.errors.InputError, match=name):
            build(tmp_path / name, tmp_path / "cells")
    assert sorted(os.listdir(tmp_path)) == ["empty.zarr", "other.h5ad", "text.h5ad"]


def test_matched_controls(tmp_path):
    obs = frame(300)
    stored = build(screen(obs), tmp_path / "cells")
    wild = {place for place, condition in enumerate(obs["condition"]) if not deleted(condition)}
    for view in (stored, stored[::-2], stored[[*sorted(wild), 5, 6, 7]]):
        for by in ([], ["cell_type"], ["cell_type", "batch"], ["dose"]):
            found = view.controls(by=by, seed=3, missing="mark")
            assert np.array_equal(found, view.controls(by=by, seed=3, missing="mark"))
            keys = list(zip(*(view.attribute(name).tolist() for name in by))) or [()] * len(view)
            keys = [tuple("nan" if item != item else item for item in key) for key in keys]
            of_key: dict = {}
            for place, index in enumerate(view.indices.tolist()):
                if index in wild:
                    of_key.setdefault(keys[place], []).append(place)
            for place, control in enumerate(found.tolist()):
                assert control in of_key.get(keys[place], [-1])
    assert not np.array_equal(stored.controls(seed=1), stored.controls(seed=2))
    assert len(set(stored.controls().tolist())) > len(wild) // 2
    without = stored[[place for place in range(len(obs)) if place not in wild]]
    with pytest.raises(
        ValueError, match=f"{len(without)} of {len(without)} samples have none among 0 wild"
    ):
        without.controls()
    with pytest.raises(KeyError, match="cell_type"):
        stored.controls(by=["cel_type"])


def test_attributes_in_batches(tmp_path):
    tt = pytest.importorskip("tcbuild.torch", reason="PyTorch is not installed")
    obs, names = frame(300), ["cell_type", "dose", "batch"]
    build(screen(obs), tmp_path / "cells")
    dataset, chosen = opened(tmp_path / "cells"), [7, 3, 299, 3]
    for samples in (dataset[chosen], [dataset[place] for place in chosen]):
        batch = tt.collate(samples, attributes=names)
        for name in ("dose", "batch"):
            want = obs[name].to_numpy(float)[chosen]
            assert np.array_equal(batch.attribute(name).numpy(), want, equal_nan=True)
        codes, categories = batch.attribute("cell_type")
        assert categories == obs["cell_type"].cat.categories.tolist()
        assert codes.tolist() == obs["cell_type"].cat.codes.iloc[chosen].tolist()
    with pytest.raises(KeyError, match=r"attributes=\['guide'\]"):
        batch.attribute("guide")
    with pytest.raises(KeyError, match="cell_type"):
        tt.collate(dataset[:2], attributes=["cell_typ"])


def test_attributes_in_batches_of_pyg(tmp_path):
    torchcell = pytest.importorskip("tcbuild.torchcell", reason="torch_geometric is not installed")
    obs = frame(300)
    build(screen(obs), tmp_path / "cells")
    for processor in ("LazySubgraphRepresentation", "Perturbation"):
        dataset = torchcell.Dataset(tmp_path / "cells", graph_processor=processor)
        names = {"attributes": ["cell_type", "dose"]}
        (loaded,) = torchcell.DataLoader(dataset[::-60], 5, num_workers=1, **names)
        rows = [*range(len(obs))[::-60]]
        for batch in (loaded, torchcell.LazyCollater(**names)([dataset[row] for row in rows])):
            codes, categories = batch.attribute("cell_type")
            want = obs["cell_type"].iloc[rows].cat
            assert categories == ["B", "NK", "T"] and codes.tolist() == want.codes.tolist()
            dose = obs["dose"].iloc[rows]
            assert np.array_equal(batch.attribute("dose").numpy(), dose, equal_nan=True)
            with pytest.raises(
                KeyError, match="attribute 'batch' not among .*\nhint: list the attributes"
            ):
                batch.attribute("batch")


def test_masks_of_a_genotype_are_found_once(tmp_path, monkeypatch):
    tt = pytest.importorskip("tcbuild.torch", reason="PyTorch is not installed")
    build(screen(frame(300)), tmp_path / "cells")
    dataset = opened(tmp_path / "cells")
    want = [sample.all_masks for sample in dataset]
    calls: list[int] = []
    read = dataset._masks.unordered
    monkeypatch.setattr(dataset._masks, "unordered", lambda at: calls.append(at) or read(at))
    repeated = tt.MaskGenerator(dataset)(tt.collate(dataset[:], masks=None))
    batch = tt.collate(dataset[:])
    genotypes = {sample.deleted.tobytes() for sample in dataset}
    assert len(calls) == len(genotypes) < len(dataset) / 10
    with pytest.raises(KeyError, match="'gene__strng__gene' .*\nhint: did you mean 'gene__string"):
        batch.masks["gene__strng__gene"]
    for name, mask in batch.masks.items():
        assert mask.equal(repeated[name])
    for place, masks in enumerate(want):
        found = np.concatenate([mask[place].numpy() for mask in batch.masks.values()])
        assert np.array_equal(found, masks)


@pytest.mark.parametrize("form", ["memory", "file"])
def test_the_index_is_no_id_column(tmp_path, form):
    obs = pd.DataFrame({"condition": ["A", "B"]}, index=pd.Index(["u", "v"], name="cell"))
    cells = anndata.AnnData(np.zeros((2, 1), np.float32), obs=obs)
    cells = write(tmp_path / "a.h5ad", cells) if form == "file" else cells
    for name in ("cell", "no"):
        with pytest.raises(reader.errors.InputError, match="hint: omit id_column: .* obs_names"):
            build(cells, tmp_path / "cells", id_column=name)
