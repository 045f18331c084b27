"""The promise of docs/FORMAT.md for sample tables of several parts and blocks: each way to read
them gives the right values or a DatasetError, whatever happens to their files.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from pathlib import Path

import pytest

import tcbuild as reader
from cases import SHARDS
from sample_tables import BLOCK, with_table
from tcbuild._table import sample_table

SAMPLES, PER_PART, PER_BATCH = 640, 256, 64
SINGLE = [0, 63, 64, 255, 256, 400, 511, 512, 639]


def rows(seed: int) -> list[dict]:
    chance = random.Random(seed)
    return [
        {
            "sample_id": f"{number} {chance.randbytes(300).hex()}",
            "perturbation_indices": sorted(chance.sample(range(25), number % 4)),
            "fitness": None if number % 5 == 0 else chance.random(),
            "medium": None if number % 7 == 0 else f"medium {chance.randrange(5)}",
            "temperature": None if number % 3 == 0 else 30.0,
        }
        for number in range(SAMPLES)
    ]


@pytest.fixture(scope="module")
def built(built_once, tmp_path_factory):
    """Two datasets of the same shape."""
    source = built_once(SHARDS, "all").datasets["incidence"]
    folder = tmp_path_factory.mktemp("tables")
    return [
        with_table(source, folder / str(seed), rows(seed), PER_PART, PER_BATCH) for seed in (1, 2)
    ]


@pytest.fixture
def path(built, tmp_path):
    return Path(shutil.copytree(built[0], tmp_path / "dataset"))


def reads(dataset: reader.Dataset):
    """All ways to read the table: single samples, then columns."""
    for number in SINGLE:
        yield lambda number=number: dataset[number].id
        yield lambda number=number: sorted(dataset[number].attributes.items())
        yield lambda number=number: [part.tobytes() for part in dataset.perturbations([number])]
    yield lambda: dataset.phenotype("fitness").tobytes()
    yield lambda: dataset.attribute("temperature").tobytes()
    yield lambda: dataset.attribute("medium").tolist()
    yield lambda: dataset.column("sample_id").tolist()
    yield lambda: dataset.to_arrow().to_pylist()
    yield lambda: dataset[300:310].to_arrow().to_pylist()
    yield lambda: dataset.deletes(dataset.genes[3]).tolist()


def outcome(dataset: reader.Dataset) -> list[object]:
    """What each read gives, None for a DatasetError."""
    found: list[object] = []
    for read in reads(dataset):
        try:
            found.append(read())
        except reader.DatasetError as error:
            assert error.hint and "samples" in str(error)
            found.append(None)
    return found


@pytest.fixture(scope="module")
def want(built):
    found = outcome(reader.open(built[0]))
    assert None not in found
    return found


def right_or_error(path: Path, want: list[object], fault: object) -> list[bool]:
    """Which reads were errors; the others have to be right."""
    found = outcome(reader.open(path))
    assert all(got in (None, expected) for got, expected in zip(found, want, strict=True)), fault
    return [got is None for got in found]


def parts(path: Path) -> list[Path]:
    found = sorted((path / "samples").glob("part-*"))
    assert len(found) == 3 and all(file.stat().st_size > 2 * BLOCK for file in found[:2])
    return found


def test_flipped_bits(path, want):
    chance = random.Random(7)
    for file in parts(path):
        data = file.read_bytes()
        step = max(1, len(data) * 8 // 60)
        for bit in range(chance.randrange(step), len(data) * 8, step):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            file.write_bytes(damaged)
            errors = right_or_error(path, want, (file, bit))
            assert any(errors), (file, bit)
            assert not all(errors[: 3 * len(SINGLE)]), (file, bit)  # other parts are as before
        file.write_bytes(data)
    assert not any(right_or_error(path, want, "restored"))


def test_exchanged_parts_and_blocks(path, want):
    blocks = [
        (file, at)
        for file in parts(path)
        for at in range(0, file.stat().st_size - BLOCK + 1, BLOCK)
    ]
    content = {file: file.read_bytes() for file in parts(path)}
    for (file, at), (other, other_at) in itertools.combinations(blocks, 2):
        first, second = bytearray(content[file]), bytearray(content[other])
        if file == other:
            second = first
        first[at : at + BLOCK] = content[other][other_at : other_at + BLOCK]
        second[other_at : other_at + BLOCK] = content[file][at : at + BLOCK]
        file.write_bytes(first)
        other.write_bytes(second)
        assert any(right_or_error(path, want, (file, at, other, other_at)))
        for restored in (file, other):
            restored.write_bytes(content[restored])
    for file, other in itertools.combinations(content, 2):
        file.write_bytes(content[other])
        other.write_bytes(content[file])
        assert any(right_or_error(path, want, (file, other)))
        for restored in (file, other):
            restored.write_bytes(content[restored])


def test_files_of_a_like_dataset(built, path, want):
    files = [file.name for file in parts(path)]
    for count in (1, 2, 3):
        for chosen in itertools.combinations(files, count):
            for file in chosen:
                shutil.copyfile(built[1] / "samples" / file, path / "samples" / file)
            assert any(right_or_error(path, want, chosen))
            for file in chosen:
                shutil.copyfile(built[0] / "samples" / file, path / "samples" / file)


@pytest.mark.parametrize("share", [0, 0.5, 0.999])
def test_cut_files(path, want, share):
    for file in parts(path):
        data = file.read_bytes()
        unused, used = reader.open(path), reader.open(path)
        assert outcome(used) == want
        os.truncate(file, int(len(data) * share))
        assert any(right_or_error(path, want, file))
        for dataset in (unused, used):  # opened before the cut
            found = outcome(dataset)
            assert all(got in (None, expected) for got, expected in zip(found, want, strict=True))
        file.write_bytes(data)


def test_a_file_that_changes_under_a_reader(path, want, monkeypatch):
    """What is read again is tested again."""
    monkeypatch.setattr(sample_table, "_OPEN", 0)  # keeps two parts
    dataset = reader.open(path)
    assert outcome(dataset) == want
    for file in parts(path):
        data = file.read_bytes()
        file.write_bytes(bytes(byte ^ 1 for byte in data))
        found = outcome(dataset)
        assert all(got in (None, expected) for got, expected in zip(found, want, strict=True))
        assert None in found[3 * len(SINGLE) :]
        file.write_bytes(data)
