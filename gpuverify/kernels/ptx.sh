#!/bin/sh
# Compiles the kernels in the current folder to PTX in the folder DIR, by default here. It needs
# clang 14 and nothing from CUDA. The same compiler gives the same bytes, which a test checks.
set -eu
headers=$(dirname "$0")
for kernel in *.cu; do
  clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -Xclang -target-feature -Xclang +ptx63 -nocudainc -nocudalib -std=c++17 -O3 -ffreestanding -I"$headers" \
    -Wall -Werror -Wno-unknown-cuda-version -S -o "${1:-.}/${kernel%.cu}.ptx" "$kernel"
done
