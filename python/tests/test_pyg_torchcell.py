"""tcbuild.torchcell gives what torchcell itself gives: compared with what torchcell made when it
was recorded (torchcell_client.py), and with torchcell where it is installed.
"""

from __future__ import annotations

import json
import math
import pickle
import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.data import HeteroData

import tcbuild as package
import torchcell_client as client
from tcbuild import torchcell
from test_torchcell import GENES, experiment, write_graph, write_store

NOT_FINITE = [math.nan, math.inf, -math.inf]
RECORDED = Path(__file__).parent / "testdata/torchcell"


def build(tcbuild, folder: Path, graph: HeteroData, records: list) -> Path:
    """A dataset of tcbuild from a cell graph and records of torchcell."""
    store = folder / "processed/lmdb"
    if not store.exists():
        texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
        write_store(store, texts)
    package.build(graph, store, folder / "out")
    return folder / "out"


def graph_of(found: dict) -> HeteroData:
    """A graph from its contents."""
    graph = HeteroData()
    for path, value in found.items():
        kind, _, key = path.rpartition("/")
        if isinstance(value, dict):  # JSON has no numbers as keys
            value = {int(number): some for number, some in value.items()}
        if key == "stratum_to_terms":
            value = {stratum: torch.tensor(terms) for stratum, terms in value.items()}
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
    assert_same(client.contents(torchcell.cell_graph(path)), want)


def open_like(path: Path, folder: Path) -> torchcell.Dataset:
    return torchcell.Dataset(path, phenotypes=client.BUILDS[folder.name][0])


def batches(dataset, numbers, **options):
    collate = torchcell.LazyCollater(client.FOLLOWED)
    return [collate(dataset.__getitems__(rows)) for rows in numbers]


def contents(batch) -> dict:
    return client.as_recorded(client.contents(batch))


def test_batches_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    records = json.loads((folder / "records.json").read_text())
    rows = [client.ordered(records, rows) for rows in client.BATCHES]
    dataset = open_like(path, folder)
    for number, batch in enumerate(batches(dataset, rows)):
        want = client.load(folder / f"batch{number}")
        assert_same(contents(batch), want)
        of_samples = torchcell.LazyCollater(client.FOLLOWED)([dataset[row] for row in rows[number]])
        assert_same(contents(of_samples), want)


def test_batches_without_the_graph_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    dataset = torchcell.Dataset(path, client.BUILDS[folder.name][0], graph_processor="Perturbation")
    collate, rows = torchcell.LazyCollater(client.FOLLOWED_EDGELESS), client.BATCHES[3]
    for samples in ([dataset[row] for row in rows], dataset.__getitems__(rows)):
        got = client.genes_sorted(client.contents(collate(samples)))
        assert_same(got, client.load(folder / "perturbations"))
    assert pickle.loads(pickle.dumps(dataset)).graph_processor == "Perturbation"


def test_batches_for_dcell_are_those_that_torchcell_recorded(tcbuild, tmp_path):
    folder = RECORDED / "ontology"
    graph = graph_of(client.load(folder / "cell_graph"))
    records = json.loads((RECORDED / "single/records.json").read_text())
    path = build(tcbuild, tmp_path, graph, records)
    dataset = torchcell.Dataset(
        path, client.BUILDS["single"][0], graph_processor="DCellGraphProcessor"
    )
    rows = client.measured(records)
    batch = torchcell.LazyCollater(client.FOLLOWED_EDGELESS)([dataset[row] for row in rows])
    want = client.load(folder / "batch")
    assert (want["gene_ontology/go_gene_strata_state"][:, 3] == 0).any()
    assert_same(client.genes_sorted(client.contents(batch)), want)
    assert dataset.cell_graph["gene_ontology"].go_gene_strata_state[:, 3].all()


def test_samples_for_dcell_of_a_graph_without_gene_ontology(tcbuild, tmp_path):
    pairs = [experiment("fitness", 1.0, "fitness_se", None, GENES[:1])]
    path = store_dataset(tcbuild, tmp_path, [pairs])
    sample = torchcell.Dataset(path, graph_processor="DCellGraphProcessor")[0]
    assert sample.node_types == ["gene"] and not sample.edge_types
    assert sample["gene"].pert_mask.tolist() == [True] + [False] * (len(GENES) - 1)
    assert "mask" not in sample["gene"] and "phenotype_stat_values" not in sample["gene"]


