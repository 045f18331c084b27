#!/bin/sh
# Builds the program for x86_64 or aarch64, to run on Linux with glibc 2.17 or later; that for
# x86_64 has CUDA support, which finds its driver at run time. A commit has the same bytes,
# whichever folder it is built in.
#
# usage: program.sh ARCHITECTURE PROGRAM, with the tools of python/requirements-release.txt in PATH
set -eu
cd "$(dirname "$0")/.."
architecture=$1 program=$2

export ZIG_TARGET="$architecture-linux-gnu.2.17" CC="$PWD/release/zig-cc" CGO_ENABLED=1 GOOS=linux
# Without -g, which is among Go's defaults: behind the linker's -s it has zig keep debug
# information, and with it the names of the folders where zig made its own part of the C library.
export CGO_CFLAGS=-O2 CGO_LDFLAGS=-O2
# -trimpath and an empty build id: no path of this machine is in the program. Go knows no commit in
# a worktree of git.
commit=$(git describe --always --abbrev=40 --dirty --exclude='*')
set -- go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.commit=$commit" -o "$program" ./cmd/tcbuild
case $architecture in
  x86_64)
    export GOARCH=amd64
    gpuverify/cuda/with-cuda.sh bin/cuda "$@"
    # with-cuda.sh builds without, where it finds no cuda.h
    go version -m "$program" | grep -q 'tags=cuda' || { echo "program.sh: no CUDA support in $program" >&2; exit 1; }
    ;;
  aarch64) GOARCH=arm64 "$@" ;;
  *) echo "program.sh: found architecture $architecture, expected x86_64 or aarch64" >&2; exit 2 ;;
esac
