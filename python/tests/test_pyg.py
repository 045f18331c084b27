"""Graphs and samples as torchcell's HeteroData, and back through the tcbuild program."""

from __future__ import annotations

import json
import pickle
import random

import numpy as np
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import ConcatDataset
from torch_geometric.data import Batch, HeteroData
from torch_geometric.loader import DataLoader

import tcbuild as package
import test_torchcell
from oracle import split_edge_type
from tcbuild import torchcell
from tcbuild.torch import MaskGenerator
from torch_cases import VARIANTS, built_case, want_mask

HYPEREDGES = ("gene__gpr__reaction", "reaction__rmr__metabolite")


@pytest.fixture(
    scope="module",
    params=["everything", "indices in edge files", "genes alone", "reactions without rules"],
)
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, request.param, "all", tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"))


def assert_is_cell(data, cell):
    assert sorted(data.node_types) == sorted(cell.nodes)  # in torchcell's order
    for node_type, ids in cell.nodes.items():
        assert data[node_type].node_ids == ids and data[node_type].num_nodes == len(ids)
    assert data["gene"].x.shape == (len(cell.nodes["gene"]), 0)
    assert sorted(data.edge_types) == sorted(map(split_edge_type, cell.edge_types()))
    for name, edges in cell.edges.items():
        store = data[split_edge_type(name)]
        index = store.hyperedge_index if name in HYPEREDGES else store.edge_index
        assert index.dtype == torch.int64 and index.T.tolist() == [list(edge) for edge in edges]
        assert store.num_edges == (
            len({reaction for _, reaction in edges}) if name == HYPEREDGES[0] else len(edges)
        )
    if "reaction" in cell.nodes:
        rmr = data["reaction", "rmr", "metabolite"]
        assert rmr.stoichiometry.dtype == torch.float32 and set(rmr.stoichiometry.tolist()) <= {
            -2,
            -1,
            -0.5,
            1,
            2,
        }
        for reaction in range(len(cell.nodes["reaction"])):
            genes = [gene for gene, other in cell.edges["gene__gpr__reaction"] if other == reaction]
            names = [cell.nodes["gene"][gene] for gene in genes]
            # As in torchcell, a reaction without genes is not there.
            assert rmr.reaction_to_genes_indices.get(reaction) == (genes or None)
            assert rmr.reaction_to_genes.get(reaction) == (names or None)
        assert ("gpr" in data["reaction"]) == any(cell.rules)
        if any(cell.rules):
            assert data["reaction"].gpr == cell.rules


def test_a_cell_graph_is_that_of_the_input(built):
    sources = [
        *built.datasets.values(),
        built.datasets["indices"] / "graph",
        package.open(built.datasets["indices"]),
    ]
    for source in sources:
        assert_is_cell(torchcell.cell_graph(source), built.cell)


def test_a_dataset_without_its_manifest_is_no_graph_folder(built, tmp_path):
    (tmp_path / "graph").symlink_to(built.datasets["indices"] / "graph")
    (tmp_path / "manifest.json").symlink_to("nowhere")
    with pytest.raises(package.DatasetError, match="manifest.json"):
        torchcell.cell_graph(tmp_path)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sample_is_that_of_the_oracle(built, variant):
    dataset = torchcell.Dataset(built.datasets[variant], phenotypes=["gene interaction", "fitness"])
    assert len(dataset) == len(built.want)
    for number in range(0, len(dataset), 5):
        data, want = dataset[number], built.want[number]
        assert data.sample_id == want["sample_id"]
        for node_type, ids in built.cell.nodes.items():
            store = data[node_type]
            wanted = list(range(len(ids))) if node_type == "reaction" else ids  # as in torchcell
            assert store.node_ids == wanted and store.num_nodes == len(ids)
            assert store.mask.dtype == torch.bool and store.mask.tolist() == want_mask(
                want, node_type
            )
            assert torch.equal(store.pert_mask, ~store.mask)
        for name, edges in built.cell.edges.items():
            store = data[split_edge_type(name)]
            assert store.mask.tolist() == want_mask(want, name) and store.num_edges == len(edges)
        gene = data["gene"]
        assert (
            gene.ids_pert == want["genes"]
            and gene.perturbation_indices.tolist() == want["perturbation_indices"]
        )
        assert gene.phenotype_types == ["gene interaction", "fitness"]
        there = [
            (rank, want["phenotypes"][name])
            for rank, name in enumerate(gene.phenotype_types)
            if want["phenotypes"][name] is not None
        ]
        there = there or [(0, np.nan)]
        assert gene.phenotype_type_indices.tolist() == [rank for rank, _ in there]
        np.testing.assert_array_equal(
            gene.phenotype_values.numpy(), np.float32([value for _, value in there])
        )
        assert gene.phenotype_sample_indices.tolist() == [0] * len(there)
        assert "phenotype_stat_values" not in gene


