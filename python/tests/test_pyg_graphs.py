"""torchcell's cell graphs are carried whole: built, and read again, they are the same."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import random

import numpy as np
import pyarrow as pa
from torch_geometric.data import HeteroData

import tcbuild as reader
import torchcell_client as client
from tcbuild import torchcell
from tcbuild._build import read_graph_folder

GENES = client.GENES


def whole_graph() -> HeteroData:
    """A graph with all that torchcell's have, and some more tensors."""
    rng = random.Random("whole graph")

    def draw(nodes: int, count: int) -> list[int]:
        return [rng.randrange(nodes) for _ in range(count)]

    data = HeteroData()
    data["gene"].num_nodes, data["gene"].node_ids = len(GENES), GENES
    data["gene"].x = torch.randn(len(GENES), 3)
    data["gene"].essential = torch.tensor(draw(2, len(GENES))).bool()
    physical = data["gene", "physical", "gene"]
    physical.edge_index = torch.tensor([draw(len(GENES), 30), draw(len(GENES), 30)])
    physical.num_edges, physical.edge_attr = 30, torch.randn(30, 2, 2).double()
    physical.score = torch.tensor([float("nan"), *draw(900, 29)]).half()
    data["metabolite"].num_nodes, data["metabolite"].node_ids = 5, [f"s_{i}" for i in range(5)]
    data["reaction"].num_nodes, data["reaction"].node_ids = 6, [f"r_{i}" for i in range(6)]
    data["reaction"].w_growth = torch.tensor([0.0, 0, 1, 0, 0, 0])
    names = {0: [GENES[3], "YAL999C"], 2: [GENES[0]], 5: ["YAL998W"]}
    indices = {0: [3, -1], 2: [0], 5: [-1]}
    data["gene", "gpr", "reaction"].hyperedge_index = torch.tensor([[3, 0], [0, 2]])
    data["gene", "gpr", "reaction"].num_edges = 2
    for kind, index in (
        (("reaction", "rmr", "metabolite"), [draw(6, 12), draw(5, 12)]),
        (("metabolite", "reaction", "metabolite"), [draw(5, 9), [0, 0, 1, 1, 3, 3, 5, 5, 5]]),
    ):
        store = data[kind]
        store.hyperedge_index = torch.tensor(index)
        store.stoichiometry = torch.randn(len(index[0]))
        store.num_edges = 12 if kind[0] == "reaction" else 4 + 1
        store.reaction_to_genes, store.reaction_to_genes_indices = names, indices
    terms = data["gene_ontology"]
    terms.num_nodes, terms.node_ids, terms.term_ids = 4, ["GO:1", "GO:2", "GO:3", "GO:4"], None
    terms.term_ids = terms.node_ids
    mapping = torch.tensor([[2, 7], [0, 1], [2, 3]])
    terms.x, terms.term_gene_counts = (
        torch.tensor([[1.0], [0], [2], [0]]),
        torch.tensor([1, 0, 2, 0]),
    )
    terms.term_gene_mapping, terms.max_genes_per_term = mapping, 2
    terms.term_to_gene_dict = {0: [1], 1: [], 2: [7, 3], 3: []}
    terms.strata = torch.tensor([0, 1, 1, 2])
    terms.stratum_to_terms = {0: torch.tensor([0]), 1: torch.tensor([2, 1]), 2: torch.tensor([3])}
    terms.go_gene_strata_state = torch.tensor([[2.0, 7, 1, 1], [0, 1, 0, 1], [2, 3, 1, 1]])
    annotation = data["gene", "has_annotation", "gene_ontology"]
    annotation.edge_index, annotation.num_edges = mapping.flip(1).T.contiguous(), 3
    hierarchy = data["gene_ontology", "is_child_of", "gene_ontology"]
    hierarchy.edge_index, hierarchy.num_edges = torch.tensor([[1, 2, 3], [0, 0, 1]]), 3
    return data


def assert_carried(data: HeteroData, folder) -> None:
    """The graph of a dataset of this graph equals data, key by key."""
    reader.build(data, None, folder / "built")
    got, want = client.contents(torchcell.cell_graph(folder / "built")), client.contents(data)
    assert got.keys() == want.keys()
    for key, value in want.items():
        assert_equal(got[key], value, key)


def assert_equal(got, want, key) -> None:
    assert type(got) is type(want), key
    if isinstance(want, torch.Tensor):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), key
        assert got.numpy().tobytes() == want.contiguous().numpy().tobytes(), key
    elif isinstance(want, dict):
        assert got.keys() == want.keys(), key
        for name, value in want.items():
            assert_equal(got[name], value, f"{key} {name}")
    else:
        assert got == want, key


def test_all_of_a_graph_is_carried(tcbuild, tmp_path):
    assert_carried(whole_graph(), tmp_path)


def test_a_batch_offsets_hyperedges_by_reactions(tcbuild, tmp_path):
    data = whole_graph()
    (tmp_path / "sets.tsv").write_text(f"genes\tfitness\n{GENES[0]}\t1\n{GENES[3]}\t2\n")
    built = reader.build(data, tmp_path / "sets.tsv", tmp_path / "built")
    kind, dataset = ("metabolite", "reaction", "metabolite"), torchcell.Dataset(built)
    batch = torchcell.LazyCollater()([dataset[0], dataset[1]])
    one = data[kind].hyperedge_index
    want = torch.cat([one, one + torch.tensor([[5], [6]])], dim=1)
    assert torch.equal(batch[kind].hyperedge_index, want)
    # Reaction 2 goes with gene 0, reaction 0 with gene 3.
    assert torch.equal(batch[kind].mask, torch.cat([one[1] != 2, one[1] != 0]))
    assert batch["gene_ontology"].mask.all()


