"""Splits are what a slow program says that has only the definitions of tcbuild._split."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
import pandas as pd
import pytest

import tcbuild as package
from tcbuild._perturbed import random_numbers

FRACTIONS = {"train": 0.6, "val": 0.2, "test": 0.2}
GENES = [f"G{number:02}" for number in range(24)]
KINDS = ["deletion", "overexpression"]
SettingsError, InputError = package.errors.SettingsError, package.errors.InputError


def frame_of(r: np.random.Generator, count: int, most: int = 3) -> pd.DataFrame:
    """Samples of some genotypes, which repeat; genes of a few neighbours, so that groups exist."""
    rows = []
    for number in range(count):
        start = int(r.integers(0, len(GENES), 1)[0]) // 4 * 4
        size = int(r.integers(0, most + 1))
        genes = sorted(r.choice(GENES[start : start + 4], size, replace=False).tolist())
        rows.append(
            {
                "sample_id": f"s{number}",
                "genes": "|".join(genes),
                "kinds": "|".join(r.choice(KINDS, size).tolist()),
                "fitness": float(r.normal()),
                "medium": ["YPD", "SC", None][int(r.integers(3))],
                "batch": float(r.integers(5)),
            }
        )
    return pd.DataFrame(rows)


def build(frame: pd.DataFrame, path, genes: list[str] = GENES, **settings):
    return package.build(
        {"gene": pd.DataFrame({"id": genes})},
        frame,
        path,
        attributes=[name for name in ("medium", "batch", "plate") if name in frame],
        removing_kinds=["deletion"] if "kinds" in frame else None,
        allow_wildtype=True,
        allow_duplicate_ids=True,
        **settings,
    )


def splitmix(state: int) -> int:
    mask = 2**64 - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def number_of(seed: int, text: str) -> int:
    """The random number of a unit, in Python's whole numbers."""
    content, found = text.encode(), splitmix(seed % 2**64)
    for at in range(0, len(content), 8):
        found = splitmix(found ^ int.from_bytes(content[at : at + 8], "little"))
    return splitmix(found ^ len(content))


def test_random_numbers(seed):
    """The same for ever."""
    texts = ["", "s1", "YAL001C", "YAL001C|YBR010W", "12345678", "é" * 9, "30.0"]
    for number in (0, 1, 2**64 - 3, -1, seed):
        want = [number_of(number, text) for text in texts]
        assert random_numbers(number, texts).tolist() == want
    assert random_numbers(1, ["YAL001C|YBR010W", "s1"]).tolist() == GOLDEN_NUMBERS
    assert random_numbers(1, pd.Series([], dtype=object)).tolist() == []


GOLDEN_NUMBERS = [6619146007572836075, 8549303253526664522]
GOLDEN = {
    "sample": ["s3", "s12", "s15", "s19", "s20", "s21"],
    "genotype": ["s3", "s6", "s11", "s14", "s18"],
    "gene": ["s2", "s18"],
    "pair": ["s9", "s12", "s13", "s14", "s17"],
    "medium": ["s0", "s3", "s6", "s9", "s12", "s15", "s18", "s21"],
}


def test_golden(tcbuild, tmp_path):
    """Which samples are in test, the same for ever."""
    genes = ["|".join(pair) for pair in combinations(GENES[:6], 2)] + ["", "", *GENES[6:12]]
    frame = pd.DataFrame({"genes": genes, "medium": (["YPD", "SC", "SD"] * 8)[: len(genes)]})
    frame["sample_id"] = [f"s{number}" for number in range(len(frame))]
    frame["fitness"] = 1.0
    dataset = build(frame, tmp_path / "dataset")
    found = {
        by: dataset.split(train=0.75, test=0.25, by=by, seed=7)["test"].column("sample_id").tolist()
        for by in ("sample", "genotype", "gene", "pair", "medium")
    }
    assert found == GOLDEN


def parts_of(parts) -> list[str]:
    return [parts.names[code] if code >= 0 else "" for code in parts.codes]


def groups_of(keys: list[set]) -> list[int]:
    """Samples that share a key, directly or through others."""
    group = [*range(len(keys))]
    for _ in keys:
        for i, j in combinations(range(len(keys)), 2):
            if keys[i] & keys[j]:
                group[i] = group[j] = min(group[i], group[j])
    return group


