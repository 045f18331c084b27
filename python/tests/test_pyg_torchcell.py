"""tcbuild.pyg gives what torchcell itself gives: compared with what torchcell made when it was
recorded (torchcell_client.py), and with torchcell where it is installed.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.data import HeteroData

import torchcell_client as client
from tcbuild import pyg
from test_torchcell import GENES, experiment, write_graph, write_store

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
        if isinstance(value, dict):  # JSON has no numbers as keys
            value = {int(reaction): genes for reaction, genes in value.items()}
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


def test_the_cell_graph_is_that_which_torchcell_recorded(recorded):
    folder, path = recorded
    want = client.contents(graph_of(client.load(folder / "cell_graph")))
    assert_same(client.contents(pyg.cell_graph(path)), want)


def open_like(path: Path, folder: Path) -> pyg.Dataset:
    return pyg.Dataset(path, phenotypes=client.BUILDS[folder.name][0])


def batches(dataset, numbers, **options):
    collate = pyg.LazyCollater(client.FOLLOWED)
    return [collate([dataset[i] for i in rows]) for rows in numbers]


def contents(batch) -> dict:
    return client.as_recorded(client.contents(batch))


def test_batches_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    records = json.loads((folder / "records.json").read_text())
    rows = [client.ordered(records, rows) for rows in client.BATCHES]
    for number, batch in enumerate(batches(open_like(path, folder), rows)):
        assert_same(contents(batch), client.load(folder / f"batch{number}"))


def test_batches_without_the_graph_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    dataset = pyg.Dataset(path, client.BUILDS[folder.name][0], graph=False)
    batch = pyg.LazyCollater(client.FOLLOWED[:1])([dataset[row] for row in client.BATCHES[3]])
    got = client.genes_sorted(client.contents(batch))
    assert_same(got, client.load(folder / "perturbations"))
    assert not pickle.loads(pickle.dumps(dataset)).graph


def test_indexes_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    dataset = open_like(path, folder)
    want = json.loads((folder / "indexes.json").read_text())
    for name in client.INDEXES:
        assert json.loads(json.dumps(list(getattr(dataset, name).items()))) == want[name], name
    for name, value in client.indexes_of_tables(dataset).items():
        assert value == want[name], name
    dataset.close_lmdb()


@pytest.mark.parametrize("name", client.BUILDS)
def test_torchcell_makes_the_same_of_both(tcbuild, tmp_path, name):
    """Batches, splits and subsets of torchcell's own dataset and of tcbuild's."""
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    labels, most = client.BUILDS[name]
    records = client.make_records(labels, most, 500)
    theirs = client.torchcell_dataset(tmp_path, records, labels)
    ours = pyg.Dataset(build(tcbuild, tmp_path, theirs.cell_graph, records), labels)
    rows = [range(first, min(first + 28, 500)) for first in range(0, 500, 28)]
    rows = [client.ordered(records, some) for some in rows]
    for batch, want in zip(batches(ours, rows), client.torchcell_batches(theirs, rows)):
        assert_same(contents(batch), want)
    got = client.indexes(ours, tmp_path / "ours")
    for key, value in client.indexes(theirs, tmp_path / "theirs").items():
        assert got[key] == value, key


def store_dataset(tcbuild, folder: Path, records: list, *options) -> Path:
    texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
    write_store(folder / "processed/lmdb", texts)
    inputs = ["--graph", write_graph(folder / "graph")]
    inputs += ["--perturbations", folder / "processed/lmdb", "--out", folder / "out"]
    tcbuild.run("incidence", *inputs, *options)
    return folder / "out"


def test_experiments_without_an_order_are_refused(tcbuild, tmp_path):
    pairs = [experiment("fitness", value, "fitness_se", None, GENES[:1]) for value in (1.0, 2.0)]
    names = ["dataset_name", "dataset_name#2"]
    path = store_dataset(tcbuild, tmp_path, [pairs], "--attributes", ",".join(names))
    with pytest.raises(ValueError, match=r"no attribute 'experiment#2' .*\nhint: "):
        pyg.Dataset(path, ["fitness"])
    assert pyg.Dataset(path, [])[0]["gene"].phenotype_types == []


def test_dropped_genes_leave_no_count_of_perturbations(tcbuild, tmp_path):
    pair = experiment("fitness", 1.0, "fitness_se", None, [GENES[0], "YPL999W"])
    path = store_dataset(tcbuild, tmp_path, [[pair]], "--unknown-genes", "drop-gene")
    with pytest.raises(ValueError, match=r"1 genes were dropped .*\nhint: "):
        pyg.Dataset(path).perturbation_count_index


def test_indexes_of_a_table_and_of_a_view(tcbuild, tmp_path):
    rows = [(0, "0.5", ""), (1, "", "2"), (0, "-1", "3"), (2, "", "")]
    table = "genes\tfitness\tfitness#2\n"
    table += "".join(f"{'|'.join(GENES[: g + 1])}\t{a}\t{b}\n" for g, a, b in rows)
    (tmp_path / "set.tsv").write_text(table)
    inputs = ["--graph", write_graph(tmp_path / "graph"), "--out", tmp_path / "out"]
    tcbuild.run("incidence", "--perturbations", tmp_path / "set.tsv", *inputs)
    dataset = pyg.Dataset(tmp_path / "out", ["fitness#2", "fitness"])
    assert dataset[2]["gene"].phenotype_values.tolist() == [3, -1]  # two phenotypes, none clamped
    assert dataset.phenotype_label_index == {"fitness": [0, 2], "fitness#2": [1, 2]}
    assert dataset.perturbation_count_index == {1: [0, 2], 2: [1], 3: [3]}
    by_gene = {GENES[0]: [0, 1, 2, 3], GENES[1]: [1, 3], GENES[2]: [3]}
    assert dataset.is_any_perturbed_gene_index == by_gene == dataset.is_any_deletion_gene_index
    assert dataset.label_df["index"].tolist() == [0, 1, 2, 3]
    assert dataset.label_df.columns.tolist() == ["index", "fitness#2", "fitness"]
    with pytest.raises(ValueError, match=r"dataset_name\nhint: "):
        dataset.dataset_name_index
    view = dataset[[3, 1]]
    assert view.perturbation_count_index == {3: [0], 2: [1]} and len(view.label_df) == 2
    assert pickle.loads(pickle.dumps(view)).perturbation_count_index == {3: [0], 2: [1]}
