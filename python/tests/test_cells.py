"""Expression and matched controls of batches, against the whole matrix as anndata reads it."""

from __future__ import annotations

import collections
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tcbuild as reader
from conftest import REPOSITORY, SEED

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild.torch as tt
from cell_cases import COLUMNS, GENES, build, deleted, frame, screen, write
from tcbuild.anndata import Cells

CELLS = 300
BY = ["cell_type", "batch"]
MATRICES = [{}, {"layer": "dense"}, {"layer": "counts"}, {"obsm": "pca"}, {"obsm": "few"}]


@pytest.fixture(scope="module")
def case(tcbuild, tmp_path_factory):
    """A folder with screen.h5ad, screen.zarr and the dataset cells; obs."""
    folder = tmp_path_factory.mktemp("screen")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
        # The samples are some of the cells, in another order than the file's.
        cells = screen(frame(CELLS))
        chosen = np.random.default_rng(SEED).permutation(CELLS)[: CELLS - 20]
        build(cells[chosen].copy(), folder / "cells")
    for ending in ("h5ad", "zarr"):
        write(folder / f"screen.{ending}", cells)
    return folder, cells


def dense(matrix) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def whole(cells, layer=None, obsm=None) -> pd.DataFrame:
    """The whole matrix, by the cells' names."""
    matrix = cells.layers[layer] if layer else cells.obsm[obsm] if obsm else cells.X
    return pd.DataFrame(dense(matrix), index=cells.obs_names)


def numbers(tensor) -> np.ndarray:
    return (tensor.to_dense() if tensor.layout == torch.sparse_csr else tensor).numpy()


def check(batch, cells, **place) -> list[str]:
    """Checks a batch's expression and controls; the names of the controls."""
    want, obs = whole(cells, **place), cells.obs
    ids = batch.sample_ids if hasattr(batch, "sample_ids") else batch.sample_id
    ids = [ids] if isinstance(ids, str) else ids
    assert np.array_equal(numbers(batch.expression), want.loc[ids])
    assert numbers(batch.expression).dtype == want.to_numpy().dtype
    key = obs[BY].astype(object).where(obs[BY].notna(), "none").apply(tuple, axis=1)
    wild = [name for name in obs.index if not deleted(obs.loc[name, "condition"])]
    found = []
    for name, row in zip(ids, numbers(batch.control)):
        found += [each for each in wild if np.array_equal(want.loc[each], row)]
        assert key[found[-1]] == key[name]
    assert len(found) == len(ids)  # each row is of one cell
    return found


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("place", MATRICES, ids=str)
@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_each_cell_has_its_row_and_a_control(case, ending, place, is_sparse):
    folder, whole_cells = case
    dataset = reader.open(folder / "cells")
    file = folder / f"screen.{ending}"
    cells = Cells(dataset, file, BY, sparse=is_sparse, **place)
    loader = tt.DataLoader(cells, 64, sampler=tt.Order(cells, seed=1), attributes=["cell_type"])
    seen = []
    for batch in loader:
        check(batch, whole_cells, **place)
        codes, categories = batch.attribute("cell_type")
        types = whole_cells.obs.loc[batch.sample_ids, "cell_type"]
        assert [categories[code] if code >= 0 else None for code in codes] == [
            None if pd.isna(value) else value for value in types
        ]
        view = dataset[batch.sample_indices.tolist()]
        assert all(map(torch.equal, batch.masks.values(), tt.collate(view).masks.values()))
        seen += batch.sample_ids
    assert sorted(seen) == sorted(dataset.column("sample_id"))
    assert (batch.expression.layout == torch.sparse_csr) == is_sparse
    moved = pickle.loads(pickle.dumps(batch)).to("cpu")
    assert np.array_equal(numbers(moved.control), numbers(batch.control))


