#!/bin/sh
# install.sh BUILD SOURCE: contents of an installation, and projects built against it by CMake's find_package and by
# pkg-config, under a prefix chosen at installation.
set -eu

build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
prefix=$work/prefix
failures=0

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; exit 1; }

# find_one NAME: path of the only file of this name.
find_one() { find "$prefix" -name "$1" | head -n 1; }

program=$prefix/bin/idm
[ -x "$program" ] || fail "bin/idm is not installed"
for header in "$source"/include/idm/*.h "$source"/include/idm/extension/*.h; do
  cmp -s "$header" "$prefix/${header#"$source"/}" || fail "${header#"$source"/} is not installed"
done
for example in "$source"/examples/*.yaml; do
  name=${example##*/}
  cmp -s "$example" "$prefix/share/idm/examples/$name" || fail "examples/$name is not installed"
  "$program" convert "$prefix/share/idm/examples/$name" "$work/example.yaml" 2>/dev/null ||
    fail "the installed examples/$name is not read"
done
for file in "$source"/examples/*/*.*; do
  name=${file#"$source"/}
  cmp -s "$file" "$prefix/share/idm/$name" || fail "$name is not installed"
  [ ! -x "$file" ] || [ -x "$prefix/share/idm/$name" ] || fail "$name is not installed as a program"
done
for page in idm $("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/idm-\1/p'); do
  [ -s "$prefix/share/man/man1/$page.1" ] || fail "the man page $page.1 is not installed"
done
for file in libidm.so libidm.a idm.pc idm-config.cmake idm-config-version.cmake idm-targets.cmake; do
  [ -n "$(find_one $file)" ] || fail "$file is not installed"
done
# A path starts where no other path continues: lib/cmake/idm does not name a source folder /idm.
if grep -rlP -e "(?<![\\w./-])(\\Q$build\\E|\\Q$source\\E)(?![\\w.-])" "$prefix" --include='*.cmake' --include='*.pc'; then
  fail 'package files name the build or the source folder'
fi

# solves PROGRAM NAME: the consumer prints the value of the paper's optimistic agent.
solves() {
  value=nothing
  if [ -x "$1" ]; then
    value=$(LD_LIBRARY_PATH=$(dirname "$(find_one libidm.so)") "$1") || value="exit code $?"
  fi
  [ "$value" = 'V = 4.694974' ] || fail "$2 prints '$value'"
}

if nm "$(find_one libidm.so)" | grep -qE '(__asan_init|__ubsan_|__gcov_)'; then
  echo 'skipped: consumers of an instrumented library'
else
  if ! cmake -S "$source/tests/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/log" 2>&1 || ! cmake --build "$work/cmake" >>"$work/log" 2>&1; then
    cat "$work/log"
    fail 'find_package(idm)'
  fi
  solves "$work/cmake/shared" 'the consumer by find_package, shared'
  solves "$work/cmake/static" 'the consumer by find_package, static'

  PKG_CONFIG_PATH=$(dirname "$(find_one idm.pc)")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046 # the flags are words
  cc -std=c17 "$source/tests/consumer/consumer.c" -o "$work/pkg" $(pkg-config --cflags --libs idm) ||
    fail 'pkg-config --cflags --libs idm'
  solves "$work/pkg" 'the consumer by pkg-config'
  # embeds NAME OUTPUT: a program of examples/embed, and the first line that it prints.
  embeds() {
    # shellcheck disable=SC2046 # the flags are words
    cc -std=c17 -Wall -Wextra -Werror "$source/examples/embed/$1.c" -o "$work/$1" $(pkg-config --cflags --libs idm) -lm ||
      fail "examples/embed/$1.c does not compile"
    line=$(LD_LIBRARY_PATH=$(dirname "$(find_one libidm.so)") "$work/$1" | head -n 1) || line='nothing'
    case $line in "$2"*) ;; *) fail "examples/embed/$1.c prints '$line'; expected '$2'" ;; esac
  }
  embeds solve '1: P(diseased) = 0.500, V = '
  embeds fit 'alpha: mean 2.'
  embeds planner '0.527'
  case $(pkg-config --cflags idm) in
  *"$prefix"*) ;;
  *) fail "pkg-config gives '$(pkg-config --cflags idm)', outside the prefix of the installation" ;;
  esac

  # shellcheck disable=SC2046 # the flags are words
  cc -std=c17 -shared -fPIC $(pkg-config --cflags idm) "$prefix/share/idm/examples/plugin/myopic.c" \
    -o "$work/myopic.so" $(pkg-config --libs idm) || fail 'the example of a plug-in is not built'
  "$program" solve example:diag --plugin "$work/myopic.so" \
    --set planner=myopic >"$work/solved" || fail 'a plug-in built against the installation is not loaded'
  grep -q '; myopic$' "$work/solved" || fail 'a plug-in does not plan'
fi

printf '%s failures\n' "$failures"
[ "$failures" -eq 0 ]
