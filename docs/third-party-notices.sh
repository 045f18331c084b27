#!/usr/bin/env bash
# Prints THIRD_PARTY_NOTICES: the licence text of each module that is linked into tcbuild.
set -euo pipefail

cat <<'TEXT'
The program tcbuild contains Go's runtime and standard library and the modules below, each under its
own licence. The Python package installs its dependencies apart, under theirs. Made by `make notices`.
TEXT

title() { printf '\n%s\n%s\n%s\n' "$(printf '=%.0s' {1..100})" "$1" "$(printf '=%.0s' {1..100})"; }

title "Go's runtime and standard library"
printf '\n--- LICENSE\n\n'
cat "$(go env GOROOT)/LICENSE"

go list -tags cuda -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/tcbuild | sort -u |
  while read -r module version folder; do
    title "$module $version"
    found=
    for file in "$folder"/{LICENSE,LICENCE,COPYING,NOTICE}* "$folder"/licenses/ftl.txt; do
      [ -f "$file" ] || continue
      found=yes
      printf '\n--- %s\n\n' "$(basename "$file")"
      tr -d '\r' <"$file"
    done
    # Some modules have their licence at the end of their README.
    [ -n "$found" ] || { printf '\n--- README.md\n\n'; sed -n '/License/,$p' "$folder/README.md"; }
  done
