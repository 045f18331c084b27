#!/bin/sh
# Runs a go command with CUDA support (the tag cuda) if a cuda.h of CUDA 12 is available, otherwise
# without, and says which. It uses the header of $CUDA_HOME, of the toolkit in /usr/local, or of
# NVIDIA's Python package, which it downloads into the folder DIR if necessary. The program needs no
# driver to be built or to start.
#
# usage: with-cuda.sh DIR COMMAND…
set -u
dir=$1
shift

# shim.c names CUDA 12's functions; CUDA 13 renames some that gorgonia.org/cu calls.
fits() {
  version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\)$/\1/p' "$1/cuda.h" 2>/dev/null)
  [ "${version:-0}" -ge 12000 ] && [ "$version" -lt 13000 ]
}

wheel_sum=64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5
download() {
  python=${PYTHON:-python3}
  mkdir -p "$dir/wheel"
  if ! "$python" -m pip --version; then
    "$python" -m venv "$dir/wheel/venv" && python="$dir/wheel/venv/bin/python"
  fi
  echo "nvidia-cuda-runtime-cu12==12.4.127 --hash=sha256:$wheel_sum" >"$dir/wheel/wheel.txt"
  "$python" -m pip download -q --retries 1 --require-hashes --no-deps --only-binary :all: \
    --platform manylinux2014_x86_64 -d "$dir/wheel" -r "$dir/wheel/wheel.txt" &&
    "$python" -m zipfile -e "$dir"/wheel/*.whl "$dir/wheel" &&
    mv "$dir/wheel/nvidia/cuda_runtime/include/cuda.h" "$dir/" # it needs no other header
  rm -rf "$dir/wheel"
} >/dev/null 2>&1

if [ "$(uname -sm)" = "Linux x86_64" ]; then
  for folder in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/cuda/include /usr/local/cuda-12*/include "$dir"; do
    fits "$folder" && break
  done
  if fits "$folder" || { download && fits "$dir"; }; then
    export CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -I$(cd "$folder" && pwd)" GOFLAGS="${GOFLAGS:-} -tags=cuda"
    exec "$@"
  fi
fi
echo "with-cuda.sh: no cuda.h of CUDA 12 can be had: no CUDA support" >&2
exec "$@"
