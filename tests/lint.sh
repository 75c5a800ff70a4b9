#!/usr/bin/env bash
# Format, two compilers with warnings as errors and the opposite sign of char, cppcheck and clang-tidy. LINT=deep looks down every path that clang's
# analyser would by itself: five minutes instead of one.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files '*.c' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
# Every source, generated ones and tests included, with the sign of char that is not the machine's own. gcc compiles, since
# some of its warnings need the optimiser; clang only parses.
cmake --preset lint-gcc >/dev/null
mapfile -t objects < <(ninja -C build-lint-gcc -t targets all | sed -n 's/^\(.*\.o\): C_COMPILER.*/\1/p')
ninja -C build-lint-gcc --quiet -j "$(nproc)" "${objects[@]}"
cmake --preset lint-clang >/dev/null
ninja -C build-lint-clang --quiet src/examples.c src/assets.c src/wasm.c tests/door_calls.h
python3 -c '
import json
for entry in json.load(open("build-lint-clang/compile_commands.json")):
    print("cd", entry["directory"], "&&", entry["command"].split(" -o ")[0], "-fsyntax-only", entry["file"], end="\0")
' | xargs -0 -P "$(nproc)" -n 1 sh -c
# With one job cppcheck also follows calls between files, and takes the address of a result for its value: suppressed.
cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
  --suppressions-list=tests/cppcheck.txt -I include -I src -j "$(nproc)" src bench/bench.c
mapfile -t library < <(git ls-files 'src/*.c')
depth=()
[ "${LINT:-}" = deep ] || depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
printf '%s\n' "${library[@]}" | xargs -P "$(nproc)" -n 8 clang-tidy --quiet "${depth[@]}" -p build-lint-clang 2>/dev/null |
  { ! grep -E 'warning:|error:'; }
echo "lint: clean"
