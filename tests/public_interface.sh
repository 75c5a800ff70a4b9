#!/bin/sh
# public_interface.sh LIBRARY INCLUDE [write]: the shared library exports exactly the functions declared in the headers, and
# every header compiles on its own, in C and in C++.
set -eu

library=$1
include=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

# Names with two underscores (and one of gcov) belong to the compiler; instrumented builds export some.
nm -D --defined-only "$library" | awk '{print $NF}' |
  sed "s/@.*//; /^__/d; /^mangle_path\$/d; /^IDM_[0-9]*\$/d" | sort -u >"$work/exported"
# A declaration extends from IDM_API to its first parenthesis, which follows the name.
cat "$include"/idm/*.h "$include"/idm/extension/*.h | grep -v '^ *#' | tr '\n' ' ' | grep -o 'IDM_API [^;(]*(' |
  sed 's/ *($//; s/.*[ *]//' | sort -u >"$work/declared"

[ -s "$work/exported" ] || fail "$library exports nothing"
[ -s "$work/declared" ] || fail "$include declares nothing"
for name in $(comm -23 "$work/declared" "$work/exported"); do fail "$name is declared, not exported"; done
for name in $(comm -13 "$work/declared" "$work/exported"); do fail "$name is exported, not declared"; done
while read -r name; do
  case $name in idm_*) ;; *) fail "$name lacks the prefix idm_" ;; esac
done <"$work/exported"

# The core: what programs link with. tests/symbols.txt is that list; a function that leaves it breaks programs, and one that
# joins it is a promise. After an intended change: tests/public_interface.sh LIBRARY INCLUDE write.
cat "$include"/idm/*.h | grep -v '^ *#' | tr '\n' ' ' | grep -o 'IDM_API [^;(]*(' | sed 's/ *($//; s/.*[ *]//' | sort -u >"$work/core"
[ "${3:-}" = write ] && cp "$work/core" symbols.txt
for name in $(comm -23 symbols.txt "$work/core"); do fail "$name is in tests/symbols.txt, not in the core headers"; done
for name in $(comm -13 symbols.txt "$work/core"); do fail "$name is in the core headers, not in tests/symbols.txt"; done

# alone COMPILER LANGUAGE STANDARD HEADER
alone() {
  # Included twice, to test the include guards.
  printf '#include "idm/%s"\n#include "idm/%s"\n' "$4" "$4" >"$work/alone"
  "$1" -x "$2" "-std=$3" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/alone" ||
    fail "idm/$4 does not compile alone with $1 -std=$3"
}

compilers=0
for pair in gcc:g++ clang:clang++; do
  for header in "$include"/idm/*.h "$include"/idm/extension/*.h; do
    name=${header#"$include"/idm/}
    if command -v "${pair%:*}" >/dev/null; then alone "${pair%:*}" c c17 "$name"; fi
    if command -v "${pair#*:}" >/dev/null; then alone "${pair#*:}" c++ c++17 "$name"; fi
  done
  if command -v "${pair%:*}" >/dev/null; then compilers=$((compilers + 1)); fi
done
[ "$compilers" -gt 0 ] || fail 'there is no compiler to try the headers with'

# Link and call from C++.
if command -v g++ >/dev/null && ! nm -D "$library" | grep -q __asan_init; then
  printf '#include "idm/idm.h"\nint main() { return idm_version()[0] == 0; }\n' >"$work/main.cpp"
  if ! g++ -std=c++17 -I"$include" "$work/main.cpp" "$library" \
    "-Wl,-rpath,$(dirname "$library")" -o "$work/main" || ! "$work/main"; then
    fail 'a C++ program cannot use the library'
  fi
fi

printf '%s functions, %s failures\n' "$(wc -l <"$work/declared")" "$failures"
[ "$failures" -eq 0 ]
