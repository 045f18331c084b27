"""Random cell graphs and perturbation sets with what makes tables awkward, written as TSV."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from oracle import ends


@dataclass(frozen=True)
class Case:
    name: str
    genes: int = 40
    relations: tuple[str, ...] = ("physical", "regulatory", "string12_0_coexpression")
    edges: int = 150  # per gene-gene edge type
    metabolism: bool = True
    reactions: int = 20
    metabolites: int = 12
    stoichiometries: int = 45  # edges of reactions and metabolites
    rules: bool = True
    number_ids: bool = False  # genes are named by numbers, and no rule has more than one gene
    by_index: bool = False  # edge files hold src_index, dst_index in place of ids
    further: bool = False  # further node types, and edges between any
    samples: int = 30
    most_deleted: int = 16
    sample_ids: bool = True
    phenotypes: tuple[str, ...] = ("fitness", "gene interaction")
    attributes: tuple[str, ...] = ()  # of text: medium; of numbers: temperature
    wildtypes: int = 0
    shards: int = 1


CASES = [
    Case("everything", attributes=("medium",), shards=3),
    Case("indices in edge files", by_index=True),
    Case("one edge type", relations=("physical",), metabolism=False),
    Case("no gene-gene edges", relations=()),
    Case("genes alone", relations=(), metabolism=False),
    Case("reactions without rules", rules=False),
    Case("genes named by numbers", number_ids=True),
    Case("one gene", genes=1, edges=3, most_deleted=1, samples=3),
    Case("sparse", genes=200, edges=20, most_deleted=3),
    Case("dense", genes=16, edges=600),
    Case("bits on byte borders", genes=64, edges=256, metabolism=False),
    Case("one bit past a byte", genes=65, edges=257, metabolism=False),
    Case("no phenotypes, no sample ids", phenotypes=(), attributes=("medium",), sample_ids=False),
    Case("wild types", wildtypes=3),
    Case("one sample", samples=1),
    Case(
        "several values in each shard",
        samples=300,
        genes=25,
        edges=60,
        attributes=("temperature", "medium"),
        shards=2,
    ),
    Case("further types", further=True, shards=2),
    Case("further types by index", further=True, by_index=True, metabolism=False),
    Case("a relation with underscores", relations=("string__v12", "string_v12")),
]

# What attributes can be.
ATTRIBUTES = {"medium": ["YPD", "SC − ura", "日本", ""], "temperature": ["30", "37.5", "NA"]}

SHARDS = next(case for case in CASES if case.name == "several values in each shard")

# A reaction rule of which there is none is refused.
CASES_AND_RULES = [
    (case, rule) for case in CASES for rule in ("all", "gpr") if rule == "all" or case.rules
]


def write_case(case: Case, folder: Path) -> tuple[Path, Path]:
    """Writes a case's graph folder and perturbation set and returns their paths. The name is the
    seed.
    """
    chance = random.Random(case.name)
    graph = folder / "graph"
    genes = [f"Y{i:03d}{chance.choice('CW')}" for i in range(case.genes)]
    if case.number_ids:
        genes = [str(850000 + i) for i in range(case.genes)]
    chance.shuffle(genes)
    nodes = {"gene": genes}
    (graph / "edges").mkdir(parents=True)
    write_table(graph / "nodes" / "gene.tsv", ["id"], [[gene] for gene in genes])

    connected = chance.sample(
        range(case.genes), max(1, case.genes * 4 // 5)
    )  # the rest is isolated
    for relation in case.relations:
        edges = [(chance.choice(connected), chance.choice(connected)) for _ in range(case.edges)]
        edges += [(gene, gene) for gene in range(0, case.genes, 2)]
        edges += chance.sample(edges, len(edges) // 10)  # duplicates
        chance.shuffle(edges)
        write_edges(
            graph,
            case,
            nodes,
            f"gene__{relation}__gene",
            edges,
            {"score": [chance.random() for _ in edges]},
        )
    if case.metabolism:
        write_metabolism(graph, case, chance, nodes)
    if case.further:
        write_further(graph, case, chance, nodes)

    perturbations = folder / "perturbations.tsv"
    write_perturbations(perturbations, case, chance, genes)
    return graph, perturbations


def write_metabolism(
    graph: Path, case: Case, chance: random.Random, nodes: dict[str, list[str]]
) -> None:
    genes = nodes["gene"]
    reactions = nodes["reaction"] = [f"r_{i}" for i in range(case.reactions)]
    metabolites = nodes["metabolite"] = [f"s_{i}" for i in range(case.metabolites)]
    gpr, rules = [], []
    for reaction in range(len(reactions)):
        members = chance.sample(
            range(len(genes)), min(len(genes), chance.randrange(2 if case.number_ids else 5))
        )
        names = [genes[member] for member in members]
        if not case.number_ids and chance.random() < 0.2:
            names.append("YPL999W")  # not in the graph, so nothing deletes it
        rules.append(random_rule(chance, names))
        gpr += [(member, reaction) for member in members]
    gpr += gpr[:2]  # duplicates
    chance.shuffle(gpr)
    rmr = [
        (chance.randrange(len(reactions)), chance.randrange(len(metabolites)))
        for _ in range(case.stoichiometries)
    ]

    header = ["id", "gpr", "subsystem"] if case.rules else ["id"]
    rows = [
        [reaction, rule, "transport"][: len(header)] for reaction, rule in zip(reactions, rules)
    ]
    write_table(graph / "nodes" / "reaction.tsv", header, rows)
    write_table(
        graph / "nodes" / "metabolite.tsv", ["id"], [[metabolite] for metabolite in metabolites]
    )
    write_edges(graph, case, nodes, "gene__gpr__reaction", gpr, {})
    stoichiometry = [chance.choice([-2, -1, -0.5, 1, 2]) for _ in rmr]
    write_edges(
        graph, case, nodes, "reaction__rmr__metabolite", rmr, {"stoichiometry": stoichiometry}
    )


def write_further(
    graph: Path, case: Case, chance: random.Random, nodes: dict[str, list[str]]
) -> None:
    for node_type, count in (("protein", 9), ("gene_ontology", 7)):
        nodes[node_type] = [f"{node_type}:{number}" for number in range(count)]
        ids = [[node] for node in nodes[node_type]]
        write_table(graph / "nodes" / f"{node_type}.tsv", ["id"], ids)
    types = [f"{source}__to__{target}" for source in nodes for target in nodes]
    types += ["metabolite__reaction__metabolite"] if case.metabolism else []
    for name in types:
        sources, targets = (nodes[node_type] for node_type in ends(name))
        edges = [
            (chance.randrange(len(sources)), chance.randrange(len(targets))) for _ in range(30)
        ]
        write_edges(graph, case, nodes, name, edges, {"stoichiometry": [1.5] * len(edges)})


def random_rule(chance: random.Random, genes: list[str]) -> str:
    """A rule over each of the genes once, with and without superfluous parentheses."""
    if len(genes) < 2:
        return "".join(genes)
    cut = chance.randrange(1, len(genes))
    text = (
        f"{random_rule(chance, genes[:cut])} {chance.choice(['and', 'or'])} "
        f"{random_rule(chance, genes[cut:])}"
    )
    return f"({text})" if chance.random() < 0.6 else text


def write_perturbations(path: Path, case: Case, chance: random.Random, genes: list[str]) -> None:
    header = [
        "genes",
        *(["sample_id"] if case.sample_ids else []),
        *case.phenotypes,
        *case.attributes,
    ]
    rows = []
    for number in range(case.samples):
        deleted = chance.sample(genes, chance.randint(1, min(case.most_deleted, len(genes))))
        if number < case.wildtypes:
            deleted = []
        row = ["|".join(deleted)]
        if case.sample_ids:
            row.append(chance.choice(["strain {}", "Δ{} ± ü", "{}", "日本 {}"]).format(number))
        for _ in case.phenotypes:
            row.append(
                chance.choice(
                    [repr(chance.gauss(0, 1)), repr(chance.random() * 1e-9), "1", "", "NaN"]
                )
            )
        row += [chance.choice(ATTRIBUTES[name]) for name in case.attributes]
        rows.append(row)
    chance.shuffle(rows)
    write_table(path, header, rows)


def write_edges(
    graph: Path,
    case: Case,
    nodes: dict[str, list[str]],
    name: str,
    edges: list[tuple[int, int]],
    columns: dict[str, list[float]],
) -> None:
    source, target = ends(name)
    header = ["src_index", "dst_index"] if case.by_index else ["src", "dst"]
    rows = []
    for position, (src, dst) in enumerate(edges):
        both = [str(src), str(dst)] if case.by_index else [nodes[source][src], nodes[target][dst]]
        rows.append(both + [str(values[position]) for values in columns.values()])
    write_table(graph / "edges" / f"{name}.tsv", header + list(columns), rows)


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]), encoding="utf-8")
