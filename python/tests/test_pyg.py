"""Graphs and samples as torchcell's HeteroData, and back through the tcbuild program."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import tcbuild as package
from oracle import split_edge_type
from tcbuild import pyg
from tcbuild.torch import MaskGenerator
from torch_cases import VARIANTS, built_case, want_mask
from torch_geometric.data import HeteroData
from torch_geometric.loader import DataLoader

HYPEREDGES = ("gene__gpr__reaction", "reaction__rmr__metabolite")


@pytest.fixture(scope="module", params=["everything", "indices in edge files", "genes alone", "reactions without rules"])
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, request.param, "all", tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"))


def assert_is_cell(data, cell):
    assert data.node_types == list(cell.nodes)
    for node_type, ids in cell.nodes.items():
        assert data[node_type].node_ids == ids and data[node_type].num_nodes == len(ids)
    assert data["gene"].x.shape == (len(cell.nodes["gene"]), 0)
    assert data.edge_types == [split_edge_type(name) for name in cell.edge_types()]
    for name, edges in cell.edges.items():
        store = data[split_edge_type(name)]
        index = store.hyperedge_index if name in HYPEREDGES else store.edge_index
        assert index.dtype == torch.int64 and index.T.tolist() == [list(edge) for edge in edges]
        assert store.num_edges == (len({reaction for _, reaction in edges}) if name == HYPEREDGES[0] else len(edges))
    if "reaction" in cell.nodes:
        rmr = data["reaction", "rmr", "metabolite"]
        assert rmr.stoichiometry.dtype == torch.float32 and set(rmr.stoichiometry.tolist()) <= {-2, -1, -0.5, 1, 2}
        for reaction in range(len(cell.nodes["reaction"])):
            genes = [gene for gene, other in cell.edges["gene__gpr__reaction"] if other == reaction]
            assert rmr.reaction_to_genes_indices[reaction] == genes
            assert rmr.reaction_to_genes[reaction] == [cell.nodes["gene"][gene] for gene in genes]
        assert ("gpr" in data["reaction"]) == any(cell.rules)
        if any(cell.rules):
            assert data["reaction"].gpr == cell.rules


def test_a_cell_graph_is_that_of_the_input(built):
    sources = [*built.datasets.values(), built.graph, built.graph.parent, package.open(built.datasets["indices"])]
    for source in sources:
        assert_is_cell(pyg.cell_graph(source), built.cell)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sample_is_that_of_the_oracle(built, variant):
    dataset = pyg.Dataset(built.datasets[variant])
    assert len(dataset) == len(built.want)
    for number in range(0, len(dataset), 5):
        data, want = dataset[number], built.want[number]
        assert data.sample_id == want["sample_id"]
        for node_type, ids in built.cell.nodes.items():
            store = data[node_type]
            assert store.node_ids == ids and store.num_nodes == len(ids)
            assert store.mask.dtype == torch.bool and store.mask.tolist() == want_mask(want, node_type)
            assert torch.equal(store.pert_mask, ~store.mask)
        for name, edges in built.cell.edges.items():
            store = data[split_edge_type(name)]
            assert store.mask.tolist() == want_mask(want, name) and store.num_edges == len(edges)
        gene = data["gene"]
        assert gene.ids_pert == want["genes"] and gene.perturbation_indices.tolist() == want["perturbation_indices"]
        assert gene.phenotype_types == list(want["phenotypes"])
        there = [(rank, value) for rank, value in enumerate(want["phenotypes"].values()) if value is not None]
        there = there or [(0, np.nan)]
        assert gene.phenotype_type_indices.tolist() == [rank for rank, _ in there]
        np.testing.assert_array_equal(gene.phenotype_values.numpy(), np.float32([value for _, value in there]))
        assert gene.phenotype_sample_indices.tolist() == [0] * len(there)
        assert "phenotype_stat_values" not in gene


def test_samples_share_the_graph(everything):
    dataset = pyg.Dataset(everything.datasets["indices"])
    graph, first, second = dataset.cell_graph, dataset[0], dataset[1]
    for edge_type in graph.edge_types:
        key = "hyperedge_index" if "__".join(edge_type) in HYPEREDGES else "edge_index"
        assert first[edge_type][key].data_ptr() == second[edge_type][key].data_ptr() == graph[edge_type][key].data_ptr()
    assert len(pickle.dumps(dataset)) < 1000


def test_a_mask_generator_serves_batches_of_pyg(everything):
    dataset = pyg.Dataset(everything.datasets["indices"])
    batch = next(iter(DataLoader(dataset, batch_size=4, follow_batch=["perturbation_indices"])))
    masks = MaskGenerator(dataset.stored, "concatenated")(batch["gene"].perturbation_indices, batch["gene"].perturbation_indices_ptr)
    for name, mask in masks.items():
        store = batch[name if name in batch.node_types else split_edge_type(name)]
        assert torch.equal(mask, store.mask), name


def test_phenotypes_may_be_statistics(everything):
    path = everything.datasets["indices"]
    for data, want in zip(pyg.Dataset(path, statistics=["gene interaction"]), everything.want):
        gene, statistic = data["gene"], want["phenotypes"]["gene interaction"]
        assert gene.phenotype_types == ["fitness"]
        assert ("phenotype_stat_values" in gene) == (statistic is not None)
        if statistic is not None:
            assert gene.phenotype_stat_types == ["gene interaction"]
            assert gene.phenotype_stat_values.tolist() == [np.float32(statistic)]
    with pytest.raises(ValueError, match="no phenotype"):
        pyg.Dataset(path, statistics=["fitness_se"])


@pytest.mark.parametrize("rule", ["all", "gpr"])
def test_tcbuild_builds_the_same_of_what_is_exported(everything, tcbuild, tmp_path, rule):
    source = everything.datasets["full-masks"]
    pyg.export_cell_graph(pyg.cell_graph(source), tmp_path / "out" / "graph")
    pyg.export_perturbations(pyg.Dataset(source, statistics=["fitness"]), tmp_path / "perturbations.arrow")
    built = {}
    for name, graph, perturbations in (
        ("exported", tmp_path / "out", tmp_path / "perturbations.arrow"),
        ("original", everything.graph, everything.perturbations),
    ):
        inputs = ["--graph", graph, "--perturbations", perturbations, "--out", tmp_path / name, "--reaction-rule", rule]
        tcbuild.run("dataset", "--mode", "indices", *inputs)
        built[name] = tcbuild.samples(tmp_path / name, len(everything.want))
    for got, want in zip(built["exported"], built["original"], strict=True):
        phenotypes = want.pop("phenotypes")
        rounded = {name: None if value is None else float(np.float32(value)) for name, value in phenotypes.items()}
        assert got.pop("phenotypes") == rounded
        assert got == want
    cells = [pyg.cell_graph(tmp_path / name) for name in built]
    for edge_type in cells[0].edge_types:
        for key in ("edge_index", "hyperedge_index", "stoichiometry"):
            if key in cells[0][edge_type]:
                assert torch.equal(cells[0][edge_type][key], cells[1][edge_type][key])


def torchcell_sample(genes, values, types, samples):
    data = HeteroData()
    data["gene"].ids_pert = genes
    data["gene"].phenotype_values = torch.tensor(values)
    data["gene"].phenotype_type_indices = torch.tensor(types)
    data["gene"].phenotype_sample_indices = torch.tensor(samples)
    data["gene"].phenotype_types = ["fitness", "score"]
    return data


def test_each_measurement_of_a_genotype_is_a_row(tmp_path):
    samples = [
        torchcell_sample(["B", "A"], [0.5, 2.0, 0.25], [0, 1, 0], [0, 0, 1]),
        torchcell_sample(["C"], [float("nan")], [0], [0]),
    ]
    pyg.export_perturbations(samples, tmp_path / "p.arrow")
    rows = pa.ipc.open_file(tmp_path / "p.arrow").read_all().to_pylist()
    np.testing.assert_equal(
        rows,
        [
            {"genes": ["A", "B"], "sample_id": "0", "fitness": 0.5, "score": 2.0},
            {"genes": ["A", "B"], "sample_id": "0.1", "fitness": 0.25, "score": np.nan},
            {"genes": ["C"], "sample_id": "1", "fitness": np.nan, "score": np.nan},
        ],
    )


def test_a_failed_export_leaves_nothing(everything, tmp_path):
    twice = torchcell_sample(["A"], [0.5, 0.6], [0, 0], [0, 0])
    with pytest.raises(ValueError, match=r"several values of fitness in measurement 0 .*\nhint: "):
        pyg.export_perturbations([twice], tmp_path / "p.arrow")
    with pytest.raises(ValueError, match="does not end in .arrow"):
        pyg.export_perturbations([], tmp_path / "p.tsv")
    data = pyg.cell_graph(everything.graph)
    data["protein"].num_nodes = 3
    with pytest.raises(ValueError, match=r"node type 'protein' .*\nhint: "):
        pyg.export_cell_graph(data, tmp_path / "graph")
    del data["protein"], data["reaction"].node_ids
    with pytest.raises(AttributeError):
        pyg.export_cell_graph(data, tmp_path / "graph")
    assert not list(tmp_path.iterdir())
    (tmp_path / "graph").mkdir()
    with pytest.raises(FileExistsError, match="hint: "):
        pyg.export_cell_graph(data, tmp_path / "graph")
