#!/bin/sh
# Builds the image tcbuild from release/Containerfile, with podman or docker.
#
# usage: container.sh [OPTION…], options of podman build
set -eu
cd "$(dirname "$0")/.."
folder=bin/release/image
mkdir -p "$folder"
# A static program cannot open CUDA's driver. netgo and osusergo take no part of the C library that
# is never static.
go build -trimpath -tags netgo,osusergo -ldflags '-s -w -linkmode external -extldflags -static' \
  -o "$folder/tcbuild" ./cmd/tcbuild
cp /etc/ssl/certs/ca-certificates.crt "$folder/"
builder=$(command -v podman || command -v docker) || {
  echo "container.sh: no podman and no docker: apt install podman" >&2
  exit 1
}
"$builder" build -t tcbuild -f release/Containerfile "$@" "$folder"
