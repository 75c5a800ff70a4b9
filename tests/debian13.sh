#!/usr/bin/env bash
# debian13.sh FOLDER [readme|clang|COMMAND...]: run the commands of the README on the next release of Debian, in a
# debootstrapped root at FOLDER/root. readme: `make demo` and `make test`; clang: the tests compiled by clang; without a
# word both. Packages are downloaded from the sources of this machine's apt. The root and its builds are kept, so that a second call is short.
# Needs root and debootstrap; SUITE=NAME selects another release.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?a folder}")
shift
suite=${SUITE:-trixie}
root=$folder/root
here=$(. /etc/os-release && echo "$VERSION_CODENAME")

if ! [ -e "$root/.bootstrapped" ]; then
  mkdir -p "$root"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates,make "$suite" "$root" "$mirror" >"$folder/debootstrap.log"
  touch "$root/.bootstrapped"
fi
# Configuration of apt of this machine, with the name of the other release.
rm -f "$root/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -e "$file" ] && sed "s/\b$here\b/$suite/g" "$file" >"$root$file"
done
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d"
cp /etc/resolv.conf "$root/etc"

# Copy the checkout without the files that git ignores; earlier builds in the root are kept.
mkdir -p "$root/idm"
find "$root/idm" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 ls -d 2>/dev/null |
  tar -c --no-recursion -T - | tar -x -C "$root/idm" --no-same-owner
if [ -e .tools/axe.min.js ]; then
  mkdir "$root/idm/.tools"
  cp .tools/axe.min.js .tools/requirements.txt "$root/idm/.tools"
fi

# inside COMMAND...: run a command in the root with the usual file systems, which are unmounted when it ends.
inside() {
  # shellcheck disable=SC2016 # the inner shell expands it
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LC_ALL=C.UTF-8 ${JOBS:+JOBS="$JOBS"} \
    unshare --mount --pid --kill-child bash -c '
      root=$1
      shift
      mount -t proc proc "$root/proc"
      mount --rbind /sys "$root/sys"
      mount --rbind /dev "$root/dev"
      exec chroot "$root" sh -c "cd /idm && exec \"\$@\"" sh "$@"' bash "$root" "$@"
}
readme() {
  inside make demo
  inside make test
}
compiled_by_clang() {
  inside make deps
  inside cmake --preset clang
  inside cmake --build build-clang
  inside ctest --test-dir build-clang -j "${JOBS:-$(nproc)}" --output-on-failure
}
case "${1:-}" in
"") readme && compiled_by_clang ;;
readme) readme ;;
clang) compiled_by_clang ;;
*) inside "$@" ;;
esac
