"""The Python reference is made of docstrings: each public name says what it is, each parameter what
it means, and every example runs.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import os
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcbuild
from tcbuild import open as open_dataset
from tcbuild._lazy import lazy_property

ROOMS = ["tcbuild", *(f"tcbuild.{name}" for name in ("errors", *tcbuild._ROOMS))]
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Examples):\n((?:    .*\n|\n)+)", re.M)
ITEM = re.compile(r"^    ([\w*][\w*, ]*): \S", re.M)
NOT_MADE = ("Batch", "Sample", "Samples")  # by users
MEMBERS = (property, lazy_property, classmethod, staticmethod)


def room_of(name: str) -> Any:
    if name in ("tcbuild.torch", "tcbuild.pyg", "tcbuild.torchcell"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if name == "tcbuild.sources":
        for package in ("polars", "obonet", "pooch"):
            pytest.importorskip(package)
    if name in ("tcbuild.pyg", "tcbuild.torchcell"):
        pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    return import_module(name)


def ours(of: type) -> list[type]:
    return [base for base in of.__mro__ if base.__module__.startswith("tcbuild")]


def public(room: Any) -> Iterator[tuple[str, Any]]:
    """Each public name with what has its docstring, then the members of classes."""
    for name in room.__all__:
        found = getattr(room, name)
        if inspect.ismodule(found):
            continue
        yield name, found
        if not inspect.isclass(found):
            continue
        members = {key: value for base in ours(found)[::-1] for key, value in vars(base).items()}
        others = {key for base in found.__mro__ if base not in ours(found) for key in vars(base)}
        for key, value in members.items():
            is_member = inspect.isfunction(value) or type(value) in MEMBERS
            if is_member and key[0] != "_" and key not in others:  # PyG describes its own
                yield f"{name}.{key}", value


def parts(doc: str) -> tuple[str, dict[str, str]]:
    """The description, and the text of each section."""
    doc = inspect.cleandoc(doc) + "\n"
    sections = {match[1]: match[2] for match in SECTION.finditer(doc)}
    assert doc.count("Args:") == ("Args" in sections), doc
    return SECTION.split(doc)[0].strip(), sections


def items(section: str) -> list[str]:
    """The names that a section describes, such as layer and obsm in `layer, obsm: text`."""
    return [name for match in ITEM.findall(section) for name in match.split(", ")]


def parameters(name: str, found: Any) -> list[str]:
    """Those that users pass, as the section writes them."""
    if inspect.isclass(found):
        made = [base for base in ours(found) if "__init__" in vars(base)]
        if fields(found) or not made or name in NOT_MADE:
            return []
    elif not inspect.isfunction(found):
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    taken = inspect.signature(found).parameters.values()
    names = [stars.get(each.kind, "") + each.name for each in taken]
    return [name for name in names if not name.lstrip("*").startswith(("_", "self"))]


def fields(found: type) -> list[str]:
    if dataclasses.is_dataclass(found):
        return [field.name for field in dataclasses.fields(found) if field.name[0] != "_"]
    return list(getattr(found, "_fields", ()))


def wrong(name: str, found: Any) -> Iterator[str]:
    """What a docstring lacks, or has too much."""
    doc = found.__doc__ if name != "Encoding" else "A choice."
    description, sections = parts(doc or "")
    if not description:
        yield f"{name}: no description"
    given, said = parameters(name, found), items(sections.get("Args", ""))
    if not issubclass(found if inspect.isclass(found) else object, Exception):
        yield from (
            f"{name}: parameter {each} is not in Args" for each in given if each not in said
        )
    yield from (f"{name}: Args has {each}" for each in said if each not in given)
    if inspect.isclass(found):
        told = items(sections.get("Attributes", ""))
        yield from (f"{name}: no attribute {each}" for each in fields(found) if each not in told)
        text = "".join(map(inspect.getsource, ours(found)))
        for each in told:
            if not re.search(rf"(self\.|^    |def ){each}\b", text, re.M):
                yield f"{name}: Attributes has {each}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_described(room):
    found = [line for pair in public(room_of(room)) for line in wrong(*pair)]
    assert not found, "\n".join(found)


def test_a_wrong_docstring_is_found():
    def lacks(one: int, **settings: int) -> None:
        """Does it.

        Args:
            two: a number
        """

    assert [*wrong("lacks", lacks)] == [
        "lacks: parameter one is not in Args",
        "lacks: parameter **settings is not in Args",
        "lacks: Args has two",
    ]


@pytest.fixture(scope="module")
def folder(tcbuild, tmp_path_factory) -> Path:
    """What examples read: a graph, a dataset of it, a screen with controls, cells, a split."""
    folder = tmp_path_factory.mktemp("reference")
    tcbuild.run("synth", "--out", folder / "cell", "--samples", "100")
    graph = ("--graph", folder / "cell/graph")
    source = (*graph, "--perturbations", folder / "cell/perturbations.arrow")
    tcbuild.run("incidence", *source, "--out", folder / "cell/dataset")
    rows = "genes,medium,fitness\nYAL001C,YPD,0.5\n,YPD,1\n,SC,0.9\nYAR002C|YBL001C,SC,0.7\n"
    (folder / "screen.csv").write_text(rows)
    (folder / "pairs.csv").write_text("a,b\nKRAS,MYC\nMYC,KRAS\n")
    if find_spec("anndata"):
        import anndata

        anndata.AnnData(np.ones((4, 2))).write_h5ad(folder / "screen.h5ad")
    own = ("--perturbations", folder / "screen.csv", "--attributes=medium", "--allow-wildtype")
    tcbuild.run("incidence", *graph, *own, "--out", folder / "screen")
    dataset = open_dataset(folder / "cell/dataset")
    dataset.split(train=0.8, test=0.2, by="sample").save(folder / "parts.tsv")
    return folder


SOURCES = {  # what examples of sources read
    "genes.tsv": "id\tsymbol\nG1\tA\nG2\tB\nG3\tC\n",
    "features.tab": "S1\tORF" + 14 * "\t" + "\n",
    "links.txt": "a b score\nG1 G2 0.5\n",
    "ends.csv": "a,b\nA,B\nC,A\nB,C\n",
    "uniprot.tsv": "gene\taccession\nG1\tP1\n",
    "regulation.tsv": "\tA\tB\nC\t0\t1\n",
    "go.obo": "format-version: 1.2\n\n[Term]\nid: GO:1\nname: one\n",
    "sgd.gaf": "!gaf-version: 2.2\nSGD\tG1\tA\tenables\tGO:1\tPMID:1\tIDA\n",
    "model.yml": "metabolites: [{id: m}]\n"
    "reactions: [{id: r, metabolites: {m: 1}, gene_reaction_rule: G1}]\n",
}


def of_sources(folder: Path, sources: Any) -> dict[str, Any]:
    """The variables of examples of sources."""
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    graph, key = sources.genes("genes.tsv", "id", aliases=["symbol"]), ("gene", "own", "gene")
    rows = sources.table("ends.csv")
    sources.add_edges(graph, "own", rows.with_columns(score=1), src="a", dst="b",
                      weight="score", undirected=True)  # fmt: skip
    return {"graph": graph, "key": key, "pl": import_module("polars")}


def examples(room: Any) -> Iterator[doctest.DocTest]:
    """Those of a room and its public names; each has its own variables."""
    parser = doctest.DocTestParser()
    for name, found in [("", room), *public(room)]:
        doc = inspect.cleandoc(found.__doc__ or "")
        test = parser.get_doctest(doc, {}, f"{room.__name__}.{name}", None, 0)
        if test.examples:
            yield test


@pytest.mark.parametrize("room", ROOMS)
def test_examples_run(tcbuild, folder, room, monkeypatch, capsys):
    import tcbuild as package

    found = room_of(room)
    if room == "tcbuild.anndata":
        pytest.importorskip("anndata", reason="anndata is not installed")
        pytest.importorskip("torch", reason="PyTorch is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    given = {"tcbuild": package, "np": np, "pd": pandas, "dataset": package.open("cell/dataset")}
    given |= {"screen": package.open("screen")}
    if room == "tcbuild.sources":
        given |= of_sources(folder, found)
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    for test in examples(found):
        test.globs = {**given}
        runner.run(test)
    printed = capsys.readouterr().out
    assert not runner.failures, printed
    assert runner.tries or room == "tcbuild.errors"
