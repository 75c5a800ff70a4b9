#!/usr/bin/env bash
# debian13.sh FOLDER [COMMAND...]: the README's commands on the release of Debian that follows this machine's, in a
# debootstrapped root at FOLDER/root. Without a command: `make demo`, `make test`, and the tests as clang compiles them.
# Packages come by name from where this machine's apt gets them. The root and what was built in it are kept, so a second
# call is short. Needs root and debootstrap; SUITE=NAME chooses another release.
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
# This machine's own configuration of apt, with the other release's name.
rm -f "$root/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -e "$file" ] && sed "s/\b$here\b/$suite/g" "$file" >"$root$file"
done
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d"
cp /etc/resolv.conf "$root/etc"

# The checkout as it is here, what git ignores left out; what was built there before stays.
mkdir -p "$root/idm"
find "$root/idm" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 ls -d 2>/dev/null |
  tar -c --no-recursion -T - | tar -x -C "$root/idm" --no-same-owner
if [ -e .tools/axe.min.js ]; then
  mkdir "$root/idm/.tools"
  cp .tools/axe.min.js .tools/requirements.txt "$root/idm/.tools"
fi

# inside COMMAND...: with the usual file systems, which are gone when the command ends.
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
if [ $# -gt 0 ]; then
  inside "$@"
  exit
fi
inside make demo
inside make test
inside cmake --preset clang
inside cmake --build build-clang
inside ctest --test-dir build-clang -j "${JOBS:-$(nproc)}" --output-on-failure
