"""What torchcell derives of the gene ontology for DCell."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import HeteroData

_ANNOTATION = ("gene", "has_annotation", "gene_ontology")


def add_strata(data: HeteroData) -> None:
    """Adds what follows of the columns strata and stratum_to_terms (the rank of a term in the order
    of torchcell's lists), and of the genes' annotations, in the order of their edges.
    """
    terms = data["gene_ontology"]
    if "strata" in terms and "stratum_to_terms" in terms:
        ranks, strata = terms.stratum_to_terms, terms.strata
        members: dict[int, list[int]] = {}
        for term in ranks.argsort().tolist():
            members.setdefault(int(strata[term]), []).append(term)
        terms.stratum_to_terms = {
            stratum: torch.tensor(members[stratum]) for stratum in sorted(members)
        }
    if "strata" not in terms:
        return
    terms.max_genes_per_term = 0
    if _ANNOTATION not in data.edge_types:
        return
    genes, of_terms = data[_ANNOTATION].edge_index
    terms.term_gene_mapping = torch.stack([of_terms, genes], dim=1)
    annotated: dict[int, list[int]] = {term: [] for term in range(terms.num_nodes)}
    for term, gene in terms.term_gene_mapping.tolist():
        annotated[term].append(gene)
    terms.term_to_gene_dict = annotated
    terms.max_genes_per_term = max(map(len, annotated.values()), default=0)
    state = torch.ones(len(genes), 4)
    state[:, 0], state[:, 1], state[:, 2] = of_terms, genes, terms.strata[of_terms]
    terms.go_gene_strata_state = state


def perturbed_ontology(cell_graph: HeteroData, gene: dict[str, Any]) -> HeteroData:
    """A sample with these values of its genes as torchcell's DCellGraphProcessor makes it."""
    sample = HeteroData(
        {"gene": gene | {key: cell_graph["gene"][key] for key in ("node_ids", "x")}}
    )
    if "gene_ontology" in cell_graph.node_types:
        terms, perturbed = cell_graph["gene_ontology"], sample["gene_ontology"]
        perturbed.num_nodes, perturbed.node_ids = terms.num_nodes, terms.node_ids
        if "go_gene_strata_state" in terms:
            perturbed.go_gene_strata_state = state = terms.go_gene_strata_state.clone()
            state[gene["pert_mask"][state[:, 1].long()], 3] = 0
    return sample
