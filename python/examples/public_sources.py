"""Reads public releases with tcbuild.sources: copy the functions that you need.

`f` is a file of the release; of a zip file, `zipfile.ZipFile("X.zip").open("X.tab3.txt")`. The
functions without `graph` make one of genes; the others add to it, or return samples with an
account.
"""

from __future__ import annotations

import pandas as pd
import polars as pl

from tcbuild import screens, sources

YEAST = "559292"  # taxon of BioGRID's organism columns; STRING's is 4932


def protein(column, taxon="4932."):
    """STRING's ids begin with the taxon of the organism."""
    return pl.col(column).str.strip_prefix(taxon)


# Genes


def sgd_features(f):
    return sources.genes(
        sources.sgd_features(f),
        "feature_name",
        name="standard_name",
        aliases=["aliases", "sgd_id"],
        where=pl.col("feature_type") == "ORF",
        ignore_case=True,
    )


def hgnc(f):
    return sources.genes(
        f,
        "symbol",
        aliases=["prev_symbol", "alias_symbol", "ensembl_gene_id", "entrez_id", "hgnc_id"],
        where=pl.col("locus_group") == "protein-coding gene",
    )


def string_info(graph, f):
    """Human proteins, as further names of genes."""
    aliases = [protein("#string_protein_id", "9606.")]
    sources.add_names(graph, f, "preferred_name", aliases=aliases)


# Physical and functional interactions


def string(graph, f):
    sources.add_edges(
        graph,
        "string",
        sources.table(f, separator=" ", numbers=["combined_score"]),
        src=protein("protein1"),
        dst=protein("protein2"),
        weight="combined_score",
        where=pl.col("combined_score") >= 700,
        undirected=True,
    )


def string_actions(graph, f):
    directed = (pl.col("is_directional") == "t") & (pl.col("a_is_acting") == "t")
    sources.add_edges(
        graph,
        "string_expression",
        sources.table(f, numbers=["score"]),
        src=protein("item_id_a"),
        dst=protein("item_id_b"),
        weight="score",
        where=(pl.col("mode") == "expression") & directed & (pl.col("score") >= 400),
        keep=["action"],
        undirected=False,
    )


def string_dango(graph, f, names="list.txt"):
    """Pairs of line numbers of `names`, as DANGO has STRING 9.1."""
    lines = {str(line): gene for line, gene in enumerate(open(names).read().split(), 1)}
    sources.add_edges(
        graph,
        "string9_1",
        sources.table(f, columns=["a", "b", "score"], numbers=["score"]),
        src=pl.col("a").replace_strict(lines),
        dst=pl.col("b").replace_strict(lines),
        weight="score",
        where=pl.col("score") != 0,
        undirected=True,
    )


def first_name(end):
    """BioGRID writes - where it has no systematic name."""
    names = pl.col([f"Systematic Name Interactor {end}", f"Official Symbol Interactor {end}"])
    return pl.coalesce(names.replace("-", None), pl.lit("-"))


def biogrid(graph, f, relation, system="physical", organism="^Organism ID .*$"):
    """tab3; of tab2, organism is "^Organism Interactor .*$"."""
    sources.add_edges(
        graph,
        relation,
        f,
        src=first_name("A"),
        dst=first_name("B"),
        where=pl.all_horizontal(pl.col(organism) == YEAST)
        & (pl.col("Experimental System Type") == system),
        undirected=True,
    )


def biogrid_systems(graph, f):
    """An edge type per experimental system."""
    yeast = pl.all_horizontal(pl.col("^Organism ID .*$") == YEAST)
    genetic = sources.table(f).filter(yeast, pl.col("Experimental System Type") == "genetic")
    for (system,), rows in genetic.group_by("Experimental System", maintain_order=True):
        sources.add_edges(
            graph,
            f"biogrid_{system.replace(' ', '_')}",
            rows,
            src=first_name("A"),
            dst=first_name("B"),
            keep=["Throughput", "Publication Source"],
            undirected=True,
        )


def sgd_interactions(graph, f):
    columns = "bait bait_name hit hit_name experiment kind source curation notes phenotype"
    sources.add_edges(
        graph,
        "sgd_physical_interactions",
        sources.table(f, columns=[*columns.split(), "reference", "citation"]),
        src="bait",
        dst="hit",
        where=pl.col("kind") == "physical interactions",
        keep=["experiment", "curation", "phenotype"],
        undirected=True,
    )


# Regulation


def tflink(graph, f):
    sources.add_edges(
        graph,
        "tflink",
        f,
        src="Name.TF",
        dst="Name.Target",
        keep=["Detection.method", "Source.database", "Small-scale.evidence"],
        undirected=False,
    )


def trrust(graph, f):
    rows = sources.table(f, columns=["factor", "target", "mode", "pubmed"])
    sources.add_edges(
        graph, "trrust", rows, src="factor", dst="target", keep=["mode", "pubmed"], undirected=False
    )


def yeastract(graph, f):
    rows = sources.table(f, separator=";", columns=["factor", "target"])
    src, dst = (pl.col(name).str.to_uppercase() for name in rows.columns)
    sources.add_edges(graph, "yeastract", rows, src=src, dst=dst, undirected=False)


def yeastract_matrix(graph, f):
    sources.add_edges(
        graph,
        "yeastract_matrix",
        sources.matrix(f, separator=";"),
        src=pl.col("row").str.to_uppercase(),
        dst=pl.col("column").str.to_uppercase(),
        weight="weight",
        where=pl.col("weight") != 0,
        undirected=False,
    )


def binding(graph, f, relation):
    """P-values, of Lee et al. 2002 or of Harbison et al. 2004, whose columns are NAME_YPD."""
    sources.add_edges(
        graph,
        relation,
        sources.matrix(f, skip=1),
        src=pl.col("column").str.strip_suffix("_YPD"),
        dst="row",
        weight="weight",
        where=pl.col("weight") <= 0.001,
        undirected=False,
    )


def gaf(graph, f, terms="go-basic.obo"):
    experiments = ~pl.col("evidence").is_in(["IEA", "ND"])
    sources.add_ontology(graph, terms, sources.gaf(f), where=experiments)


# Samples


def costanzo(graph, f):
    return screens.sga(pd.read_csv(f, sep="\t"), graph)


def emap(graph, f):
    strains = [["gene_a", "mutation_or_name_a"], ["gene_b", "mutation_or_name_b"]]
    alleles = ["deletion", "damp"]
    return screens.sga(pd.read_csv(f, sep="\t"), graph, strains=strains, alleles=alleles)


def kuzmin2018_links(graph, f):
    table = pd.read_csv(f, sep=" ")
    return screens.sga(table, graph, allele_names="Triplete_Name", alleles=["deletion", "ts"])


def matrix(graph, f):
    return screens.matrix(pd.read_csv(f, sep="\t"), graph)
