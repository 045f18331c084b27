"""where keeps the samples that the tables of cases in testdata, and an oracle, say."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

import tcbuild as package

TABLES = Path(__file__).parent / "testdata"
GENES = ["YAL001C", "YAL002W", "YBR010W", "YDL3"]


def rows_of(name: str) -> list[dict[str, str]]:
    with open(TABLES / name, newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.fixture(scope="module")
def dataset(tcbuild, tmp_path_factory):
    frame = pd.DataFrame(
        {
            "sample_id": ["s1", "17"],
            "genes": ["YAL001C|YBR010W", ""],
            "fitness": [0.5, None],
            "fitness#2": [2.0, None],
            "growth-rate": [1.0, None],
            "in": [3.0, None],
            "missing": [4.0, None],
            "medium": ["YPD", None],
            "carbon source": ["glucose", None],
            "temperature": [30.0, None],
        }
    )
    return build(frame, tmp_path_factory.mktemp("where") / "dataset")


def build(frame, path):
    graph = {"gene": pd.DataFrame({"id": GENES})}
    attributes = ["medium", "carbon source", "temperature"]
    return package.build(graph, frame, path, attributes=attributes, allow_wildtype=True)


@pytest.mark.parametrize("case", rows_of("where.tsv"), ids=lambda case: case["expression"])
def test_cases(dataset, case):
    want = [row for row, name in enumerate(("measured", "missing")) if case[name] == "1"]
    if want:
        assert dataset.where(case["expression"]).indices.tolist() == want
    else:
        with pytest.raises(package.errors.InputError, match="matches none of 2 samples"):
            dataset.where(case["expression"])


@pytest.mark.parametrize("case", rows_of("where_mistakes.tsv"), ids=lambda c: c["expression"])
def test_mistakes(dataset, case):
    with pytest.raises(package.errors.SettingsError) as raised:
        dataset.where(case["expression"])
    assert case["message"] in raised.value.message and case["hint"] in raised.value.hint


def test_long_expressions(dataset):
    many = ", ".join(f'"m{number}"' for number in range(8000))
    assert len(dataset.where(f'sample_id in [{many}, "s1"]')) == 1
    assert len(dataset.where(" or ".join(["fitness == 0.5"] * 200))) == 1
    with pytest.raises(package.errors.SettingsError):
        dataset.where("(" * 5000 + "True" + ")" * 5000)


def test_reserved_name(tcbuild, tmp_path):
    frame = pd.DataFrame({"genes": GENES, "deletions": [1.0, 2, 3, 4], "fitness": 1.0})
    dataset = package.build({"gene": pd.DataFrame({"id": GENES})}, frame, tmp_path / "dataset")
    assert len(dataset.where("fitness == 1")) == 4
    with pytest.raises(package.errors.SettingsError, match="deletions, a name reserved"):
        dataset.where("deletions == 1")


class Oracle(NamedTuple):
    """An expression with its meaning: bool, float, NaN if missing, or str, None if missing."""

    text: str
    of: Callable[[dict[str, Any]], Any]


COMPARISONS = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def is_missing(value: Any) -> bool:
    return value is None or value != value


def number(r: random.Random, depth: int) -> Oracle:
    if depth == 0 or r.random() < 0.3:
        name = r.choice(["fitness", "fitness#2", "temperature", "deletions", ""])
        if name:
            return Oracle(f"`{name}`", lambda row: row[name])
        value = r.randrange(5) / 2
        return Oracle(repr(value), lambda row: value)
    a, b, sign = number(r, depth - 1), number(r, depth - 1), r.choice("+-*")
    if r.random() < 0.3:
        return Oracle(f"abs({a.text})", lambda row: abs(a.of(row)))
    operations = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}
    return Oracle(f"({a.text} {sign} {b.text})", lambda row: operations[sign](a.of(row), b.of(row)))


def word(r: random.Random) -> Oracle:
    name = r.choice(["medium", "carbon source", "sample_id", ""])
    if name:
        return Oracle(f"`{name}`", lambda row: row[name])
    value = r.choice(["a", "b", "ab"])
    return Oracle(f'"{value}"', lambda row: value)


def condition(r: random.Random, depth: int) -> Oracle:
    if depth and r.random() < 0.6:
        a, b = condition(r, depth - 1), condition(r, depth - 1)
        return r.choice(
            [
                Oracle(f"({a.text} and {b.text})", lambda row: a.of(row) and b.of(row)),
                Oracle(f"({a.text} | {b.text})", lambda row: a.of(row) or b.of(row)),
                Oracle(f"not ({a.text})", lambda row: not a.of(row)),
                Oracle(f"({a.text}) != ({b.text})", lambda row: a.of(row) != b.of(row)),
            ]
        )
    if r.random() < 0.2:
        name = r.choice(["fitness", "medium", "temperature"])
        return Oracle(f"{name}.isna()", lambda row: is_missing(row[name]))
    if r.random() < 0.4:
        values = r.choice([[0.5, 1.0], ["a", "ab"]])
        a = number(r, 1) if values == [0.5, 1.0] else word(r)
        while "`" not in a.text:  # a constant
            a = number(r, 1) if values == [0.5, 1.0] else word(r)
        negated = r.random() < 0.5

        def is_in(row):
            return not is_missing(a.of(row)) and (a.of(row) in values) != negated

        return Oracle(f"{a.text} {'not ' if negated else ''}in {values}", is_in)
    a, b = (word(r), word(r)) if r.random() < 0.4 else (number(r, depth), number(r, depth))
    sign = r.choice([*COMPARISONS])
    if "`" not in a.text + b.text:  # no column
        return condition(r, depth)

    def compares(row):
        x, y = a.of(row), b.of(row)
        return not is_missing(x) and not is_missing(y) and COMPARISONS[sign](x, y)

    return Oracle(f"{a.text} {sign} {b.text}", compares)


def test_random_expressions(tcbuild, tmp_path, seed):
    r = random.Random(seed)
    rows = []
    for at in range(60):
        row = {"sample_id": f"{'ab'[at % 2]}{at}", "genes": r.sample(GENES, r.randrange(5))}
        row |= {name: r.choice([None, *range(-2, 3), 0.5]) for name in ("fitness", "fitness#2")}
        row |= {name: r.choice([None, "a", "b", "ab"]) for name in ("medium", "carbon source")}
        rows.append(row | {"temperature": r.choice([None, 0, 0.5, 1])})
    frame = pd.DataFrame(rows)
    frame["genes"] = frame.genes.map("|".join)
    dataset = build(frame, tmp_path / "dataset")
    for row in rows:
        row["deletions"] = len(row["genes"])
        numbers = ("fitness", "fitness#2", "temperature")
        row |= {name: math.nan if row[name] is None else row[name] for name in numbers}
    kept = 0
    for _ in range(150):
        oracle = condition(r, r.randrange(4))
        want = [at for at, row in enumerate(rows) if oracle.of(row)]
        try:
            assert dataset.where(oracle.text).indices.tolist() == want, oracle.text
            view = dataset[::-2].where(oracle.text).indices.tolist()
            assert view == [at for at in range(59, -1, -2) if at in want], oracle.text
        except package.errors.InputError:
            assert not want or not [at for at in want if at % 2], oracle.text
        kept += len(want)
    assert 0.1 < kept / (150 * 60) < 0.9


def test_deletes(dataset):
    assert dataset.deletes("YAL001C", "YBR010W").tolist() == [True, False]
    assert dataset.deletes("YAL001C", "YAL001C").tolist() == [True, False]
    assert dataset.deletes("YAL001C", "YAL002W").tolist() == [False, False]
    assert dataset.deletes_any("YAL001C", "YAL002W").tolist() == [True, False]
    assert dataset[::-1].deletes_any("YDL3", "YAL002W", "YBR010W").tolist() == [False, True]
    with pytest.raises(KeyError, match="did you mean 'YAL001C'"):
        dataset.deletes("YAL01C")
    with pytest.raises(TypeError, match="found no gene"):
        dataset.deletes_any()
