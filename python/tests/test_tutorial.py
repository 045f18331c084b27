"""The tutorial runs on the public files, and prints what stands in it."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import urllib.request
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("torch", reason="PyTorch is not installed")

from conftest import REPOSITORY

pytestmark = pytest.mark.slow
TUTORIAL = REPOSITORY / "docs/tutorial.ipynb"
SHARED = REPOSITORY.parent / "shared/data"
# What differs from run to run.
VARIES = re.compile(r"\S+Z(?= )|seconds=\S+|[0-9.]+ s\b|[0-9,]+ samples/s|loss [0-9.]+")


@pytest.fixture(scope="module")
def notebook():
    if not SHARED.exists():
        pytest.skip("the public yeast data is not there")
    return nbformat.read(TUTORIAL, as_version=4)


@pytest.fixture
def work(notebook, tmp_path, monkeypatch) -> Path:
    """A folder with the downloads, as their publishers serve them."""
    (work := tmp_path / "work").mkdir()
    listed = (REPOSITORY / "python/tcbuild/sources/downloads.tsv").read_text(encoding="utf-8")
    for name in re.findall(r"^yeast\t(\S+)", listed, re.MULTILINE):
        (work / "downloads" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SHARED / name, work / "downloads" / name)
    genes = work / "downloads/string_v9.1_dango/yeast_string_genes.txt"
    genes.write_bytes(genes.read_bytes().removesuffix(b"\n"))  # which our copy ends with
    # the notebook's own download, which its process finds done
    cell = next(cell for cell in notebook.cells if "urllib" in cell.source)
    monkeypatch.chdir(work)
    monkeypatch.setattr(urllib.request, "urlopen", served)
    exec(cell.source, {})
    return work


def served(address: str) -> io.BytesIO:
    name = address.rpartition("/")[2]
    (file,) = SHARED.glob(f"*/{name}.gz")
    return io.BytesIO(gzip.decompress(file.read_bytes()))


def printed(notebook) -> list[str]:
    """What each cell of code prints or shows."""
    return [
        "".join(
            output.get("text", output.get("data", {}).get("text/html", ""))
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_tutorial(tcbuild, notebook, work, monkeypatch):
    """TCBUILD_UPDATE=1 writes the outputs into the tutorial."""
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "python"))
    written, metadata = printed(notebook), notebook.metadata.copy()
    resources = {"metadata": {"path": str(work)}}
    nbclient.NotebookClient(
        notebook, timeout=3000, resources=resources, coalesce_streams=True, record_timing=False
    ).execute()
    for cell in notebook.cells:  # a slow machine shows progress bars
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if "\r" not in each.get("text", "")]

    losses = [float(loss) for loss in re.findall("loss (.*)", printed(notebook)[-1])]
    assert len(losses) == 10 and losses == sorted(losses, reverse=True)
    if os.environ.get("TCBUILD_UPDATE"):
        notebook.metadata = metadata
        nbformat.write(notebook, TUTORIAL)
        return
    for want, got in zip(written, printed(notebook), strict=True):
        assert VARIES.sub("…", got) == VARIES.sub("…", want)
