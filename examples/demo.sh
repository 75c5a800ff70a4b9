#!/usr/bin/env bash
# The main job on the built-in example: six agents of the paper's Figure "Bounded Rational Control", then a
# simulated clinic. usage: demo.sh PROGRAM FOLDER
set -euo pipefail
idm=$1
out=$2
mkdir -p "$out"
path=monitor:positive,monitor:positive,monitor:positive

show() { # title, then settings
  echo
  echo "== $1"
  shift
  local set=()
  for setting in "$@"; do set+=(--set "$setting"); done
  "$idm" solve example:diag "${set[@]}" --path $path
}

echo "DIAG: monitor a patient at a cost of 1, or declare: +10 if right, -36 if wrong. The test is right 70 % of"
echo "the time; the agent considers 60, 70 and 80 % alike. What does each do after three positive tests?"
show "flexible: takes the best action" alpha=0.001 beta=1000 eta=0.001
show "inflexible: hardly departs from habit" alpha=10 beta=1000 eta=0.001
show "optimistic: overreacts to evidence" alpha=0.5 beta=1.25 eta=0.001
show "pessimistic: underreacts to evidence" alpha=0.5 beta=-0.75 eta=0.001
show "adaptive: waits for a third positive" alpha=0.5 beta=1000 eta=0.001
show "non-adaptive: needs less evidence to declare" alpha=0.5 beta=1000 eta=75

echo
echo "== 1,000 patients of the optimistic agent"
agent=(--set alpha=0.5 --set beta=1.25 --set eta=0.001)
"$idm" simulate example:diag "${agent[@]}" -n 1000 --seed 1 -o "$out/patients.csv"
head -4 "$out/patients.csv"
echo "..."
echo
echo "scored under the agent that made them:"
"$idm" score example:diag "$out/patients.csv" "${agent[@]}" | head -2
echo "scored under the adaptive, neutral agent:"
"$idm" score example:diag "$out/patients.csv" --set alpha=0.5 --set beta=1000 --set eta=0.001 | head -2
echo
echo "The log is in $out/patients.csv."
