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

# Name, estimated minutes on two cores of 2.5 GHz, and the property that the part checks. Estimates are half of the
# processor time of a fraction of a part, extrapolated. Those of arviz, comparison, grid, pairs, folders, sanitizers,
# audit-adni, joint-adni, other-arch, debian13 and analyser are rough.
parts="\
arviz           3  ArviZ reads the files of a run, and agrees
comparison      4  comparison of models equals ArviZ 1.x, scikit-learn and SciPy on other arrays than the tests
grid           10  posteriors equal those of an independent implementation on a grid
tails           3  posteriors with long tails and separate modes are right, or not trusted
alarms         35  the model's half of the verdict fails one right model of a hundred, and sees wrong ones
false-alarms   20  of fourteen kinds of right models, the tests of the model reject one in a hundred
power           6  the tests of the model find the usual kinds of misfit
blanks          3  unrecorded cells cost precision and add no bias
learn           1  intervals of learnt dynamics cover the truth
subjective     30  subjective dynamics and attention are recovered where they can be
preference      1  intervals of utilities from preferences cover the truth
classes        20  the paper's classes recover policies, and intervals cover
pairs          30  inverse planners recover the agents of the planners that they can invert
matching        3  intervals of generalised posteriors cover the truth
density         1  the joint density of people and population equals a second implementation
people          2  calibration of a population with a regression
learners        2  calibration of a population of learners from rewards
groups          2  calibration of audits
crowds          6  the model's half of the verdict on populations fails one right model of a hundred, and sees wrong ones
nested          6  calibration of audits of people within groups
regression      1  known differences between groups of people are covered
folders         8  run folders from strangers: the whole matrix of names, kinds and commands
engine          3  twenty posteriors equal those of the earlier samplers
sanitizers-1   45  every second test under sanitizers, with all seeds and every failing allocation
sanitizers-2   40  the others
audit           2  audits of groups whose optimism is known
audit-adni     45  the same of synthetic ADNI cohorts
joint-1        25  audits over dynamics learnt from the same log: intervals cover; cohorts 1 to 25
joint-2        25  the same, cohorts 26 to 50
joint-adni     30  one synthetic ADNI cohort, over dynamics learnt from it
sbc-diag        3  simulation-based calibration of fits, problem sbc-diag
sbc-three      11  simulation-based calibration of fits, problem sbc-three
other-arch     55  the tests of the other architecture, by qemu
debian13       50  the README's commands on the next release of Debian
debian13-clang 20  the tests compiled by clang on the next release of Debian
analyser       20  every path of the analyser"

# The packages of requirements.txt, in an environment shared by all versions.
packages() {
  "$python" -c 'import arviz, h5netcdf, netCDF4, matplotlib' 2>/dev/null ||
    { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q -r requirements.txt; }
}
part_arviz() { packages && python3 compare_arviz.py "$program" "$1" "$python"; }
# ArviZ 1.x, in an environment of its own. It requires a later Python by its metadata alone.
part_comparison() {
  local own=$folder/venv-comparison seed
  "$own/bin/python" -c 'import arviz_stats, sklearn' 2>/dev/null ||
    { python3 -m venv "$own" && "$own/bin/pip" install -q -r requirements-comparison.txt &&
      "$own/bin/pip" install -q --no-deps --ignore-requires-python arviz-stats==1.3.3 arviz-base==1.3.1; } || return
  for seed in 1 2 3; do
    "$own/bin/python" ../tests/golden_comparison/make_comparison.py $seed "$1-$seed.json" &&
      python3 ../tests/comparison.py "$1-$seed.json" "$(dirname "$program")/tests/comparison_peer" || return
  done
}
part_grid() { packages && OPENBLAS_NUM_THREADS=1 "$python" grid.py "$program" "$1"; }
part_tails() { python3 tails.py "$program" "$1"; }
part_alarms() { python3 alarms.py "$program" "$1" 200; }
part_false-alarms() { python3 power.py "$(dirname "$program")/idm_power" "$1" right; }
part_power() { python3 power.py "$(dirname "$program")/idm_power" "$1" wrong; }
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
# sanitizers FOLDER FIRST: the tests with the numbers FIRST, FIRST + 2, ... that no earlier call has passed.
sanitizers() {
  local build=../build-asan-long log=$1.tests passed
  (cd .. && cmake --preset asan -B build-asan-long -DIDM_LONG_TESTS=ON >/dev/null && cmake --build build-asan-long >/dev/null) ||
    return
  touch "$log"
  passed=$(sed -n 's/.* Test *#[0-9]*: \([^ ]*\) .* Passed .*/\1/p' "$log" | paste -s -d '|')
  ctest --test-dir "$build" -j "$(nproc)" --output-on-failure -I "$2,,2" -E "^($passed)\$" | tee -a "$log"
  return "${PIPESTATUS[0]}"
}
part_sanitizers-1() { sanitizers "$1" 1; }
part_sanitizers-2() { sanitizers "$1" 2; }
part_audit() { python3 audit.py "$program" "$1" clinic; }
part_audit-adni() { python3 audit.py "$program" "$1" adni; }
# The part that completes the cohorts judges all of them.
part_joint-1() { python3 joint.py "$program" "$results/joint" clinic 50 1 25; }
part_joint-2() { python3 joint.py "$program" "$results/joint" clinic 50 26 50; }
part_joint-adni() { python3 joint.py "$program" "$1" adni 1; }
# 500 logs of 100 patients with at most 50 steps, ranks among 99 draws. Each test raises a false alarm (p < .001) once
# in a thousand.
part_sbc-diag() { "$program" sbc sbc-diag.yaml -n 100 --steps 50 --replications 500 --seed 1 -o "$1"; }
part_sbc-three() { "$program" sbc sbc-three.yaml -n 100 --steps 50 --replications 500 --seed 1 -o "$1"; }
part_other-arch() { make -s -C .. other-arch; }
part_debian13() { make -s -C .. debian13 STEP=readme; }
part_debian13-clang() { make -s -C .. debian13 STEP=clang; }
part_analyser() { LINT=deep bash ../tests/lint.sh; }

# state NAME: "done", "failed", or empty if the part still has to run.
state() { cat "$results/$1.state" 2>/dev/null; }

list() {
  echo "parts of version $version in $results:"
  while read -r name minutes what; do
    printf '  %-14s %-14s about %2s min on 2 cores  %s\n' "$name" "$(state "$name" || echo "to do")" "$minutes" "$what"
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
