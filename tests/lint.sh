#!/usr/bin/env bash
# Format, two compilers with warnings as errors and the opposite sign of char, cppcheck, clang-tidy and Doxygen. With LINT=deep,
# clang's analyser uses its default depth: five minutes instead of two.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
mapfile -t library < <(git ls-files 'src/*.c')
git ls-files -z '*.c' '*.h' | xargs -0 -P "$jobs" -n 64 clang-format --dry-run --Werror
# Every source, including generated ones and tests, with the opposite sign of char. gcc compiles, because some of its
# warnings need the optimiser; clang only parses. Files that clang-tidy reads below are parsed there.
cmake --preset lint-gcc >/dev/null
mapfile -t objects < <(ninja -C build-lint-gcc -t targets all | sed -n 's/^\(.*\.o\): C_COMPILER.*/\1/p')
ninja -C build-lint-gcc --quiet -j "$jobs" "${objects[@]}"
cmake --preset lint-clang >/dev/null
ninja -C build-lint-clang --quiet src/examples.c src/assets.c src/wasm.c tests/argument_calls.h
python3 -c '
import glob, json, os, sys
tidied = {os.path.abspath(name) for name in sys.argv[1:]}
for entry in json.load(open("build-lint-clang/compile_commands.json")):
    files = [] if entry["file"] in tidied else [entry["file"]]
    if entry["file"] == os.path.abspath("tests/support.c"):
        # This configuration has no fuzzers, which need a sanitizer. Tests have the same flags and include folders.
        files += sorted(os.path.abspath(file) for file in glob.glob("fuzz/*.c"))
    for file in files:
        print("cd", entry["directory"], "&&", entry["command"].split(" -o ")[0], "-fsyntax-only", file, end="\0")
' "${library[@]}" | xargs -0 -P "$jobs" -n 1 sh -c
# Several processes, because jobs of one cppcheck process alternate. In one process it follows calls between files and
# mistakes the address of a result for its value: suppressed.
printf '%s\n' "${library[@]}" bench/bench.c | xargs -P "$jobs" -n 8 cppcheck --quiet --error-exitcode=1 --std=c11 \
  --inline-suppr --enable=warning,performance,portability --suppressions-list=tests/cppcheck.txt -I include -I src
depth=()
[ "${LINT:-}" = deep ] || depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
printf '%s\n' "${library[@]}" | xargs -P "$jobs" -n 8 clang-tidy --quiet "${depth[@]}" -p build-lint-clang 2>/dev/null |
  { ! grep -E 'warning:|error:'; }
bash tests/reference.sh
echo "lint: clean"
