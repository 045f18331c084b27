"""The README's example of reading a dataset does what it says."""

from __future__ import annotations

import re

from conftest import REPOSITORY


def test_example_reads_the_first_sample(tcbuild, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tcbuild.run("rebuild", "--config", "quickstart", "scale=tiny", "samples=100", "--quiet")
    (example,) = re.findall(r"```python\n(.*?)```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    variables: dict = {}
    exec(example, variables)

    (sample,) = tcbuild.samples(tmp_path / "data/quickstart/current/full-masks", 1)
    want = []
    for mask in sample["masks"].values():
        kept = [1] * mask["size"]
        for position in mask["removed"]:
            kept[position] = 0
        want += kept
    assert variables["masks"].tolist() == want
    assert 0 in want
