"""tcbuild.pyg gives what torchcell itself gives: compared with what torchcell made when it was
recorded (torchcell_client.py), and with torchcell where it is installed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.data import HeteroData

import torchcell_client as client
from tcbuild import pyg
from test_torchcell import write_store

RECORDED = Path(__file__).parent / "testdata/torchcell"


def build(tcbuild, folder: Path, graph: HeteroData, records: list) -> Path:
    """A dataset of tcbuild from a cell graph and records of torchcell."""
    pyg.export_cell_graph(graph, folder / "graph")
    store = folder / "processed/lmdb"
    if not store.exists():
        texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
        write_store(store, texts)
    inputs = ["--graph", folder / "graph", "--perturbations", store, "--out", folder / "out"]
    tcbuild.run("incidence", *inputs)
    return folder / "out"


def graph_of(found: dict) -> HeteroData:
    """A graph from its contents."""
    graph = HeteroData()
    for path, value in found.items():
        kind, _, key = path.rpartition("/")
        graph[tuple(kind.split("__")) if "__" in kind else kind][key] = value
    return graph


def assert_same(got: dict, want: dict) -> None:
    assert got.keys() == want.keys()
    for key, value in want.items():
        if isinstance(value, torch.Tensor):
            assert got[key].dtype == value.dtype and got[key].shape == value.shape, key
            assert torch.equal(got[key].nan_to_num(777), value.nan_to_num(777)), key
        else:
            assert got[key] == value, key


@pytest.fixture(scope="module", params=client.BUILDS)
def recorded(request, tcbuild, tmp_path_factory):
    """The folder of what torchcell recorded, and tcbuild's dataset of the same build."""
    folder = RECORDED / request.param
    graph = graph_of(client.load(folder / "cell_graph"))
    records = json.loads((folder / "records.json").read_text())
    return folder, build(tcbuild, tmp_path_factory.mktemp("recorded"), graph, records)


def open_like(path: Path, folder: Path) -> pyg.Dataset:
    return pyg.Dataset(path, phenotypes=client.BUILDS[folder.name][0])


def batches(dataset, numbers, **options):
    collate = pyg.LazyCollater(client.FOLLOWED)
    return [collate([dataset[i] for i in rows]) for rows in numbers]


def contents(batch) -> dict:
    return client.as_recorded(client.contents(batch))


def test_batches_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    for number, batch in enumerate(batches(open_like(path, folder), client.BATCHES)):
        assert_same(contents(batch), client.load(folder / f"batch{number}"))


def test_batches_are_those_that_torchcell_makes(tcbuild, tmp_path):
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    labels, most = client.BUILDS["single"]
    records = client.make_records(labels, most, 500)
    theirs = client.torchcell_dataset(tmp_path, records, labels)
    ours = pyg.Dataset(build(tcbuild, tmp_path, theirs.cell_graph, records), labels)
    rows = [range(first, min(first + 28, 500)) for first in range(0, 500, 28)]
    # torchcell's collate fails where the first sample lacks statistics that another has
    rows = [sorted(some, key=lambda row: not client.has_statistics(records[row])) for some in rows]
    for batch, want in zip(batches(ours, rows), client.torchcell_batches(theirs, rows)):
        assert_same(contents(batch), want)