def test_samples_have_the_graph(everything):
    dataset = torchcell.Dataset(everything.datasets["indices"], phenotypes=[])
    graph, first, second = dataset.cell_graph, dataset[0], dataset[1]
    for edge_type in graph.edge_types:
        key = "hyperedge_index" if "__".join(edge_type) in HYPEREDGES else "edge_index"
        first[edge_type][key].zero_()  # in memory of its own
        assert torch.equal(second[edge_type][key], graph[edge_type][key])
    assert len(pickle.dumps(dataset)) < 1000


def test_a_mask_generator_serves_batches_of_pyg(everything):
    dataset = torchcell.Dataset(everything.datasets["indices"], phenotypes=["fitness"])
    batch = next(iter(DataLoader(dataset, batch_size=4, follow_batch=["perturbation_indices"])))
    generator = MaskGenerator(dataset.stored, "concatenated")
    masks = generator(batch)
    for name, mask in masks.items():
        store = batch[name if name in batch.node_types else split_edge_type(name)]
        assert torch.equal(mask, store.mask), name
    with pytest.raises(ValueError, match="hint: .*follow_batch"):
        generator(next(iter(DataLoader(dataset, batch_size=4))))


def test_a_mask_generator_refuses_pyg_batches_of_another_graph(everything, built):
    other = torchcell.Dataset(built.datasets["indices"], phenotypes=["fitness"])
    batches = DataLoader(
        ConcatDataset(
            [other, torchcell.Dataset(everything.datasets["indices"], phenotypes=["fitness"])]
        ),
        1,
        follow_batch=["perturbation_indices"],
    )
    generator = MaskGenerator(everything.datasets["indices"], "concatenated")
    *_, last = batches
    assert generator(last)
    unknown = next(iter(DataLoader([torchcell_sample(["A"], [])], 1)))
    for batch in (next(iter(batches)), unknown):
        node_types = batch.node_types
        with pytest.raises(ValueError, match="another graph or reaction rule"):
            generator(batch)
        assert batch.node_types == node_types


def test_targets_are_named(everything, tcbuild, tmp_path):
    path = everything.datasets["indices"]
    with pytest.raises(
        ValueError,
        match=r"which of its 2 phenotypes are targets\?\nhint: .*'fitness', 'gene interaction'",
    ):
        torchcell.Dataset(path)
    with pytest.raises(TypeError, match="list of names"):
        torchcell.Dataset(path, phenotypes="fitness")
    for wrong in (["fitnes"], ["fitness", "fitness"]):
        with pytest.raises(ValueError, match="'fitness', 'gene interaction'"):
            torchcell.Dataset(path, phenotypes=wrong)
    with pytest.raises(ValueError, match="listed twice"):
        torchcell.Dataset(path, phenotypes=["fitness"], statistics=["fitness"])
    assert torchcell.Dataset(path, phenotypes=[])[0]["gene"].phenotype_types == []
    table = tmp_path / "one.tsv"
    table.write_text(f"genes\tfitness\n{everything.cell.nodes['gene'][0]}\t0.5\n")
    tcbuild.run(
        "incidence",
        "--graph",
        everything.graph,
        "--perturbations",
        table,
        "--out",
        tmp_path / "one",
    )
    assert torchcell.Dataset(tmp_path / "one")[0]["gene"].phenotype_types == ["fitness"]


def test_several_samples_are_a_view(everything):
    dataset = torchcell.Dataset(everything.datasets["indices"], phenotypes=[])
    names = [data.sample_id for data in dataset]
    for piece in (slice(2, 5), [3, -1], np.array([1, 0])):
        view = dataset[piece]
        assert [data.sample_id for data in view] == np.array(names)[piece].tolist()
        assert view.cell_graph is dataset.cell_graph and len(view) == len(list(view))
        assert view[-1].sample_id == view[len(view) - 1].sample_id
    chosen = [name < names[3] for name in names]
    assert [data.sample_id for data in dataset[chosen]] == [n for n in names if n < names[3]]
    view = torchcell.Dataset(dataset.stored[::2], phenotypes=["fitness"])
    again = pickle.loads(pickle.dumps(view))
    assert [data.sample_id for data in again] == [data.sample_id for data in view]


def test_phenotypes_may_be_statistics(everything):
    path = everything.datasets["indices"]
    for data, want in zip(
        torchcell.Dataset(path, phenotypes=["fitness"], statistics=["gene interaction"]),
        everything.want,
    ):
        gene, statistic = data["gene"], want["phenotypes"]["gene interaction"]
        assert gene.phenotype_types == ["fitness"]
        assert ("phenotype_stat_values" in gene) == (statistic is not None)
        if statistic is not None:
            assert gene.phenotype_stat_types == ["gene interaction"]
            assert gene.phenotype_stat_values.tolist() == [np.float32(statistic)]
    with pytest.raises(ValueError, match="no phenotype"):
        torchcell.Dataset(path, phenotypes=[], statistics=["fitness_se"])


