"""The cell graph of Saccharomyces cerevisiae from public releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from tcbuild.sources._downloads import fetch
from tcbuild.sources._edges import add_edges
from tcbuild.sources._files import matrix, table
from tcbuild.sources._genes import genes, sgd_features
from tcbuild.sources._graph import Graph
from tcbuild.sources._models import add_model


def yeast(data: str | os.PathLike[str]) -> Graph:
    """The cell graph of yeast: 6,604 genes, twelve gene-gene edge types, and yeast-GEM.

    Args:
        data: folder of the downloads; fetches missing ones
    """
    data, downloads = Path(data), fetch("yeast", data)

    # SGD's features. Genes are all ORFs, including dubious ones; other features give names, too.
    features = sgd_features(data / "genes_sgd/SGD_features.tab.gz")
    graph = genes(
        features,
        id="feature_name",
        name="standard_name",
        aliases=["aliases", "sgd_id"],
        where=pl.col("feature_type") == "ORF",
        ignore_case=True,
    )
    graph.downloads = downloads

    # yeast-GEM 9.0.2, November 2024. combinations=True makes torchcell's nodes of reactions.
    add_model(graph, data / "yeast_gem_v9.0.2/yeast-GEM.yml.gz")

    # Matrices of targets and transcription factors, as the Inferelator v0.6.1 ships them: YEASTRACT
    # of 13 July 2019, and motifs in promoters, weighted by their number.
    regulates: Any = {"src": "column", "dst": "row", "weight": "weight", "undirected": False}
    for relation, file in [
        ("yeastract", "YEASTRACT_20190713_BOTH.tsv.gz"),
        ("motif_prior", "yeast-motif-prior.tsv.gz"),
    ]:
        cells = matrix(data / "regulatory_inferelator" / file)
        add_edges(graph, relation, cells, where=pl.col("weight") != 0, **regulates)
        del cells  # such tables are large

    # STRING v9.1 (2013) as DANGO ships it: numbers of lines of a list of genes, and probabilities.
    dango = data / "string_v9.1_dango"
    listed = enumerate((dango / "yeast_string_genes.txt").read_text().splitlines(), 1)
    genes_of = {str(line): gene for line, gene in listed}
    src, dst = (pl.col(end).replace_strict(genes_of) for end in ("a", "b"))
    scored: Any = {"src": src, "dst": dst, "weight": "score", "undirected": True}
    for channel in ["neighborhood", "fusion", "cooccurence", "database"]:
        scores = dango / f"yeast_string_{channel}_adjacency.txt.gz"
        links = table(scores, columns=["a", "b", "score"], numbers=["score"])
        add_edges(graph, f"string9_1_{channel}", links, where=pl.col("score") != 0, **scored)

    # STRING v12.0 (2023), the physical subnetwork, direct evidence only. Scores are probabilities
    # times 1000: 1 is any evidence, 400 medium and 700 high confidence.
    channels = ["experiments", "database", "textmining"]
    physical = data / "string_v12_physical/4932.protein.physical.links.full.v12.0.txt.gz"
    links = table(physical, separator=" ", only=["protein1", "protein2"], numbers=channels)
    ends = [pl.col(end).str.strip_prefix("4932.") for end in ("protein1", "protein2")]
    for channel in channels:
        scored = {"src": ends[0], "dst": ends[1], "weight": pl.col(channel).alias("score")}
        relation = f"string12_0_physical_{channel}"
        add_edges(graph, relation, links, where=pl.col(channel) >= 1, undirected=True, **scored)

    # Networks as BIONIC ships them, of January 2024.
    for relation, file, weight in [
        ("coexpression_hu2007", "Hu-2007.txt.gz", "correlation"),
        ("physical_krogan2006", "Krogan-2006.txt.gz", None),
        ("genetic_costanzo2016", "Costanzo-2016.txt.gz", "similarity"),
    ]:
        columns = ["a", "b"] if weight is None else ["a", "b", weight]
        path = data / "bionic_networks" / file
        pairs = table(path, separator=" ", columns=columns, numbers=columns[2:])
        add_edges(graph, relation, pairs, src="a", dst="b", weight=weight, undirected=True)

    return graph