def test_another_processor_is_refused(recorded):
    with pytest.raises(ValueError, match="graph_processor 'Unperturbed'\nhint: pass"):
        torchcell.Dataset(recorded[1], [], graph_processor="Unperturbed")


def test_indexes_are_those_that_torchcell_recorded(recorded):
    folder, path = recorded
    dataset = open_like(path, folder)
    want = json.loads((folder / "indexes.json").read_text())
    for name in client.INDEXES:
        assert json.loads(json.dumps(list(getattr(dataset, name).items()))) == want[name], name
    for name, value in client.indexes_of_tables(dataset).items():
        assert value == want[name], name


@pytest.mark.parametrize("name", client.BUILDS)
def test_torchcell_makes_the_same_of_both(tcbuild, tmp_path, name):
    """Batches, splits and subsets of torchcell's own dataset and of tcbuild's."""
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    labels, most = client.BUILDS[name]
    records = client.make_records(labels, most, 500)
    rng = random.Random(name)
    for pair in (pair for record in records for pair in record):
        phenotype = pair["experiment"]["phenotype"]
        if (statistic := phenotype["label_statistic_name"]) in phenotype:
            phenotype[statistic] = rng.choice([phenotype[statistic], *NOT_FINITE])
        if rng.random() < 0.1:
            phenotype[phenotype["label_name"]] = rng.choice([math.inf, -math.inf])
    theirs = client.torchcell_dataset(tmp_path, records, labels)
    ours = torchcell.Dataset(build(tcbuild, tmp_path, theirs.cell_graph, records), labels)
    for got, want in ((ours.cell_graph, theirs.cell_graph), (ours[0], theirs[0])):
        assert got.metadata() == want.metadata()
    rows = [range(first, min(first + 28, 500)) for first in range(0, 500, 28)]
    rows = [client.ordered(records, some) for some in rows]
    for batch, want in zip(batches(ours, rows), client.torchcell_batches(theirs, rows)):
        assert_same(contents(batch), want)
        assert batch.metadata() == theirs[0].metadata()
    got = client.indexes(ours, tmp_path / "ours")
    for key, value in client.indexes(theirs, tmp_path / "theirs").items():
        assert got[key] == value, key


@pytest.mark.parametrize("name", client.BUILDS)
def test_torchcell_makes_the_same_perturbations(tcbuild, tmp_path, name):
    """Batches of its Perturbation's samples, in any order."""
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    from torch_geometric.loader import DataLoader
    from torchcell.data.graph_processor import Perturbation

    labels, most = client.BUILDS[name]
    records = client.make_records(labels, most, 120)
    theirs = client.torchcell_dataset(tmp_path, records, labels, Perturbation())
    path = build(tcbuild, tmp_path, theirs.cell_graph, records)
    ours = torchcell.Dataset(path, labels, graph_processor="Perturbation")
    rows = torch.randperm(120, generator=torch.Generator().manual_seed(1)).tolist()
    want = DataLoader([theirs[row] for row in rows], 16, follow_batch=client.FOLLOWED_EDGELESS)
    for workers in (0, 2):
        options = {"follow_batch": client.FOLLOWED_EDGELESS, "num_workers": workers}
        for got, expected in zip(
            torchcell.DataLoader(ours[rows], 16, **options), want, strict=True
        ):
            found = [client.genes_sorted(client.contents(each)) for each in (got, expected)]
            assert_same(*found)
            assert got.num_graphs == expected.num_graphs


def store_dataset(tcbuild, folder: Path, records: list, *options) -> Path:
    texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
    write_store(folder / "processed/lmdb", texts)
    inputs = ["--graph", write_graph(folder / "graph")]
    inputs += ["--perturbations", folder / "processed/lmdb", "--out", folder / "out"]
    tcbuild.run("incidence", *inputs, *options)
    return folder / "out"


