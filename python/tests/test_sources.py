"""Real releases, read here by Python's csv module and compared with what tcbuild makes of them."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import tcbuild
from conftest import REPOSITORY
from tcbuild import screens

DATA = REPOSITORY.parent / "shared/data"
FEATURES = DATA / "genes_sgd/SGD_features.tab.gz"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public yeast data is not there"),
]

Edge = tuple[str, str, float | None]


def rows(path: str, delimiter: str = "\t") -> Iterator[list[str]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE)


class Names:
    """SGD's names of genes; a name of several features, one of them a gene, means none."""

    def __init__(self) -> None:
        features = list(rows("genes_sgd/SGD_features.tab.gz"))
        self.genes = sorted(f[3] for f in features if f[1] == "ORF")
        self.ids = set(self.genes)
        self.kinds: list[dict[str, set[str]]] = [{}, {}, {}, {}]
        for feature in filter(lambda f: f[3], features):
            names = [feature[3:4], feature[4:5], feature[5].split("|"), feature[0:1]]
            for kind, of_kind in zip(self.kinds, names, strict=True):
                for name in filter(None, of_kind):
                    kind.setdefault(name, set()).add(feature[3])

    def find(self, name: str) -> str | None:
        """The gene; "" if it is ambiguous, None if there is none."""
        if name in self.ids:
            return name
        meant = next((kind[name] for kind in self.kinds if name in kind), set())
        found = [feature for feature in meant if feature in self.ids]
        return None if not found else found[0] if len(meant) == 1 else ""


@pytest.fixture(scope="module")
def names() -> Names:
    return Names()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("polars", "obonet", "pooch"):
        pytest.importorskip(package)
    sources = import_module("tcbuild.sources")
    return sources.write(sources.yeast(DATA), tmp_path_factory.mktemp("sources") / "graph")


def expected(
    entries: Iterable[Edge], names: Names, undirected: bool, keep: Callable[[float | None], bool]
) -> tuple[list[Edge], Counter[str]]:
    """The edges of (source, target, weight), and how many entries were dropped for which reason."""
    edges: list[Edge] = []
    dropped: Counter[str] = Counter()
    first: dict[tuple[str, str], tuple[str, str]] = {}
    stored: set[tuple[str, str]] = set()
    for source, target, weight in entries:
        src, dst = names.find(source), names.find(target)
        if not src or not dst:
            dropped["unknown_gene" if None in (src, dst) else "ambiguous_name"] += 1
            continue
        pair = (min(src, dst), max(src, dst)) if undirected else (src, dst)
        first.setdefault(pair, (src, dst))
        if not keep(weight):
            dropped["weight_outside"] += 1
        elif undirected and pair in stored:
            again = first[pair] == (src, dst)
            dropped["repeated_row" if again else "other_direction"] += 1
        else:
            stored.add(pair)
            edges.append((src, dst, weight))
    return edges, dropped


def adjacency(channel: str) -> Iterator[Edge]:
    genes = (DATA / "string_v9.1_dango/yeast_string_genes.txt").read_text().split()
    for a, b, score in rows(f"string_v9.1_dango/yeast_string_{channel}_adjacency.txt.gz"):
        yield genes[int(a) - 1], genes[int(b) - 1], float(score)


def links(column: str) -> Iterator[Edge]:
    lines = rows("string_v12_physical/4932.protein.physical.links.full.v12.0.txt.gz", " ")
    at = next(lines).index(column)
    for row in lines:
        yield row[0].removeprefix("4932."), row[1].removeprefix("4932."), float(row[at])


def matrix(name: str) -> Iterator[Edge]:
    lines = rows(f"regulatory_inferelator/{name}.tsv.gz")
    header = next(lines)
    for row in lines:
        factors = header[1:] if len(header) == len(row) else header
        for factor, value in zip(factors, row[1:], strict=True):
            if float(value or 0):  # by far the most cells are 0
                yield factor, row[0], float(value)


def pairs(name: str) -> Iterator[Edge]:
    for row in rows(f"bionic_networks/{name}.txt.gz", " "):
        yield row[0], row[1], float(row[2]) if len(row) > 2 else None


CASES = [
    *((f"string9_1_{c}", adjacency, c, True, bool)
      for c in ("neighborhood", "fusion", "cooccurence", "database")),
    *((f"string12_0_physical_{c}", links, c, True, lambda score: score >= 1)
      for c in ("experiments", "database", "textmining")),
    ("yeastract", matrix, "YEASTRACT_20190713_BOTH", False, bool),
    ("motif_prior", matrix, "yeast-motif-prior", False, bool),
    ("coexpression_hu2007", pairs, "Hu-2007", True, lambda _: True),
    ("physical_krogan2006", pairs, "Krogan-2006", True, lambda _: True),
    ("genetic_costanzo2016", pairs, "Costanzo-2016", True, lambda _: True),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "read", "file", "undirected", "keep"), CASES)