def units_of(frame: pd.DataFrame, by: str) -> list[object]:
    """The unit of each sample; None of wild types, which are apart."""
    genes = [{*text.split("|")} - {""} for text in frame.genes]
    if by == "sample":
        return frame.sample_id.tolist()
    if by == "genotype":
        return [frozenset(some) or None for some in genes]
    if by in ("component", "pair"):
        keys = [
            {frozenset(pair) for pair in combinations(some, 2)} or {frozenset(some)}
            if by == "pair"
            else some
            for some in genes
        ]
        return [of if some else None for of, some in zip(groups_of(keys), genes)]
    return [None if pd.isna(value) else value for value in frame[by]]


@pytest.mark.parametrize("by", ["sample", "genotype", "component", "pair", "medium", "batch"])
def test_units(tcbuild, tmp_path, seed, by):
    """Units are in one part, and parts get their fractions; a row's place changes nothing."""
    r = np.random.default_rng(seed)
    for count in (40, 70):
        frame = frame_of(r, count)
        fractions = FRACTIONS if by not in ("medium", "batch") else {"train": 0.6, "test": 0.4}
        dataset = build(frame, tmp_path / f"{count}")
        parts = dataset.split(**fractions, by=by, seed=count)
        found, units = parts_of(parts), units_of(frame, by)
        where = {}
        for part, unit in zip(found, units):
            assert unit is None and by not in ("medium",) or where.setdefault(unit, part) == part
        if by not in ("component", "pair"):
            counts = Counter(where.values())
            for part, fraction in fractions.items():
                exact = fraction * len(where)
                assert floor(exact - 1e-6) <= counts[part] <= ceil(exact + 1e-6)
        wild = [part for part, unit in zip(found, units) if unit is None]
        if by in ("genotype", "component", "pair"):
            for part, fraction in fractions.items():
                assert abs(wild.count(part) - fraction * len(wild)) <= 1 + 1e-6
        order = r.permutation(count)
        genes = r.permutation(GENES).tolist()
        other = build(frame.iloc[order], tmp_path / f"{count}-other", genes)
        again = parts_of(other.split(**fractions, by=by, seed=count))
        assert again == [found[row] for row in order]
        assert parts_of(dataset.split(**fractions, by=by, seed=count + 1)) != found
        view = parts_of(dataset[order[:30]].split(train=0.5, test=0.5, by=by, seed=3))
        turned = parts_of(dataset[order[:30][::-1]].split(train=0.5, test=0.5, by=by, seed=3))
        assert view == turned[::-1]


