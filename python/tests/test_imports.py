"""Imports of the package lead one way: no module imports itself through others, not even for types
or within a function, and no room a later one. Its names are few, and each is public.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import tcbuild

ROOT = Path(tcbuild.__file__).parents[1]
# An earlier one knows no later one.
ROOMS = ["_files", "_table", "anndata", "torch", "pyg", "torchcell"]
UNINSTALLED = ["pyg", "torch", "torchcell"]  # where torch is not


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
    assert imports["tcbuild._dataset"] > {"tcbuild._graph.cell", "tcbuild._sample"}
    assert len(imports) > 40
    TopologicalSorter(imports).prepare()  # CycleError names one
    for number, room in enumerate(ROOMS):
        later = tuple(f"tcbuild.{other}." for other in ROOMS[number + 1 :])
        of_room = [name for name in imports if f"{name}.".startswith(f"tcbuild.{room}.")]
        assert of_room
        for name in of_room:
            found = [other for other in imports[name] if f"{other}.".startswith(later)]
            assert not found, f"{name} imports {found}"


def test_names_are_public():
    rooms = [tcbuild, *(import_module(f"tcbuild.{room}") for room in ("errors", "anndata"))]
    for room in rooms:
        names = dir(room)
        assert len(names) < 30 and not [name for name in names if name.startswith("_")]
        assert all(getattr(room, name).__doc__ for name in names if name not in UNINSTALLED)


def test_importing_is_cheap():
    """Numbers, tables and checksums: neither torch nor pandas, nor what a room needs."""
    command = "import sys, tcbuild; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=ROOT)
    heavy = {"torch", "pandas", "polars", "h5py", "zarr", "fsspec", "tqdm", "pyarrow.compute"}
    assert done.returncode == 0 and not heavy & {*done.stdout.split()}


def test_nothing_loads_torchs_compiler():
    """It takes 2 s and 150 MB in each process of training, and in each spawned worker."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    command = """if True:
        import sys
        import tcbuild.torch
        from tcbuild._masks.layout import MaskLayout
        removals = MaskLayout(("gene",), (3,)).removals([[1], [0, 2]])
        import torch
        print(removals.coo("gene", torch.device("cpu")).tolist())
        print(*sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=ROOT)
    positions, modules = done.stdout.splitlines()
    assert positions == "[[0, 1, 1], [1, 0, 2]]"
    assert not {"torch._dynamo", "pyarrow.compute"} & {*modules.split()}
