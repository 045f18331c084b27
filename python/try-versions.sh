#!/usr/bin/env bash
# Runs the Python tests that depend on versions with the machine's oldest Python and the oldest
# packages that pyproject.toml allows, then with the newest of both, there without torch: make
# python-test uses the newest torch.
#
# usage: try-versions.sh UV FOLDER, which has an environment of several GB meanwhile
set -euo pipefail
uv=$1 folder=$2
trap 'rm -rf "$folder"' EXIT
cd "$(dirname "$0")"
tests=$(echo tests/test_{graph_columns,reader_processes,reader_threads,samples,torch_loaders,pyg_batches}.py)

# pythons prints the minor version and the path of each Python 3 in PATH or of pyenv's that runs,
# as requires-python allows; pyenv's commands in PATH fail but for one version.
pythons() {
  local least bin
  least=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\)"$/\1/p' pyproject.toml)
  for bin in ${PATH//:/ } "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin; do
    for python in "$bin"/python3.[0-9]*; do
      case $python in *-config) continue ;; esac
      "$python" -c "import sys; v = sys.version_info.minor; v < $least or print(v, sys.executable)" 2>/dev/null || true
    done
  done | sort -n
}

install() { # RESOLUTION [EXTRA...]
  "$uv" pip install -q -p "$folder" --resolution "$1" -r pyproject.toml -r requirements-test.txt "${@:2}"
}

try() { # RESOLUTION MINOR PYTHON [EXTRA]
  echo "Python 3.$2 with the packages of --resolution $1"
  "$uv" venv -q --clear -p "$3" "$folder"
  # Without torch (gigabytes, and not in every index) its tests are skipped with a message.
  install "$1" --extra url ${4:+--extra "$4"} || install "$1" --extra url
  "$folder/bin/python" -m pytest -q -rs -n auto --maxprocesses 8 --dist worksteal -m 'not slow' $tests
}

try lowest-direct $(pythons | head -n 1) pyg
try highest $(pythons | tail -n 1)
