#!/usr/bin/env bash
# The long checks, in named parts that take at most an hour each on two cores.
#
#     validate.sh PROGRAM FOLDER [PART...]
#
# Without names: run all parts that are not done for this version of the sources. Results are in FOLDER/VERSION/PART,
# output in FOLDER/VERSION/PART.log. A part that was killed continues where it stopped. The exit code is 1 if a part
# fails; the others still run. `validate.sh PROGRAM FOLDER list` lists parts and their state.
set -uo pipefail
cd "$(dirname "$0")" || exit
program=$(cd .. && realpath "$1")
folder=$(cd .. && realpath -m "$2")
shift 2

# Version of the sources that results depend on: a checksum of their content in the commit and of later changes, so that
# results survive changes of documents. Without git: the checksum of the program.
sources=(src include tests validation examples cmake CMakeLists.txt CMakePresets.json Makefile packages.txt)
if version=$(cd .. && git ls-tree HEAD -- "${sources[@]}" 2>/dev/null); then
  version=$( (echo "$version"; cd .. && git diff HEAD -- "${sources[@]}") | sha256sum | cut -c1-12)
else
  version=$(sha256sum "$program" | cut -c1-12)
fi
results=$folder/$version
python=$folder/venv/bin/python
people=$(dirname "$program")/idm_people
mkdir -p "$results"

# name, and the property that it checks
parts="\
arviz        ArviZ reads the files of a run, and agrees
grid         posteriors equal those of an independent implementation on a grid
tails        posteriors with long tails and separate modes are right, or not trusted
alarms       the model's half of the verdict fails one right model of a hundred, and sees wrong ones
power        the tests of the model find the usual kinds of misfit, and alarm rarely of right models
blanks       unrecorded cells cost precision and add no bias
learn        intervals of learnt dynamics cover the truth
subjective   subjective dynamics and attention are recovered where they can be
preference   intervals of utilities from preferences cover the truth
classes      the paper's classes recover policies, and intervals cover
pairs        inverse planners recover the agents of the planners that they can invert
matching     intervals of generalised posteriors cover the truth
density      the joint density of people and population equals a second implementation
people       calibration of a population with a regression
learners     calibration of a population of learners from rewards
groups       calibration of audits
crowds       the model's half of the verdict on populations fails one right model of a hundred, and sees wrong ones
nested       calibration of audits of people within groups
regression   known differences between groups of people are covered
folders      run folders from strangers: the whole matrix of names, kinds and commands
engine       twenty posteriors equal those of the earlier samplers
sanitizers   every test under sanitizers
audit        audits of groups whose optimism is known
audit-adni   the same of synthetic ADNI cohorts
joint        audits over dynamics learnt from the same log: intervals cover
joint-adni   one synthetic ADNI cohort, over dynamics learnt from it
sbc-diag     simulation-based calibration of fits, problem sbc-diag
sbc-three    simulation-based calibration of fits, problem sbc-three
other-arch   the tests of the other architecture, by qemu
debian13     the README's commands on the next release of Debian
analyser     every path of the analyser"

# The packages of requirements.txt, in an environment shared by all versions.
packages() {
  "$python" -c 'import arviz, h5netcdf, netCDF4, matplotlib' 2>/dev/null ||
    { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q -r requirements.txt; }
}
part_arviz() { packages && python3 compare_arviz.py "$program" "$1" "$python"; }
part_grid() { packages && OPENBLAS_NUM_THREADS=1 "$python" grid.py "$program" "$1"; }
part_tails() { python3 tails.py "$program" "$1"; }
part_alarms() { python3 alarms.py "$program" "$1" 200; }
part_power() { python3 power.py "$(dirname "$program")/idm_power" "$1"; }
part_blanks() { python3 blanks.py "$program" "$1"; }
part_learn() { python3 learn.py "$program" "$1"; }
part_subjective() { python3 subjective.py "$program" "$1"; }
part_preference() { python3 preference.py "$program" "$1"; }
part_classes() { python3 classes.py "$program" "$1"; }
part_pairs() { python3 pairs.py "$program" "$1"; }
part_matching() { python3 matching.py "$program" "$1"; }
part_density() { python3 people_density.py "$people"; }
part_people() { python3 people.py "$people" "$1" sbc; }
part_learners() { python3 people.py "$people" "$1" learners; }
part_groups() { python3 people.py "$people" "$1" audit; }
part_crowds() {
  local study failed=0
  for study in alarms-learners alarms-planners slips-learners slips-planners; do
    python3 people.py "$people" "$1" "$study" || failed=1
  done
  return $failed
}
part_nested() { python3 people.py "$people" "$1" nested; }
part_regression() { python3 people.py "$people" "$1" regression; }
part_folders() { python3 ../tests/folders.py "$program" "$(cd .. && pwd)" --all; }
part_engine() { python3 engine.py "$program" "$1"; }
part_sanitizers() {
  (cd .. && cmake --preset asan -DIDM_LONG_TESTS=ON >/dev/null && cmake --build build-asan >/dev/null &&
    ctest --test-dir build-asan -j "$(nproc)" --output-on-failure)
  local status=$?
  (cd .. && cmake --preset asan -DIDM_LONG_TESTS=OFF >/dev/null)
  return $status
}
part_audit() { python3 audit.py "$program" "$1" clinic; }
part_audit-adni() { python3 audit.py "$program" "$1" adni; }
part_joint() { python3 joint.py "$program" "$1" clinic; }
part_joint-adni() { python3 joint.py "$program" "$1" adni 1; }
# 500 logs of 100 patients with at most 50 steps, ranks among 99 draws. Each test raises a false alarm (p < .001) once
# in a thousand.
part_sbc-diag() { "$program" sbc sbc-diag.yaml -n 100 --steps 50 --replications 500 --seed 1 -o "$1"; }
part_sbc-three() { "$program" sbc sbc-three.yaml -n 100 --steps 50 --replications 500 --seed 1 -o "$1"; }
part_other-arch() { make -s -C .. other-arch; }
part_debian13() { make -s -C .. debian13; }
part_analyser() { LINT=deep bash ../tests/lint.sh; }

# state NAME: "done", "failed", or empty if the part still has to run.
state() { cat "$results/$1.state" 2>/dev/null; }

list() {
  echo "parts of version $version in $results:"
  while read -r name what; do
    printf '  %-11s %-24s %s\n' "$name" "$(state "$name" || echo "to do")" "$what"
  done <<<"$parts"
}

run() {
  local begun=$EPOCHSECONDS status word
  echo
  echo "== $1: $(awk -v n="$1" '$1 == n {sub(/^[^ ]+ +/, ""); print}' <<<"$parts")"
  ("part_$1" "$results/$1") 2>&1 | tee "$results/$1.log"
  status=${PIPESTATUS[0]}
  [ "$status" = 0 ] && word="done" || word="failed"
  echo "$word, $((EPOCHSECONDS - begun)) s" >"$results/$1.state"
  return "$status"
}

if [ "${1:-}" = list ]; then
  list
  exit
fi
failed=()
mapfile -t every < <(awk '{print $1}' <<<"$parts")
for name in "${@:-${every[@]}}"; do
  grep -q "^$name " <<<"$parts" || { echo "validate.sh: found part '$name'; expected one of: $(awk '{printf "%s ", $1}' <<<"$parts")" >&2; exit 2; }
  if [ $# = 0 ] && [[ $(state "$name") = done* ]]; then continue; fi
  run "$name" || failed+=("$name")
done
echo
list
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