def test_columns_are_arrays(tcbuild, tmp_path):
    data = whole_graph()
    columns = reader.build(data, None, tmp_path / "built").graph.columns
    assert list(columns["gene"]) == ["x", "essential"] and "id" not in columns["gene"]
    assert np.array_equal(columns["gene"]["x"], data["gene"].x.numpy())
    assert columns["gene"]["essential"].dtype == bool
    physical = columns["gene__physical__gene"]
    assert physical["edge_attr"].shape == (30, 2, 2) and physical["score"].dtype == np.float16
    assert columns["reaction"]["reaction_to_genes"][1] is None
    assert columns["gene_ontology"]["term_ids"].tolist() == data["gene_ontology"].node_ids
    with pytest.raises(KeyError):
        physical["src_index"]


@pytest.mark.parametrize(
    ("column", "want"),
    [
        (pa.array([1, 2, 3], pa.int8()), np.array([1, 2, 3], np.int8)),
        (pa.array([1, None, 3], pa.int8()), np.array([1, None, 3], object)),
        (pa.array([1.5, None, 3]), np.array([1.5, np.nan, 3])),
        (pa.array([True, None, False]), np.array([True, None, False], object)),
        (pa.array(["a", None, "c"]), np.array(["a", None, "c"], object)),
        (
            pa.array([[1.0, 2], [3, None], [5, 6]], pa.list_(pa.float32(), 2)),
            np.array([[1, 2], [3, np.nan], [5, 6]], np.float32),
        ),
        (pa.array([[1], None, [2]], pa.list_(pa.int8(), 1)), np.array([[1], None, [2]], object)),
    ],
)
def test_missing_values_of_columns(tcbuild, tmp_path, column, want):
    (tmp_path / "nodes").mkdir()
    table = pa.table({"id": ["x", "A", "B", "C"], "c": pa.concat_arrays([column[:1], column])})
    with pa.OSFile(str(tmp_path / "nodes/gene.arrow"), "wb") as file:
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table.slice(1), max_chunksize=2)
    got = read_graph_folder(tmp_path).columns["gene"]["c"]
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert repr(got.tolist()) == repr(want.tolist())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: data["gene"].update({"lengths": [1.5] * len(GENES)}), "gene.lengths"),
        (lambda data: data["gene"].update({"first": torch.ones(2)}), "gene.first"),
        (lambda data: data["gene"].update({"b": torch.ones(len(GENES)).bfloat16()}), "gene.b"),
        (lambda data: data["gene"].update({"n": torch.tensor(1)}), "gene.n"),
        (lambda data: data["gene"].update({"s": torch.ones(len(GENES), 2).to_sparse()}), "gene.s"),
    ],
)
def test_what_cannot_be_carried_is_named(tcbuild, tmp_path, caplog, change, what):
    data = whole_graph()
    change(data)
    with caplog.at_level("WARNING", "tcbuild"):
        reader.build(data, None, tmp_path / "built")
    assert f"{what}," in caplog.text and "gene.essential" not in caplog.text


def test_a_column_with_the_name_of_something_else_is_refused(tcbuild, tmp_path):
    (tmp_path / "nodes").mkdir()
    table = pa.table({"id": ["A"], "num_nodes": [1]})
    with pa.ipc.new_file(tmp_path / "nodes/gene.arrow", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match="gene has a column 'num_nodes'.*\nhint: "):
        torchcell.cell_graph(tmp_path)


class Members(list):
    """The metabolites of a hyperedge, as hypernetx has them."""

    def __init__(self, members, properties):
        super().__init__(members)
        self.properties = properties


class Hypergraph:
    def __init__(self, rng):
        self.edges = {}
        for number in range(6):
            members = rng.sample([f"s_{metabolite}" for metabolite in range(5)], 3)
            properties = {f"stoich_coefficient-{name}": rng.choice([-1, 0.5]) for name in members}
            if number != 4:
                properties["genes"] = {*rng.sample(GENES, number % 3), "YAL999C"}
            self.edges[f"r_{number}"] = Members(members, properties)


@pytest.mark.parametrize("metabolism", ["bipartite", "hypergraph"])
def test_torchcells_own_graphs_are_carried(tcbuild, tmp_path, metabolism):
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    from torchcell.data.cell_data import _process_metabolism_hypergraph, to_cell_data
    from torchcell.data.neo4j_cell import create_graph_from_gene_set
    from torchcell.sequence import GeneSet

    rng = random.Random(metabolism)
    graphs, incidence = client.make_graphs(rng)
    graphs.graphs["base"] = create_graph_from_gene_set(GeneSet(GENES))
    if metabolism == "hypergraph":
        incidence = {}
    incidence["gene_ontology"] = client.make_ontology(rng)
    data = to_cell_data(graphs, incidence)
    if metabolism == "hypergraph":
        data["gene"].x = torch.randn(len(GENES), 8)
        indices = {name: index for index, name in enumerate(GENES)}
        _process_metabolism_hypergraph(data, Hypergraph(rng), indices)
        data["reaction"].node_ids = [str(number) for number in data["reaction"].node_ids]
    assert len(data.edge_types) == 3 + 2 + 2
    assert_carried(data, tmp_path)
