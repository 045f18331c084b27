"""The audit names planted leaks, accuses no clean split, and scores what a slow program scores."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tcbuild as package

FRACTIONS = {"train": 0.7, "test": 0.3}


class Screen(NamedTuple):
    """Samples, how they are split, and what the verdict on the part test must be.

    leaks: among them; None: the verdict says why there is none
    best: the best baseline
    least: its Pearson's r at least
    """

    frame: pd.DataFrame
    by: str
    leaks: list[str] | None
    best: str | None = None
    least: float = -1.0
    text: str = ""


def screen_of(genotypes: list[Any], fitness: Any, **columns: Any) -> pd.DataFrame:
    genes = ["|".join(sorted(some)) for some in genotypes]
    return pd.DataFrame({"genes": genes, "fitness": fitness} | columns)


def doubles(r: np.random.Generator, genes: int, count: int) -> list[tuple[str, str]]:
    every = [*combinations([f"G{number:03}" for number in range(genes)], 2)]
    return [every[k] for k in r.permutation(len(every))[:count]]


def effects(r: np.random.Generator, genotypes: list[Any], scale: float = 0.1) -> np.ndarray:
    of = {gene: r.normal(scale=scale) for gene in sorted({g for some in genotypes for g in some})}
    return np.array([1 + sum(of[gene] for gene in some) for some in genotypes])


def additive_doubles(r):
    """The commonest screen: doubles without singles."""
    some = doubles(r, 60, 500)
    return Screen(screen_of(some, effects(r, some)), "genotype", [], "additive", 0.99)


def few_genes(r):
    some = doubles(r, 12, 60)
    return Screen(screen_of(some, effects(r, some)), "genotype", [], "additive", 0.99)


def trigenic(r, by="genotype", leaks=("pair",), least=0.9, shared=False):
    """Query pairs × array genes; the phenotype depends on the query pair alone."""
    names = [f"Q{number:03}" for number in range(160)]
    queries = [*zip(names[::2], names[1::2])]
    if shared:
        some = [*combinations(names[:20], 2)]
        queries = [some[k] for k in r.permutation(len(some))[:80]]
    value = r.normal(size=80)
    pairs = [(k, f"A{a:03}") for k in range(80) for a in range(30)]
    genotypes = [(*queries[k], a) for k, a in pairs]
    fitness = [value[k] for k, _ in pairs] + r.normal(scale=0.2, size=len(pairs))
    frame = screen_of(genotypes, fitness, query=["-".join(queries[k]) for k, _ in pairs])
    return Screen(frame, by, [*leaks], None, least)


def trigenic_of_shared_genes(r):
    return trigenic(r, shared=True)


def trigenic_by_pair(r):
    return trigenic(r, by="pair", leaks=(), least=-1)


def plates(r):
    some = [(f"G{number:03}",) for number in range(400)]
    plate = r.integers(0, 8, 400)
    fitness = r.normal(size=8)[plate] + r.normal(scale=0.3, size=400)
    names = [f"plate {k}" for k in plate]
    return Screen(screen_of(some, fitness, plate=names), "genotype", ["plate"], "plate", 0.8)


def plates_of_genes(r):
    """Each gene is on one plate: its effect is the plate's."""
    some = [(f"G{number:03}",) for number in range(80) for _ in range(5)]
    plate = np.repeat(np.arange(80) // 8, 5)
    fitness = r.normal(size=10)[plate] + r.normal(scale=0.3, size=400)
    frame = screen_of(some, fitness, plate=[f"plate {k}" for k in plate])
    return Screen(frame, "sample", ["plate"], None, 0.8)


def repeated_genotypes(r):
    """Each genotype is measured three times, and nothing else predicts it."""
    some = [one for one in doubles(r, 40, 150) for _ in range(3)]
    fitness = np.repeat(r.normal(size=150), 3) + r.normal(scale=0.2, size=450)
    return Screen(screen_of(some, fitness), "sample", ["genotype"], None, 0.8)


def noise(r):
    some = doubles(r, 60, 500)
    media = r.choice(["YPD", "SC", "SD"], 500)
    frame = screen_of(some, r.normal(size=500), medium=media, batch=r.integers(0, 20, 500) * 1.0)
    return Screen(frame, "genotype", [])


def clean_trigenic(r):
    """Query pairs, but all effects add up: pairs say less than their genes."""
    names = [f"Q{number:03}" for number in range(40)]
    some = [(*q, f"A{a:03}") for q in zip(names[::2], names[1::2]) for a in range(40)]
    fitness = effects(r, some) + r.normal(scale=0.03, size=len(some))
    return Screen(screen_of(some, fitness), "genotype", [], "additive", 0.9)


def few_rows(r):
    some = doubles(r, 10, 12)
    text = "4 measured samples are too few to tell"
    return Screen(screen_of(some, r.normal(size=12)), "sample", None, text=text)


def mostly_missing(r):
    some = doubles(r, 20, 60)
    fitness = np.where(np.arange(60) < 1, 1.0, np.nan)
    return Screen(screen_of(some, fitness), "genotype", None, text="are measured")


def constant(r):
    some = doubles(r, 20, 60)
    text = "all measured values are equal"
    return Screen(screen_of(some, np.ones(60)), "genotype", None, text=text)


def unseen_genes(r):
    """By gene, nothing of test is known, and so nothing but the mean is predicted."""
    some = [(f"G{number:03}",) for number in range(100) for _ in range(3)]
    return Screen(screen_of(some, effects(r, some, 1)), "gene", [], "mean", 0.0)


SCREENS = [
    additive_doubles,
    few_genes,
    trigenic,
    trigenic_of_shared_genes,
    trigenic_by_pair,
    plates,
    plates_of_genes,
    repeated_genotypes,
    noise,
    clean_trigenic,
    few_rows,
    mostly_missing,
    constant,
    unseen_genes,
]


def dataset_of(frame: pd.DataFrame, path):
    names = sorted({gene for text in frame.genes for gene in text.split("|")} - {""})
    kinds = ["deletion"] if "kinds" in frame else None
    return package.build(
        {"gene": pd.DataFrame({"id": names})},
        frame,
        path,
        attributes=[name for name in ("plate", "medium", "batch", "query") if name in frame],
        removing_kinds=kinds,
        allow_wildtype=True,
        allow_duplicate_ids=True,
    )


@pytest.mark.parametrize("make", SCREENS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("number", range(2))
def test_screens(tcbuild, tmp_path, seed, make, number):
    screen = make(np.random.default_rng([seed, number]))
    dataset = dataset_of(screen.frame, tmp_path / "dataset")
    parts = dataset.split(**FRACTIONS, by=screen.by, seed=number)
    audit = parts.audit()
    (verdict,) = audit.verdicts
    shown, table = repr(audit), audit.to_pandas()
    assert "nan" not in shown.lower() and "nan" not in audit._repr_html_().lower()
    assert table.pearson.isna().tolist() == table.mse.isna().tolist()
    assert (table.note != "")[table.pearson.isna()].all()
    if screen.leaks is None:
        assert screen.text in verdict.text and not verdict.leaks
        return
    if not screen.leaks:
        assert verdict.leaks == []
    assert {*screen.leaks} <= {*verdict.leaks} <= {"pair", "genotype", "plate", "query"}
    for by in screen.leaks:
        assert f'by="{by}"' in verdict.text
    best = table.loc[table.pearson.idxmax()]
    assert best.pearson >= screen.least and best.baseline == (screen.best or best.baseline)
    t = stats.t.ppf(0.975, best.samples - 2)
    chance = t / (best.samples - 2 + t**2) ** 0.5
    if best.low > 0 and best.pearson > chance:
        assert f"beats r = {best.pearson:.2f} ({best.baseline})" in verdict.text
    else:
        assert verdict.text.startswith("test, fitness: no baseline beats chance here; a model has")
        above = float(verdict.text.partition("above ")[2][:4])
        assert abs(above - max(chance, best.pearson)) < 0.01 and screen.best in (None, "mean")


@pytest.mark.parametrize("make", [trigenic, trigenic_of_shared_genes])
def test_by_pair_removes_the_leak(tcbuild, tmp_path, seed, make):
    dataset = dataset_of(make(np.random.default_rng(seed)).frame, tmp_path / "dataset")
    if make is trigenic:
        audit = dataset.split(**FRACTIONS, by="pair").audit()
        assert audit.shared["pair in train"].tolist() == [0] and not audit.verdicts[0].leaks
        assert abs(audit.to_pandas().pearson.max()) < 0.2
    else:  # arrays and shared genes connect all pairs
        with pytest.raises(package.errors.InputError, match="do not fit"):
            dataset.split(**FRACTIONS, by="pair")


def clean(r: np.random.Generator) -> tuple[pd.DataFrame, str]:
    """A screen without leaks, and what to split it by."""
    genes, count = int(r.integers(8, 60)), int(r.integers(25, 300))
    some: list[Any] = doubles(r, genes, count)
    if r.random() < 0.5:
        some += [(f"G{number:03}",) for number in range(genes)]
    if r.random() < 0.3:
        triples = {tuple(sorted(r.choice(genes, 3, replace=False).tolist())) for _ in range(count)}
        some += [tuple(f"G{number:03}" for number in one) for one in sorted(triples)]
    scale = r.choice([0, 0.1, 1])
    fitness = effects(r, some, scale) + r.normal(scale=0.1, size=len(some))
    frame = screen_of(
        some,
        np.where(r.random(len(some)) < 0.1, np.nan, fitness),
        medium=r.choice(["YPD", "SC"], len(some)),
        plate=[f"plate {k}" for k in r.integers(0, 10, len(some))],
        batch=r.integers(0, 30, len(some)) * 1.0,
    )
    return frame, r.choice(["genotype", "sample", "plate"])


@pytest.mark.parametrize("number", range(50))
def test_clean_splits_are_not_accused(tcbuild, tmp_path, seed, number):
    frame, by = clean(np.random.default_rng([seed, number]))
    audit = dataset_of(frame, tmp_path / "d").split(**FRACTIONS, by=by, seed=number).audit()
    assert [verdict.leaks for verdict in audit.verdicts] == [[]], audit


def mixed_screen(r: np.random.Generator) -> pd.DataFrame:
    """Everything at once: kinds, wild types, repeated ids and genotypes, missing values."""
    rows = []
    for number in range(150):
        genes = r.choice([f"G{k}" for k in range(9)], int(r.integers(0, 4)), replace=False)
        rows.append(
            {
                "sample_id": f"s{number % 140}",
                "genes": "|".join(genes),
                "kinds": "|".join(r.choice(["deletion", "CRISPRa"], len(genes))),
                "fitness": r.normal() if r.random() < 0.8 else None,
                "other": len(genes) + r.normal(),
                "other_sd": 1.0 + number % 3,
                "medium": r.choice(["YPD", "SC", None]),
                "batch": float(r.integers(4)),
            }
        )
    return pd.DataFrame(rows)


def keys_of(rows: pd.DataFrame) -> dict[str, list[set]]:
    genes = [frozenset(text.split("|")) - {""} for text in rows.genes]
    return {
        "gene": [{*some} for some in genes],
        "pair": [{*combinations(sorted(some), 2)} for some in genes],
        "genotype": [{some} if some else set() for some in genes],
        "sample id": [{name} for name in rows.sample_id],
        "medium": [{value} - {None} for value in rows.medium],
        "batch": [{value} for value in rows.batch],
    }


@pytest.mark.parametrize("by", ["sample", "genotype", "gene"])
def test_scores(tcbuild, tmp_path, seed, by):
    frame = mixed_screen(np.random.default_rng(seed))
    dataset = dataset_of(frame, tmp_path / "dataset")
    parts = dataset.split(train=0.5, val=0.25, test=0.25, by=by, seed=seed)
    audit, keys = parts.audit(), keys_of(frame)
    rows = {name: view.indices.tolist() for name, view in parts.items()}
    for entry in audit.shared.to_dict("records"):
        some = rows[entry["part"]]
        assert entry["samples"] == len(some)
        for what in ("gene", "pair", "genotype", "sample id"):
            known = set().union(*(keys[what][row] for row in rows["train"]))
            share = np.mean([bool(keys[what][row] & known) for row in some])
            assert np.isclose(entry[f"{what} in train"], share)
    table = audit.to_pandas().set_index(["part", "phenotype", "baseline"])
    assert {*table.index.levels[1]} == {"fitness", "other", "other_sd"}
    for part in ("val", "test"):
        for phenotype in ("fitness", "other"):
            values = frame[phenotype].astype(float)
            train = [row for row in rows["train"] if values[row] == values[row]]
            some = [row for row in rows[part] if values[row] == values[row]]
            for what in ("medium", "batch"):
                predicted = []
                for row in some:
                    near = [values[k] for k in train if keys[what][k] & keys[what][row]]
                    predicted.append(np.mean(near if near else values[train]))
                score = table.loc[(part, phenotype, what)]
                assert score.samples == len(some)
                errors = np.array(predicted) - values[some].to_numpy()
                assert np.isclose(score.mse, np.mean(errors**2))
                assert np.isclose(score.pearson, np.corrcoef(predicted, values[some])[0, 1])
                assert score.low <= score.pearson <= score.high


def test_additive_is_a_ridge(tcbuild, tmp_path, seed):
    """The additive baseline solves the ridge's equations, here by dense matrices."""
    from tcbuild._audit import _FREE, _design, _Fit
    from tcbuild._perturbed import read_perturbed

    r = np.random.default_rng(seed)
    frame = mixed_screen(r)
    dataset = dataset_of(frame, tmp_path / "dataset")
    design = _design(read_perturbed(dataset))
    values = frame.other.to_numpy(float)
    fitted = np.arange(len(frame)) < 100
    fit = _Fit(values, fitted, design, np.arange(len(frame)) % 5 == 0, "train")
    effects = sorted(
        {
            (gene, kind)
            for row in frame.itertuples()
            for gene, kind in zip(row.genes.split("|"), row.kinds.split("|"))
            if gene
        }
    )
    dense = np.zeros((len(frame), len(effects) + 3))
    for place, row in enumerate(frame.itertuples()):
        for gene, kind in zip(row.genes.split("|"), row.kinds.split("|")):
            if gene:
                dense[place, effects.index((gene, kind))] = 1
                dense[place, len(effects) + (kind == "deletion")] += _FREE
        dense[place, -1] = _FREE
    for strength in (0.01, 1.0, 100.0):
        some, mean = dense[fitted], values[fitted].mean()
        squares = some.T @ some + strength * np.eye(dense.shape[1])
        want = mean + dense @ np.linalg.solve(squares, some.T @ (values[fitted] - mean))
        assert np.allclose(fit._additive(fitted, strength), want, atol=1e-5)


def test_order_of_rows_and_genes(tcbuild, tmp_path, seed):
    r = np.random.default_rng(seed)
    frame = trigenic(r).frame
    frame["sample_id"] = [f"s{number}" for number in range(len(frame))]
    order = r.permutation(len(frame))
    one, two = (
        dataset_of(some, tmp_path / name).split(**FRACTIONS, by="genotype").audit()
        for name, some in (("one", frame), ("two", frame.iloc[order]))
    )
    pd.testing.assert_frame_equal(one.to_pandas(), two.to_pandas(), rtol=1e-6)
    assert one.verdicts == two.verdicts and repr(one) == repr(two)


def test_first_part(tcbuild, tmp_path):
    """Baselines are fitted to the part called train, or to the first one."""
    frame = additive_doubles(np.random.default_rng(1)).frame
    dataset = dataset_of(frame, tmp_path / "dataset")
    audit = dataset.split(test=0.3, train=0.7, by="genotype").audit()
    assert audit.shared.part.tolist() == ["test"] and "gene in train" in audit.shared
    audit = dataset.split(fit=0.7, check=0.3, by="genotype").audit()
    assert audit.shared.part.tolist() == ["check"] and "gene in fit" in repr(audit)
    alone = dataset.split(all=1, by="genotype").audit()
    assert not alone.verdicts and not len(alone.to_pandas()) and repr(alone)
    held = dataset.split(by="genotype", hold_out=dataset.deletes_any("G000", "G001")).audit()
    assert held.shared["gene in train"].tolist() == [1.0]