@pytest.mark.parametrize("rule", ["all", "gpr"])
def test_tcbuild_builds_the_same_of_what_is_exported(everything, tcbuild, tmp_path, rule):
    source = everything.datasets["full-masks"]
    torchcell.export_cell_graph(torchcell.cell_graph(source), tmp_path / "out" / "graph")
    torchcell.export_perturbations(
        torchcell.Dataset(source, ["gene interaction"], ["fitness"]),
        tmp_path / "perturbations.arrow",
    )
    built = {}
    for name, graph, perturbations in (
        ("exported", tmp_path / "out", tmp_path / "perturbations.arrow"),
        ("original", everything.graph, everything.perturbations),
    ):
        inputs = [
            "--graph",
            graph,
            "--perturbations",
            perturbations,
            "--out",
            tmp_path / name,
            "--reaction-rule",
            rule,
        ]
        tcbuild.run("dataset", "--mode", "indices", *inputs)
        built[name] = tcbuild.samples(tmp_path / name, len(everything.want))
    for got, want in zip(built["exported"], built["original"], strict=True):
        assert got.pop("attributes") == {} != want.pop("attributes")  # torchcell has none
        phenotypes = want.pop("phenotypes")
        rounded = {
            name: None if value is None else float(np.float32(value))
            for name, value in phenotypes.items()
        }
        assert got.pop("phenotypes") == rounded
        assert got == want
    cells = [torchcell.cell_graph(tmp_path / name) for name in built]
    for edge_type in cells[0].edge_types:
        for key in ("edge_index", "hyperedge_index", "stoichiometry"):
            if key in cells[0][edge_type]:
                assert torch.equal(cells[0][edge_type][key], cells[1][edge_type][key])


def torchcell_sample(genes, labels, statistics=()):
    """HeteroData with phenotypes as torchcell's graph processors add them: (name, experiment,
    value) each.
    """
    data = HeteroData()
    gene = data["gene"]
    gene.ids_pert = genes
    for prefix, values in (
        ("phenotype", labels or [("fitness", 0, float("nan"))]),
        ("phenotype_stat", statistics),
    ):
        if values:
            types = list(dict.fromkeys(name for name, _, _ in values))
            gene[f"{prefix}_types"] = types
            gene[f"{prefix}_values"] = torch.tensor([value for _, _, value in values])
            gene[f"{prefix}_type_indices"] = torch.tensor(
                [types.index(name) for name, _, _ in values]
            )
            gene[f"{prefix}_sample_indices"] = torch.tensor(
                [experiment for _, experiment, _ in values]
            )
    return data


def exported(samples, path):
    torchcell.export_perturbations(samples, path)
    return pa.ipc.open_file(path).read_all().to_pylist()


def test_each_sample_is_a_row(tmp_path):
    samples = [
        torchcell_sample(
            ["B", "A"],
            [("fitness", 0, 0.5), ("score", 1, 2.0), ("fitness", 2, 0.25)],
            [("fitness_se", 2, 4.0), ("p", 1, 0.125)],
        ),
        torchcell_sample(["C"], []),
        torchcell_sample(["C"], [("fitness", 0, 3.0)], [("fitness_se", 0, 8.0)]),
    ]
    columns = [
        "genes",
        "sample_id",
        "fitness",
        "score",
        "fitness_se",
        "p",
        "fitness#2",
        "fitness_se#2",
    ]
    rows = exported(samples, tmp_path / "p.arrow")
    assert list(rows[0]) == columns
    nan = np.nan
    want = [
        [["A", "B"], "0", 0.5, 2.0, nan, 0.125, 0.25, 4.0],
        [["C"], "1", nan, nan, nan, nan, nan, nan],
        [["C"], "2", 3.0, nan, 8.0, nan, nan, nan],
    ]
    np.testing.assert_equal(rows, [dict(zip(columns, values, strict=True)) for values in want])


