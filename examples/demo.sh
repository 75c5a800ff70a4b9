#!/usr/bin/env bash
# The main task on the built-in example: solve six agents of the paper, then infer a hidden agent from its log. usage:
# demo.sh PROGRAM FOLDER
set -euo pipefail
idm=$1
out=$2
mkdir -p "$out"
path=monitor:positive,monitor:positive,monitor:positive

show() { # title, then settings
  local title=$1 set=()
  shift
  for setting in "$@"; do set+=(--set "$setting"); done
  printf '%-46s' "$title"
  "$idm" solve example:diag "${set[@]}" --path $path | awk '/^monitor:positive/ {row = $0} END {
    split(row, at); printf "%10.3f %16.3f %17.3f %8.3f\n", at[3], at[5], at[6], at[7]}'
}

echo "DIAG: monitor a patient at a cost of 1, or declare: +10 if right, -36 if wrong. The test is right 70 % of"
echo "the time; the agent considers 60, 70 and 80 % alike. What does each do after three positive tests?"
echo
printf '%-46s%10s %16s %17s %8s\n' "" "diseased" "declare_healthy" "declare_diseased" "monitor"
show "flexible: takes the best action" alpha=0.001 beta=1000 eta=0.001
show "inflexible: hardly departs from habit" alpha=10 beta=1000 eta=0.001
show "optimistic: overreacts to evidence" alpha=0.5 beta=1.25 eta=0.001
show "pessimistic: underreacts to evidence" alpha=0.5 beta=-0.75 eta=0.001
show "adaptive: waits for a third positive" alpha=0.5 beta=1000 eta=0.001
show "non-adaptive: needs less evidence to declare" alpha=0.5 beta=1000 eta=75

echo
echo "== 1,000 patients of a hidden agent: who decided like this?"
"$idm" simulate example:diag --set alpha=0.5 --set beta=1.25 --set eta=0.001 -n 1000 --seed 1 -o "$out/patients.csv"
head -4 "$out/patients.csv"
echo "..."

fit() { # run, free blocks
  echo
  echo "== idm fit example:diag $out/patients.csv --free $2 -o $out/$1"
  echo
  "$idm" fit example:diag "$out/patients.csv" --free "$2" -o "$out/$1" --overwrite
}
fit held beta,eta
echo "(The hidden agent was the optimistic one: alpha = 0.5, as held, 1/beta = 0.8, eta = 0.001.)"
fit free alpha,beta,eta

echo
echo "The log is $out/patients.csv; summary.json and the draws, run.nc (ArviZ), are in $out/held and $out/free."
echo "idm summary $out/held and idm check $out/held print them again. The reports, to be opened in a browser:"
echo "  $out/held/report.html"
echo "  $out/free/report.html"
