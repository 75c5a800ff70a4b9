#!/usr/bin/env bash
# demo.sh BUILD SOURCE: the program can be configured with only the packages under "# demo" in packages.txt, and the
# configuration of the tests fails without the others.
set -euo pipefail
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
real=$(command -v pkg-config)

# Simulate a machine without the library of the tests.
cat >"$folder/pkg-config" <<END
#!/bin/sh
case "\$*" in *cmocka*) exit 1 ;; esac
exec $real "\$@"
END
chmod +x "$folder/pkg-config"

configure() { # preset
  cmake -S "$source" --preset "$1" -B "$folder/$1" -DPKG_CONFIG_EXECUTABLE="$folder/pkg-config" >"$folder/log" 2>&1
}
configure demo || { cat "$folder/log"; echo "FAILED: the demo cannot be configured without cmocka"; exit 1; }
if grep -q 'No WebAssembly' "$folder/log"; then echo "FAILED: the demo's \`idm explore\` has no WebAssembly"; exit 1; fi
if configure release; then echo "FAILED: the tests were left out in silence"; exit 1; fi
grep -q cmocka "$folder/log" || { cat "$folder/log"; echo "FAILED: cmocka is not named"; exit 1; }

# Packages for the pages of `idm explore` are under "# demo", packages for tests only are under "# test", and every
# package is in one part.
part() { awk -v part="$1" '/^# [a-z0-9-]+$/ {now = $2; next} /^[^#]/ && now == part' "$source/packages.txt"; }
for name in clang lld wasi-libc libclang-rt-dev-wasm32; do
  part demo | grep -qx "$name" || { echo "FAILED: $name is not under # demo"; exit 1; }
done
for name in libcmocka-dev clang-format clang-tidy cppcheck gcovr; do
  part test | grep -qx "$name" || { echo "FAILED: $name is not under # test"; exit 1; }
done
[ "$( (part demo; part test; part other-arch; part debian13) | sort | uniq | wc -l)" -eq "$(grep -c '^[^#]' "$source/packages.txt")" ] ||
  { echo "FAILED: packages.txt lists a package twice, or outside its parts"; exit 1; }
