"""The masks of a perturbation set, worked out the slow and obvious way.

This shares no code and no idea with the Go program: no incidence, no sorting
tricks. For each sample it looks at every node and every edge and asks whether
the sample's deletions remove it. It reads TSV only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEANINGFUL = ("gene", "reaction", "metabolite")  # node types, in canonical order
ATTRIBUTES = {"medium": str, "temperature": float}  # names and types of attribute columns


@dataclass
class Graph:
    nodes: dict[str, list[str]]  # node type -> ids; row = index
    rules: list[str]  # per reaction its boolean rule, "" for none
    edges: dict[
        str, list[tuple[int, int]]
    ]  # edge type -> (source index, target index) in file order

    def edge_types(self) -> list[str]:
        return sorted(self.edges, key=lambda name: name.encode())


@dataclass
class Sample:
    sample_id: str
    deleted: list[int]  # gene indices, ascending
    phenotypes: dict[str, float | None]
    attributes: dict[str, str | float | None]


def read_table(path: Path) -> list[dict[str, str]]:
    # Not splitlines, which also breaks at characters that an id may contain.
    header, *rows = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    names = header.split("\t")
    return [dict(zip(names, row.split("\t"), strict=True)) for row in rows]


def split_edge_type(name: str) -> tuple[str, str, str]:
    """Source, relation and target; the relation may itself contain two underscores."""
    source, _, rest = name.partition("__")
    relation, _, target = rest.rpartition("__")
    return source, relation, target


def ends(name: str) -> tuple[str, str]:
    """The node types that an edge type connects; a hyperedge's target is its reaction."""
    source, _, target = split_edge_type(name)
    return source, "reaction" if name == "metabolite__reaction__metabolite" else target


def ends_that_count(name: str) -> tuple[str, ...]:
    """The node types of the ends with which an edge goes."""
    # A gpr edge goes with its gene only: its reaction may be gone for want of another gene.
    return ("gene",) if name == "gene__gpr__reaction" else ends(name)


def read_graph(folder: Path) -> Graph:
    nodes, rules = {}, []
    others = {path.stem for path in (folder / "nodes").glob("*.tsv")} - {*MEANINGFUL}
    for node_type in (*MEANINGFUL, *sorted(others)):
        path = folder / "nodes" / f"{node_type}.tsv"
        if path.exists():
            table = read_table(path)
            nodes[node_type] = [row["id"] for row in table]
            if node_type == "reaction":
                rules = [row.get("gpr", "") for row in table]
    edges = {}
    for path in (folder / "edges").glob("*.tsv"):
        source, target = ends(path.stem)
        edges[path.stem] = [
            (int(row["src_index"]), int(row["dst_index"]))
            if "src_index" in row
            else (nodes[source].index(row["src"]), nodes[target].index(row["dst"]))
            for row in read_table(path)
        ]
    return Graph(nodes, rules, edges)


def read_samples(path: Path, graph: Graph) -> Iterator[Sample]:
    for number, row in enumerate(read_table(path)):
        names = {name for name in row["genes"].split("|") if name}
        yield Sample(
            sample_id=row.get("sample_id", str(number)),
            deleted=sorted(graph.nodes["gene"].index(name) for name in names),
            phenotypes={
                name: None if text == "" or math.isnan(float(text)) else float(text)
                for name, text in row.items()
                if name not in ("genes", "sample_id", *ATTRIBUTES)
            },
            attributes={
                name: None if text in ("", "NA") else ATTRIBUTES[name](text)
                for name, text in row.items()
                if name in ATTRIBUTES
            },
        )


def rule_holds(rule: str, deleted_ids: set[str]) -> bool:
    """Whether a reaction with this rule still works; without a rule it does."""
    words = re.findall(r"[()]|[^\s()]+", rule)
    if not words:
        return True
    python = [
        word if word in ("(", ")", "and", "or") else str(word not in deleted_ids) for word in words
    ]
    return eval(" ".join(python))  # nothing but ( ) and or True False


def removed_positions(graph: Graph, deleted: list[int], reaction_rule: str) -> dict[str, list[int]]:
    """The positions that each mask removes, ascending, masks in canonical order."""
    genes = set(deleted)
    removed: dict[str, list[int]] = {
        "gene": [i for i in range(len(graph.nodes["gene"])) if i in genes]
    }

    reactions: set[int] = set()
    if "reaction" in graph.nodes:
        if reaction_rule == "all":
            reactions = {
                reaction
                for gene, reaction in graph.edges.get("gene__gpr__reaction", [])
                if gene in genes
            }
        else:
            ids = {graph.nodes["gene"][gene] for gene in genes}
            reactions = {i for i, rule in enumerate(graph.rules) if not rule_holds(rule, ids)}
        removed["reaction"] = [i for i in range(len(graph.nodes["reaction"])) if i in reactions]
    for node_type in graph.nodes:
        removed.setdefault(node_type, [])

    gone = {"gene": genes, "reaction": reactions}
    for name in graph.edge_types():
        removed[name] = [
            position
            for position, edge in enumerate(graph.edges[name])
            if any(node in gone.get(kind, ()) for kind, node in zip(ends_that_count(name), edge))
        ]
    return removed


def expected(graph: Graph, samples: Iterator[Sample], reaction_rule: str) -> Iterator[dict]:
    """The objects that `tcbuild inspect DATASET --samples 0:N --json` prints, one per sample."""
    sizes = {name: len(ids) for name, ids in graph.nodes.items()}
    sizes |= {name: len(edges) for name, edges in graph.edges.items()}
    for number, sample in enumerate(samples):
        removed = removed_positions(graph, sample.deleted, reaction_rule)
        yield {
            "sample": number,
            "sample_id": sample.sample_id,
            "genes": [graph.nodes["gene"][gene] for gene in sample.deleted],
            "perturbation_indices": sample.deleted,
            "phenotypes": sample.phenotypes,
            "attributes": sample.attributes,
            "masks": {
                name: {"size": sizes[name], "removed": positions}
                for name, positions in removed.items()
            },
        }