def test_numbers_that_are_not_finite_are_entries(tcbuild, tmp_path):
    values = [(1.0, math.nan), (math.inf, -math.inf), (2.0, None)]
    pairs = [experiment("fitness", a, "fitness_se", b, GENES[:1]) for a, b in values]
    dataset = torchcell.Dataset(
        store_dataset(tcbuild, tmp_path, [pairs[:2], pairs[2:]]), ["fitness"]
    )
    gene = dataset[0]["gene"]
    assert gene.phenotype_values.tolist() == [1, math.inf]
    assert gene.phenotype_sample_indices.tolist() == [0, 1]
    assert str(gene.phenotype_stat_values.tolist()) == "[nan, -inf]"
    assert gene.phenotype_stat_sample_indices.tolist() == [0, 1]
    assert "phenotype_stat_values" not in dataset[1]["gene"]
    assert dataset.label_df["fitness"].tolist() == [math.inf, 2]
    assert dataset.phenotype_label_index == {"fitness": [0, 1]}


def test_experiments_whose_label_has_no_number_are_in_the_indexes(tcbuild, tmp_path):
    """torchcell counts them, so without them its splits would be others."""
    labels = {"titer": None, "calmorph": {}, "essentiality_call": "low", "fitness": 1.0}
    records = [
        [experiment(label, value, "x", None, GENES[: rank + 1])]
        for rank, (label, value) in enumerate(labels.items())
    ]
    records.append([records[3][0], experiment("titer", None, "x", None, GENES[:1])])
    path = store_dataset(tcbuild, tmp_path, records)
    dataset = torchcell.Dataset(path, ["fitness"])
    assert dataset.phenotype_label_index == {
        "titer": [0, 4],
        "calmorph": [1],
        "essentiality_call": [2],
        "fitness": [3, 4],
    }
    assert list(dataset.dataset_name_index.values()) == [[0, 1, 2, 3, 4]]
    assert dataset.perturbation_count_index == {1: [0, 4], 2: [1], 3: [2], 4: [3, 4]}
    assert list(dataset.is_any_perturbed_gene_index[GENES[1]]) == [1, 2, 3, 4]
    titer = torchcell.Dataset(path, ["titer"])
    assert str(titer[4]["gene"].phenotype_values.tolist()) == "[nan]"
    assert str(titer.label_df["titer"].tolist()) == "[nan, nan, nan, nan, nan]"


def test_an_experiment_without_perturbations_deletes_nothing(tcbuild, tmp_path):
    """In a record with one that weakens its gene, which is no deletion."""
    pairs = [experiment("fitness", 1.0, "x", None, genes) for genes in ([], GENES[:1], [])]
    weak = pairs[1]["experiment"]["genotype"]["perturbations"][0]
    weak["perturbation_type"] = "damp"
    dataset = torchcell.Dataset(store_dataset(tcbuild, tmp_path, [pairs]))
    assert dataset.is_any_perturbed_gene_index == {GENES[0]: [0]}
    assert dataset.perturbation_count_index == {0: [0], 1: [0]}


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([True, False], bool), ([True, None, False], object), ([None, None], float)],
)
def test_truth_values_of_the_label_table(tcbuild, tmp_path, values, dtype):
    """As in the table that torchcell makes of its labels that are truth values."""
    label = "is_synthetic_lethal"
    others = [[experiment("fitness", 1.0, "fitness_se", None, GENES[:1])]]
    records = [[experiment(label, value, "x", None, GENES[:1])] for value in values]
    path = store_dataset(tcbuild, tmp_path, records + others * (None in values))
    column = torchcell.Dataset(path, [label]).label_df[label]
    assert column.dtype == dtype
    want = [math.nan if value is None else value for value in values]
    want += [math.nan] * (None in values)
    assert repr(column.tolist()) == repr(want)


def test_a_dataset_without_phenotypes_has_no_labels(tcbuild, tmp_path):
    (tmp_path / "set.tsv").write_text(f"genes\n{GENES[0]}\n")
    inputs = ["--graph", write_graph(tmp_path / "graph"), "--out", tmp_path / "out"]
    tcbuild.run("incidence", "--perturbations", tmp_path / "set.tsv", *inputs)
    assert torchcell.Dataset(tmp_path / "out").phenotype_label_index == {}


