"""The README's examples do what it says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conftest import REPOSITORY


@pytest.fixture(scope="module")
def quickstart(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("quickstart")
    tcbuild.run(
        "rebuild",
        "--config",
        "quickstart",
        "scale=tiny",
        "samples=100",
        f"root={folder}/data",
        "--quiet",
    )
    return folder


def run_example(section: str) -> dict:
    """The variables that the Python of a section leaves."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(
        rf"^## {section}\n.*?```python\n(.*?)```", text, re.DOTALL | re.MULTILINE
    )
    variables: dict = {}
    exec(example, variables)
    return variables


def want_mask(mask: dict) -> np.ndarray:
    kept = np.ones(mask["size"], bool)
    kept[mask["removed"]] = False
    return kept


def test_the_bytes_of_the_first_sample(tcbuild, quickstart, monkeypatch):
    monkeypatch.chdir(quickstart)
    masks = run_example("Reading the bytes")["masks"]
    (sample,) = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 1)
    assert np.array_equal(
        masks, np.concatenate([want_mask(mask) for mask in sample["masks"].values()])
    )
    assert 0 in masks


def test_training(tcbuild, quickstart, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(quickstart)
    variables = run_example("Training")
    shown = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 100)
    sample, last = variables["sample"], shown[-len(variables["batch"]) :]
    assert sample.genes == shown[0]["genes"] and sample.phenotypes.tolist() == list(
        shown[0]["phenotypes"].values()
    )
    assert np.array_equal(
        variables["masks"].cpu(),
        [want_mask(sample["masks"]["gene__physical__gene"]) for sample in last],
    )
    assert variables["target"].tolist() == [sample["phenotypes"]["fitness"] for sample in last]
