"""Puts the program tcbuild beside the Python package, as a script of its environment.

The program is $TCBUILD_PROGRAM, built for the platform $TCBUILD_PLATFORM (make wheels), or it is
built here, where Go, a C compiler and the program's source are. Otherwise there is the package
alone, and no_program.py in the program's place says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

PYTHON = Path(__file__).parent
REPOSITORY = PYTHON.parent
BUILT = REPOSITORY / "bin/pip/tcbuild"


def missing() -> str:
    """What cannot be had here of all that the program is built with."""
    if not (REPOSITORY / "cmd/tcbuild").is_dir():
        return "its source"
    if shutil.which("go") is None:
        return "Go"
    # Go says 0 where it finds no C compiler.
    enabled = ["go", "env", "CGO_ENABLED"]
    if subprocess.run(enabled, capture_output=True, text=True).stdout.strip() != "1":
        return "a C compiler"
    return ""


class ProgramHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        program, platform = os.environ.get("TCBUILD_PROGRAM"), os.environ.get("TCBUILD_PLATFORM")
        if program is None:
            if lacking := missing():
                self.app.display_warning(
                    f"{lacking} is missing: the Python reader is installed without the program"
                )
                build_data["shared_scripts"][str(PYTHON / "no_program.py")] = "tcbuild"
                return
            command = ["gpuverify/cuda/with-cuda.sh", "bin/cuda"]
            command += ["go", "build", "-o", str(BUILT), "./cmd/tcbuild"]
            subprocess.run(command, cwd=REPOSITORY, check=True)
            program, platform = str(BUILT), next(platform_tags())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["shared_scripts"][program] = "tcbuild"
        notices = REPOSITORY / "THIRD_PARTY_NOTICES"
        build_data["shared_data"][str(notices)] = "share/doc/tcbuild/THIRD_PARTY_NOTICES"