def test_edges(graph, names, relation, read, file, undirected, keep):
    want, dropped = expected(read(file), names, undirected, keep)
    made = f"gene__{relation}__gene"
    table = pa.ipc.open_file(graph / "edges" / f"{made}.arrow").read_all()
    nodes = pa.ipc.open_file(graph / "nodes/gene.arrow").read_all()["id"].to_pylist()
    assert nodes == names.genes
    weights = table.column(2).to_pylist() if table.num_columns > 2 else itertools.repeat(None)
    ends = (table.column(0).to_pylist(), table.column(1).to_pylist())
    got = [
        (s if isinstance(s, str) else nodes[s], d if isinstance(d, str) else nodes[d], w)
        for s, d, w in zip(*ends, weights, strict=False)
    ]
    assert got == want
    accounts = json.loads((graph / "sources.json").read_text())["sources"]
    account = accounts[made]
    assert account["kept"] == len(want) == account["rows"] - sum(account["dropped"].values())


def test_model(graph, names):
    """yeast-GEM's .yml, as tables that others made of it say it."""

    def column(table: pa.Table, name: str) -> list:
        return table.column(name).to_pylist()

    def arrow(name: str) -> pa.Table:
        return pa.ipc.open_file(graph / f"{name}.arrow").read_all()

    def ends_of(edges: pa.Table, sources: list[str], targets: list[str]) -> list[tuple[str, str]]:
        """Ids of both ends, which the program writes as rows of nodes."""
        pairs = zip(edges.column(0).to_pylist(), edges.column(1).to_pylist(), strict=True)
        if "src" in edges.column_names:
            return [*pairs]
        return [(sources[src], targets[dst]) for src, dst in pairs]

    reactions, metabolites = arrow("nodes/reaction"), column(arrow("nodes/metabolite"), "id")
    lines = list(rows("yeast_gem_v9.0.2/reactions.tsv.gz"))[1:]
    ids = [line[0] for line in lines]
    assert column(reactions, "id") == ids
    assert column(reactions, "lower_bound") == [float(line[2]) for line in lines]
    assert column(reactions, "upper_bound") == [float(line[3]) for line in lines]

    def rule(text: str) -> list[str]:
        return re.findall(r"[()]|[^\s()]+", text)

    for got, line in zip(column(reactions, "gpr"), lines, strict=True):
        assert rule(got) == rule(line[4])
    want = [
        (gene, line[0])
        for line in lines
        for gene in dict.fromkeys(t for t in rule(line[4]) if t not in ("(", ")", "and", "or"))
    ]
    edges = arrow("edges/gene__gpr__reaction")
    assert ends_of(edges, names.genes, ids) == want
    edges = arrow("edges/reaction__rmr__metabolite")
    sides = zip(ends_of(edges, ids, metabolites), column(edges, "stoichiometry"), strict=True)
    entries = list(rows("yeast_gem_v9.0.2/stoichiometry.tsv.gz"))[1:]
    got = [(reaction, other, value) for (reaction, other), value in sides]
    assert got == [(reaction, other, float(value)) for reaction, other, value in entries]
    assert set(metabolites) >= {other for _, other, _ in entries}


def test_matrix_of_conditions(graph, names):
    file = "yeastphenome_galardini2019/galardini_beltrao_2019_value.txt.gz"
    frame = pd.read_csv(DATA / file, sep="\t", index_col=0, float_precision="round_trip")
    table, _ = screens.matrix(frame, graph)
    lines = rows(file)
    conditions = next(lines)[1:]
    want = []
    for row in lines:
        for condition, value in zip(conditions, row[1:], strict=True):
            if (gene := names.find(row[0])) and value and not math.isnan(float(value)):
                want.append((gene, float(value), condition))
    table = table[table["genes"].isin(names.genes)]
    assert [*table[["genes", "value", "condition"]].itertuples(index=False, name=None)] == want


def test_lists_of_genes(graph, tmp_path):
    file = DATA / "celaj2020_xga/perturbations_long.tsv.gz"
    out = tmp_path / "x"
    dataset = tcbuild.build(graph, file, out, genes_columns=["orfs"], gene_delimiter=";",
                            allow_wildtype=True)  # fmt: skip
    lines = rows("celaj2020_xga/perturbations_long.tsv.gz")
    next(lines)
    want = [sorted(filter(None, line[3].split(";"))) for line in lines]
    assert [sample.deleted_genes for sample in dataset] == want
