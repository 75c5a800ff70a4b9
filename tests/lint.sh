#!/usr/bin/env bash
# Format, two compilers with warnings as errors, cppcheck and clang-tidy. LINT=deep looks down every path that clang's
# analyser would by itself: five minutes instead of one.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files '*.c' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
# Warnings do not depend on the optimiser of clang. Tests are compiled by it in `make test`.
cmake --preset clang -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build build-clang -j "$(nproc)" --target idm idm_shared idm_bench idm_people >/dev/null
cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
  --suppressions-list=tests/cppcheck.txt -I include -I src -j "$(nproc)" src bench/bench.c
mapfile -t library < <(git ls-files 'src/*.c')
depth=()
[ "${LINT:-}" = deep ] || depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
printf '%s\n' "${library[@]}" | xargs -P "$(nproc)" -n 8 clang-tidy --quiet "${depth[@]}" -p build-clang 2>/dev/null |
  { ! grep -E 'warning:|error:'; }
echo "lint: clean"