def test_vectors_are_one_phenotype(tcbuild, tmp_path):
    """As torchcell's Perturbation has them, sorted by the names of their members."""
    fitness = experiment("fitness", 5.0, "fitness_se", 0.5, GENES[:1])
    first = {"b": 1.0, "a": 2.0}, {"z": math.nan, "y": 3.0}
    vectors = [
        experiment("calmorph", values, "calmorph_variation", spread, GENES[:1])
        for values, spread in (first, ({"c": 4.0, "a": 6.0}, None))
    ]
    path = store_dataset(tcbuild, tmp_path, [[vectors[0], fitness, vectors[1]], [fitness]])
    dataset = torchcell.Dataset(path, ["fitness", "calmorph"], graph_processor="Perturbation")
    assert dataset.statistics == ["fitness_se", "calmorph_variation"]
    gene = dataset[0]["gene"]
    assert gene.phenotype_values.tolist() == [2, 1, 5, 6, 4]
    assert gene.phenotype_type_indices.tolist() == [1, 1, 0, 1, 1]
    assert gene.phenotype_sample_indices.tolist() == [0, 0, 1, 2, 2]
    assert str(gene.phenotype_stat_values.tolist()) == "[3.0, nan, 0.5]"
    assert gene.phenotype_stat_type_indices.tolist() == [1, 1, 0]
    assert dataset.phenotype_label_index == {"calmorph": [0], "fitness": [0, 1]}
    assert dataset.label_df.fillna(-1).values.tolist() == [[0, 5, -1], [1, 5, -1]]
    assert dataset[[1]].is_any_perturbed_gene_index == {GENES[0]: [0]}  # a view without calmorph


def test_lists_are_vectors_in_their_order(tcbuild, tmp_path):
    pair = experiment("y", [float(i) for i in range(12)], "y_se", None, GENES[:1])
    dataset = torchcell.Dataset(store_dataset(tcbuild, tmp_path, [[pair]]), ["y"])
    assert dataset[0]["gene"].phenotype_values.tolist() == list(range(12))


def test_experiments_without_an_order_are_refused(tcbuild, tmp_path):
    pairs = [experiment("fitness", value, "fitness_se", None, GENES[:1]) for value in (1.0, 2.0)]
    names = ["dataset_name", "dataset_name#2"]
    path = store_dataset(tcbuild, tmp_path, [pairs], "--attributes", ",".join(names))
    with pytest.raises(ValueError, match=r"no attribute 'experiment#2' .*\nhint: "):
        torchcell.Dataset(path, ["fitness"])
    assert torchcell.Dataset(path, [])[0]["gene"].phenotype_types == []


def test_dropped_genes_leave_no_index_of_perturbations(tcbuild, tmp_path):
    pair = experiment("fitness", 1.0, "fitness_se", None, [GENES[0], "YPL999W"])
    path = store_dataset(tcbuild, tmp_path, [[pair]], "--unknown-genes", "drop-gene")
    for index in ("perturbation_count_index", "is_any_perturbed_gene_index"):
        with pytest.raises(ValueError, match=r"1 genes were dropped .*\nhint: "):
            getattr(torchcell.Dataset(path), index)


def test_indexes_of_a_table_and_of_a_view(tcbuild, tmp_path):
    rows = [(0, "0.5", ""), (1, "", "2"), (0, "-1", "3"), (2, "", "")]
    table = "genes\tfitness\tfitness#2\n"
    table += "".join(f"{'|'.join(GENES[: g + 1])}\t{a}\t{b}\n" for g, a, b in rows)
    (tmp_path / "set.tsv").write_text(table)
    inputs = ["--graph", write_graph(tmp_path / "graph"), "--out", tmp_path / "out"]
    tcbuild.run("incidence", "--perturbations", tmp_path / "set.tsv", *inputs)
    dataset = torchcell.Dataset(tmp_path / "out", ["fitness#2", "fitness"])
    assert dataset[2]["gene"].phenotype_values.tolist() == [3, -1]  # two phenotypes, none clamped
    assert dataset.phenotype_label_index == {"fitness": [0, 2], "fitness#2": [1, 2]}
    assert dataset.perturbation_count_index == {1: [0, 2], 2: [1], 3: [3]}
    by_gene = {GENES[0]: [0, 1, 2, 3], GENES[1]: [1, 3], GENES[2]: [3]}
    assert dataset.is_any_perturbed_gene_index == by_gene
    assert dataset.label_df["index"].tolist() == [0, 1, 2, 3]
    assert dataset.label_df.columns.tolist() == ["index", "fitness#2", "fitness"]
    with pytest.raises(ValueError, match=r"dataset_name\nhint: "):
        dataset.dataset_name_index
    view = dataset[[3, 1]]
    assert view.perturbation_count_index == {3: [0], 2: [1]} and len(view.label_df) == 2
    assert pickle.loads(pickle.dumps(view)).perturbation_count_index == {3: [0], 2: [1]}
