"""What the steps share: their command, the key, and what they need of a machine."""

import json
import shlex
import subprocess
from pathlib import Path


def words(step):
    """The command of a step, as words."""
    command = ["tcbuild", "rebuild", step, "--quiet"]
    if "settings" in config:
        command += ["--config", config["settings"]]
    for key in ("root", "dataset", "graph", "perturbations"):
        command.append(f"{key}={config[key]}")
    return command + [f"variants=[{','.join(config['variants'])}]"]


def find_plan():
    command = words("key") + ["--json", "--parts", str(config["parts"])]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


PLAN = find_plan()
NOTES = PLAN["folder"] or "unused" # of what is done, in the unfinished version
PARTS = [] if PLAN["ready"] else range(1, config["parts"] + 1)


def tcbuild(step):
    return shlex.join(words(step) + ["--key", PLAN["key"]])


# What a step takes in MB, as measured: (fixed, per million positions, per core).
MEMORY = {"build": (25, 27, 5), "verify": (30, 45, 16), "publish": (25, 27, 0)}


def memory(step):
    """Twice what the step takes, and twice as much with each attempt."""

    def megabytes(wildcards, input, threads, attempt):
        if input:
            sizes = json.loads(Path(input[0]).read_text())
            fixed, positions, core = MEMORY[step]
            needed = 2 * (fixed + positions * sizes["positions"] / 1e6 + core * threads)
        else:  # the first to read the input
            path = Path(config["perturbations"])
            files = path.iterdir() if path.is_dir() else [path]
            needed = 1000 + 4 * sum(file.stat().st_size for file in files) / 1e6
        return round(max(256, needed) * 2 ** (attempt - 1))

    return megabytes


def minutes(wildcards, input, attempt):
    """Ten times what a core takes for the step's samples, plus ten, more with each attempt."""
    if not input:
        return 120 * attempt
    sizes = json.loads(Path(input[0]).read_text())
    seconds = 25e-6 * sizes["samples"] * sizes["positions"] / 2.4e6 * sizes["variants"]
    return round((10 + 10 * seconds / config["parts"] / 60) * attempt)
