"""torchcell stores written as torchcell writes them: by Python's lmdb, json and zlib."""

from __future__ import annotations

import hashlib
import json
import math
import random
import zlib
from pathlib import Path

import lmdb
import pytest

GENES = [f"YAL{i:03d}C" for i in range(40)]


def write_graph(folder: Path) -> Path:
    (folder / "nodes").mkdir(parents=True)
    (folder / "edges").mkdir()
    (folder / "nodes/gene.tsv").write_text("id\n" + "\n".join(GENES) + "\n", encoding="utf-8")
    edges = [f"{a}\t{b}" for a, b in zip(GENES, GENES[1:], strict=False)]
    (folder / "edges/gene__physical__gene.tsv").write_text(
        "src\tdst\n" + "\n".join(edges) + "\n", encoding="utf-8"
    )
    return folder


def experiment(label: str, value: object, statistic: str, spread: object, genes: list[str]) -> dict:
    kinds = [
        "deletion",
        "damp",
        "temperature_sensitive_allele",
        "sga_kanmx_deletion",
        "suppressor_allele",
    ]
    return {
        "experiment": {
            "experiment_type": label.replace("_", " "),
            "dataset_name": "SmfKuzmin2018Dataset+hoΔ",
            "genotype": {
                "perturbations": [
                    {
                        "systematic_gene_name": gene,
                        "perturbed_gene_name": "hoΔ",
                        "description": 'a "quote" \\ {[',
                        "perturbation_type": kind,
                        "expression_range": {"min": -math.inf, "max": math.inf},
                    }
                    for gene, kind in zip(genes, kinds, strict=False)
                ]
            },
            "environment": {
                "media": {"name": "YPD", "state": "solid"},
                "temperature": {"value": 30, "unit": "Celsius"},
            },
            "phenotype": {
                "graph_level": "global",
                "label_name": label,
                "label_statistic_name": statistic,
                label: value,
                statistic: spread,
                "fitness_std": math.nan,
                "n_samples": None,
            },
        },
        "experiment_reference": {"phenotype_reference": {"label_name": label, label: math.nan}},
    }


def write_store(folder: Path, records: dict[str, bytes]) -> None:
    folder.mkdir(parents=True)
    with lmdb.open(str(folder), map_size=1 << 30) as store, store.begin(write=True) as transaction:
        for key in sorted(records):
            transaction.put(key.encode(), records[key], append=True)


def make_records(count: int, gaps: bool) -> tuple[dict[int, list[dict]], dict[int, dict]]:
    """The records by number, and what a sample of each has to say."""
    rng = random.Random(count)
    numbers = sorted(rng.sample(range(20 * count), count)) if gaps else range(count)
    records, expected = {}, {}
    for number in numbers:
        genes = sorted(rng.sample(GENES, rng.randint(1, 4)))
        fitness = rng.choice([rng.gauss(1, 0.2), 1, 0.0, 1e-300, math.nan])
        spread = rng.choice([rng.random(), None, math.nan, math.inf])
        records[number] = [experiment("fitness", fitness, "fitness_se", spread, genes)]
        expected[number] = {
            "genes": genes,
            "fitness": fitness,
            "fitness_se": spread,
            "gene_interaction": None,
            "gene_interaction_p_value": None,
        }
        if rng.random() < 0.5:
            score = rng.gauss(0, 1)
            records[number].append(
                experiment("gene_interaction", score, "gene_interaction_p_value", None, genes)
            )
            expected[number]["gene_interaction"] = score
    return records, expected


