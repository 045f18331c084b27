"""Names of genes mean in Python what they mean in the program."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tcbuild._graph.names import Names
from tcbuild.errors import UnknownNameError

CASES = Path(__file__).parents[2] / "ingest/names/testdata/names.json"
WHY = {
    "ambiguous": "is ambiguous: it is a name of {}",
    "not in graph": "({}) is not in the graph",
    "date": "is a date",
    "unknown": "found no gene",
}


def table(genes: list[dict]) -> pa.Table | None:
    return pa.Table.from_pylist(genes) if genes else None


@pytest.mark.parametrize("graph", json.loads(CASES.read_text()), ids=lambda graph: graph["about"])
def test_cases_of_the_program(graph):
    names = Names(table(graph["genes"]), table(graph["others"]), graph["ignore_case"])
    for case in graph["cases"]:
        owners = [names.ids[gene] for gene in names.owners(case["name"])]
        assert owners == case["owners"], case
        if case["meaning"] == "gene":
            assert names.ids[names.index(case["name"])] == case["owners"][0], case
        else:
            joint = " and " if case["meaning"] == "ambiguous" else " or "
            with pytest.raises(UnknownNameError) as error:
                names.index(case["name"])
            assert WHY[case["meaning"]].format(joint.join(owners)) in str(error.value), case


def test_nearest_names_of_the_program():
    table_of = json.loads((CASES.parent / "near.json").read_text())
    names = Names(table(table_of["genes"]), table(table_of["others"]), False)
    for name, near in table_of["cases"].items():
        with pytest.raises(UnknownNameError) as error:
            names.index(name)
        hint = str(error.value).partition("\nhint: ")[2]
        meant = f"did you mean {' or '.join(map(repr, near))}?" if near else "names are, "
        assert hint.startswith(meant), (name, hint)
