"""Which columns of a text table are phenotypes, beside a reader of its own: of random columns with
awkward cells, in several orders of their rows.
"""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pytest

# What pandas.read_csv takes for missing by default.
MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
           "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}  # fmt: skip
NUMBERS = [
    "0",
    "1",
    "-2.5",
    "+3",
    "1e-3",
    "2E5",
    ".5",
    "5.",
    "007",
    "9007199254740992",
    "1e308",
    "5e-324",
]
TEXTS = [
    "low",
    ".",
    "-",
    "TRUE",
    "False",
    "NAN",
    "none",
    "0x10",
    "1_000",
    "1e",
    "e5",
    "2024-01-01",
    "1 2",
    "é",
]
# Numbers to whoever wrote them, but not here.
ODD = ["1,5", "-0,25", ",5", "1,234.5", "1.234,5", "12,345", "\u22122.5"]
REFUSED = ["inf", "-Infinity", "1e400", "1e-400", "9007199254740993", "-90071992547409931.0"]
DECIMAL = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE
)


def oracle(cells: list[str]) -> tuple[str, int | list[float | None] | list[str | None]]:
    """A column's kind: a phenotype or attribute with its values, or an error with the row that it
    names.
    """
    stripped = [cell.strip() for cell in cells]
    numbers = [i for i, cell in enumerate(stripped) if DECIMAL.fullmatch(cell)]
    texts = [i for i, cell in enumerate(stripped) if cell not in MISSING and i not in numbers]
    odd = [i for i in texts if stripped[i] in ODD]
    if odd or numbers and texts:
        return "error", (odd or texts)[0]
    if texts:
        return "attribute", [None if text in MISSING else text for text in stripped]
    for i in numbers:
        if math.isinf(float(stripped[i])) or vanishes(stripped[i]) or inexact(stripped[i]):
            return "error", i
    return "phenotype", [float(cell) if i in numbers else None for i, cell in enumerate(stripped)]


def vanishes(cell: str) -> bool:
    """Whether a number is too small for a double, which would make it 0."""
    digits = re.split("[eE]", cell)[0]
    return float(cell) == 0 and any(digit in "123456789" for digit in digits)


def inexact(cell: str) -> bool:
    whole, _, fraction = cell.partition(".")
    is_integer = re.fullmatch(r"[+-]?\d+", whole) and not fraction.strip("0")
    return bool(is_integer) and int(float(cell)) != int(whole)


def random_column(rng: random.Random) -> list[str]:
    missing = sorted(MISSING)
    pools = rng.choice([[NUMBERS], [TEXTS], [NUMBERS, missing], [TEXTS, missing], [missing],
                        [NUMBERS, TEXTS], [NUMBERS, REFUSED], [ODD, missing], [TEXTS, TEXTS, ODD],
                        [NUMBERS, TEXTS, ODD]])  # fmt: skip
    spaces = ["", "", "", " ", "  "]
    return [
        rng.choice(spaces) + rng.choice(rng.choice(pools)) + rng.choice(spaces)
        for _ in range(rng.randint(1, 5))
    ]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns") / "graph"
    (folder / "nodes").mkdir(parents=True)
    (folder / "edges").mkdir()
    (folder / "nodes" / "gene.tsv").write_text("id\nA\nB\n", encoding="utf-8")
    (folder / "edges" / "gene__physical__gene.tsv").write_text("src\tdst\nA\tB\n", encoding="utf-8")
    return folder


def test_columns_are_typed_by_all_their_cells(tcbuild, graph: Path, tmp_path: Path, seed: int):
    rng = random.Random(seed)
    for n in range(25):
        column = random_column(rng)
        rng.shuffle(column)
        check(tcbuild.binary, graph, tmp_path / str(n), column, rng.choice(["tsv", "csv"]))


