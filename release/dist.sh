#!/bin/bash
# Adds to the wheels of make wheels, in dist/, what else a release has: for each program an archive
# with man pages and completions, and its bill of materials; and SHA256SUMS. One commit gives the
# same bytes, whichever folder it is built in.
#
# usage: ARCHITECTURES="x86_64 aarch64" dist.sh, with the tools of python/requirements-release.txt in
# PATH
set -euo pipefail
cd "$(dirname "$0")/.."
work=bin/release dist=$PWD/dist
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC # the man pages' date

rm -rf "$work/share"
mkdir -p "$work"/share/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,doc/tcbuild}

# with what make test has compiled
gpuverify/cuda/with-cuda.sh bin/cuda go test -vet=off ./cmd/tcbuild -run '^TestManPages$' -man "$PWD/$work/share/man/man1" >/dev/null
tcbuild=$work/$(uname -m)/tcbuild
$tcbuild completion bash >"$work/share/bash-completion/completions/tcbuild"
$tcbuild completion zsh >"$work/share/zsh/site-functions/_tcbuild"
$tcbuild completion fish >"$work/share/fish/vendor_completions.d/tcbuild.fish"
cp THIRD_PARTY_NOTICES CHANGELOG.md "$work/share/doc/tcbuild/"

version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/tcbuild/version.go)
for architecture in $ARCHITECTURES; do
  name=tcbuild-$version-linux-$architecture
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name/bin"
  cp "$work/$architecture/tcbuild" "$work/$name/bin/"
  cp -r "$work/share" "$work/$name/"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - "$name" | gzip -9n >"$dist/$name.tar.gz"
  python release/sbom.py "$work/$architecture/tcbuild" "$version" >"$dist/$name.cdx.json"
done
(cd "$dist" && sha256sum -- * >SHA256SUMS)
