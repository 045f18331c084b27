"""The order of node and edge types: torchcell's. A model that makes its layers in a loop over them
gets the same weights from the same seed.
"""

from __future__ import annotations

from collections.abc import Iterable

from tcbuild._graph.graph import GPR, MRM, RMR, split_edge_type

_NODES_OF_GRAPH = ["gene", "metabolite", "reaction", "gene_ontology"]
_NODES_OF_SAMPLE = ["gene", "reaction", "metabolite", "gene_ontology"]
_ONTOLOGY = ["gene__has_annotation__gene_ontology", "gene_ontology__is_child_of__gene_ontology"]
_EDGES_OF_GRAPH = [RMR, MRM, GPR, *_ONTOLOGY]
_EDGES_OF_SAMPLE = [GPR, RMR, MRM, *_ONTOLOGY]
_GRAPHS = {"physical_interaction": "physical", "regulatory_interaction": "regulatory"}


def graph_order(names: Iterable[str]) -> list[str]:
    """Types as a cell graph has them: gene-gene edges by torchcell's names, others last by name."""
    return _ordered(names, [*_NODES_OF_GRAPH, *_EDGES_OF_GRAPH])


def sample_order(names: Iterable[str]) -> list[str]:
    """As samples and batches have them: gene, reaction, metabolite; ..., gpr, rmr."""
    return _ordered(names, [*_NODES_OF_SAMPLE, *_EDGES_OF_SAMPLE])


def _ordered(names: Iterable[str], known: list[str]) -> list[str]:
    rank = {name: place for place, name in enumerate(known)}

    def key(name: str) -> tuple[int, str]:
        source, relation, target = split_edge_type(name)
        if source == target == "gene":
            return -1, _GRAPHS.get(relation, relation)
        return rank.get(name, len(known)), name

    return sorted(names, key=key)
