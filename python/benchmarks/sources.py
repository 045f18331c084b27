"""CPU time and memory of the graphs of tcbuild.sources.

    python python/benchmarks/sources.py yeast --data downloads
    python python/benchmarks/sources.py human --data made-up --links 13000000

human makes up what the folder lacks: genes, proteins and links of proteins, as many as STRING has.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from tcbuild import sources

GENES = 19_600
OTHERS = {
    "trrust_rawdata.human.tsv": "G1\tG2\tRepression\t1\n",
    "Human-GEM.yml": "metabolites: [{id: m}]\nreactions: [{id: r, metabolites: {m: 1}, "
    "gene_reaction_rule: ENSG00000000001}]\n",
    "go-basic.obo": "format-version: 1.2\n\n[Term]\nid: GO:1\nname: one\n",
    "goa_human.gaf.gz": "!gaf-version: 2.2\nU\tP\tG1\tenables\tGO:1\tP:1\tIDA\n",
}


def make_up(data: Path, links: int) -> None:
    """Writes the files of the preset human."""
    data.mkdir(parents=True, exist_ok=True)
    header = "hgnc_id symbol locus_group alias_symbol prev_symbol entrez_id ensembl_gene_id".split()
    genes = ["\t".join(header)]
    genes += [
        f"HGNC:{k}\tG{k}\tprotein-coding gene\tA{k}|B{k}\t\t{k}\tENSG{k:011}" for k in range(GENES)
    ]
    proteins = ["#string_protein_id\tpreferred_name"]
    proteins += [f"9606.ENSP{k:011}\tG{k}" for k in range(GENES)]
    texts = OTHERS | {
        "hgnc_complete_set.txt": "\n".join(genes) + "\n",
        "9606.protein.info.v12.0.txt.gz": "\n".join(proteins) + "\n",
    }
    for name, text in texts.items():
        with (gzip.open if name.endswith(".gz") else open)(data / name, "wt") as file:
            file.write(text)
    random = np.random.default_rng(0)
    ids = pl.Series([f"9606.ENSP{k:011}" for k in range(GENES)])
    table = pl.DataFrame(
        {
            "protein1": ids.gather(random.integers(0, GENES, links)),
            "protein2": ids.gather(random.integers(0, GENES, links)),
            "combined_score": random.integers(150, 1000, links),
        }
    )
    with gzip.open(data / "9606.protein.links.v12.0.txt.gz", "wb", 1) as file:
        table.write_csv(file, separator=" ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset", choices=["human", "yeast"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--links", type=int, default=13_000_000)
    given = parser.parse_args()
    if given.preset == "human" and not given.data.exists():
        make_up(given.data, given.links)
    before = resource.getrusage(resource.RUSAGE_SELF)
    graph = getattr(sources, given.preset)(given.data)
    with tempfile.TemporaryDirectory() as folder:
        sources.write(graph, Path(folder) / "graph")
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(f"{given.preset}  {cpu:.1f} s of CPU  {used.ru_maxrss / 1024:.0f} MB")


main()
