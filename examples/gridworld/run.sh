#!/bin/sh
# run.sh [FOLDER]: simulate a walker in a grid world, infer the costs of its ground by five inverse planners, and score
# each answer in the same world on ice: log-likelihood per decision of walkers there, compared with that of the true
# costs. IDM is the program (default: build/idm of this tree, otherwise idm).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-gridworld-run}
program=$here/../../build/idm
[ -x "$program" ] || program=idm
IDM=${IDM:-$program}
python3 "$here/world.py" "$folder"
cd "$folder"
"$IDM" simulate world.yaml -n 200 --steps 60 --seed 1 -o walks.csv
"$IDM" simulate ice.yaml -n 200 --steps 60 --seed 2 -o ice.csv

per_decision() {
  python3 -c 'import json, sys; j = json.load(sys.stdin); print("%.6f" % (j["log_likelihood"] / j["decisions"]))'
}

fit() { # NAME PROBLEM OPTIONS...
  name=$1 problem=$2
  shift 2
  echo "== $name"
  "$IDM" fit "$problem" walks.csv "$@" -o "$name" --overwrite >"$name.txt" 2>&1
}
fit bayes world.yaml --inverse bayes
fit laplace world.yaml --inverse laplace
fit map unknown.yaml --inverse map
fit regularised-margin world.yaml --inverse regularised-margin
fit distribution-matching world.yaml --inverse distribution-matching

echo "== on ice: log-likelihood per decision"
for name in bayes laplace map regularised-margin distribution-matching; do
  printf '%-22s ' "$name"
  "$IDM" score "$name" ice.csv --problem ice.yaml --json 2>/dev/null | per_decision
done
printf '%-22s ' "the true prices"
"$IDM" score ice.yaml ice.csv --json 2>/dev/null | per_decision
