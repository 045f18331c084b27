"""Screens become the samples that the program made of the same tables (testdata/screens.json), and
tables that may mean something else are errors.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tcbuild as reader
from tcbuild import screens
from tcbuild.errors import InputError, SettingsError

KNOWN = json.loads((Path(__file__).parent / "testdata/screens.json").read_text(encoding="utf-8"))
DELETIONS_AND_TS = ["deletion", "ts"]


@pytest.fixture(scope="module")
def graph(tmp_path_factory) -> Path:
    """A folder whose genes have names, some shared, and that knows genes outside it."""
    folder = tmp_path_factory.mktemp("graph")
    for place, genes in (("nodes", KNOWN["genes"]), ("names", KNOWN["others"])):
        (folder / place).mkdir()
        pd.DataFrame(genes).to_csv(folder / place / "gene.tsv", sep="\t", index=False)
    (folder / "edges").mkdir()
    (folder / "edges/gene__x__gene.tsv").write_text("src\tdst\nYAL001C\tYAL002W\n")
    return folder


def read(text: str, **settings) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), sep="\t", **settings)


def shape(case: dict, graph: Path, table=None) -> pd.DataFrame:
    table = read("\n".join(case["table"])) if table is None else table
    if case["function"] == "genes":
        return table.assign(genes=screens.genes(table.pop("condition"), **case["arguments"]))
    found, account = getattr(screens, case["function"])(table, graph, **case["arguments"])
    assert account["rows"] - sum(account["dropped"].values()) == account["kept"] == len(found)
    return found


def samples(dataset: reader.Dataset) -> list[list]:
    phenotypes = [
        [None if np.isnan(value) else value for value in row]
        for row in np.stack([dataset.phenotype(name) for name in dataset.phenotype_names], axis=1)
    ]
    conditions = [None] * len(dataset)
    if "condition" in dataset.attribute_names:
        conditions = dataset.attribute("condition").tolist()
    ids = dataset.column("sample_id").tolist()
    genes = [sample.deleted_genes for sample in dataset]
    return [list(row) for row in zip(ids, genes, phenotypes, conditions)]


@pytest.mark.parametrize("case", KNOWN["cases"], ids=lambda case: case["about"])
def test_samples_of_the_program(tcbuild, graph, tmp_path, case):
    settings = {"unknown_genes": "drop-sample", "max_dropped": 1, "allow_wildtype": True}
    dataset = reader.build(graph, shape(case, graph), tmp_path / "dataset", **settings)
    assert samples(dataset) == case["samples"]


@pytest.mark.parametrize("case", KNOWN["cases"], ids=lambda case: case["about"])
def test_tables_of_other_libraries(graph, case):
    text, known = "\n".join(case["table"]).encode(), shape(case, graph)
    for table in (pl.read_csv(text, separator="\t", null_values=["NA", "NaN", ""]), read):
        if table is read:
            table = pa.Table.from_pandas(read(text.decode()))
        if case["function"] == "genes":
            column = table["condition"]
            column = column.to_pylist() if isinstance(table, pa.Table) else column
            assert screens.genes(column, **case["arguments"]) == known["genes"].tolist()
        else:
            pd.testing.assert_frame_equal(shape(case, graph, table), known, check_dtype=False)


def test_graphs_as_tables(graph):
    case = next(case for case in KNOWN["cases"] if case["about"] == "genes x genes")
    tables = {"gene": read((graph / "nodes/gene.tsv").read_text(), keep_default_na=False)}
    pd.testing.assert_frame_equal(shape(case, tables), shape(case, graph))


@pytest.mark.parametrize("case", KNOWN["cases"][:-1], ids=lambda case: case["about"])
def test_graphs_of_sources(graph, case):
    """Genes outside the graph keep their names."""
    of_sources = reader.sources.Graph(gene["id"] for gene in KNOWN["genes"])
    known = [
        {**gene, "aliases": gene["aliases"].split("|") if gene["aliases"] else []}
        for gene in KNOWN["genes"] + KNOWN["others"]
    ]
    of_sources.names = pl.DataFrame(known, of_sources.names.schema)
    pd.testing.assert_frame_equal(shape(case, of_sources), shape(case, graph))


SGA = "Query Strain ID\tQuery allele name\tArray Strain ID\tArray allele name\tscore\n"
SQUARE = "gene\tTFC3\tVPS8\tTBS1\nTFC3\t{}\t{}\t{}\nVPS8\t{}\t{}\t{}\nTBS1\t{}\t{}\t{}\n"


def square(*values) -> str:
    return SQUARE.format(*values)


WRONG = {
    "columns of genes": ("gene\tTFC3\tVPS8\nTBS1\t1\t2\n", {}, "2 of its 2 columns .* 'TFC3'"),
    "columns of strains": (
        "gene\tYAL001C_tsq1\ttbs1Δ\nVPS8\t1\t2\n",
        {},
        "2 of its 2 columns are named like genes",
    ),
    "columns of other genomes": (
        "gene\tYDR111C\tYDR112C-A\nVPS8\t1\t2\n",
        {},
        "2 of its 2 columns are named like genes",
    ),
    "unknown genes on both sides": (
        "gene\tONE\tTWO\nVPS8\t1\t2\nTWO\t1\t2\n",
        {},
        "row 'TWO', which is also a column",
    ),
    "heterozygous": ("orf\ta\thet | x\nVPS8\t1\t2\n", {}, "1 of 2 columns .* 'het | x'"),
    "all heterozygous": ("het strain\tcold\nVPS8\t1\n", {}, "1 of 1 columns .* 'cold'"),
    "text": ("orf\ta\tb\nVPS8\t1\tx\n", {}, "row 0, column 'b': found 'x', expected a number"),
    "infinite": ("orf\ta\nVPS8\tinf\n", {}, "row 0, column 'a': found 'inf'"),
    "repeated rows": ("orf\ta\nVPS8\t1\nVPS8\t2\n", {}, "second row 'VPS8'"),
    "no name": ("orf\ta\nVPS8\t1\n\t2\n", {}, "row 1: found the name ''"),
    "spaces": ("orf\ta\n VPS8\t1\n", {}, "row 0: found the name ' VPS8'"),
    "no name of a column": ("orf\ta\t\nVPS8\t1\t2\n", {}, "found '2' in column 3"),
    "title": ("Table 1\nVPS8\n", {}, "found 1 rows of columns \\['Table 1'\\]"),
    "nothing": ("orf\ta\nVPS8\t\n", {}, "kept 0 of 1; dropped: 1 without a phenotype"),
    "two names": ("orf\ta\nVPS8|YAL002W\t1\n", {}, "'VPS8' and 'YAL002W', which are both names"),
    "several genes": ("orf\ta\nKLRC4-KLRK1\t1\n", {}, "'KLRC4-KLRK1', which names several genes"),
    "a list in a matrix of genes": (
        "orf\tTFC3\nVPS8|TBS1\t1\n",
        {"columns_are": "genes"},
        "'VPS8|TBS1', which names several genes",
    ),
    "a name with |": ("orf\tTFC3\nX|Y\t1\n", {"columns_are": "genes"}, "found gene 'X|Y'"),
    "filled": (
        square(0, 1, 2, 0, 0, 3, 0, 0, 0),
        {"columns_are": "genes"},
        "found 0 in all cells of the lower triangle .* 1 for 'TFC3: VPS8' and 0 for 'VPS8: TFC3'",
    ),
    "filled and sorted": (
        "gene\tTBS1\tTFC3\tVPS8\nVPS8\t3\t0\t\nTBS1\t\t0\t0\nTFC3\t2\t\t1\n",
        {"columns_are": "genes"},
        "found 0 in one of the two cells of every pair",
    ),
    "single values": (
        "g\tTFC3\tVPS8\nTFC3\t\t1\nVPS8\t2\t\n",
        {"columns_are": "genes"},
        "a single value in each triangle",
    ),
    "the filled half": (
        square(0, 1, 2, 0, 0, 3, 0, 0, 0),
        {"columns_are": "genes", "triangle": "lower"},
        "found 0 in cells of the lower triangle, in the order of columns, whose pairs have other",
    ),
    "equal in part": (
        square("", 1, 3, 1, "", 2, 3.5, 2, ""),
        {"columns_are": "genes"},
        "found 3 for 'TFC3: TBS1' and 3.5 for 'TBS1: TFC3', expected one value",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_matrices_that_may_mean_something_else(graph, case):
    text, arguments, message = WRONG[case]
    with pytest.raises(InputError, match=f"^read matrix: .*{message}"):
        screens.matrix(read(text), graph, **arguments)


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a\tb\n1\t2\n", {}, "found columns .'a', 'b'., expected .'Array Strain ID'"),
        ("VPS8+TFC3_tm1\tvps8Δ\tTBS1_dma1\ttbs1\t1\n", {}, "row 0: found 2 genes .* and 1 in its"),
        ("TBS1_sn1\t\tVPS8_sn1\t\t1\n_tm1\ttfc3Δ\tTBS1_dma1\t\t1\n", {}, "row 1: strain '_tm1'"),
        (
            "YAL001C_YAL002W\t\tTBS1_dma1\t\t1\n",
            {},
            "row 0: .*'YAL001C_YAL002W', which names several",
        ),
        ("TFC3_sn1\t\tYAL001C_dma1\t\t1\n", {}, "row 0: .*'TFC3' and 'YAL001C', which are both"),
        ("TFC3_tsq1\t\tTBS1_dma1\t\t1\n", {}, "kept 0 of 1; dropped: 1 of allele kind ts"),
        ("a_x\n", {"allele_names": "x"}, "found columns .* expected .'x'"),
    ],
)
def test_wrong_strains(graph, text, arguments, message):
    with pytest.raises(InputError, match=f"^read screen: {message}"):
        screens.sga(read(text if text[0] == "a" else SGA + text), graph, **arguments)


def test_most_rows_dropped_for_their_alleles(graph):
    rows = "TFC3_tsq1\t\tTBS1_dma1\t\t1\n" * 2 + "TFC3_sn1\t\tTBS1_dma1\t\t1\n"
    with pytest.raises(InputError, match="kept 1 of 3; .* at most half of the rows"):
        screens.sga(read(SGA + rows), graph)
    assert len(screens.sga(read(SGA + rows), graph, alleles=["deletion"])[0]) == 1


def test_wrong_arguments(graph):
    table = read("gene\tx\nTFC3\t1\n")
    for arguments in (
        {"columns_are": "pairs"},
        {"triangle": "upper"},
        {"columns_are": "genes", "triangle": "left"},
        {"alleles": ["dead"]},
    ):
        with pytest.raises(SettingsError, match="^read screen: found "):
            screens.matrix(table, graph, **arguments)
    with pytest.raises(SettingsError, match="found alleles 'dead'\nhint: choose from deletion"):
        screens.sga(read(SGA), graph, alleles=["dead"])


@pytest.mark.parametrize("name", ["2024-09-01", "1-Sep", "ZZZ9", "YBL008W-A", "SHARED"])
def test_names_that_mean_no_gene_are_left_to_build(tcbuild, graph, tmp_path, name):
    table, _ = screens.matrix(read(f"gene\tx\nTFC3\t1\n{name}\t2\n"), graph)
    with pytest.raises(InputError, match=f"row 1: .*{name}"):
        reader.build(graph, table, tmp_path / "dataset")
    crosses = SGA + f"TFC3_sn1\t\tTBS1_dma1\t\t1\n{name}_tsq1\t\tTBS1_dma1\t\t1\n"
    if "-" not in name:
        with pytest.raises(InputError, match=f"row 1: .*{name}"):
            reader.build(graph, screens.sga(read(crosses), graph)[0], tmp_path / "dataset")


def test_whole_systematic_names(graph):
    """YBL008W-A is not an allele of its neighbour YBL008W, whether the graph has it or not."""
    names = {
        "YBL008W": ("YBL008W", "deletion"),
        "YBL008W-ts": ("YBL008W", "ts"),
        "ybl008w-1": ("YBL008W", "ts"),
        "YBL008W-AB": ("YBL008W", "ts"),
        "YBR160W-DAmP": ("YBR160W", "damp"),
        "YOL130W-supp1": ("YOL130W", "other"),
        "cdc28Δ": ("YBR160W", "deletion"),
        "dur1,2-1": ("YBR208C", "ts"),
        "TFC3 - DAMP": ("YAL001C", "damp"),
        "YBR160W_tsq12": ("YBR160W", "ts"),
    }
    others = ["YBL008W-A", "YBL008W-AΔ", "ybl008w-a", "YBL008W-A-1", "YBL008W-A_tsq1"]
    others += ["YBL008W - A", "YBL008W-B", "tK(CUU)K", "Q0010", "YNCA0001W", "snR17a"]
    values = np.ones((len(names) + len(others), 1))
    table = pd.DataFrame(values, [*names, *others], ["x"])
    for kind in ("deletion", "damp", "ts", "other"):
        found, _ = screens.matrix(table, graph, alleles=[kind])
        known = [gene for gene, of_kind in names.values() if of_kind == kind]
        assert [gene for gene in found["genes"] if gene in {*known}] == known
        assert sum(gene == "YBL008W" for gene in found["genes"]) == known.count("YBL008W")


def test_filled_triangles(graph, seed):
    """Random matrices with a constant in one triangle, in the order of columns or of both."""
    random = np.random.default_rng(seed)
    ids = [gene["id"] for gene in KNOWN["genes"][:5]]
    names = [gene["name"] or gene["id"] for gene in KNOWN["genes"][:5]]
    for _ in range(20):
        size = int(random.integers(3, 6))
        constant = float(random.choice([0, 1, -1, 0.25]))
        measured = np.triu(2 + random.random((size, size)), 1)
        upper = bool(random.integers(2))
        values = measured + np.tril(np.full((size, size), constant))
        values = values if upper else values.T
        rows, columns = [ids, names][random.integers(2)][:size], ids[:size]
        order = random.permutation(size) if random.integers(2) else np.arange(size)
        table = pd.DataFrame(values, rows, columns).iloc[order]
        kept, filled = ("upper", "lower") if upper else ("lower", "upper")
        with pytest.raises(InputError, match=f"in all cells of the {filled}") as error:
            screens.matrix(table, graph, columns_are="genes")
        assert f"triangle={kept!r}" in error.value.hint
        found, _ = screens.matrix(table, graph, columns_are="genes", triangle=kept)
        pairs = {frozenset(text.split("|")): value for text, value in zip(found.genes, found.value)}
        assert pairs == {
            frozenset((ids[a], ids[b])): measured[a, b]
            for a in range(size)
            for b in range(a + 1, size)
        }
        with pytest.raises(InputError, match=f"in cells of the {filled} triangle"):
            screens.matrix(table, graph, columns_are="genes", triangle=filled)
        both, _ = screens.matrix(table, graph, columns_are="genes", triangle="both")
        assert len(both) == size * (size - 1)


def test_symmetric_halves(graph, seed):
    """Of two equal cells the first in the table is kept, unless both are asked for."""
    random = np.random.default_rng(seed)
    ids = [gene["id"] for gene in KNOWN["genes"][:6]]
    values = random.random((6, 6))
    table = pd.DataFrame(values + values.T, ids, ids).sample(frac=1, random_state=seed)
    found, account = screens.matrix(table, graph, columns_are="genes")
    want, seen = [], set()
    for row in table.index:
        for column in ids:
            if row != column and frozenset((row, column)) not in seen:
                seen.add(frozenset((row, column)))
                want.append((f"{row}: {column}", table.loc[row, column]))
    assert [*zip(found["sample_id"], found["value"])] == want
    assert account["dropped"]["of a gene with itself"] == 6
    assert len(screens.matrix(table, graph, columns_are="genes", triangle="both")[0]) == 30


def test_texts_without_names():
    assert screens.genes([7157, "A+B"], "+") == [["7157"], ["A", "B"]]
    for text, message in (
        (None, "row 1: found None"),
        (np.nan, "row 1: found nan"),
        ("", "row 1"),
        ("A+", "empty name in 'A.'"),
    ):
        with pytest.raises(InputError, match=message):
            screens.genes(["A", text], "+")


def test_names_that_pandas_takes_for_missing(graph):
    """As a second gene, the program would leave them out."""
    crosses = SGA + "NA_sn1\t\tTBS1_dma1\t\t1\n"
    with pytest.raises(InputError, match="found gene 'NA'"):
        screens.sga(read(crosses, keep_default_na=False), graph)
