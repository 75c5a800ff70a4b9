#!/usr/bin/env bash
# other_arch.sh FOLDER: compile for amd64 on arm64, or for arm64 on amd64, and run by qemu the tests that are fast
# enough. FOLDER keeps the sysroot (packages of packages.txt for the other architecture, unpacked), the build and the
# failed tests: a second call repeats only what is missing. This machine is not changed: no packages are installed, no
# architecture is added, no interpreter is registered.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?a folder}")
jobs=${JOBS:-$(nproc)}
case $(dpkg --print-architecture) in
arm64) architecture=amd64 processor=x86_64 least=qemu64 ;;
amd64) architecture=arm64 processor=aarch64 least=cortex-a53 ;;
*) echo "other_arch.sh: this machine is neither amd64 nor arm64" >&2 && exit 2 ;;
esac
sysroot=$folder/sysroot
mkdir -p "$folder"

# --- sysroot --------------------------------------------------------------------------------------

# apt with a separate state: sources and keys of this machine, another architecture, no installed packages.
configure_apt() {
  rm -rf "$folder/apt"
  mkdir -p "$folder"/apt/{lists,archives}/partial
  : >"$folder/apt/status"
  cat >"$folder/apt/apt.conf" <<END
#clear APT::Architectures;
APT::Architecture "$architecture";
APT::Architectures {"$architecture";};
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$folder/apt";
Dir::State::lists "$folder/apt/lists";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt";
Dir::Cache::archives "$folder/apt/archives";
#clear DPkg::Pre-Install-Pkgs;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Update::Post-Invoke;
#clear DPkg::Post-Invoke;
END
}

# Libraries and headers only: programs and manual pages of the other architecture are not used.
unpack() {
  rm -rf "$sysroot"
  mkdir -p "$sysroot"/usr/{lib,lib64}
  ln -s usr/lib "$sysroot/lib"
  ln -s usr/lib64 "$sysroot/lib64"
  for package in "$folder"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --keep-directory-symlink --no-same-owner \
      --exclude='./bin' --exclude='./sbin' --exclude='./var' --exclude='./usr/bin' --exclude='./usr/sbin' \
      --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' --exclude='./usr/share/info'
  done
  # Make absolute links relative to the sysroot.
  find "$sysroot" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfnr "$sysroot$target" "$link"
  done
  # Alternatives, which packages select at installation.
  for library in "$sysroot/usr/lib/$processor-linux-gnu"/{blas,lapack}/*.so*; do
    ln -sfr "$library" "$sysroot/usr/lib/$processor-linux-gnu"
  done
}

make_sysroot() {
  # gcc's library, of the version of this release's compiler, and the C library, in addition to the list.
  mapfile -t packages < <(grep -E '^[a-z0-9].*-dev$' packages.txt | grep -vE '^libclang' &&
    echo libc6-dev "libgcc-$(gcc -dumpversion)-dev" | tr ' ' '\n')
  configure_apt
  export APT_CONFIG=$folder/apt/apt.conf
  apt-get update -qq
  apt-get install -y -qq --download-only "${packages[@]}" >"$folder/apt.log"
  unset APT_CONFIG
  unpack
  find "$folder/apt/archives" -name '*.deb' | wc -l >"$folder/packages"
  rm -rf "$folder/apt"
}

list=$(grep -E '^[a-z0-9].*-dev$' packages.txt | sha256sum)
if [ "$(cat "$sysroot/.list" 2>/dev/null)" != "$list" ]; then
  echo "== packages of $architecture"
  make_sysroot
  echo "$list" >"$sysroot/.list"
  echo "$(cat "$folder/packages") packages, $(du -sh "$sysroot" | cut -f 1)"
fi

# --- build ----------------------------------------------------------------------------------------

echo "== build for $architecture"
build=$folder/build
cmake -S . -B "$build" -G Ninja --toolchain cmake/other_arch.cmake -DIDM_OTHER=$processor -DIDM_SYSROOT="$sysroot" \
  -DCMAKE_BUILD_TYPE=Release -DIDM_BENCH=OFF >"$folder/configure.log" || { cat "$folder/configure.log" && exit 1; }
cmake --build "$build" -j "$jobs" >"$folder/build.log" || { tail -n 40 "$folder/build.log" && exit 1; }
# Tests passed by an earlier call count if nothing has been compiled since.
stamp=$(find "$build" -name '*.a' -o -type f -name 'test_*' ! -name '*.o' ! -name '*.cmake' | sort | xargs cat | sha256sum)
[ "$(head -n 1 "$folder/tests.log" 2>/dev/null)" = "$stamp" ] || echo "$stamp" >"$folder/tests.log"

# --- tests ----------------------------------------------------------------------------------------

# run_tests LOG ARGUMENTS...: run ctest, with its last line in $summary.
run_tests() {
  log=$folder/$1
  shift
  ctest --test-dir "$build" -j "$jobs" --output-on-failure "$@" | tee -a "$log" || failed=1
  summary=$(grep 'tests passed' "$log" | tail -n 1 || echo 'no test was left')
}

echo "== tests on $architecture, by qemu"
failed=0
passed=$(sed -n 's/.* Test *#[0-9]*: \([^ ]*\) .* Passed .*/\1/p' "$folder/tests.log" | paste -s -d '|')
QEMU_CPU=max run_tests tests.log -LE native-only -E "^($passed)\$"
first=$summary
# Repeat the tests of functions with copies for several vector levels, on a processor with the lowest level only.
QEMU_CPU=$least run_tests vector.log -L vector

echo
echo "Not run, by the label native-only:"
ctest --test-dir "$build" -N -L native-only | sed -n 's/.*Test *#[0-9]*: /  /p'
echo
echo "$first; on the processor $least: $summary"
# The log of an interrupted or failed call determines where the next call continues.
[ $failed = 1 ] || mv "$folder/tests.log" "$folder/complete.log"
exit $failed
