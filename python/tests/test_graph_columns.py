"""The program and Python read the same tables the same, or both refuse them."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import tcbuild as reader

SEEDS = int(os.environ.get("TCBUILD_GRAPH_SEEDS", 40))

IDS = [
    "NA",
    "null",
    "nan",
    "None",
    "007",
    "7",
    "7.0",
    "1e5",
    "100000",
    "-0",
    "TRUE",
    "",
    " A",
    "A ",
    "A",
    "a",
    "A|B",
    "A\x1bB",
    "Å",
    "日本",
    "inf",
    "YAL001C (old)",
    "#N/A",
]
NUMBERS = [
    "1",
    "-1",
    "-0.5",
    "+2",
    "1e-3",
    ".5",
    "5.",
    " 7 ",
    "007",
    "",
    "NA",
    "nan",
    "inf",
    "-Infinity",
    "1e400",
    "0x10",
    "1_000",
    "x",
    "1,5",
    "1 2",
    "٣",
]
INDICES = ["0", "1", "2", " 1", "01", "", "NA", "-1", "3", "1.0", "x", "1e0"]


def draw(chance: random.Random, values: list[str], sound: int, bad: float) -> str:
    """One of the values: mostly of the first, which are sound."""
    return chance.choice(values[sound:] if chance.random() < bad else values[:sound])


def write_folder(chance: random.Random, folder: Path) -> None:
    """A small graph in random formats; about every second has something that must be refused."""
    bad = chance.choice([0, 0, 0.05])
    sound = [
        value
        for value in IDS
        if value and value == value.strip() and "|" not in value and "\x1b" not in value
    ]
    ids = chance.sample(sound, 5) + ([chance.choice(IDS)] if chance.random() < bad * 4 else [])
    reactions, metabolites = chance.sample(sound, 3), chance.sample(sound, 2)
    rules = [
        chance.choice(["", chance.choice(sound), f"{ids[0]} or {ids[1]}", "NA", "123", " "])
        for _ in reactions
    ]
    if chance.random() < 0.3:
        rules = [chance.choice(["123", "7", ""]) for _ in reactions]
    write(chance, folder / "nodes" / "gene", {"id": ids, "note": [chance.choice(IDS) for _ in ids]})
    write(chance, folder / "nodes" / "reaction", {"id": reactions, "gpr": rules})
    write(chance, folder / "nodes" / "metabolite", {"id": metabolites})
    if chance.random() < 0.5:
        ends = {
            "src": [chance.choice(ids[:5]) for _ in range(4)],
            "dst": [draw(chance, ids[:5] + IDS, 5, bad) for _ in range(4)],
        }
    else:
        ends = {
            "src_index": [draw(chance, INDICES, 5, bad) for _ in range(4)],
            "dst_index": [draw(chance, INDICES, 5, bad) for _ in range(4)],
        }
    write(
        chance,
        folder / "edges" / "gene__a__gene",
        ends | {"weight": [chance.choice(NUMBERS) for _ in range(4)]},
    )
    write(
        chance,
        folder / "edges" / "reaction__rmr__metabolite",
        {
            "src": [chance.choice(reactions) for _ in range(3)],
            "dst": [chance.choice(metabolites) for _ in range(3)],
            "stoichiometry": [draw(chance, NUMBERS, 9, bad) for _ in range(3)],
        },
    )


def write(chance: random.Random, path: Path, columns: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ending = chance.choice([".tsv", ".tsv", ".csv", ".tab", ".arrow", ".parquet"])
    path = path.with_name(path.name + ending)
    if ending in (".arrow", ".parquet"):
        arrays = {name: typed(chance, values) for name, values in columns.items()}
        table = pa.table(arrays)
        if ending == ".parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as out:
                out.write_table(table, max_chunksize=2)
        return
    rows = [list(columns), *zip(*columns.values())]
    quoted = [['"' + value.replace('"', '""') + '"' for value in row] for row in rows]
    lines = (
        [",".join(row) for row in quoted] if ending == ".csv" else ["\t".join(row) for row in rows]
    )
    path.write_bytes(spoiled(chance, lines).encode())


def spoiled(chance: random.Random, lines: list[str]) -> str:
    """Lines as a text file: mostly as they should be, else with one of the ways in which such files
    differ, harmless or not.
    """
    end = chance.choice(["\n", "\n", "\r\n"])
    if chance.random() < 0.1:
        row = chance.randrange(len(lines))
        field = lines[row]
        lines = chance.choice(
            [
                [*lines[:row], "", *lines[row:]],
                [*lines, ""],
                [*lines, "", ""],
                [*lines[:row], " ", *lines[row:]],
                [*lines[:row], field.replace('"', ""), *lines[row + 1 :]],
                [*lines[:row], field + '"', *lines[row + 1 :]],
                [*lines[:row], field + ' ""', *lines[row + 1 :]],
                [*lines[:row], field.replace('"', '""', 1), *lines[row + 1 :]],
                [lines[0].replace("note", "id").replace("weight", "src"), *lines[1:]],
                [lines[0].replace("note", "").replace("weight", ""), *lines[1:]],
            ]
        )
    return chance.choice(["", "", "\ufeff"]) + end.join(lines) + chance.choice([end, end, ""])


def typed(chance: random.Random, values: list[str]) -> pa.Array:
    """The values as text, or as numbers where they are numbers."""
    text = pa.array(
        [value or chance.choice(["", None]) for value in values],
        chance.choice([pa.string(), pa.large_string(), pa.binary()]),
    )
    if chance.random() < 0.3:
        text = text.cast(pa.string()).dictionary_encode()
    for kind in chance.sample([pa.int64(), pa.uint16(), pa.float64(), pa.float32()], 2):
        try:
            return pa.array(
                [
                    None
                    if value == ""
                    else float(value)
                    if pa.types.is_floating(kind)
                    else int(value)
                    for value in values
                ],
                kind,
            )
        except (ValueError, OverflowError, pa.ArrowInvalid):
            continue
    return text


def test_the_program_and_python_read_the_same(tcbuild, tmp_path):
    refused = 0
    for seed in range(SEEDS):
        folder, dataset = tmp_path / f"{seed}", tmp_path / f"{seed}-dataset"
        write_folder(random.Random(seed), folder)
        if not check(tcbuild, folder, dataset):
            refused += 1
    assert SEEDS / 6 < refused < SEEDS * 5 / 6, refused


def check(tcbuild, folder: Path, dataset: Path) -> bool:
    """Whether both readers take a folder, which they must agree on."""
    try:
        got = reader.read_graph_folder(folder)
    except reader.GraphError as error:
        refusal = tcbuild.run("incidence", "--graph", folder, "--out", dataset, exit_code=3).stderr
        assert "hint: " in refusal and str(error)
        return False
    tcbuild.run("incidence", "--graph", folder, "--out", dataset)
    want = reader.open(dataset).graph
    assert got.nodes == want.nodes and got.rules == want.rules, folder
    assert list(got.edges) == list(want.edges) and all(
        np.array_equal(got.edges[name], edges) for name, edges in want.edges.items()
    )
    assert (got.stoichiometry is None) == (want.stoichiometry is None)
    assert got.stoichiometry is None or np.array_equal(got.stoichiometry, want.stoichiometry)
    return True


def test_text_stays_as_it_is_written(tcbuild, tmp_path):
    write_text = {
        "nodes/gene.tsv": "id\tnote\nNA\t007\n1e5\tNA\nnull\t x\n007\t\n",
        "nodes/reaction.tsv": "id\tgpr\n1\t1e5\n2\tnull\n3\t\n",
        "edges/gene__a__gene.tsv": "src\tdst\tweight\nNA\t1e5\t1.50\n007\tnull\t\n",
    }
    for name, text in write_text.items():
        (tmp_path / "graph" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "graph" / name).write_text(text)
    assert check(tcbuild, tmp_path / "graph", tmp_path / "dataset")
    graph = reader.open(tmp_path / "dataset").graph
    assert graph.nodes["gene"] == ["NA", "1e5", "null", "007"] and graph.rules == [
        "1e5",
        "null",
        "",
    ]
    assert graph.edges["gene__a__gene"].tolist() == [[0, 3], [1, 2]]
    stored = pa.ipc.open_file(tmp_path / "dataset" / "graph" / "nodes" / "gene.arrow").read_all()
    assert stored.column("note").to_pylist() == ["007", "NA", " x", ""]
    weight = (
        pa.ipc.open_file(tmp_path / "dataset" / "graph" / "edges" / "gene__a__gene.arrow")
        .read_all()
        .column("weight")
    )
    assert weight.to_pylist() == ["1.50", ""]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.null()])
def test_a_gpr_column_without_rules(tcbuild, tmp_path, kind):
    for name, table in {
        "nodes/gene": {"id": ["A"]},
        "nodes/reaction": {"id": ["r", "s"], "gpr": pa.array([None, None], kind)},
        "edges/gene__a__gene": {"src": ["A"], "dst": ["A"]},
    }.items():
        (tmp_path / "graph" / name).parent.mkdir(parents=True, exist_ok=True)
        with pa.ipc.new_file(tmp_path / "graph" / f"{name}.arrow", pa.table(table).schema) as out:
            out.write_table(pa.table(table))
    (tmp_path / "sets.tsv").write_text("genes\nA\n")
    assert check(tcbuild, tmp_path / "graph", tmp_path / "table")
    tcbuild.run(
        "incidence",
        "--reaction-rule",
        "gpr",
        "--graph",
        tmp_path / "graph",
        "--perturbations",
        tmp_path / "sets.tsv",
        "--out",
        tmp_path / "dataset",
    )
    dataset = reader.open(tmp_path / "dataset")
    assert dataset.graph.rules == ["", ""] and dataset[0].masks["reaction"].all()


EMPTY_LINES = {
    "\nid\nA\nB\n": 1,
    "id\n\nA\nB\n": 2,
    "id\nA\n\nB\n": 3,
    "id\nA\nB\n\n": 4,
    "id\r\nA\r\n\r\nB\r\n": 3,
}


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".tab", ".txt"])
@pytest.mark.parametrize(("text", "line"), EMPTY_LINES.items())
def test_an_empty_line_is_an_error_wherever_it_stands(tcbuild, tmp_path, text, line, ending):
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes" / f"gene{ending}").write_text(text, newline="")
    assert not check(tcbuild, tmp_path / "graph", tmp_path / "dataset")
    with pytest.raises(reader.GraphError, match=f"gene{ending}:{line}: found an empty line"):
        reader.read_graph_folder(tmp_path / "graph")


@pytest.mark.parametrize(
    "text",
    [
        'id\n"A\n\n"\nB\n',
        'id\n"A"B"\n',
        'id\n"A"\n\n"B"\n',
        'id\nA"\n',
        'id\n"A\n',
        'id\n""\n',
        "id\nA\rB\n",
        "id,id\nA,B\n",
        "id,\nA,B\n",
        "id\nA,B\n",
    ],
)
def test_quotes_and_line_ends_that_both_refuse(tcbuild, tmp_path, text):
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.csv").write_text(text, newline="")
    assert not check(tcbuild, tmp_path / "graph", tmp_path / "dataset")


@pytest.mark.parametrize(
    "text", ['id,note\n"A","x\n\n""y"\n', 'id,note\n"A",""\r\nB,"\r"', '"id","no,te"\nA,\n', "id"]
)
def test_quotes_and_line_ends_that_both_take(tcbuild, tmp_path, text):
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.csv").write_text(text, newline="")
    (tmp_path / "graph/nodes/metabolite.tsv").write_text("id")
    assert check(tcbuild, tmp_path / "graph", tmp_path / "dataset")


def test_a_column_may_change_after_a_million_bytes(tmp_path):
    """Nothing is concluded from the first rows of a column."""
    (tmp_path / "nodes").mkdir()
    rows = [f"{number}\t{number}\n" for number in range(100000)]
    (tmp_path / "nodes/gene.tsv").write_text("id\tnote\n" + "".join(rows) + "Q\tno number\n")
    assert reader.read_graph_folder(tmp_path).nodes["gene"][-1] == "Q"
