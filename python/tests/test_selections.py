"""What select and split write is what pandas and docs/FORMAT.md say, and select takes it."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tcbuild as reader
from cases import SHARDS, Case

PARTS = {"train": Fraction("0.7"), "val": Fraction("0.1"), "test": Fraction("0.2")}
SEED = 2**64 - 3


@pytest.fixture(scope="module")
def built(built_once):
    return built_once(SHARDS, "all")


@pytest.fixture(scope="module")
def rows(built):
    """The samples, as the oracle read them from the perturbation set."""
    return pd.DataFrame(
        {"id": sample["sample_id"], "genes": tuple(sample["genes"])}
        | sample["phenotypes"]
        | sample["attributes"]
        for sample in built.want
    ).astype({"fitness": float, "temperature": float})


def chosen(tcbuild, dataset, path, where):
    tcbuild.run("select", dataset, "--where", where, "--out", path)
    return reader.open(dataset).select(path)


@pytest.mark.parametrize("variant", ["incidence", "indices-zstd"])
def test_select(tcbuild, built, rows, tmp_path, variant):
    gene = rows.genes.explode().mode()[0]
    for number, (where, kept) in enumerate(
        {
            "fitness < 0.5": rows.fitness < 0.5,
            "temperature == 30 and medium != 'YPD'": (rows.temperature == 30)
            & rows.medium.notna()
            & (rows.medium != "YPD"),
            "deletions() == 2": rows.genes.map(len) == 2,
            f'deletes("{gene}")': rows.genes.map(lambda genes: gene in genes),
            "missing(temperature)": rows.temperature.isna(),
        }.items()
    ):
        view = chosen(tcbuild, built.datasets[variant], tmp_path / f"{number}.arrow", where)
        assert view.indices.tolist() == np.flatnonzero(kept).tolist(), where
        assert view.samples["sample_id"].tolist() == rows.id[kept].tolist()


def random_numbers(seed: int, count: int) -> list[int]:
    """The first outputs of SplitMix64."""
    mask, found = 2**64 - 1, []
    for k in range(1, count + 1):
        z = (seed + k * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        found.append(z ^ z >> 31)
    return found


def parts_of_units(strata: list[object], numbers: list[int]) -> list[str]:
    """The part of each unit, given its stratum and its random number."""
    owed, parts = dict.fromkeys(PARTS, Fraction(0)), [""] * len(strata)
    for stratum in dict.fromkeys(strata):
        units = [unit for unit, of in enumerate(strata) if of == stratum]
        exact = {part: len(units) * fraction for part, fraction in PARTS.items()}
        sizes = {part: floor(size) for part, size in exact.items()}
        owed = {part: owed[part] + exact[part] - sizes[part] for part in PARTS}
        over = [part for part in PARTS if exact[part] != sizes[part]]
        for part in sorted(over, key=lambda part: -owed[part])[: len(units) - sum(sizes.values())]:
            sizes[part] += 1
            owed[part] -= 1
        order = iter(sorted(units, key=lambda unit: numbers[unit]))
        for part, size in sizes.items():
            for _ in range(size):
                parts[next(order)] = part
    return parts


def expected_parts(rows: pd.DataFrame, by: str, stratify: str | None, genes: list[str]):
    """The part of each sample."""
    numbers = random_numbers(SEED, max(len(rows), len(genes)))
    if by == "gene":
        used = {gene for deleted in rows.genes for gene in deleted}
        units = [row for row, gene in enumerate(genes) if gene in used]
        part = dict(
            zip(
                (genes[row] for row in units),
                parts_of_units([0] * len(units), [numbers[row] for row in units]),
            )
        )
        found = [{part[gene] for gene in deleted} for deleted in rows.genes]
        return [parts.pop() if len(parts) == 1 else "unplaced" for parts in found]
    keys = list(rows.index) if by == "sample" else list(rows.genes)
    units = list(dict.fromkeys(keys))
    strata: list[object] = [0] * len(units)
    if stratify == "perturbation-count":
        strata = [len(rows.genes[keys.index(unit)]) for unit in units]
    elif stratify:
        values = [None if pd.isna(value) else value for value in rows[stratify]]
        strata = [values[keys.index(unit)] for unit in units]
    part = dict(zip(units, parts_of_units(strata, numbers)))
    return [part[key] for key in keys]


@pytest.mark.parametrize(
    ("by", "stratify"),
    [
        ("sample", None),
        ("sample", "medium"),
        ("genotype", None),
        ("genotype", "perturbation-count"),
        ("gene", None),
    ],
)
def test_split(tcbuild, built, rows, tmp_path, by, stratify):
    path = built.datasets["incidence"]
    options = ["--stratify", stratify] if stratify else []
    fractions = ",".join(f"{part}={float(fraction)}" for part, fraction in PARTS.items())
    split = tmp_path / "split"
    tcbuild.run(
        "split",
        path,
        "--fractions",
        fractions,
        "--by",
        by,
        "--seed",
        SEED,
        "--out",
        split,
        *options,
    )
    dataset = reader.open(built.datasets["full-masks-zstd"])  # made from another variant
    want = expected_parts(rows, by, stratify, dataset.genes)
    assert {file.stem for file in split.iterdir()} == set(want)
    for file in split.iterdir():
        numbers = [number for number, part in enumerate(want) if part == file.stem]
        assert dataset.select(file).indices.tolist() == numbers, file.stem


def test_select_of_a_view(tcbuild, built, tmp_path):
    path = tmp_path / "two.arrow"
    dataset = chosen(tcbuild, built.datasets["incidence"], path, "deletions() == 2").whole
    view = dataset[::-3]
    both = view.select(path)
    wanted = set(dataset.select(path).indices.tolist())
    assert both.indices.tolist() == [row for row in view.indices.tolist() if row in wanted]


def test_selection_of_another_dataset(tcbuild, built, built_once, tmp_path):
    path = tmp_path / "all.arrow"
    chosen(tcbuild, built.datasets["incidence"], path, "deletions() >= 0")
    other = reader.open(
        built_once(Case("everything", attributes=("medium",), shards=3), "all").datasets[
            "incidence"
        ]
    )
    with pytest.raises(reader.errors.SelectionError, match="logical content .*expected .*\nhint: "):
        other.select(path)


def test_damaged_selection(tcbuild, built, tmp_path):
    """A selection with a changed byte has the same samples, or is an error that names the file."""
    path = tmp_path / "some.arrow"
    view = chosen(tcbuild, built.datasets["incidence"], path, "fitness < 0.5")
    content, refused = path.read_bytes(), 0
    for at in range(0, len(content), 3):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        try:
            assert np.array_equal(view.whole.select(path).indices, view.indices), at
        except reader.errors.SelectionError as error:
            assert str(path) in error.message and error.hint, at
            refused += 1
    assert refused > 100
    for end in range(0, len(content), 97):
        path.write_bytes(content[:end])
        with pytest.raises(reader.errors.SelectionError, match="some.arrow"):
            view.whole.select(path)


def test_no_selection(built, tmp_path):
    dataset = reader.open(built.datasets["incidence"])
    for path in (tmp_path, built.datasets["incidence"] / "samples/part-00000.arrow"):
        with pytest.raises(reader.errors.SelectionError, match="hint: "):
            dataset.select(path)
    with pytest.raises(FileNotFoundError):
        dataset.select(tmp_path / "none.arrow")
    old = pa.schema([pa.field("sample", pa.int64(), False)], {"tcbuild_selection": "2"})
    with pa.ipc.new_file(str(tmp_path / "old.arrow"), old) as file:
        file.write_table(old.empty_table())
    with pytest.raises(
        reader.errors.SelectionError, match="found version 2 of selections, expected 1"
    ):
        dataset.select(tmp_path / "old.arrow")
