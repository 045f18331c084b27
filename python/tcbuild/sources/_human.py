"""The cell graph of Homo sapiens from public releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from tcbuild.sources._downloads import fetch
from tcbuild.sources._edges import add_edges
from tcbuild.sources._files import table
from tcbuild.sources._genes import add_names, genes
from tcbuild.sources._graph import Graph
from tcbuild.sources._models import add_model
from tcbuild.sources._ontologies import add_ontology, gaf


def human(data: str | os.PathLike[str]) -> Graph:
    """The cell graph of human cells: protein-coding genes by HGNC symbol.

    Args:
        data: folder of the downloads; fetches missing ones, most of which change in place
    """
    data, downloads = Path(data), fetch("human", data)

    # Human-GEM has Ensembl's ids of genes, STRING those of proteins, older tables previous symbols.
    # Ensembl's ids are the gene ids with id="ensembl_gene_id" and name="symbol".
    graph = genes(
        data / "hgnc_complete_set.txt",
        id="symbol",
        aliases=["prev_symbol", "alias_symbol", "ensembl_gene_id", "entrez_id", "hgnc_id"],
        where=pl.col("locus_group") == "protein-coding gene",
    )
    graph.downloads = downloads
    proteins = pl.col("#string_protein_id").str.strip_prefix("9606.")
    info = data / "9606.protein.info.v12.0.txt.gz"
    add_names(graph, info, id="preferred_name", aliases=[proteins])

    # STRING v12.0. Scores are probabilities times 1000: 700 is high confidence.
    file = data / "9606.protein.links.v12.0.txt.gz"
    links = table(file, separator=" ", numbers=["combined_score"])
    add_edges(
        graph,
        "string12_0",
        links,
        src=pl.col("protein1").str.strip_prefix("9606."),
        dst=pl.col("protein2").str.strip_prefix("9606."),
        weight=pl.col("combined_score").alias("score"),
        where=pl.col("combined_score") >= 700,
        undirected=True,
    )

    # TRRUST version 2: transcription factors and targets.
    columns = ["factor", "target", "mode", "pubmed"]
    trrust = table(data / "trrust_rawdata.human.tsv", columns=columns)
    options: Any = {"src": "factor", "dst": "target", "keep": columns[2:], "undirected": False}
    add_edges(graph, "trrust", trrust, **options)

    # Human-GEM 1.19.0, and the gene ontology with GOA's annotations.
    add_model(graph, data / "Human-GEM.yml")
    annotations = gaf(data / "goa_human.gaf.gz")
    add_ontology(graph, data / "go-basic.obo", annotations, gene="db_object_symbol")
    return graph