@pytest.mark.parametrize("shape", ["array", "single", "zlib"])
def test_store_is_read_as_it_lies(tcbuild, tmp_path: Path, shape: str) -> None:
    records, expected = make_records(250, gaps=shape == "zlib")
    if shape == "single":
        records = {number: pairs[:1] for number, pairs in records.items()}
    texts = {
        number: json.dumps(pairs if shape != "single" else pairs[0]).encode()
        for number, pairs in records.items()
    }
    store = tmp_path / "processed/lmdb"
    if shape == "zlib":
        write_store(store, {str(number): zlib.compress(text, 6) for number, text in texts.items()})
        pool = ",".join(map(str, sorted(texts)))
        (store / "STORE.json").write_text(
            json.dumps(
                {
                    "n_records_keyspace": 5000,
                    "codec": "zlib",
                    "zlib_level": 6,
                    "source_store": "/x",
                    "pool_name": "p",
                    "n_pool": len(texts),
                    "pool_sha256": hashlib.sha256(pool.encode()).hexdigest(),
                    "source_bytes": 1,
                    "store_bytes": 1,
                    "created": "2026-01-01T00:00:00",
                }
            ),
            encoding="utf-8",
        )
    else:
        prefix = "data_" if shape == "single" else ""
        write_store(store, {f"{prefix}{number}": text for number, text in texts.items()})

    graph = write_graph(tmp_path / "graph")
    tcbuild.run(
        "dataset",
        "--mode",
        "indices",
        "--graph",
        graph,
        "--perturbations",
        store,
        "--out",
        tmp_path / "out",
    )
    samples = tcbuild.samples(tmp_path / "out", len(records))
    assert [sample["sample_id"] for sample in samples] == [
        str(number) for number in sorted(records)
    ]
    for sample in samples:
        want = dict(expected[int(sample["sample_id"])])
        assert sample["genes"] == want.pop("genes")
        if shape == "single":
            del want["gene_interaction"], want["gene_interaction_p_value"]
        assert sample["phenotypes"] == {
            name: None if value is None or not math.isfinite(value) else value
            for name, value in want.items()
        }


def environment(rng: random.Random) -> dict:
    """An environment as torchcell's schema has it, with what it may leave out."""
    media = {"provenance_gaps": [], "name": rng.choice(["YPD", "SC + Δ", None]), "state": "solid"}
    full = {
        "provenance_gaps": [],
        "media": media,
        "temperature": rng.choice(
            [{"value": rng.choice([30.0, 26.0, 37]), "unit": "Celsius"}, None, {"value": 30.5}]
        ),
        "perturbations": [
            {
                "perturbation_type": "small_molecule",
                "description": "added",
                "compound": {"name": name, "inchikey": None, "roles": []},
                "concentration": {"value": rng.choice([10, 0.5]), "unit": "uM", "basis": None},
                "solvent": None,
            }
            for name in rng.sample(["rapamycin", "DMSO", "NaCl"], rng.choice([0, 1, 2]))
        ],
        "aerobicity": rng.choice(["aerobic", "anaerobic", None]),
    }
    if rng.random() < 0.1:
        del full["temperature"]
    return full


def attributes_of(pair: dict, genes: list[str]) -> dict[str, object]:
    """The attributes of an experiment, in the words of docs/input.md. genes are its sample's."""
    told = pair["experiment"]
    types: dict[str, list[str]] = {gene: [] for gene in genes}
    for perturbation in told["genotype"]["perturbations"]:
        of_gene = types[perturbation["systematic_gene_name"]]
        if perturbation["perturbation_type"] not in of_gene:
            of_gene.append(perturbation["perturbation_type"])
    temperature = told["environment"].get("temperature") or {}
    doses = [
        f"{added['compound']['name']} {added['concentration']['value']} uM"
        for added in told["environment"]["perturbations"]
    ]
    return {
        "aerobicity": told["environment"]["aerobicity"],
        "compounds": "|".join(sorted(doses)) or None,
        "dataset_name": told["dataset_name"],
        "experiment_type": told["experiment_type"],
        "medium": told["environment"]["media"]["name"],
        "temperature": temperature.get("value"),
        "perturbation_type": "|".join("+".join(types[gene]) for gene in genes),
    }


def place_of(pair: dict, number: int, genes: list[str]) -> dict[str, float | None]:
    """The attributes that tell an experiment from one that is alone in its record."""
    count = len(pair["experiment"]["genotype"]["perturbations"])
    return {
        "experiment": number or None,
        "perturbation_count": None if count == len(genes) else count,
    }


