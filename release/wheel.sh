#!/bin/sh
# Makes the wheel of a program that program.sh built, in a folder: the same bytes for one commit.
#
# usage: wheel.sh ARCHITECTURE PROGRAM FOLDER, with the tools of python/requirements-release.txt in PATH
set -eu
cd "$(dirname "$0")/../python"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) TCBUILD_PROGRAM=$2 TCBUILD_PLATFORM=manylinux_2_17_$1 \
  hatchling build -t wheel -d "$3" >/dev/null
