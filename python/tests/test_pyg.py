"""Graphs and samples as torchcell's HeteroData, and back through the tcbuild program."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import ConcatDataset
from torch_geometric.data import HeteroData
from torch_geometric.loader import DataLoader

import tcbuild as package
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
    unknown = next(iter(DataLoader([HeteroData(gene={"ids_pert": ["A"]})], 1)))
    for batch in (next(iter(batches)), unknown):
        node_types = batch.node_types
        with pytest.raises(ValueError, match="another graph or reaction rule"):
            generator(batch)
        assert batch.node_types == node_types


def test_targets_are_named(everything, tcbuild, tmp_path):
    path = everything.datasets["indices"]
    with pytest.raises(
        ValueError,
        match=r"2 phenotypes, expected .*\nhint: .*'fitness', 'gene interaction'",
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


def test_a_graph_is_built_of_its_heterodata(everything, tmp_path):
    source = torchcell.cell_graph(everything.datasets["full-masks"])
    samples = everything.perturbations
    again = package.build(source, samples, tmp_path / "again", reaction_rule="gpr")
    stored = package.open(everything.datasets["full-masks"])
    assert [sample.masks.keys() for sample in again] == [s.masks.keys() for s in stored]
    for got, want in zip(again, stored, strict=True):
        assert (got.all_masks == want.all_masks).all()
    cells = source, torchcell.cell_graph(again)
    for edge_type in cells[0].edge_types:
        for key in ("edge_index", "hyperedge_index", "stoichiometry"):
            if key in cells[0][edge_type]:
                assert torch.equal(cells[0][edge_type][key], cells[1][edge_type][key])