@pytest.mark.parametrize("mixed", [False, True])
def test_attributes(tcbuild, tmp_path: Path, mixed: bool) -> None:
    """Records of up to four experiments; if mixed, of several labels in any order."""
    rng = random.Random(f"attributes {mixed}")
    statistics = {"fitness": "fitness_se", "gene_interaction": "gene_interaction_p_value"}
    records, order = [], list(GENES)
    rng.shuffle(order)  # the graph's genes are in another order than torchcell's
    for _ in range(300):
        pairs, only = [], rng.choice(list(statistics))
        strain = rng.sample(GENES, 3)
        for _ in range(rng.randint(1, 4)):
            label = rng.choice(list(statistics)) if mixed else only
            genes = sorted(rng.sample(strain, rng.randint(1, 3)))
            if rng.random() < 0.1:
                genes.append(genes[0])
            pair = experiment(label, rng.gauss(0, 1), statistics[label], rng.random(), genes)
            pair["experiment"]["environment"] = environment(rng)
            pair["experiment"]["dataset_name"] = f"{label}{rng.randint(1, 3)}"
            pairs.append(pair)
        records.append(pairs)
    store = tmp_path / "processed/lmdb"
    write_store(store, {str(i): json.dumps(pairs).encode() for i, pairs in enumerate(records)})
    graph = write_graph(tmp_path / "graph")
    (graph / "nodes/gene.tsv").write_text("id\n" + "\n".join(order) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    tcbuild.run("incidence", "--graph", graph, "--perturbations", store, "--out", out)

    manifest = json.loads((out / "manifest.json").read_text())
    types = {attribute["name"]: attribute["type"] for attribute in manifest["attributes"]}
    first_label = records[0][0]["experiment"]["phenotype"]["label_name"]
    for phenotype in manifest["phenotypes"]:
        name, _, nth = phenotype["name"].partition("#")
        of = {"fitness_se": "fitness", "gene_interaction_p_value": "gene_interaction"}.get(name)
        assert phenotype.get("statistic_of") == (of and of + (f"#{nth}" if nth else ""))

    for pairs, sample in zip(records, tcbuild.samples(out, len(records)), strict=True):
        named = {
            perturbation["systematic_gene_name"]
            for pair in pairs
            for perturbation in pair["experiment"]["genotype"]["perturbations"]
        }
        genes = sorted(named, key=order.index)
        assert sample["genes"] == genes
        want: dict[str, object] = dict.fromkeys(types)
        types_of: dict[str, dict[str, None]] = {gene: {} for gene in genes}
        for pair in pairs:
            for perturbation in pair["experiment"]["genotype"]["perturbations"]:
                kind = perturbation["perturbation_type"]
                types_of[perturbation["systematic_gene_name"]][kind] = None
        want["kinds"] = "|".join("+".join(types_of[gene]) for gene in genes)
        seen: dict[str, int] = {}
        for number, pair in enumerate(pairs):
            label = pair["experiment"]["phenotype"]["label_name"]
            seen[label] = seen.get(label, 0) + 1
            told = attributes_of(pair, genes) | place_of(pair, number, genes)
            for name, value in told.items():
                column = f"{name}#{seen[label]}" if seen[label] > 1 else name
                prefixed = f"{label}.{column}"
                # the label in front where the name belongs to the attribute of another label
                chosen = prefixed if mixed and prefixed in types else column
                if value is None and chosen not in types:  # no experiment there states it
                    continue
                assert chosen in types
                number_or_text = "text" if isinstance(value, str) else "number"
                assert value is None or types[chosen] == number_or_text
                want[chosen] = value
        assert sample["attributes"] == want
    prefixed = [name for name in types if "." in name]
    assert bool(prefixed) == mixed
    assert not any(
        name.startswith(f"{first_label}.dataset_name") and "#" not in name for name in types
    )
