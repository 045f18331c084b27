"""The tcbuild binary, built once for all tests, and what every test asks of it."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builds import Built, build
from cases import Case

REPOSITORY = Path(__file__).parents[2]
# Half of the time of processes as short as those of tests is for collecting garbage.
NO_GARBAGE = {"GOGC": "off", "GOMEMLIMIT": "256MiB"}


# Tests that draw their cases draw the same each time, unless TCBUILD_SEED is another number, or
# "random".
_seed = os.environ.get("TCBUILD_SEED", "1")
SEED = random.randrange(1 << 32) if _seed == "random" else int(_seed)


# The programs of others that tests may use: .ci/run sets it to those that it installs. Other
# machines have them in versions, and with settings, that nobody has tried.
PROGRAMS = os.environ.get("TCBUILD_PROGRAMS", "").split()


@pytest.fixture
def seed() -> int:
    """The seed of a test's cases. A failing test shows it."""
    print(f"to try the same cases again: TCBUILD_SEED={SEED}")
    return SEED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("cuda"):
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(autouse=True)
def same_weights() -> None:
    """Seeds torch, so that a test does not depend on earlier tests."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(SEED)


class Tcbuild:
    """Runs the program; a run that ends otherwise than expected fails the test."""

    def __init__(self, binary: Path):
        self.binary = binary

    def run(self, *arguments: object, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [str(self.binary), *map(str, arguments)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=1200,
            env=os.environ | NO_GARBAGE,
        )
        assert done.returncode == exit_code, (
            f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}"
        )
        return done

    def manifest(self, dataset: Path) -> dict:
        return json.loads((dataset / "manifest.json").read_text(encoding="utf-8"))

    def samples(self, dataset: Path, end: int, first: int = 0) -> list[dict]:
        """What inspect prints for the samples first to end-1, one object per line."""
        printed = self.run("inspect", dataset, "--samples", f"{first}:{end}", "--json").stdout
        return [json.loads(line) for line in printed.removesuffix("\n").split("\n")]


@pytest.fixture(scope="session")
def tcbuild(tmp_path_factory: pytest.TempPathFactory) -> Tcbuild:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the workers of a run share
    binary = folder / "tcbuild"
    with open(folder / "tcbuild.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program := os.environ.get("TCBUILD"):  # where there is no Go
            return Tcbuild(Path(program))
        if not binary.exists():
            command = ["go", "build", "-o", str(binary), "./cmd/tcbuild"]
            subprocess.run(command, cwd=REPOSITORY, check=True)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"  # where tcbuild.build finds it
    return Tcbuild(binary)


@pytest.fixture(scope="session")
def built_once(
    tcbuild: Tcbuild, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Case, str], Built]:
    """Builds a case by a reaction rule, once for all tests, which leave it as it is."""
    return functools.cache(
        lambda case, rule: build(tcbuild, case, tmp_path_factory.mktemp("case"), rule)
    )
