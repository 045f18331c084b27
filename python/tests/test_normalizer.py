"""Normalizers against their definitions, in NumPy and torch."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tcbuild as reader
from cases import SHARDS
from sample_tables import with_table

KINDS = ["standard", "min-max", "quantile"]


@pytest.fixture(scope="module")
def dataset(built_once, tmp_path_factory):
    """Two phenotypes of 3,000 samples, with missing values; the second has many ties."""
    chance = np.random.default_rng(4)
    rows = [
        {
            "sample_id": str(number),
            "perturbation_indices": [number % 20],
            "fitness": None if number % 10 == 0 else chance.normal(5, 3),
            "ties": None if number % 7 == 0 else float(chance.integers(4)),
            "same": 0.1,
            "none": None,
        }
        for number in range(3000)
    ]
    names = [{"name": name} for name in ("fitness", "ties", "same", "none")]
    source = built_once(SHARDS, "all").datasets["incidence"]
    folder = tmp_path_factory.mktemp("normal") / "dataset"
    return reader.open(with_table(source, folder, rows, 1024, 64, names, []))


def present(dataset, name):
    values = dataset.phenotype(name)
    return values[~np.isnan(values)]


def test_standard(dataset):
    train = dataset[np.random.default_rng(1).permutation(3000)[:500]]
    values = present(train, "fitness")
    found = reader.Normalizer.fit(train, "fitness").transform(dataset.phenotype("fitness"))
    want = (dataset.phenotype("fitness") - values.mean()) / values.std(ddof=1)
    np.testing.assert_allclose(found, want)
    assert math.isclose(np.nanmean(found[train.indices]), 0, abs_tol=1e-9)


def test_min_max(dataset):
    train = dataset[:100]
    values = present(train, "fitness")
    found = reader.Normalizer.fit(train, "fitness", "min-max").transform(values)
    np.testing.assert_allclose(found, (values - values.min()) / (values.max() - values.min()))


def test_quantile(dataset):
    values = present(dataset, "fitness")
    normalizer = reader.Normalizer.fit(dataset, "fitness", "quantile")
    found = normalizer.transform(values)
    ranks = np.argsort(np.argsort(values)) / (len(values) - 1)
    np.testing.assert_allclose(found, ranks, atol=2e-3)
    assert found.min() == 0 and found.max() == 1
    beyond = normalizer.transform(np.array([values.min() - 1, values.max() + 1]))
    assert beyond[0] < 0 and beyond[1] > 1
    ties = reader.Normalizer.fit(dataset, "ties", "quantile").transform(np.arange(4.0))
    shares = np.bincount(present(dataset, "ties").astype(int)) / len(present(dataset, "ties"))
    np.testing.assert_allclose(ties, np.cumsum(shares) - shares / 2, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_inverse_and_file(dataset, tmp_path, kind):
    names = ["ties", "fitness"]
    normalizer = reader.Normalizer.fit(dataset, names, kind)
    normalizer.save(tmp_path / "n.json")
    again = reader.Normalizer.load(tmp_path / "n.json")
    assert again == normalizer and [path.name for path in tmp_path.iterdir()] == ["n.json"]
    values = np.stack([dataset.phenotype(name) for name in names], axis=-1)
    levels = again.transform(values)
    assert levels.shape == values.shape and levels.dtype == np.float64
    assert np.array_equal(np.isnan(levels), np.isnan(values))
    np.testing.assert_allclose(again.inverse(levels), values, atol=1e-9)
    one = reader.Normalizer.fit(dataset, "fitness", kind)
    assert np.array_equal(one.transform(values[:, 1]), levels[:, 1], equal_nan=True)
    assert again.logical_content == dataset.manifest["logical_content"]
    single = values.astype(np.float32)
    found = again.transform(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, levels, atol=1e-3)
    assert again.transform(np.array([[1, 2]])).dtype == np.float64
    outside = np.array([[-9.0, 99.0]])
    np.testing.assert_allclose(again.inverse(again.transform(outside)), outside)


@pytest.mark.parametrize("kind", KINDS)
def test_tensors(dataset, kind):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    normalizer = reader.Normalizer.fit(dataset, ["ties", "fitness"], kind)
    values = np.stack([dataset.phenotype(name) for name in ("ties", "fitness")], axis=-1)
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-4)):
        tensor = torch.from_numpy(values).to(dtype).requires_grad_()
        found = normalizer.transform(tensor)
        assert found.dtype == dtype and found.requires_grad
        want = normalizer.transform(values)
        np.testing.assert_allclose(found.detach().numpy(), want, atol=tolerance)
        back = normalizer.inverse(found.detach())
        np.testing.assert_allclose(back.numpy(), values, atol=100 * tolerance)
    assert normalizer.transform(torch.ones(3, 5, 2)).shape == (3, 5, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["same", "none"])
def test_what_cannot_be_fitted(dataset, kind, name):
    with pytest.raises(ValueError, match=f"'{name}' has .*two different.*\nhint: "):
        reader.Normalizer.fit(dataset, name, kind)
    with pytest.raises(ValueError, match="has 0 values"):
        reader.Normalizer.fit(dataset[:0], "fitness", kind)


def test_wrong_use(dataset, tmp_path):
    with pytest.raises(ValueError, match="kind 'zscore'\nhint: "):
        reader.Normalizer.fit(dataset, "fitness", "zscore")
    with pytest.raises(reader.errors.UnknownNameError, match="'fitness'"):
        reader.Normalizer.fit(dataset, "fitnes")
    with pytest.raises(ValueError, match="found no phenotype"):
        reader.Normalizer.fit(dataset, [])
    normalizer = reader.Normalizer.fit(dataset, ["fitness", "ties"])
    for wrong in (np.ones(3), np.ones((2, 3)), np.float64(3)):
        with pytest.raises(ValueError, match="last axis of 2"):
            normalizer.transform(wrong)
    for wrong in (np.array(["a", "b"]), np.array([True, False])):
        with pytest.raises(TypeError, match="expected numbers"):
            normalizer.inverse(wrong)
    path = tmp_path / "n.json"
    normalizer.save(path)
    content = json.loads(path.read_text())
    for wrong in (
        "{",
        "[]",
        "{}",
        json.dumps(content | {"type": "another"}),
        json.dumps(content | {"kind": "quantile"}),
        json.dumps(content | {"more": 1}),
        json.dumps(content | {"scales": []}),
        json.dumps(content | {"scales": [content["scales"][0] | {"scale": 0.0}]}),
        json.dumps(content | {"scales": [content["scales"][0] | {"shift": math.nan}]}),
        json.dumps(content | {"scales": [content["scales"][0] | {"values": [2.0, 1.0]}]}),
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"n\.json: .*\nhint: "):
            reader.Normalizer.load(path)