def check(binary: Path, graph: Path, folder: Path, column: list[str], ending: str):
    folder.mkdir()
    table, out = folder / f"set.{ending}", folder / "out"
    lines = [["genes", "y", "z"]] + [["A", cell, str(i)] for i, cell in enumerate(column)]
    quote = {"tsv": lambda cell: cell, "csv": lambda cell: f'"{cell}"'}[ending]
    delimiter = {"tsv": "\t", "csv": ","}[ending]
    table.write_text(
        "".join(delimiter.join(map(quote, line)) + "\n" for line in lines), encoding="utf-8"
    )
    command = [
        str(binary),
        "incidence",
        "--graph",
        str(graph),
        "--perturbations",
        str(table),
        "--out",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=1200)

    kind, detail = oracle(column)
    if kind == "error":
        assert done.returncode == 3, (column, done.stderr)
        assert f"{table}:{detail + 2}: " in done.stderr, (column, done.stderr)
        assert "--phenotypes" in done.stderr.splitlines()[-1], (column, done.stderr)
        assert not out.exists()
        done = subprocess.run(
            [*command, "--phenotypes", "z"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=1200,
        )
        kind = "nothing"  # or text, if one of its numbers looks like a code
    assert done.returncode == 0, (column, done.stderr)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    names = [phenotype["name"] for phenotype in manifest["phenotypes"]]
    assert names == ["y", "z"][kind != "phenotype" :], column
    if kind != "nothing":
        attributes = [{"name": "y", "type": "text"}] if kind == "attribute" else []
        assert manifest["attributes"] == attributes, column
        assert ("attributes=y" in done.stderr) == (kind == "attribute"), (column, done.stderr)
        printed = subprocess.run(
            [str(binary), "inspect", str(out), "--samples", "0:", "--json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = [json.loads(line)[f"{kind}s"]["y"] for line in printed.splitlines()]
        assert found == detail, column


def test_types_say_what_columns_are(tcbuild, graph: Path, tmp_path: Path):
    """Each kind of number is a phenotype, and nothing is inferred from texts."""
    numbers = {
        "half": pa.array([0.5, None, -2], pa.float16()),
        "decimal": pa.array([Decimal("1.25"), None, Decimal("-3")], pa.decimal128(10, 2)),
        "coded": pa.array([7, None, 7]).dictionary_encode(),
        "truth": pa.array([True, None, False]),
        "nothing": pa.nulls(3, pa.float64()),
    }
    texts = {
        "spelled": pa.array(["1", "2", "3"]),
        "coded text": pa.array(["1", "2", "1"]).dictionary_encode(),
    }
    genes = {"genes": pa.array([["A"], ["B"], ["A", "B"]])}
    feather.write_feather(pa.table(genes | numbers | texts), str(tmp_path / "set.arrow"))
    out = tmp_path / "out"
    done = tcbuild.run(
        "incidence", "--graph", graph, "--perturbations", tmp_path / "set.arrow", "--out", out
    )
    manifest = tcbuild.manifest(out)
    assert manifest["phenotypes"] == [{"name": name} for name in numbers]
    assert manifest["attributes"] == [{"name": name, "type": "text"} for name in texts]
    assert "phenotypes=nothing" in done.stderr
    samples = tcbuild.samples(out, 3)
    assert [sample["attributes"] for sample in samples] == [
        {name: column[row].as_py() for name, column in texts.items()} for row in range(3)
    ]
    values = [sample["phenotypes"] for sample in samples]
    assert [list(v.values()) for v in values] == [
        [0.5, 1.25, 7, 1, None],
        [None] * 5,
        [-2, -3, 7, 0, None],
    ]

    for kind, refused in {
        "an infinite value": pa.array([1, float("inf"), 2]),
        "cannot hold exactly": pa.array([1, 2**53 + 1, 2]),
        'found integer "9007199254740993", which a 64-bit': pa.array(
            [Decimal(1), Decimal(2**53 + 1), None], pa.decimal128(20, 0)
        ),
    }.items():
        feather.write_feather(pa.table(genes | {"y": refused}), str(tmp_path / "bad.arrow"))
        done = tcbuild.run(
            "incidence",
            "--graph",
            graph,
            "--perturbations",
            tmp_path / "bad.arrow",
            "--out",
            tmp_path / "bad",
            exit_code=3,
        )
        assert kind in done.stderr and "row 1: " in done.stderr