def drawn(case, workers=0, context=None, epochs=2, persistent=False, state=None, stop=None, **more):
    """The controls of each sample in some epochs, by its name; the loader's state after stop."""
    folder, whole_cells = case
    cells = Cells(folder / "cells", folder / "screen.h5ad", BY, seed=5)
    loader = tt.DataLoader(
        cells,
        16,
        sampler=tt.Order(cells, seed=1),
        num_workers=workers,
        multiprocessing_context=context,
        persistent_workers=persistent,
        masks=None,
        **more,
    )
    if state:
        loader.load_state_dict(state)
    found = []
    for _ in range(epochs):
        found.append({})
        for number, batch in enumerate(loader):
            of_batch = numbers(batch.control)
            found[-1] |= {name: row.tobytes() for name, row in zip(batch.sample_ids, of_batch)}
            if number == stop:
                return found, loader.state_dict()
    return found


def test_draws_depend_on_seed_and_epoch_alone(case):
    want = drawn(case)
    assert want == drawn(case) and want[0].keys() == want[1].keys()
    assert sum(want[0][name] != want[1][name] for name in want[0]) > len(want[0]) / 2
    assert want == drawn(case, workers=2, context="fork")
    assert want == drawn(case, workers=2, context="fork", persistent=True)
    assert want == drawn(case, workers=1, context="spawn", persistent=True)


@pytest.mark.parametrize("workers", [(0, 2), (2, 0)])
def test_resuming_keeps_the_draws(case, workers):
    want = drawn(case)
    before, state = drawn(case, workers=workers[0], stop=6)
    after = drawn(case, workers=workers[1], state=pickle.loads(pickle.dumps(state)))
    assert not before[0].keys() & after[0].keys()
    assert [before[0] | after[0], after[1]] == want


def test_other_loaders(case):
    folder, whole_cells = case
    cells = Cells(folder / "cells", folder / "screen.h5ad", BY)
    loaders = [
        torch.utils.data.DataLoader(cells, 50, shuffle=True, collate_fn=tt.collate, num_workers=2),
        torch.utils.data.DataLoader(
            torch.utils.data.Subset(cells, range(9, 90)), 50, collate_fn=tt.collate
        ),
        torch.utils.data.DataLoader(
            torch.utils.data.ConcatDataset([cells[:20], cells[30:50]]), 15, collate_fn=tt.collate
        ),
        tt.DataLoader(cells, None),
    ]
    for loader, count in zip(loaders, (len(cells), 81, 40, len(cells))):
        found = [*loader]
        assert sum(map(len, found)) == count
        for batch in found[:3]:
            check(batch, whole_cells)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "i2", "f2", ">f4", ">i4"])
def test_types_of_numbers(case, tmp_path, kind):
    """Differences from a control do not wrap, whatever the file's type."""
    folder, whole_cells = case
    values = np.random.default_rng(SEED).integers(0, 9, (CELLS, 3)).astype(kind)
    file = write(tmp_path / "a.h5ad", anndata.AnnData(values, obs=whole_cells.obs))
    for is_sparse in (False, True) if kind != "f2" else (False,):
        cells = Cells(folder / "cells", file, BY, sparse=is_sparse)
        batch = tt.collate(cells.__getitems__(range(50)))
        want = values[whole_cells.obs_names.get_indexer(batch.sample_ids)].astype(float)
        change = batch.expression.to_dense() - batch.control.to_dense()
        assert np.array_equal(numbers(batch.expression), want)
        assert np.array_equal(change, want - numbers(batch.control)) and change.min() < 0


