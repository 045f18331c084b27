"""mlcroissant, MLCommons' own library, finds nothing to complain about in what `tcbuild croissant`
adds to a dataset, and loads its samples from there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mlcroissant
import pytest

from cases import SHARDS, Case

ABOUT = ["--name", "A screen: 1/2", "--license", "CC-BY-4.0", "--date", "2026-01-31"]
CITATION = ["--citation", '@article{doe2026, title={"A screen"}}']
ODD = Case(
    "odd names",
    phenotypes=("fitness", "gene interaction", "a/../b", "<b>#?%20&", "日本", "..", "index"),
    attributes=("medium",),
    wildtypes=2,
)


def validate(dataset: Path) -> str:
    """What mlcroissant says of a description, which it takes for valid."""
    program = Path(sys.executable).with_name("mlcroissant")
    done = subprocess.run(
        [program, "validate", "--jsonld", dataset / "croissant.json"],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0 and "Done." in done.stderr, done.stderr
    return done.stderr


@pytest.fixture
def copied(built_once, tmp_path):
    """Copies a build of a case, and returns it with the samples that the oracle expects."""

    def copy(case: Case, build: str):
        built = built_once(case, "all")
        return shutil.copytree(built.datasets[build], tmp_path / build), built.want

    return copy


@pytest.mark.parametrize(
    "case, build",
    [
        (SHARDS, "incidence"),
        (SHARDS, "indices-zstd"),
        (ODD, "full-masks-zstd"),
        (Case("no phenotypes, no sample ids", phenotypes=(), sample_ids=False), "indices-raw"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_samples_are_loaded(tcbuild, copied, case, build):
    dataset, want = copied(case, build)
    tcbuild.run("croissant", dataset, *ABOUT, *CITATION)
    assert "warning" not in validate(dataset)
    description = mlcroissant.Dataset(str(dataset / "croissant.json"))
    names = {field.id: field.name for field in description.metadata.record_sets[1].fields}

    def plain(value):
        """A value without the library's own type of text."""
        if isinstance(value, list):
            return [plain(element) for element in value]
        return value.decode() if isinstance(value, bytes) else value

    got = [
        {names[field]: plain(value) for field, value in record.items()}
        for record in description.records("samples")
    ]
    assert got == [
        {"sample_id": sample["sample_id"], "genes": sample["genes"]}
        | sample["phenotypes"]
        | sample["attributes"]
        for sample in want
    ]
    masks = tcbuild.manifest(dataset)["masks"]
    assert list(description.records("masks")) == [
        {"masks/name": mask["name"], "masks/size": mask["size"]} for mask in masks
    ]
    tcbuild.run("verify", dataset)


def test_what_is_not_given_is_a_warning(tcbuild, copied):
    dataset, _ = copied(SHARDS, "indices-zstd")
    tcbuild.run("croissant", dataset)
    said = validate(dataset)
    assert "3 warning(s)" in said
    for word in ("license", "citeAs", "datePublished"):
        assert f'{word}" is recommended' in said


def test_damage_is_found(tcbuild, copied):
    dataset, _ = copied(SHARDS, "indices-zstd")
    tcbuild.run("croissant", dataset, *ABOUT, *CITATION)
    content = bytearray((dataset / "samples.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (dataset / "samples.parquet").write_bytes(content)
    description = mlcroissant.Dataset(str(dataset / "croissant.json"))
    with pytest.raises(Exception, match="samples.parquet"):
        list(description.records("samples"))
