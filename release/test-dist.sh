#!/bin/bash
# Tests the files of make dist: the wheels as their users have them, in a clean environment with
# neither Go nor a compiler in PATH, and for aarch64 under qemu; and that a second build, in another
# folder, has the same bytes.
#
# usage: ARCHITECTURES="x86_64 aarch64" test-dist.sh PYTHON, with the tools of
# python/requirements-release.txt in PATH
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 repository=$PWD
folder=$(mktemp -d)
trap 'PATH=/usr/bin:/bin rm -rf "$folder"' EXIT

fail() { echo "test-dist.sh: $*" >&2; exit 1; }

files=0
for architecture in $ARCHITECTURES; do
  files=$((files + 3)) # a wheel, an archive, a bill of materials
  wheel=$(echo dist/tcbuild-*-py3-none-manylinux_2_17_$architecture.whl)
  program=bin/release/$architecture/tcbuild
  auditwheel show "$wheel" | tr '\n' ' ' | grep -q "platform tag: \"manylinux_2_17_$architecture\"" ||
    fail "auditwheel finds another platform in $wheel"
  release/wheel.sh $architecture "$PWD/$program" "$folder"
  cmp "$wheel" "$folder/$(basename "$wheel")" || fail "a second $wheel has other bytes"
  tar -xzf dist/tcbuild-*-linux-$architecture.tar.gz -C "$folder"
  cmp "$program" "$folder"/tcbuild-*-linux-$architecture/bin/tcbuild || fail "an archive has another program"
done
(cd dist && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = $files ]) || fail "SHA256SUMS is wrong"

elsewhere=$folder/a/folder/elsewhere
mkdir -p "$elsewhere"
tar --exclude=./bin/release --exclude=./dist --exclude=./.venv -cf - . | tar -xf - -C "$elsewhere"
"$elsewhere/release/program.sh" x86_64 bin/again
cmp bin/release/x86_64/tcbuild "$elsewhere/bin/again" || fail "a program built in another folder has other bytes"

"$python" -m venv "$folder/venv"
tools=$PATH
export PATH=$folder/venv/bin # and nothing else
pip install -q "$repository"/dist/tcbuild-*-manylinux_2_17_x86_64.whl
cd "$folder"
tcbuild synth --out data/synthetic --scale yeast --samples 5000
tcbuild rebuild --config "$repository/conf/quickstart.yaml" >printed
python - "$(tcbuild version --json)" <<'TEXT'
import importlib.metadata, json, sys
import tcbuild

program = json.loads(sys.argv[1])
assert program["version"] == importlib.metadata.version("tcbuild"), program
assert program["commit"] != "unknown" and program["cuda"], program
sample = tcbuild.open("data/quickstart/current/indices")[0]
assert sample.deleted_genes and not sample.masks["gene"].all(), sample
TEXT
pip install -q --no-deps --force-reinstall "$repository/python" # without Go: the reader alone, and tcbuild says so
tcbuild >printed-alone 2>&1 && fail "the stand-in for the program exits with 0"
[[ $(<printed-alone) = *"hint: pip install --force-reinstall a wheel"* ]] || fail "$(<printed-alone)"
python -c 'import tcbuild; tcbuild.open("data/quickstart/current/indices")'
pip install -q --no-deps --force-reinstall "$repository"/dist/tcbuild-*-manylinux_2_17_x86_64.whl
PATH=$tools
echo "x86_64: installed without Go, and the quickstart runs: $(tail -n 1 printed)"

[[ " $ARCHITECTURES " = *" aarch64 "* ]] || exit 0
loader=/usr/aarch64-linux-gnu # Debian's libc6-arm64-cross
if ! command -v qemu-aarch64 >/dev/null || [ ! -e $loader/lib/ld-linux-aarch64.so.1 ]; then
  echo "aarch64: skipped: needs Debian's packages qemu-user and libc6-arm64-cross"
  exit
fi
"$folder/venv/bin/tcbuild" synth --out tiny
tiny=(rebuild --dataset quickstart graph=tiny/graph perturbations=tiny/perturbations.arrow)
"$folder/venv/bin/tcbuild" "${tiny[@]}" root=x86 >/dev/null
qemu-aarch64 -L $loader "$repository/bin/release/aarch64/tcbuild" "${tiny[@]}" root=arm >printed
for variant in incidence indices full-masks; do
  "$folder/venv/bin/tcbuild" diff {x86,arm}/quickstart/current/$variant >/dev/null || fail "the aarch64 program's $variant differ"
done
echo "aarch64: the tiny chain under qemu gives the same datasets: $(tail -n 1 printed)"
