#!/usr/bin/env bash
# The long checks: ArviZ reads our files and agrees, posteriors equal those of a plain numpy implementation, hard ones
# are right or not trusted, how often the verdict on a model is wrong, what unrecorded cells do, learnt dynamics, the paper's classes, people
# and groups, the tests that take minutes under sanitizers, simulation-based calibration, the other architecture, the next
# release of Debian, and every path of the analyser. What is done is kept in FOLDER, and the
# same command goes on where it stopped. usage: validate.sh PROGRAM FOLDER
set -euo pipefail
cd "$(dirname "$0")"
program=$(cd .. && realpath "$1")
folder=$(cd .. && realpath -m "$2")
mkdir -p "$folder"
python=$folder/venv/bin/python
if ! [ -x "$python" ] || ! "$python" -c 'import arviz, h5netcdf, netCDF4, matplotlib' 2>/dev/null; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q -r requirements.txt
fi

echo "== ArviZ"
python3 compare_arviz.py "$program" "$folder" "$python"

echo
echo "== posteriors by an independent implementation on a grid"
OPENBLAS_NUM_THREADS=1 "$python" grid.py "$program" "$folder/grid"

echo
echo "== long tails and separate modes: right, or not trusted"
python3 tails.py "$program" "$folder/tails"

echo
echo "== alarms of the model's half of the verdict, of right and of wrong models"
python3 alarms.py "$program" "$folder/alarms" 200

echo
echo "== how often the tests of the model find twelve and more kinds of misfit, and alarm of right models"
python3 power.py "$(dirname "$program")/idm_power" "$folder/power"

echo
echo "== unrecorded cells lose precision, not truth"
python3 blanks.py "$program" "$folder/blanks"

echo
echo "== learnt dynamics: intervals cover the truth"
python3 learn.py "$program" "$folder/learn"

echo
echo "== subjective dynamics and attention: what can be told, and whether intervals cover it"
python3 subjective.py "$program" "$folder/subjective"

echo
echo "== preferences between trajectories: intervals cover the utility"
python3 preference.py "$program" "$folder/preference"

echo
echo "== the paper's classes: policies are found again, and intervals cover"
python3 classes.py "$program" "$folder/classes"

echo
echo "== people: the joint density a second time, calibration of the population, known regressions"
people=$(dirname "$program")/idm_people
python3 people_density.py "$people"
python3 people.py "$people" "$folder/people"

echo
echo "== run folders from strangers: the whole matrix of names, kinds and commands"
python3 ../tests/folders.py "$program" "$(cd .. && pwd)" --all

echo
echo "== twenty posteriors against those of the earlier samplers"
python3 engine.py "$program" "$folder/engine"

echo
echo "== every test under sanitizers"
(cd .. && cmake --preset asan -DIDM_LONG_TESTS=ON >/dev/null && cmake --build build-asan >/dev/null &&
  ctest --test-dir build-asan -j "$(nproc)" --output-on-failure && cmake --preset asan -DIDM_LONG_TESTS=OFF >/dev/null)

echo
echo "== audits of groups whose optimism is known"
python3 audit.py "$program" "$folder/audit"

# 500 logs of 100 patients of at most 50 steps, ranks among 99 draws; a false alarm of any one test at p < .001 is
# one in a thousand.
for problem in sbc-diag sbc-three; do
  echo
  echo "== simulation-based calibration, $problem.yaml"
  time "$program" sbc $problem.yaml -n 100 --steps 50 --replications 500 --seed 1 -o "$folder/$problem"
done

echo
echo "== the other architecture, by qemu"
make -s -C .. other-arch

echo
echo "== the next release of Debian"
make -s -C .. debian13

echo
echo "== every path of the analyser"
LINT=deep bash ../tests/lint.sh
echo
echo "everything holds; results are in $folder"