@pytest.mark.parametrize("by", ["sample", "genotype"])
def test_draw(tcbuild, tmp_path, seed, by):
    """The units with the smallest random numbers go to the first part."""
    frame = frame_of(np.random.default_rng(seed), 60)
    frame = frame[frame.genes != ""]
    found = parts_of(build(frame, tmp_path / "d").split(train=0.5, test=0.5, by=by, seed=seed))
    texts = frame.sample_id if by == "sample" else frame.genes
    numbers = {text: number_of(seed, text) for text in texts}
    ranked = sorted(numbers, key=numbers.__getitem__)
    half = {*ranked[: len(ranked) // 2]}
    extra = len(ranked) % 2  # goes to the first part
    half |= {*ranked[: len(ranked) // 2 + extra]}
    assert found == ["train" if text in half else "test" for text in texts]


def slow_by_gene(frame: pd.DataFrame, parts) -> list[str]:
    """Where samples with these genes belong, given which genes samples of parts perturb."""
    found = parts_of(parts)
    genes = [{*text.split("|")} - {""} for text in frame.genes]
    part_of = {}
    for part, some in zip(found, genes):
        if "_unseen" not in part and part != "unplaced":
            for gene in some:
                assert part_of.setdefault(gene, part) == part, "parts share a gene"
    seen = set().union(*(some for part, some in zip(found, genes) if part == "train"))
    for part, some in zip(found, genes):
        unseen = len(some - seen)
        name, straddles, count = part.partition("_unseen")
        if straddles:
            assert int(count) == unseen and name != "train"
            assert len({part_of.get(gene) for gene in some}) > 1 or None in map(part_of.get, some)
        elif part not in ("train", "unplaced"):
            assert unseen == len(some)
    return found


def test_by_gene(tcbuild, tmp_path, seed):
    r = np.random.default_rng(seed)
    straddled = 0
    for at in range(4):
        frame = frame_of(r, 120, most=2)
        dataset = build(frame, tmp_path / str(at))
        settings = dict(by="gene", seed=at, wildtypes=["split", "whole"][at % 2])
        try:
            parts = dataset.split(**FRACTIONS, **settings, straddling="parts")
        except InputError as error:
            assert "gets none of" in error.message
            continue
        found = slow_by_gene(frame, parts)
        straddled += sum("_unseen" in part for part in found)
        genes = [{*text.split("|")} - {""} for text in frame.genes]
        wild = [part for part, some in zip(found, genes) if not some]
        if at % 2:
            assert {*wild} == {"train"}
        else:
            assert abs(wild.count("train") - 0.6 * len(wild)) <= 1
        dropped = parts_of(dataset.split(**FRACTIONS, **settings))
        assert dropped == ["unplaced" if "_unseen" in part else part for part in found]
        seen = parts["train"].to_pandas().index, parts.seen()
        known = set().union(*(some for part, some in zip(found, genes) if part == "train"))
        assert seen[1].tolist() == [len(some & known) for some in genes]
        table = parts.to_pandas()
        assert table.samples.sum() == len(frame)
        for row in table.itertuples(index=False):
            want = sum(
                (part, len(some), len(some & known)) == row[:3] for part, some in zip(found, genes)
            )
            assert want == row.samples
    assert straddled


def test_ring(tcbuild, tmp_path):
    """Of six pairs in a ring, a gene drawn for train that is in no sample of it moves."""
    pairs = ["|".join(sorted([GENES[i], GENES[(i + 1) % 6]])) for i in range(6)]
    frame = pd.DataFrame({"genes": pairs, "fitness": 1.0})
    dataset, moved = build(frame, tmp_path / "ring"), 0
    for seed in range(40):
        try:
            parts = dataset.split(train=0.5, test=0.5, by="gene", seed=seed, straddling="parts")
        except InputError:
            continue  # train has three genes that are not neighbours, and so no pair
        found = slow_by_gene(frame, parts)
        moved += found.count("test") > 2
    assert moved


def test_pairs(tcbuild, tmp_path, seed):
    """Query pairs and array genes: groups of one pair; a group too large is an error."""
    genes = [f"{a}|{b}" for a, b in zip(GENES[::2], GENES[1::2])]
    arrays = [f"X{number}" for number in range(10)]
    frame = pd.DataFrame([{"genes": f"{g}|{a}", "fitness": 1.0} for g in genes for a in arrays])
    dataset = build(frame, tmp_path / "pairs", GENES + arrays)
    parts = dataset.split(train=0.75, test=0.25, by="pair", seed=seed)
    assert parts.sizes == {"train": 90, "test": 30}
    pairs = {name: {text[:7] for text in frame.genes[parts[name].indices]} for name in parts}
    assert not pairs["train"] & pairs["test"]
    with pytest.raises(InputError, match="found 10 of 120 samples that pairs .* part train"):
        dataset.split(train=0.05, **{f"p{k}": 0.05 for k in range(19)}, by="pair")
    clique = pd.DataFrame({"genes": ["|".join(c) for c in combinations(GENES[:8], 3)]})
    with pytest.raises(InputError, match="do not fit into part train\nhint: .*by genotype"):
        build(clique.assign(fitness=1.0), tmp_path / "c").split(train=0.8, test=0.2, by="pair")


def test_wildtypes(tcbuild, tmp_path, seed):
    frame = frame_of(np.random.default_rng(seed), 100, most=1)
    wild = (frame.genes == "").to_numpy()
    dataset = build(frame, tmp_path / "d")
    for by in ("genotype", "component", "pair", "gene"):
        split = dataset.split(train=0.75, test=0.25, by=by)
        assert abs((split.codes[wild] == 0).sum() - 0.75 * wild.sum()) <= 1
        count = (split.codes[wild] == 1).sum()
        assert f"{count} wild types of test are like those of train: leave" in repr(split.audit())
        assert f"<p>{count} wild types of test" in split.audit()._repr_html_()
        whole = dataset.split(train=0.75, test=0.25, by=by, wildtypes="whole")
        assert len({*whole.codes[wild].tolist()}) == 1
        assert "wild types" not in repr(whole.audit())
    with pytest.raises(SettingsError, match="wildtypes='whole' by sample"):
        dataset.split(train=1, by="sample", wildtypes="whole")


@pytest.mark.parametrize("stratify", ["medium", "batch", "perturbation-count"])
def test_stratify(tcbuild, tmp_path, seed, stratify):
    frame = frame_of(np.random.default_rng(seed), 200)
    parts = build(frame, tmp_path / "d").split(**FRACTIONS, by="sample", stratify=stratify)
    values = frame.genes.str.count("[|]") + (frame.genes != "")
    values = values if stratify == "perturbation-count" else frame[stratify].fillna("none")
    for _, codes in pd.Series(parts.codes).groupby(values.to_numpy()):
        for code, fraction in enumerate(FRACTIONS.values()):
            assert abs((codes == code).sum() - fraction * len(codes)) < 1
    assert max(abs(parts.sizes[part] - 200 * f) for part, f in FRACTIONS.items()) < 2


def test_small_strata(tcbuild, tmp_path):
    """Strata of one sample each are not all rounded alike."""
    frame = pd.DataFrame({"genes": GENES[:1] * 500, "batch": np.arange(500.0), "fitness": 1.0})
    parts = build(frame, tmp_path / "d").split(**FRACTIONS, by="sample", stratify="batch")
    assert abs(parts.sizes["train"] - 300) < 5 and abs(parts.sizes["val"] - 100) < 5


def test_hold_out_and_pin(tcbuild, tmp_path, seed):
    frame = frame_of(np.random.default_rng(seed), 120)
    dataset = build(frame, tmp_path / "d")
    ypd = (frame.medium == "YPD").to_numpy()
    for held in ("medium=YPD", ypd, ["medium=YPD"], {"test": ypd}):
        parts = dataset.split(train=0.7, val=0.3, by="genotype", hold_out=held, seed=1)
        assert [part == "test" for part in parts_of(parts)] == ypd.tolist()
    parts = dataset.split(
        by="sample", hold_out={"new": "batch=3", "test": (frame.batch == 1).to_numpy()}
    )
    found = parts_of(parts)
    assert {*found} == {"train", "new", "test"}
    assert [part == "new" for part in found] == (frame.batch == 3).tolist()
    texts = frame.genes.tolist()
    pins = {frame.sample_id[k]: "val" for k in range(3)}
    parts = dataset.split(**FRACTIONS, by="genotype", pin=pins)
    pinned = {texts[k] for k in range(3)} - {""}
    assert {part for part, text in zip(parts_of(parts), texts) if text in pinned} <= {"val"}
    assert {parts_of(parts)[k] for k in range(3)} == {"val"}
    parts = dataset.split(
        train=0.9, test=0.1, by="sample", pin=dict.fromkeys(frame.sample_id[:60], "test")
    )
    assert parts.sizes == {"train": 60, "test": 60}


def test_fractions(tcbuild, tmp_path):
    frame = frame_of(np.random.default_rng(1), 90)
    dataset = build(frame, tmp_path / "d")
    thirds = {"a": 1 / 3, "b": np.float32(1 / 3), "c": Fraction(1, 3)}
    assert dataset.split(**thirds, by="sample").sizes == {"a": 30, "b": 30, "c": 30}
    numpys = dict(zip("ab", np.array([0.9, 0.1], np.float32)))
    assert dataset.split(**numpys, by="sample").sizes == {"a": 81, "b": 9}
    assert dataset.split(all=1, by="sample").sizes == {"all": 90}
    assert dataset.split(train=np.int64(1), by="gene").first == "train"


def test_missed_fractions(tcbuild, tmp_path):
    """Parts say which miss their fraction of what is not held out by more than a tenth of it."""
    plates = [1.0] * 50 + [2.0] * 30 + [3.0] * 20
    frame = pd.DataFrame({"genes": GENES[0], "plate": plates, "fitness": 1.0, "medium": "YPD"})
    frame.loc[50:79, "medium"] = "SC"
    dataset = build(frame, tmp_path / "d")
    assert not dataset.split(**FRACTIONS, by="sample").notes
    parts = dataset.split(train=2 / 3, test=1 / 3, by="plate", pin={"0": "train", "50": "train"})
    lines = [
        "warning: train has 80 % of 100 samples, not the 66.7 % that were asked for",
        "warning: test has 20 % of 100 samples, not the 33.3 % that were asked for",
    ]
    assert parts.notes == lines and repr(parts).endswith("\n".join(lines))
    assert parts._repr_html_().count("<p>warning: ") == 2
    held = dataset.split(train=0.5, test=0.5, by="sample", hold_out="medium=SC")
    assert held.sizes == {"train": 35, "test": 65} and not held.notes
    small = dataset[:9].split(train=0.8, test=0.2, by="sample")  # off by less than a sample
    assert not small.notes
    parts.save(tmp_path / "parts.tsv")
    assert not dataset.parts(tmp_path / "parts.tsv").notes


def test_duplicate_ids(tcbuild, tmp_path):
    """Samples of one id are one unit, whatever their order."""
    frame = pd.DataFrame(
        {"sample_id": [f"s{k % 20}" for k in range(60)], "genes": "G01", "fitness": 1.0}
    )
    parts = build(frame, tmp_path / "d").split(train=0.5, test=0.5, by="sample")
    assert parts.sizes == {"train": 30, "test": 30}
    assert not {*parts["train"].column("sample_id")} & {*parts["test"].column("sample_id")}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": 0.9, "by": "gene"}, "add up to 0.9, expected 1"),
        ({"by": "gene"}, "add up to 0, expected 1"),
        ({"train": 1, "by": "medum"}, "no column 'medum' .*\nhint: did you mean 'medium'"),
        ({"train": 1.5, "test": -0.5, "by": "gene"}, "expected a part and a fraction"),
        ({"train": 80, "test": 20, "by": "gene"}, "train=80, .*\nhint: write 0.8 for 80 %"),
        ({"unplaced": 1, "by": "gene"}, "expected a part and a fraction"),
        ({"train": 1, "by": "sample", "stratify": "fitnes"}, "no column 'fitnes'"),
        ({"train": 1, "by": "gene", "stratify": "medium"}, "found stratify='medium' by gene"),
        ({"train": 1, "by": "pair", "stratify": "medium"}, "found stratify='medium' by pair"),
        ({"train": 1, "by": "genotype", "stratify": "batch"}, "samples of one genotype differ"),
        ({"train": 1, "by": "sample", "straddling": "parts"}, "straddling='parts' by sample"),
        ({"train": 1, "by": "gene", "straddling": "yes"}, "straddling='yes' by gene"),
        ({"train": 1, "by": "pair", "hold_out": "batch=1"}, "found hold_out by pair"),
        ({"train": 1, "by": "sample", "hold_out": "batch=77"}, "holds for none of the samples"),
        ({"train": 1, "by": "sample", "hold_out": "batch=x"}, "column 'batch' has numbers"),
        ({"train": 1, "by": "sample", "hold_out": "batch"}, "column 'batch' has numbers"),
        ({"train": 1, "by": "sample", "hold_out": [True]}, r"hold_out: found bool \(1,\)"),
        ({"train": 1, "by": "sample", "hold_out": [1, 2]}, r"hold_out: found int64 \(2,\)"),
        (
            {"train": 1, "by": "sample", "hold_out": {"a": "batch=1", "b": "batch=1"}},
            "a sample in two parts",
        ),
        ({"train": 1, "by": "sample", "pin": {"s1": "trian"}}, "pin: .*did you mean 'train'"),
        (
            {"train": 0.5, "test": 0.5, "by": "gene", "pin": {"two0": "train", "two1": "test"}},
            "samples of one gene in two parts",
        ),
        ({"train": 0.999, "test": 0.001, "by": "sample"}, "part test gets none of 60 samples"),
    ],
)
def test_wrong_settings(tcbuild, tmp_path, settings, message):
    frame = frame_of(np.random.default_rng(2), 60)
    frame.loc[:1, ["sample_id", "genes", "kinds"]] = [
        ["two0", "G01|G02", "deletion|deletion"],
        ["two1", "G01", "deletion"],
    ]
    with pytest.raises((SettingsError, InputError), match=f"(?s){message}"):
        build(frame, tmp_path / "d").split(**settings)


def test_other_errors(tcbuild, tmp_path):
    dataset = build(frame_of(np.random.default_rng(2), 60), tmp_path / "d")
    with pytest.raises(TypeError, match="found stratfy='medium', expected a fraction"):
        dataset.split(train=1, by="sample", stratfy="medium")
    with pytest.raises(TypeError, match="found train=True"):
        dataset.split(train=True, by="sample")
    with pytest.raises(KeyError, match="did you mean 'train'"):
        dataset.split(train=1, by="sample")["trian"]
    with pytest.raises(KeyError, match="none of 60 samples has this id"):
        dataset.split(train=1, by="sample", pin={"s99": "train"})
    with pytest.raises(InputError, match="found no samples"):
        dataset[:0].split(train=1, by="sample")
    for asks in (lambda d: d.where("deletions == 2"), lambda d: d.split(train=1, by="gene")):
        with pytest.raises(package.errors.SettingsError, match="found combinations"):
            asks(dataset.combinations([0, 1, 2], 2))


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_saved_parts(tcbuild, tmp_path, seed, ending):
    frame = frame_of(np.random.default_rng(seed), 80)
    frame.loc[:3, "sample_id"] = ['a "quoted"', "NA", "001", "1e5"]
    dataset = build(frame, tmp_path / "d")
    build(frame, tmp_path / "indices", mode="indices")
    file = tmp_path / f"parts.{ending}"
    parts = dataset[10:70].split(**FRACTIONS, by="gene", seed=seed)
    parts.save(file)
    for other in (dataset, package.open(tmp_path / "indices")):
        again = other.parts(file)
        assert {**again.sizes} == {**parts.sizes}
        for name in parts:
            assert again[name].indices.tolist() == parts[name].indices.tolist()
    assert again.codes[[0, 9, 70, 79]].tolist() == [-1] * 4
    assert not len(dataset[:10].parts(file))
    some = dataset[60:].parts(file)
    assert len(some.codes) == 20 and set(some["train"].indices.tolist()) <= {*range(60, 70)}
    read = (
        pd.read_csv(file, sep="\t", dtype=str, keep_default_na=False)
        if ending == "tsv"
        else pd.read_parquet(file)
    )
    assert [*read] == ["logical_content", "row", "sample_id", "part"]
    assert read.sample_id.tolist() == frame.sample_id.tolist()

    def refused(changed, message):
        (changed.to_csv if ending == "tsv" else changed.to_parquet)(
            file, index=False, **({"sep": "\t"} if ending == "tsv" else {})
        )
        with pytest.raises(package.errors.InputError, match=message):
            dataset.parts(file)

    refused(read.drop(index=5), "found 79 rows, with row 5 0 times")
    refused(pd.concat([read, read[7:8]]), "found 81 rows, with row 7 2 times")
    refused(pd.concat([read.drop(index=5), read[7:8]]), "with row 5 0 times")
    refused(read.assign(logical_content="a" * 64), "logical content aaa")
    refused(read.assign(sample_id=read.sample_id[::-1].to_numpy()), "found sample")
    refused(read.drop(columns="row"), "row")
    shuffled = read.sample(frac=1, random_state=1)
    (shuffled.to_csv if ending == "tsv" else shuffled.to_parquet)(
        file, index=False, **({"sep": "\t"} if ending == "tsv" else {})
    )
    assert dataset.parts(file).codes.tolist() == dataset.parts(file).codes.tolist()
    assert dataset.parts(file)["train"].indices.tolist() == parts["train"].indices.tolist()
    with pytest.raises(package.errors.SettingsError, match="another ending"):
        parts.save(tmp_path / "parts.csv")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    with pytest.raises(FileNotFoundError):
        dataset.parts(tmp_path / "none.tsv")


def test_command(tcbuild, tmp_path):
    frame = frame_of(np.random.default_rng(3), 60)
    dataset = build(frame, tmp_path / "d")
    command = [sys.executable, "-m", "tcbuild.split", tmp_path / "d", "--by", "genotype"]

    def run(*words):
        folder = str(package.__path__[0]).rpartition("/")[0]
        return subprocess.run([*command, *words], capture_output=True, text=True, cwd=folder)

    out = tmp_path / "parts.tsv"
    done = run("train=2/3", "test=1/3", "--hold-out", "medium=SC", "--audit", "--out", out)
    assert done.returncode == 0 and "a model has learned something if" in done.stdout
    want = dataset.split(train=2 / 3, test=1 / 3, by="genotype", hold_out="medium=SC")
    assert dataset.parts(out)["test"].indices.tolist() == want["test"].indices.tolist()
    done = run("train=1/2", "test=1/2", "--by", "gene", "--out", out)
    warnings = dataset.split(train=0.5, test=0.5, by="gene").notes
    assert warnings and all(line in done.stdout.splitlines() for line in warnings)
    done = run("train=0.9", "--out", out)
    assert done.returncode != 0 and "add up to 0.9, expected 1\nhint: " in done.stderr
    for word in ("train", "train=0,8", "train=1/0"):
        done = run(word, "--out", out)
        assert done.returncode == 1 and f"found {word!r}, expected PART=FRACTION" in done.stderr
