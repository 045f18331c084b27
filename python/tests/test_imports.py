"""Imports of the package lead one way: no module imports itself through others, not even for types
or within a function.
"""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import tcbuild

ROOT = Path(tcbuild.__file__).parents[1]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, modules: set[str]) -> set[str]:
    """The package's modules that a module imports; a name that a package exports is the package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & modules if names & modules else {node.module}
    return found & modules


def test_imports_have_no_circle():
    trees = {
        module_name(path): ast.parse(path.read_text()) for path in ROOT.rglob("tcbuild/**/*.py")
    }
    imports = {name: imported(tree, set(trees)) for name, tree in trees.items()}
    assert imports["tcbuild.dataset"] > {"tcbuild.cell", "tcbuild.sample"} and len(imports) > 40
    TopologicalSorter(imports).prepare()  # CycleError names one
