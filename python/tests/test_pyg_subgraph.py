"""Samples of SubgraphRepresentation are what the oracle leaves of the graph."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from tcbuild import torchcell
from test_torch_filtered import oracle
from torch_cases import built_case, want_mask

CASES = [("everything", "gpr"), ("everything", "all"), ("further types", "all"), ("dense", "gpr")]
CASES += [("genes alone", "all"), ("reactions without rules", "all")]


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def built(request, tcbuild, tmp_path_factory):
    name, rule = request.param
    return built_case(tcbuild, name, rule, tmp_path_factory.mktemp("case"), ["indices"])


def test_what_is_left(built):
    dataset = torchcell.Dataset(
        built.datasets["indices"], [], graph_processor="SubgraphRepresentation"
    )
    for row in range(0, len(dataset), 4):
        data, want = dataset[row], built.want[row]
        genes = want_mask(want, "gene")
        names = [name for name, kept in zip(built.cell.nodes["gene"], genes) if kept]
        assert data["gene"].node_ids == names and data["gene"].num_nodes == len(names)
        assert data["gene"].pert_mask.tolist() == [not kept for kept in genes]
        for kind in data.edge_types:
            name = "__".join(kind)
            _, _, relabelled, _, _ = oracle(built, [row], name)
            store = data[kind]
            edges = store.edge_index if "edge_index" in store else store.hyperedge_index
            assert list(map(tuple, edges.T.tolist())) == relabelled, name
            assert store.num_edges == len(relabelled)
            if name == "reaction__rmr__metabolite":
                assert len(store.stoichiometry) == len(relabelled) and "pert_mask" not in store
            else:
                assert len(store.pert_mask) == len(built.cell.edges[name])
                assert int((~store.pert_mask).sum()) == len(relabelled)
    (batch,) = torchcell.DataLoader(dataset, len(dataset), follow_batch=["perturbation_indices"])
    assert batch.num_graphs == len(dataset)
    assert batch["gene"].perturbation_indices_ptr[-1] == sum(
        len(sample["perturbation_indices"]) for sample in built.want
    )
