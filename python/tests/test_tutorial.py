"""The tutorial runs on the public files, and prints what stands in it."""

from __future__ import annotations

import gzip
import io
import os
import re
import urllib.request

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


def served(address: str) -> io.BytesIO:
    """What is released at an address."""
    name = address.rpartition("/")[2]
    (file,) = [*SHARED.glob(f"*/{name}"), *SHARED.glob(f"*/{name}.gz")]
    content = file.read_bytes()
    if file.name != name:
        content = gzip.decompress(content)
    if name == "yeast_string_genes.txt":
        content = content.removesuffix(b"\n")  # the copy here ends its last line
    return io.BytesIO(content)


@pytest.fixture
def downloads(notebook, tmp_path, monkeypatch) -> list[str]:
    """Has the tutorial's first cell download its files; from which addresses."""
    asked = []
    monkeypatch.setenv("DOWNLOADS", str(tmp_path / "downloads"))
    monkeypatch.setattr(
        urllib.request, "urlopen", lambda address: asked.append(address) or served(address)
    )
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    exec(cell.source, {})
    return asked


def printed(notebook) -> list[str]:
    """What each cell of code prints."""
    return [
        "".join(output["text"] for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_sources_are_those_of_the_settings(notebook, downloads):
    """The tutorial and conf/yeast.yaml name the same files, by addresses and digests."""
    settings = (REPOSITORY / "conf/yeast.yaml").read_text(encoding="utf-8")
    *graph, screen = downloads
    addresses = re.findall(r"https://\S+", settings)
    for address in addresses:
        assert any(asked.startswith(address) for asked in graph), address
    for asked in graph:
        assert asked.startswith(tuple(addresses)) and asked.rpartition("/")[2] in settings, asked
    assert screen.endswith("galardini_beltrao_2019_value.txt")
    source = next(cell for cell in notebook.cells if cell.cell_type == "code").source
    sgd, *digests = re.findall(r"sha256: ([0-9a-f]{64})", settings)  # without SGD's, which changes
    assert re.findall(r'"([0-9a-f]{64})"', source)[:-1] == digests


def test_tutorial(tcbuild, notebook, downloads, tmp_path, monkeypatch):
    """TCBUILD_UPDATE=1 writes the outputs into the tutorial."""
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "python"))
    (work := tmp_path / "work").mkdir()
    written, metadata = printed(notebook), notebook.metadata.copy()
    resources = {"metadata": {"path": str(work)}}
    nbclient.NotebookClient(
        notebook, timeout=3000, resources=resources, coalesce_streams=True, record_timing=False
    ).execute()

    losses = [float(loss) for loss in re.findall("loss (.*)", printed(notebook)[-1])]
    assert len(losses) == 10 and losses == sorted(losses, reverse=True)
    if os.environ.get("TCBUILD_UPDATE"):
        notebook.metadata = metadata
        nbformat.write(notebook, TUTORIAL)
        return
    for want, got in zip(written, printed(notebook), strict=True):
        assert VARIES.sub("…", got) == VARIES.sub("…", want)