def test_samples_of_a_torchcell_store_become_what_tcbuild_makes_of_it(tcbuild, tmp_path):
    """Fitness, interactions and their statistics, some measured twice: the columns are those of the
    store itself.
    """
    rng = random.Random(77)
    records, samples = {}, []
    statistics = {"fitness": "fitness_se", "gene_interaction": "gene_interaction_p_value"}
    for number in range(40):
        genes = sorted(rng.sample(test_torchcell.GENES, 2))
        names = ["fitness", "gene_interaction", *rng.choices(list(statistics), k=rng.randrange(3))][
            rng.randrange(2) :
        ]
        rng.shuffle(names)
        values = [(name, i, float(np.float32(rng.gauss(1, 0.2)))) for i, name in enumerate(names)]
        spreads = [float(np.float32(rng.random())) if rng.random() < 0.7 else None for _ in names]
        experiments = [
            test_torchcell.experiment(name, value, statistics[name], spread, genes)
            for (name, _, value), spread in zip(values, spreads)
        ]
        records[str(number)] = json.dumps(experiments).encode()
        samples.append(
            torchcell_sample(
                genes,
                values,
                [
                    (statistics[name], i, spread)
                    for (name, i, _), spread in zip(values, spreads)
                    if spread is not None
                ],
            )
        )
    test_torchcell.write_store(tmp_path / "processed/lmdb", records)
    assert len(exported(samples, tmp_path / "p.arrow")) == 40
    graph = test_torchcell.write_graph(tmp_path / "graph")
    got = {}
    for name, source in (
        ("store", tmp_path / "processed/lmdb"),
        ("exported", tmp_path / "p.arrow"),
    ):
        options = ["--perturbations", source, "--attributes", ""]  # only the store has attributes
        tcbuild.run("incidence", "--graph", graph, *options, "--out", tmp_path / name)
        got[name] = tcbuild.samples(tmp_path / name, 40)
    for sample in got["store"]:  # its kinds are always kept: masks need them
        assert sample["attributes"].pop("kinds")
    assert got["exported"] == got["store"]
    assert "fitness_se#2" in got["store"][0]["phenotypes"]


def test_samples_without_a_graph_are_exported(tmp_path):
    sample = torchcell_sample(["YB", "YA"], [("fitness", 0, 0.5)])
    gene = sample["gene"]
    gene.perturbed_genes = gene.ids_pert
    assert [row["genes"] for row in exported([sample], tmp_path / "both.arrow")] == [["YA", "YB"]]
    del gene.ids_pert
    (row,) = exported([sample], tmp_path / "p.arrow")
    assert row == {"genes": ["YA", "YB"], "sample_id": "0", "fitness": 0.5}
    gene.ids_pert = ["YA"]
    with pytest.raises(ValueError, match=r"\['YA'\] and \['YA', 'YB'\] as its deleted.*\nhint: "):
        exported([sample], tmp_path / "q.arrow")
    del gene.ids_pert, gene.perturbed_genes
    with pytest.raises(ValueError, match=r"sample 0: found none as its deleted genes.*\nhint: "):
        exported([sample], tmp_path / "q.arrow")


def test_what_no_row_can_hold_is_refused(everything, tmp_path):
    good = torchcell_sample(["A"], [("fitness", 0, 0.5)])
    named = [torchcell_sample(["A"], [("fitness", 0, 0.5)]) for _ in range(2)]
    for data in named:
        data.sample_id = "strain 1"
    batch = Batch.from_data_list([good, good])
    cases = [
        (
            ValueError,
            [torchcell_sample(["A"], [("fitness", 0, 0.5), ("fitness", 0, 0.6)])],
            "several values of fitness in experiment 0",
        ),
        (
            ValueError,
            [torchcell_sample(["A"], [("fitness", 0, 0.5)], [("fitness_se", 1, 0.6)])],
            "experiment 1 has statistics and no phenotype",
        ),
        (
            ValueError,
            [torchcell_sample(["A"], [("genes", 0, 0.5)])],
            "'genes', which is another column",
        ),
        (ValueError, named, "sample 1: found the name 'strain 1'"),
        (TypeError, [batch], "HeteroDataBatch"),
        (TypeError, [package.open(everything.datasets["indices"])[0]], "Sample"),
    ]
    for kind, samples, message in cases:
        with pytest.raises(kind, match=f"(?s){message}.*\nhint: "):
            torchcell.export_perturbations(samples, tmp_path / "p.arrow")
    assert not list(tmp_path.iterdir())


def test_a_failed_export_leaves_nothing(everything, tmp_path):
    with pytest.raises(ValueError, match="does not end in .arrow"):
        torchcell.export_perturbations([], tmp_path / "p.tsv")
    data = torchcell.cell_graph(everything.datasets["indices"])
    data["protein"].num_nodes = 3
    with pytest.raises(ValueError, match=r"node type 'protein' has no node_ids\nhint: "):
        torchcell.export_cell_graph(data, tmp_path / "graph")
    del data["protein"], data["reaction"].node_ids
    with pytest.raises(ValueError, match=r"node type 'reaction' has no node_ids\nhint: "):
        torchcell.export_cell_graph(data, tmp_path / "graph")
    assert not list(tmp_path.iterdir())
    (tmp_path / "graph").mkdir()
    with pytest.raises(FileExistsError, match="hint: "):
        torchcell.export_cell_graph(data, tmp_path / "graph")
