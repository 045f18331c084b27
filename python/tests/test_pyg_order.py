"""Node and edge types come in torchcell's order, so that one seed gives one model."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch import nn
from torch_geometric.nn import HeteroConv, SAGEConv

import torchcell_client as client
from tcbuild import torchcell
from tcbuild.torchcell._order import graph_order, sample_order
from test_pyg_torchcell import build
from torch_cases import built_case

GRAPHS = ["physical_interaction", "physical2", "regulatory_interaction", "string12_0_fusion"]
GRAPHS += ["tflink"]


def test_the_order_of_a_graph_and_of_samples():
    between = [f"gene__{name}__gene" for name in sorted(GRAPHS[:2])[::-1] + GRAPHS[2:]]
    rmr, gpr = "reaction__rmr__metabolite", "gene__gpr__reaction"
    further = ["gene__has_annotation__gene_ontology", "gene_ontology__is_child_of__gene_ontology"]
    others = ["complex__has__protein", "protein__binds__gene"]
    shuffled = [*between, rmr, gpr, *further, *others]
    random.Random(3).shuffle(shuffled)
    assert graph_order(shuffled) == [*between, rmr, gpr, *further, *others]
    assert sample_order(shuffled) == [*between, gpr, rmr, *further, *others]
    nodes = ["complex", "gene", "gene_ontology", "metabolite", "reaction"]
    of_torchcell = ["gene", "metabolite", "reaction", "gene_ontology"]
    assert graph_order(nodes) == [*of_torchcell, "complex"]
    assert sample_order(nodes)[:3] == ["gene", "reaction", "metabolite"]


def test_graphs_samples_and_batches_are_in_that_order(tcbuild, tmp_path):
    path = built_case(tcbuild, "everything", "all", tmp_path, ["indices"]).datasets["indices"]
    dataset = torchcell.Dataset(path, ["fitness"])
    between = ["physical", "regulatory", "string12_0_coexpression"]
    assert dataset.cell_graph.node_types == ["gene", "metabolite", "reaction"]
    assert [name for _, name, _ in dataset.cell_graph.edge_types] == [*between, "rmr", "gpr"]
    (batch,) = torchcell.DataLoader(dataset, 100)
    for data in (dataset[0], batch, batch[0], batch.to("cpu")):
        assert data.node_types == ["gene", "reaction", "metabolite"]
        assert [name for _, name, _ in data.edge_types] == [*between, "gpr", "rmr"]
        kinds = [store._key for store in data.stores if store._key is not None]
        assert kinds == [*data.node_types, *data.edge_types]


def weights(graph, seed):
    """Those of a model that loops over the types of a graph."""
    torch.manual_seed(seed)
    nodes = nn.ModuleDict(
        {name: nn.Embedding(graph[name].num_nodes, 4) for name in graph.node_types}
    )
    convolutions = HeteroConv({kind: SAGEConv((-1, -1), 4) for kind in graph.edge_types})
    edges = {kind: graph[kind].get("edge_index") for kind in graph.edge_types}
    edges = {kind: graph[kind].hyperedge_index if e is None else e for kind, e in edges.items()}
    convolutions({name: table.weight for name, table in nodes.items()}, edges)
    return nn.utils.parameters_to_vector([*nodes.parameters(), *convolutions.parameters()])


@pytest.mark.parametrize("ontology", [False, True])
def test_a_model_that_loops_over_types_gets_the_same_weights(tcbuild, tmp_path, ontology):
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    labels = client.BUILDS["single"][0]
    records = client.make_records(labels, 1)
    terms = client.make_ontology(random.Random("ontology")) if ontology else None
    theirs = client.torchcell_dataset(tmp_path, records, labels, ontology=terms)
    ours = torchcell.Dataset(build(tcbuild, tmp_path, theirs.cell_graph, records), labels)
    assert ours.cell_graph.metadata() == theirs.cell_graph.metadata()
    for seed in range(5):
        assert torch.equal(weights(ours.cell_graph, seed), weights(theirs.cell_graph, seed))