def test_views_and_epochs(case):
    folder, _ = case
    cells = Cells(folder / "cells", folder / "screen.h5ad", BY)
    view = cells[10:200]
    assert len(view) == 190 and "190 of" in repr(view) and cells.columns == COLUMNS
    view.set_epoch(3)
    first, again, other = (
        numbers(tt.collate(each.__getitems__(places)).control)
        for each, places in ((view, [5]), (pickle.loads(pickle.dumps(view)), [5]), (cells, [15]))
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    cells.set_epoch(3)
    assert np.array_equal(first, numbers(tt.collate(cells[15]).control))
    plain = tt.collate(
        Cells(folder / "cells", folder / "screen.h5ad")[:3][[2, 0]].__getitems__([1])
    )
    assert plain.control is None and len(plain.expression) == 1


def test_draws_are_even(case):
    """Over epochs, each control of a group is drawn about equally often."""
    folder, whole_cells = case
    cells = Cells(folder / "cells", folder / "screen.h5ad", ["cell_type"])
    counts: collections.Counter[bytes] = collections.Counter()
    for epoch in range(200):
        cells.set_epoch(epoch)
        counts[tt.collate(cells[7]).control.numpy().tobytes()] += 1
    expected = 200 / len(counts)
    assert len(counts) > 5
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 4 * len(counts)


def test_pyg(case):
    tcpyg = pytest.importorskip("tcbuild.pyg", reason="torch_geometric is not installed")
    from torch_geometric.loader import DataLoader

    folder, whole_cells = case
    for transform in (None, lambda sample: sample):
        dataset = tcpyg.Dataset(folder / "cells", transform=transform)
        cells = Cells(dataset, folder / "screen.zarr", BY)
        order = tt.Order(cells, seed=1)
        for loader in (
            tcpyg.DataLoader(cells, 28, sampler=order),
            tcpyg.DataLoader(cells, 28, num_workers=2, sampler=order),
            DataLoader(cells, 28),
        ):
            batch = next(iter(loader))
            check(batch, whole_cells)
            want = dataset.stored._indices_of([*batch.sample_id])
            masks = tt.collate(dataset.stored[want], "concatenated").masks["gene"]
            assert batch["gene"].mask.equal(masks)
            if isinstance(batch, tcpyg.Batch):
                assert batch[3].expression.equal(batch.expression[3:4])
                assert batch.to("cpu").control.equal(batch.control)
        check(cells[5], whole_cells)
    part = Cells(dataset[:9], folder / "screen.zarr", BY, controls=dataset)  # of pyg
    check(next(iter(tcpyg.DataLoader(part, 9))), whole_cells)
    rows = Cells(tcpyg.Dataset(folder / "cells"), folder / "screen.h5ad", BY, sparse=True)
    batch = next(iter(tcpyg.DataLoader(rows, 28, num_workers=1)))
    check(batch, whole_cells)
    assert np.array_equal(numbers(batch[3].control)[0], numbers(batch.control)[3])


def test_example_trains(case):
    folder, _ = case
    example = REPOSITORY / "python/examples/train_cells.py"
    command = [sys.executable, example, folder / "cells", folder / "screen.h5ad"]
    done = subprocess.run(
        [*map(str, command), "--steps", "6", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(losses) == 6 and np.isfinite(losses).all() and losses[-1] < losses[0]


def test_groups_without_controls_are_named(tcbuild, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    obs = pd.DataFrame(
        {"condition": ["ctrl", "A", "A", "B", "A"], "cell_type": ["T", "T", "NK", "NK", "B"]},
        index=list("vwxyz"),
    )
    file = write(tmp_path / "screen.h5ad", screen(obs))
    dataset = build(file, tmp_path / "cells", attributes=["cell_type"])
    with pytest.raises(ValueError) as refused:
        Cells(dataset, file, ["cell_type"])
    assert "3 of 5 samples have none among 1 wild types" in str(refused.value)
    assert "cell_type=NK (2); cell_type=B (1)" in str(refused.value)
    kept = dataset[dataset.controls(by=["cell_type"], missing="mark") >= 0]
    assert len(Cells(kept, file, ["cell_type"])) == 2
    assert len(Cells(dataset, file, [])) == 5
    with pytest.raises(ValueError, match="1 of 1 samples have none among 0 wild types: no"):
        Cells(dataset[1:2], file, [])
    with pytest.raises(ValueError, match="hint: draw from the whole dataset, controls=dataset"):
        Cells(dataset[1:2], file, ["cell_type"])
    with pytest.raises(ValueError, match="hint: name fewer attributes"):
        Cells(dataset[2:3], file, ["cell_type"])
    part = Cells(dataset[1:2], file, ["cell_type"], controls=dataset)
    assert np.array_equal(tt.collate(part[0]).control, whole(anndata.read_h5ad(file)).loc[["v"]])
    part = Cells(dataset[1:2], file, ["cell_type"], controls=tmp_path / "cells")
    assert np.array_equal(tt.collate(part[0]).control, whole(anndata.read_h5ad(file)).loc[["v"]])
    with pytest.raises(TypeError, match="found int, expected a tcbuild.Dataset"):
        Cells(dataset[1:2], file, [], controls=1)
    with pytest.raises(KeyError, match="match controls: found no attribute 'celltype'"):
        Cells(dataset, file, ["celltype"])
    with pytest.raises(TypeError, match="found the text 'cell_type', expected a list"):
        Cells(dataset, file, "cell_type")


def test_wrong_files_are_refused(case, tmp_path):
    folder, whole_cells = case
    dataset = reader.open(folder / "cells")
    for place, message in (
        ({"layer": "columns"}, "layers/columns of .*found csc_matrix, expected a dense matrix"),
        ({"layer": "logs"}, "layers/logs of .*there is none\nhint: it has columns, counts, dense"),
        ({"obsm": "pcs"}, "obsm/pcs of .*there is none\nhint: it has few, pca"),
    ):
        with pytest.raises(reader.errors.InputError, match=message):
            Cells(dataset, folder / "screen.h5ad", **place)
    fewer = write(tmp_path / "fewer.h5ad", whole_cells[:100])
    with pytest.raises(reader.errors.InputError, match="samples have none of its 100, the first"):
        Cells(dataset, fewer)
    numbered = build(whole_cells.obs.reset_index(drop=True), tmp_path / "n", attributes=[])
    with pytest.raises(reader.errors.InputError, match="first is '0'\nhint: .*id_column="):
        Cells(numbered, folder / "screen.h5ad")
    twice = whole_cells.copy()
    twice.obs_names = ["cell0", *twice.obs_names[:-1]]
    with pytest.raises(reader.errors.InputError, match="1 names of cells repeat others"):
        Cells(dataset, write(tmp_path / "twice.h5ad", twice))
    with pytest.raises(FileNotFoundError, match="none.h5ad"):
        Cells(dataset, tmp_path / "none.h5ad")
    with pytest.raises(ValueError, match="layer and obsm"):
        Cells(dataset, fewer, layer="counts", obsm="pca")
    with pytest.raises(TypeError, match="found list, expected a tcbuild.Dataset"):
        Cells([1], fewer)


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_columns_have_the_names_of_the_file(case, tmp_path, ending):
    folder, whole_cells = case
    named = whole_cells.copy()
    named.var_names = [*GENES[::-1], *map(str, range(COLUMNS - len(GENES)))]
    file = write(tmp_path / f"named.{ending}", named)
    for place in ({}, {"layer": "counts"}):
        cells = Cells(folder / "cells", file, **place)
        assert cells.var_names == [*named.var_names]
        columns = [cells.var_names.index(gene) for gene in cells.stored.genes]
        batch = next(iter(tt.DataLoader(cells[5:], 4)))
        matrix = pd.DataFrame(dense(named.layers[place["layer"]] if place else named.X))
        matrix.index, matrix.columns = named.obs_names, named.var_names
        want = matrix.loc[batch.sample_ids, cells.stored.genes]
        assert np.array_equal(numbers(batch.expression)[:, columns], want)
    with pytest.raises(reader.errors.SettingsError, match="obsm/pca.*no names\nhint: "):
        Cells(folder / "cells", file, obsm="pca").var_names


@pytest.mark.parametrize("damage", ["indices", "indptr", "data", "rows"])
def test_damage_of_a_matrix_is_named(case, tmp_path, damage):
    folder, whole_cells = case
    file = write(tmp_path / "damaged.h5ad", whole_cells)
    with h5py.File(file, "r+") as root:
        if damage == "indices":
            root["X/indices"][:] = COLUMNS + 1000
        elif damage == "indptr":
            root["X/indptr"][1:] = root["X/indptr"][1:] + 10**6
        elif damage == "data":
            values = root["X/data"][:-50]
            del root["X/data"]
            root["X/data"] = values
        else:
            root["X"].attrs["shape"] = [CELLS - 1, COLUMNS]
    with pytest.raises(reader.errors.InputError, match="X of .*damaged.h5ad"):
        for _ in tt.DataLoader(Cells(folder / "cells", file, BY), 64):
            pass


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_flipped_bits(case, tmp_path, ending):
    """A file with a flipped bit is read, or is an error that names it; h5py's and zarr's own
    errors do not.
    """
    folder, whole_cells = case
    file, random = write(tmp_path / f"a.{ending}", whole_cells), np.random.default_rng(3)
    (tmp_path / "a.zarr/.zmetadata").unlink(missing_ok=True)
    parts = [file] if file.is_file() else [*file.glob("obs/**/*"), *file.glob("X/**/*")]
    parts, refused = sorted(part for part in parts if part.is_file()), 0
    dataset = reader.open(folder / "cells")
    for trial in range(40):
        part = parts[trial % len(parts)]
        content = part.read_bytes()
        bit = random.integers(len(content) * 8)
        at, flipped = bit // 8, bytes([content[bit // 8] ^ 1 << bit % 8])
        part.write_bytes(content[:at] + flipped + content[at + 1 :])
        try:
            [*tt.DataLoader(Cells(dataset, file, BY), 100, masks=None)]
            reader._tables.cells_table(file, "samples", ["condition"])
        except reader.errors.InputError as error:
            assert str(file) in str(error) or "samples" in str(error)
            refused += 1
        part.write_bytes(content)
    assert refused > 3


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", ">u8", "i8", "?", "f4"])
def test_numbers_stay_as_they_are(case, tmp_path, kind, sparsely):
    """Up to the largest that the tensor's type holds."""
    folder, _ = case
    names = anndata.read_h5ad(folder / "screen.h5ad").obs_names
    values = np.zeros((len(names), 3), kind)
    largest = 1 if kind in ("?", "f4") else min(np.iinfo(kind).max, np.iinfo(np.int64).max)
    values[:, 1] = largest
    values[2, 0] = largest - 1
    written = anndata.AnnData(
        sparse.csr_matrix(values.astype(values.dtype.newbyteorder("="))) if sparsely else values,
        obs=pd.DataFrame(index=names),
    )
    written.write_h5ad(tmp_path / "x.h5ad")
    cells = Cells(folder / "cells", tmp_path / "x.h5ad")
    found = next(iter(tt.DataLoader(cells, len(cells)))).expression.numpy()
    want = values[names.get_indexer([sample.id for sample in cells.dataset])]
    assert [[int(value) for value in row] for row in found] == want.tolist()

    if kind.endswith("u8"):
        values[:, 2] = 1 << 63
        written.X = sparse.csr_matrix(values.astype("u8")) if sparsely else values
        written.write_h5ad(tmp_path / "large.h5ad")
        with pytest.raises(reader.errors.InputError, match="9,223,372,036,854,775,808"):
            tt.collate(Cells(folder / "cells", tmp_path / "large.h5ad")[1])


def test_torchs_own_loader_says_what_to_pass(case):
    folder, _ = case
    cells = Cells(folder / "cells", folder / "screen.h5ad", BY)
    joined = torch.utils.data.ConcatDataset([cells, cells])
    for dataset in (cells, joined, torch.utils.data.Subset(cells, range(9))):
        for size in (1, 4):
            with pytest.raises(TypeError, match="hint: pass collate_fn=tcbuild.torch.collate"):
                next(iter(torch.utils.data.DataLoader(dataset, size)))
            loader = torch.utils.data.DataLoader(dataset, size, collate_fn=tt.collate)
            assert len(next(iter(loader))) == size
