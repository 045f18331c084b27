"""Tables that pandas writes: their index, their texts, and what --duplicates makes of them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import Tcbuild

pd = pytest.importorskip("pandas")

GENES = ["YAL001C", "YAL002W", "YAL003W"]
ENDINGS = [".parquet", ".arrow", ".csv", ".tsv", ".csv.gz"]


def write(table, path: Path, index: bool | None = None) -> Path:
    """Writes a frame with the index, without it, or as pandas does by default."""
    if path.suffix == ".parquet":
        table.to_parquet(path, index=index)
    elif path.suffix == ".arrow":
        import pyarrow as pa

        data = pa.Table.from_pandas(table, preserve_index=index)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
            writer.write_table(data)
    else:
        table.to_csv(path, sep="," if ".csv" in path.name else "\t", index=bool(index))
    return path


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    (folder / "nodes").mkdir(parents=True)
    (folder / "nodes/gene.tsv").write_text("\n".join(["id", *GENES]) + "\n")
    return folder


def ingest(tcbuild: Tcbuild, graph: Path, table: Path, *given) -> tuple[str, object]:
    """The output of the program and the table that it writes, None after an error."""
    out = table.parent / "out.arrow"
    out.unlink(missing_ok=True)
    command = [tcbuild.binary, "ingest", "perturbations", table, "--graph", graph, "--out", out]
    done = subprocess.run([*map(str, command), *map(str, given)], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    if done.returncode:
        return done.stderr, None
    return done.stdout, pd.read_feather(out)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("index", ["numbers", "name", "range"])
def test_an_index_without_a_name_is_left_out(tcbuild, tmp_path, graph, ending, index):
    table = pd.DataFrame({"genes": GENES, "fitness": [1.0, 0.5, 0.2]})
    left_out = "none"
    if index == "numbers":
        table.index, left_out = [5, 3, 9], "__index_level_0__"
    elif index == "name":
        table.index = pd.Index(["x", "y", "z"], name="sample_id")
    said, written = ingest(tcbuild, graph, write(table, tmp_path / f"set{ending}"))
    assert f"columns left out: {left_out}\n" in said
    assert "phenotypes: fitness\nattributes: none\n" in said
    ids = ["x", "y", "z"] if index == "name" else ["0", "1", "2"]
    assert written["sample_id"].tolist() == ids


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("levels", [1, 2])
def test_an_index_of_texts_without_a_name_is_refused(tcbuild, tmp_path, graph, ending, levels):
    strains = ["x", "y", "z"]
    index = strains if levels == 1 else pd.MultiIndex.from_arrays([[1, 1, 2], strains])
    table = pd.DataFrame({"genes": GENES, "fitness": [1.0, 0.5, 0.2]}, index=index)
    path, column = write(table, tmp_path / f"set{ending}"), f"__index_level_{levels - 1}__"
    said, written = ingest(tcbuild, graph, path)
    assert written is None and f'column "{column}": found an unnamed index of texts' in said
    assert "reset_index" in said and f"id_column={column}" in said
    _, written = ingest(tcbuild, graph, path, f"id_column={column}")
    assert written["sample_id"].tolist() == strains


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_an_index_is_no_column_of_a_graph(tcbuild, tmp_path, ending):
    nodes, edges = tmp_path / "graph/nodes", tmp_path / "graph/edges"
    nodes.mkdir(parents=True)
    edges.mkdir()
    table = pd.DataFrame({"id": GENES, "length": [1, 2, 3]}, index=[7, 8, 9])
    write(table, nodes / f"gene{ending}")
    table = pd.DataFrame({"src": GENES[:2], "dst": GENES[1:], "weight": [0.5, 1]}, index=[4, 2])
    write(table, edges / f"gene__physical__gene{ending}")
    shown = json.loads(tcbuild.run("inspect", tmp_path / "graph", "--json").stdout)
    assert "__index_level_0__" not in json.dumps(shown) and "weight" in json.dumps(shown)
    command = [tcbuild.binary, "incidence", "--graph", tmp_path / "graph", "--out", tmp_path / "d"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    named = "edges/gene__physical__gene __index_level_0__"
    assert f'columns="nodes/gene __index_level_0__, {named}"' in done.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_spaces_around_texts_do_not_make_other_values(tcbuild, tmp_path, graph, ending):
    media = ["YPD", "YPD ", " YPD", "YPD\u00a0", "\u200bYPD", "YPD\u3000"]
    table = pd.DataFrame({"genes": GENES[0], "fitness": range(6), "medium": media})
    path = write(table, tmp_path / f"set{ending}", index=False)
    said, written = ingest(tcbuild, graph, path, "--duplicates", "mean", "--phenotypes", "fitness")
    assert "5 texts of attributes whose spaces around them were removed" in said
    assert written["medium"].tolist() == ["YPD"] and written["fitness"].tolist() == [2.5]


CONDITIONS = ["temperature", "Dose", "strength", "medium", "note", "replicate"]


def random_table(random):
    """A table with few values per column, and some of its conditions."""
    rows = int(random.integers(1, 14))

    def some(values):
        return random.choice(np.array(values, object), rows).tolist()

    wide = random.random() < 0.5  # else nearly all columns are constant
    table = pd.DataFrame(
        {
            "genes": some(GENES[:2] + ["YAL001C|YAL002W"]),
            "fitness": [round(float(x), 3) for x in random.normal(1, 0.3, rows)],
            "score": some([0.5, -2.0, None]),
            "temperature": some([30, 37] if wide else [30]),
            "Dose": some([0.0, -0.0, 1.5, None] if wide else [0.0, -0.0]),
            "strength": some([1.0, 2.0, None] if random.random() < 0.3 else [1.0]),
            "medium": some(["YPD", "YPD ", "SC", None] if wide else ["YPD", " YPD"]),
            "note": some(["a", "b"] if random.random() < 0.3 else ["a"]),
            "replicate": list(range(rows)) if random.random() < 0.5 else some([1, 2]),
        }
    )
    for name in ("score", "Dose", "strength"):
        table[name] = table[name].astype(float)
    # a column without a value has no type
    return table.drop(columns=[name for name in table if table[name].isna().all()])


def expected(table, policy, group_by, ignore):
    """The merged table by pandas, and the columns in which the samples of a group differ."""
    table = table.copy()
    table["Dose"] = table["Dose"] + 0.0 if "Dose" in table else np.nan
    if "medium" in table:
        table["medium"] = table["medium"].str.strip()
    conditions = [name for name in CONDITIONS if name in table and not table[name].isna().all()]
    groups = table.groupby(["genes", *group_by], dropna=False, sort=False)
    differing = {
        name
        for name in conditions
        if name not in [*group_by, *ignore] and (groups[name].nunique(dropna=False) > 1).any()
    }
    if policy == "first":
        return differing, groups.head(1)
    if policy == "last":
        return differing, groups.tail(1)
    first = groups.head(1).copy()
    for name in ("fitness", "score"):
        if name in table:
            first[name] = groups[name].transform("mean")
            first[f"{name}_n"] = groups[name].transform("count")
            first[f"{name}_sd"] = groups[name].transform("std")
    for name in ignore:
        first.loc[groups[name].transform(lambda x: x.nunique(dropna=False)) > 1, name] = None
    return differing, first


def check_merged(tcbuild: Tcbuild, folder: Path, graph: Path, seed: int) -> str:
    """Compares one random table with pandas; returns the policy, and refused if it was."""
    random = np.random.default_rng(seed)
    table, ending = random_table(random), ENDINGS[seed % len(ENDINGS)]
    policy = ["mean", "first", "last"][int(random.integers(3))]
    conditions = [name for name in CONDITIONS if name in table]
    uses = random.choice(["group", "ignore", "ignore", "none"], len(conditions))
    if random.random() < 0.3:
        uses[:] = "ignore"
    group_by = [name for name, use in zip(conditions, uses) if use == "group"]
    ignore = [name for name, use in zip(conditions, uses) if use == "ignore"]
    path = write(table, folder / f"set{ending}", index=False)
    phenotypes = ["fitness", *[name for name in ("score",) if name in table]]
    given = ["--duplicates", policy, "--phenotypes", ",".join(phenotypes)]
    if group_by:
        given += ["--group-by", ",".join(group_by)]
    if ignore:
        given += ["--ignore", ",".join(ignore)]
    if "strength" in group_by or random.random() < 0.5:
        given += ["--attributes", ",".join(conditions)]
    said, written = ingest(tcbuild, graph, path, *given)
    differing, want = expected(table, policy, group_by, ignore)
    if differing:
        assert written is None, (seed, differing, table)
        found = set(re.findall(r'column "(\w+)" with', said))
        assert found and found <= differing, (seed, said, differing)
        rows = [int(row) for row in re.findall(r"(?:row |sv(?:\.gz)?:)(\d+)\)", said)]
        rows = [row - 2 for row in rows] if "sv" in ending else rows
        a, b = table.iloc[rows[0]], table.iloc[rows[1]]
        assert a["genes"] == b["genes"] and rows[0] < rows[1], (seed, said)
        assert f"both delete {a['genes']}" in said
        for name in found:
            x, y = (v.strip() if isinstance(v, str) else v for v in (a[name], b[name]))
            assert x != y and not (pd.isna(x) and pd.isna(y)), (seed, said)
        return f"{policy} refused"
    assert written is not None, (seed, said, table)
    assert written["sample_id"].tolist() == [str(row) for row in want.index], seed
    for name in want.columns.drop("genes"):
        if name in CONDITIONS and name not in written:
            assert name not in conditions or "--attributes" not in given
            continue
        a, b = written[name], want[name]
        if name == "medium" or name == "note":
            assert [x or None for x in a] == [None if pd.isna(x) else x for x in b], (seed, name)
        else:
            b = b.to_numpy(float)
            np.testing.assert_allclose(a.to_numpy(float), b, 1e-9, 1e-9, err_msg=f"{seed} {name}")
    return policy


def test_merged_samples_are_pandas_groups(tcbuild, tmp_path, graph):
    seen = {check_merged(tcbuild, tmp_path, graph, seed) for seed in range(60)}
    policies = {"mean", "first", "last"}
    assert seen == policies | {f"{policy} refused" for policy in policies}
