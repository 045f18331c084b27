"""The network of the examples learns the same in its three forms."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from conftest import REPOSITORY
from tcbuild import torchcell
from torch_cases import built_case

sys.path.insert(0, str(REPOSITORY / "python/examples"))
from three_forms import FORMS, train


@pytest.mark.parametrize("case", ["everything", "sparse", "dense"])
def test_losses_are_equal(tcbuild, tmp_path, case):
    path = built_case(tcbuild, case, "all", tmp_path, ["incidence"]).datasets["incidence"]
    dataset = torchcell.Dataset(path, ["fitness"])
    found = {form: train(dataset, form, steps=5, batch_size=5) for form in FORMS}
    for form, losses in found.items():
        assert losses == pytest.approx(found["masked"], rel=1e-6, abs=1e-6), form
    assert len(set(found["masked"])) == 5
