"""Perturbation sets from AnnData files, compared with pandas, and where a batch has its cells."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tcbuild as reader
from conftest import REPOSITORY
from torch_cases import opened

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")

import tcbuild.anndata as cells

OLD = Path(__file__).parent / "testdata/anndata"
GENES = ["A", "B", "HLA-A", "ENSG01.12"]
CONDITIONS = ["ctrl", "A+ctrl", "ctrl+B", "A+B", "B+A", "HLA-A+ctrl", "A", "NT+ctrl", "ENSG01.12+A"]


def frame(count: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)

    def some(values: list) -> list:
        return [values[place] for place in random.integers(0, len(values), count)]

    dose = random.normal(size=count)
    dose[::7] = np.nan
    return pd.DataFrame(
        {
            "condition": pd.Categorical(some(CONDITIONS)),
            "cell_type": pd.Categorical(some(["T", "NK", "B", None])),
            "batch": pd.Categorical(some([1, 2, 3])),
            "guide": [f"g{place}" for place in random.integers(0, 50, count)],
            "dose": dose,
            "counts": random.integers(0, 1000, count),
            "doublet": random.random(count) < 0.1,
            "passage": pd.array(some([1, 2, None]), "Int64"),
        },
        index=[f"cell{place}" for place in range(count)],
    )


def write(path: Path, obs: pd.DataFrame) -> Path:
    expression = np.random.default_rng(1).random((len(obs), 3), np.float32)
    found = anndata.AnnData(expression, obs=obs.copy())
    found.write_zarr(path) if path.suffix == ".zarr" else found.write_h5ad(path)
    return path


def deleted(condition: str, controls: list[str]) -> list[str]:
    """The slow meaning of a condition."""
    return [name for name in condition.split("+") if name not in controls]


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_set_is_what_pandas_has(tmp_path, ending):
    obs = frame(500)
    file = write(tmp_path / f"norman.{ending}", obs)
    keep = [*obs.columns[1:]]
    made = cells.perturbations(file, controls=["ctrl", "NT"], keep=keep, genes=GENES)
    assert made.path == tmp_path / "norman.arrow" and made.cells == 500 and made.dropped == 0
    table = pa.ipc.open_file(made.path).read_all()
    want = [deleted(condition, ["ctrl", "NT"]) for condition in obs["condition"]]
    assert table["genes"].to_pylist() == ["|".join(names) for names in want]
    assert made.wildtypes == sum(not names for names in want)
    assert made.genotypes == len({frozenset(names) for names in want})
    assert table["row"].to_pylist() == list(range(500))
    assert set(table["file"].to_pylist()) == {f"norman.{ending}"}
    assert set(table["file_rows"].to_pylist()) == {500}
    for name in keep:
        found = table[name].to_pylist()
        expected = [None if pd.isna(value) else value for value in obs[name].tolist()]
        assert found == ([str(value) for value in expected] if name == "batch" else expected), name


@pytest.mark.parametrize("seed", range(4))
def test_kinds_are_what_pandas_has(tmp_path, seed):
    """One kind for all cells, and a column with one per cell or one per name."""
    obs = frame(200, seed)
    random = np.random.default_rng(seed)
    names = ["CRISPRa", "deletion", " Knock-down "]
    obs["kind"] = [
        None
        if deleted(condition, ["ctrl", "NT"]) == []
        else "+".join(random.choice(names, random.choice([1, condition.count("+") + 1])))
        for condition in obs["condition"]
    ]
    file = write(tmp_path / "cells.h5ad", obs)
    controls = ["ctrl", "NT"]

    def found(**options) -> list[str]:
        out = tmp_path / f"{[*options][0]}.arrow"
        made = cells.perturbations(file, out, controls=controls, **options)
        return pa.ipc.open_file(made.path).read_all()["kinds"].to_pylist()

    want, one = [], []
    for condition, kind in zip(obs["condition"], obs["kind"]):
        parts = condition.split("+")
        kinds = [part.strip() for part in (kind or "").split("+")]
        kinds = kinds * len(parts) if len(kinds) == 1 else kinds
        want.append("|".join(k for k, name in zip(kinds, parts) if name not in controls))
        one.append("|".join("CRISPRa" for _ in deleted(condition, controls)))
    assert found(kinds="kind") == want
    assert found(kind="CRISPRa") == one


@pytest.mark.parametrize(
    ("condition", "kind", "options", "message"),
    [
        ("A+B", "x+y+z", {"kinds": "k"}, "row 0: found 3 kinds for 'A\\+B', expected one, or 2"),
        ("A", None, {"kinds": "k"}, "row 0: found no kind of 'A'"),
        ("A", "x=y", {"kinds": "k"}, "found the kind 'x=y', expected a name without"),
        ("A", "x", {"kinds": "l"}, "found no column 'l'"),
        ("A", "x", {"kind": "a|b"}, "found the kind 'a|b'"),
        ("A", "x", {"kind": ""}, "found the kind ''"),
        ("A", "x", {"kind": "x", "kinds": "k"}, "found kind and kinds"),
        ("A", "x", {"keep": ["kinds"]}, "found 'kinds', which is already a column of the set"),
    ],
)
def test_kind_errors(tmp_path, condition, kind, options, message):
    obs = pd.DataFrame({"condition": [condition, "C"], "k": [kind, "x"]}, index=["u", "v"])
    file = write(tmp_path / "a.h5ad", obs)
    with pytest.raises((ValueError, KeyError), match=message):
        cells.perturbations(file, **options)
    assert not (tmp_path / "a.arrow").exists()


@pytest.mark.parametrize("version", ["0.6.22", "0.7.8"])
def test_files_of_old_versions(tmp_path, version):
    """obs as a compound dataset, and categories apart from their columns (write.py made them)."""
    file = OLD / f"anndata-{version}.h5ad"
    keep = ["cell_type", "batch", "dose", "n_counts"]
    out = tmp_path / "old.arrow"
    cells.perturbations(file, out, controls=["ctrl"], keep=keep)
    table = pa.ipc.open_file(out).read_all()
    assert table["genes"].to_pylist() == ["", "B", "B", "B", "A|B", ""]
    assert table["cell_type"].to_pylist() == ["T", None, "NK", "T", "T", "NK"]
    assert table["batch"].to_pylist() == ["2", "1", "1", "2", "3", "3"]
    assert table["dose"].to_pylist() == [0.5, None, 1.0, -2.0, 0.0, 3.0]
    assert table["n_counts"].to_pylist() == [1, 2, 3, 4, 5, 6]
    assert set(table["file_rows"].to_pylist()) == {6}


@pytest.mark.parametrize(
    ("delimiter", "controls", "condition", "want"),
    [
        ("_", ["non_targeting"], "A_non_targeting", "A"),
        ("_", ["non_targeting"], "non_targeting_A", "A"),
        ("_", ["non_targeting"], "non_targeting", ""),
        (" || ", ["NT"], "A || NT || B", "A|B"),
        (";", ["ctrl"], "A;B;A", "A|B|A"),
        ("+", [], "ctrl", "ctrl"),
        ("+", ["ctrl"], "CTRL", "CTRL"),
    ],
)
def test_delimiters_and_controls(tmp_path, delimiter, controls, condition, want):
    file = write(tmp_path / "a.h5ad", pd.DataFrame({"g": [condition, "X"]}, index=["u", "v"]))
    made = cells.perturbations(file, condition="g", delimiter=delimiter, controls=controls)
    assert pa.ipc.open_file(made.path).read_all()["genes"].to_pylist() == [want, "X"]


def bad(conditions: list, **options) -> dict:
    return {"conditions": conditions, "options": {"controls": ["ctrl"], **options}}


@pytest.mark.parametrize(
    ("case", "message", "hint"),
    [
        (
            bad(["A+B", "+"]),
            "column 'condition': row 1: '+': found no name beside '+'",
            "delimiter",
        ),
        (bad(["A", "B+"]), "row 1: 'B+': found no name", "delimiter"),
        (bad(["A + B"]), "row 0: 'A + B': found 'A ', expected a name without spaces", "spaces"),
        (bad(["A|B"]), "without |", "delimiter='|'"),
        (bad(["A", None, "B", None]), "2 of 4 cells have no condition, the first in row 1", "drop"),
        (bad(["A", " "]), "1 of 2 cells have no condition", "drop"),
        (bad(["ctrl", "ctrl+ctrl"]), "all 2 cells have only controls (ctrl)", "controls"),
        (bad(["KRAS", "KRAS+MYCC"], genes=["KRAS", "MYC"]), "genes has: 'MYCC' (1)", "'MYC'"),
        (bad(["A_B", "A"], genes=["A", "B"]), "'A_B' (1)", "delimiter='_'"),
        (bad(["A"], genes=["A", "ctrl"]), "control 'ctrl', which is a gene", "rename the gene"),
        (bad(["A"], controls=["ctrl "]), "found the control 'ctrl '", ""),
        (bad(["A"], controls="ctrl"), "controls: found str, expected a list", ""),
        (bad(["A"], condition="Condition"), "found no column 'Condition'", "'condition'"),
        (bad(["A"], keep=["conditio"]), "found no column 'conditio'", "'condition'"),
        (bad(["A"], keep=["row"]), "found 'row', which is already a column of the set", "rename"),
        (bad(["A"], condition="n"), "column 'n': found int64, expected texts", "condition="),
        (bad(["A", "B"], keep=["inf"]), "column 'inf': row 1: found an infinite value", "keep"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, case, message, hint):
    conditions = case["conditions"]
    infinite = [0.0, *[np.inf] * (len(conditions) - 1)]
    obs = pd.DataFrame({"condition": pd.Categorical(conditions), "n": 1, "inf": infinite})
    file = write(tmp_path / "a.h5ad", obs.set_index(obs.index.astype(str)))
    with pytest.raises((ValueError, TypeError, KeyError)) as error:
        cells.perturbations(file, **case["options"])
    first, *rest = str(error.value).split("\n")
    assert message in first and hint in "".join(rest) and len(rest) <= 1
    assert os.listdir(tmp_path) == ["a.h5ad"]


def test_files_that_are_not_anndata(tmp_path):
    (tmp_path / "text.h5ad").write_text("no")
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["X"] = 1
    (tmp_path / "empty.zarr").mkdir()
    for name in ("text.h5ad", "other.h5ad", "empty.zarr"):
        with pytest.raises(reader.errors.AnnDataError, match=name):
            cells.perturbations(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="none.h5ad"):
        cells.perturbations(tmp_path / "none.h5ad")
    assert sorted(os.listdir(tmp_path)) == ["empty.zarr", "other.h5ad", "text.h5ad"]


def test_damaged_codes_and_lengths(tmp_path):
    file = write(tmp_path / "a.h5ad", frame(20))
    with h5py.File(file, "r+") as root:
        root["obs/cell_type/codes"][3] = 100
        del root["obs/dose"]
        root["obs/dose"] = np.zeros(19)
        root["obs/dose"].attrs["encoding-type"] = "array"
    for column, found in (("cell_type", "codes from -1 to 100"), ("dose", "has 19 rows")):
        with pytest.raises(reader.errors.AnnDataError, match=found):
            cells.perturbations(file, controls=["ctrl", "NT"], keep=[column])


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_declared_sizes_are_bounded_by_the_file(tmp_path, ending):
    """An array that declares more rows than its file can hold is refused, not read."""
    for name, found in (
        ("_index", "the index declares 1,125,899,906,842,624 rows"),
        ("condition/codes", "column 'condition' has 1,125,899,906,842,624 rows"),
        ("condition/categories", "column 'condition', categories declares 1,125,899,906,842,624"),
        ("dose", "column 'dose' has 1,125,899,906,842,624 rows"),
        ("passage/mask", "column 'passage' has 1,125,899,906,842,624 rows"),
    ):
        file = write(tmp_path / f"{name.replace('/', '_')}.{ending}", frame(20))
        if ending == "zarr":
            described = file / "obs" / name / ".zarray"
            array = json.loads(described.read_text())
            described.write_text(json.dumps(array | {"shape": [1 << 50]}))
            (file / ".zmetadata").unlink()
        else:
            with h5py.File(file, "r+") as root:
                values, attributes = root["obs"][name][:], dict(root["obs"][name].attrs)
                del root["obs"][name]
                root["obs"].create_dataset(name, data=values, maxshape=(None,))
                root["obs"][name].resize((1 << 50,))
                root["obs"][name].attrs.update(attributes)
        with pytest.raises(reader.errors.AnnDataError, match=found) as refused:
            cells.perturbations(file, controls=["ctrl", "NT"], keep=["dose", "passage"])
        assert str(file) in str(refused.value)


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_flipped_bits(tmp_path, ending):
    """A file with a flipped bit is read, or is an error that names it; h5py's and zarr's own
    errors do not.
    """
    file, random = write(tmp_path / f"a.{ending}", frame(20)), np.random.default_rng(3)
    (tmp_path / "a.zarr/.zmetadata").unlink(missing_ok=True)
    parts = [part for part in file.glob("obs/**/*") if part.is_file()] or [file]
    refused = 0
    for trial in range(150):
        part = sorted(parts)[trial % len(parts)]
        content = bytearray(part.read_bytes())
        bit = random.integers(len(content) * 8)
        part.write_bytes(
            content[: bit // 8]
            + bytes([content[bit // 8] ^ 1 << bit % 8])
            + content[bit // 8 + 1 :]
        )
        try:
            cells.Cells(file)
            cells.perturbations(
                file, tmp_path / f"{trial}.arrow", controls=["ctrl", "NT"], keep=["dose", "passage"]
            )
        except (reader.errors.AnnDataError, reader.errors.UnknownNameError) as error:
            assert str(file) in str(error)
            refused += 1
        part.write_bytes(content)
    assert refused > 10


def test_missing_conditions_are_left_out(tmp_path):
    obs = pd.DataFrame({"condition": pd.Categorical(["A", None, "ctrl", "B"]), "n": [1, 2, 3, 4]})
    file = write(tmp_path / "a.h5ad", obs.set_index(obs.index.astype(str)))
    made = cells.perturbations(file, controls=["ctrl"], keep=["n"], missing="drop")
    table = pa.ipc.open_file(made.path).read_all()
    assert made[1:] == (3, 1, 3, 1)
    assert table["row"].to_pylist() == [0, 2, 3] and table["n"].to_pylist() == [1, 3, 4]
    assert set(table["file_rows"].to_pylist()) == {4}
    with pytest.raises(FileExistsError, match="already exists"):
        cells.perturbations(file, controls=["ctrl"], missing="drop")


def graph(folder: Path) -> Path:
    (folder / "graph/nodes").mkdir(parents=True)
    (folder / "graph/edges").mkdir()
    (folder / "graph/nodes/gene.tsv").write_text("\n".join(["id", *GENES, "ctrl2"]) + "\n")
    edges = "src_index\tdst_index\n0\t1\n1\t2\n3\t0\n2\t2\n"
    (folder / "graph/edges/gene__string__gene.tsv").write_text(edges)
    return folder / "graph"


def built(tcbuild, folder: Path, count: int = 300) -> tuple[Path, Path, pd.DataFrame]:
    """A file of cells, its dataset, and its obs."""
    obs = frame(count)
    file = write(folder / "norman.h5ad", obs)
    made = cells.perturbations(file, controls=["ctrl", "NT"], keep=["cell_type", "batch", "dose"])
    inputs = ["--graph", graph(folder), "--perturbations", made.path, "--allow-wildtype"]
    tcbuild.run("incidence", *inputs, "--out", folder / "cells")
    return file, folder / "cells", obs


def test_controls_mean_what_the_programs_do(tcbuild, tmp_path):
    """The program on a table of the conditions themselves makes the same samples and masks."""
    _, dataset, obs = built(tcbuild, tmp_path)
    table = pa.table({"genes": [text.replace("+", "|") for text in obs["condition"]]})
    with pa.OSFile(str(tmp_path / "raw.arrow"), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    inputs = ["--graph", tmp_path / "graph", "--perturbations", tmp_path / "raw.arrow"]
    options = ["--controls", "ctrl,NT", "--allow-wildtype", "--out", tmp_path / "raw"]
    tcbuild.run("incidence", *inputs, *options)
    found, want = reader.open(dataset), reader.open(tmp_path / "raw")
    for sample, expected in zip(found, want, strict=True):
        assert sample.deleted_genes == expected.deleted_genes and np.array_equal(
            sample.removed, expected.removed
        )


def test_numbers_of_cells_are_attributes(tcbuild, tmp_path):
    _, dataset, obs = built(tcbuild, tmp_path)
    manifest = json.loads((dataset / "manifest.json").read_text())
    assert manifest["phenotypes"] == []
    types = {entry["name"]: entry["type"] for entry in manifest["attributes"]}
    assert types == {"row": "number", "file": "text", "file_rows": "number"} | {
        "cell_type": "text",
        "batch": "text",
        "dose": "number",
    }
    stored = reader.open(dataset)
    assert stored.attribute("row").tolist() == list(range(len(obs)))
    assert np.array_equal(stored.attribute("dose"), obs["dose"], equal_nan=True)


def test_matched_controls(tcbuild, tmp_path):
    _, dataset, obs = built(tcbuild, tmp_path)
    stored = reader.open(dataset)
    wild = {
        place
        for place, condition in enumerate(obs["condition"])
        if not deleted(condition, ["ctrl", "NT"])
    }
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
    with pytest.raises(ValueError, match=f"{len(without)} of {len(without)} samples have none: '"):
        without.controls()
    with pytest.raises(KeyError, match="cell_type"):
        stored.controls(by=["cel_type"])


def test_rows_of_a_batch(tcbuild, tmp_path):
    tt = pytest.importorskip("tcbuild.torch", reason="PyTorch is not installed")
    file, path, obs = built(tcbuild, tmp_path)
    dataset, names = opened(path), ["cell_type", "dose", "batch"]
    chosen = [7, 3, 299, 3]
    for samples in (dataset[chosen], [dataset[place] for place in chosen]):
        batch = tt.collate(samples, attributes=names)
        batch = pickle.loads(pickle.dumps(batch))
        assert batch.rows.tolist() == chosen
        assert cells.Cells(file).rows(batch).tolist() == chosen
        dose = batch.attribute("dose").numpy()
        assert np.array_equal(dose, obs["dose"].to_numpy()[chosen], equal_nan=True)
        for name in ("cell_type", "batch"):
            want = obs[name].astype(object).map(lambda value: str(value), na_action="ignore")
            want = pd.Categorical(want)
            codes, categories = batch.attribute(name)
            assert categories == want.categories.tolist()
            assert codes.tolist() == want.codes[chosen].tolist()
    assert len(tt.collate(dataset[:0]).rows) == 0
    with pytest.raises(KeyError, match=r"attributes=\['guide'\]"):
        batch.attribute("guide")
    with pytest.raises(KeyError, match="cell_type"):
        tt.collate(dataset[:2], attributes=["cell_typ"])
    other = write(tmp_path / "b.h5ad", obs)
    with pytest.raises(reader.errors.AnnDataError, match="found cells of norman.h5ad"):
        cells.Cells(other).rows(batch)
    (tmp_path / "more").mkdir()
    more = write(tmp_path / "more/norman.h5ad", frame(301))
    with pytest.raises(reader.errors.AnnDataError, match="it has 301 cells, expected 300"):
        cells.Cells(more).rows(batch)


def test_attributes_in_batches_of_pyg(tcbuild, tmp_path):
    torchcell = pytest.importorskip("tcbuild.torchcell", reason="torch_geometric is not installed")
    file, path, obs = built(tcbuild, tmp_path)
    for processor in ("LazySubgraphRepresentation", "Perturbation"):
        dataset = torchcell.Dataset(
            path, graph_processor=processor, attributes=["cell_type", "dose"]
        )
        (loaded,) = torchcell.DataLoader(dataset[::-60], 5, num_workers=1)
        rows = range(len(obs))[::-60]
        for batch in (loaded, torchcell.LazyCollater()([dataset[row] for row in rows])):
            codes, categories = batch.attribute("cell_type")
            want = obs["cell_type"].iloc[list(rows)].cat
            assert categories == ["B", "NK", "T"] and codes.tolist() == want.codes.tolist()
            dose = obs["dose"].iloc[list(rows)]
            assert np.array_equal(batch.attribute("dose").numpy(), dose, equal_nan=True)
            assert batch.rows.tolist() == cells.Cells(file).rows(batch).tolist() == list(rows)
            with pytest.raises(
                KeyError, match="attribute 'batch' not among .*\nhint: list the attributes"
            ):
                batch.attribute("batch")


def test_masks_of_a_genotype_are_found_once(tcbuild, tmp_path, monkeypatch):
    tt = pytest.importorskip("tcbuild.torch", reason="PyTorch is not installed")
    _, path, _ = built(tcbuild, tmp_path)
    dataset = opened(path)
    want = [sample.all_masks for sample in dataset]
    calls: list[int] = []
    read = dataset._masks.unordered
    monkeypatch.setattr(dataset._masks, "unordered", lambda at: calls.append(at) or read(at))
    generator = tt.MaskGenerator(dataset)
    made: list[int] = []
    make = generator._masks
    generator._masks = lambda genes, ptr: made.append(len(ptr) - 1) or make(genes, ptr)
    repeated = generator(tt.collate(dataset[:], masks=None))
    batch = tt.collate(dataset[:])
    genotypes = {sample.deleted.tobytes() for sample in dataset}
    assert [len(calls)] == made == [len(genotypes)] and len(genotypes) < len(dataset) / 10
    with pytest.raises(KeyError, match="'gene__strng__gene' .*\nhint: did you mean 'gene__string"):
        batch.masks["gene__strng__gene"]
    for name, mask in batch.masks.items():
        assert mask.equal(repeated[name])
    for place, masks in enumerate(want):
        found = np.concatenate([mask[place].numpy() for mask in batch.masks.values()])
        assert np.array_equal(found, masks)


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_example_trains(tcbuild, tmp_path, matrix):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    file, dataset, obs = built(tcbuild, tmp_path)
    expression = anndata.read_h5ad(file).X
    anndata.AnnData(matrix(expression), obs=obs).write_h5ad(file)
    example = REPOSITORY / "python/examples/train_cells.py"
    command = [sys.executable, example, dataset, file, "--steps", 6, "--workers", 1]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(losses) == 6 and np.isfinite(losses).all() and losses[-1] < losses[0]


# VmHWM begins with the program; ru_maxrss has that of the process which started it.
PEAK = """
import re, sys
import tcbuild.anndata
tcbuild.anndata.perturbations(sys.argv[1], controls=["ctrl"], keep=["cell_type", "batch"])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
def test_a_million_cells_take_little_memory(tmp_path):
    random = np.random.default_rng(0)
    names = [f"GENE{place}+{'ctrl' if place % 2 else 'GENE0'}" for place in range(1, 10_000)]
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical.from_codes(
                random.integers(0, 10_000, 10**6), ["ctrl", *names]
            ),
            "cell_type": pd.Categorical(random.integers(0, 20, 10**6)),
            "batch": pd.Categorical(random.integers(0, 48, 10**6)),
        },
        index=np.arange(10**6).astype(str),
    )
    file = write(tmp_path / "million.h5ad", obs)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    command = [sys.executable, "-c", PEAK, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500_000  # kB
