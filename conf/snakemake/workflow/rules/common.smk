"""What the steps share: their command, the files to watch, and what they need of a machine."""

import json
import os
import shlex
from pathlib import Path

DATASET = f"{config['root']}/{config['dataset']}"
RESULTS = f"results/{config['dataset']}"
PARTS = range(1, config["parts"] + 1)


def tcbuild():
    """The command of a step, without the step."""
    words = ["tcbuild", "rebuild", "--quiet"]
    if "settings" in config:
        words += ["--config", config["settings"]]
    for key in ("root", "dataset", "graph", "perturbations"):
        if key in config:
            words.append(f"{key}={config[key]}")
    words.append(f"variants=[{','.join(config['variants'])}]")
    return shlex.join(words)


def watched(wildcards):
    """The files whose change leads to another version."""
    named = [config[key] for key in ("graph", "perturbations", "settings") if key in config]
    paths = [Path(name) for name in named + config["watch"]]
    files = [file for path in paths if path.is_dir() for file in path.rglob("*") if file.is_file()]
    return sorted(map(str, files + [path for path in paths if not path.is_dir()]))


def states(wildcards):
    """Size and time of each file: Snakemake alone would not notice an older file in its place."""
    stats = [(name, os.stat(name)) for name in watched(wildcards)]
    return [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats]


# What a step takes in MB, as measured: (fixed, per million positions, per million samples, per core,
# per 1,000 columns).
MEMORY = {
    "prepare": (75, 27, 70, 20, 25),
    "build": (25, 27, 0, 5, 0),
    "verify": (30, 45, 0, 16, 0),
    "publish": (25, 27, 0, 0, 0),
}


def read_plan(input):
    with open(input.plan) as file:
        return json.load(file)


def memory(step):
    """Twice what the step takes by the plan, and twice as much with each attempt."""

    def megabytes(wildcards, input, threads, attempt):
        plan = read_plan(input)
        sizes = (1, plan["positions"] / 1e6, plan["samples"] / 1e6, threads, plan["columns"] / 1e3)
        needed = sum(cost * size for cost, size in zip(MEMORY[step], sizes))
        return round(max(256, 2 * needed) * 2 ** (attempt - 1))

    return megabytes


def prepare_memory(wildcards, input, attempt):
    """Before there is a plan: by the size of the inputs."""
    return round((1000 + 4 * input.size_mb) * 2 ** (attempt - 1))


def minutes(step):
    """Ten times what a core takes for the step's samples, plus ten, more with each attempt."""

    def of(wildcards, input, attempt):
        plan = read_plan(input)
        seconds = 25e-6 * plan["samples"] * plan["positions"] / 2.4e6 * len(plan["variants"])
        share = seconds / plan["parts"] if step in ("build", "verify") else seconds
        return round((10 + 10 * share / 60) * attempt)

    return of
