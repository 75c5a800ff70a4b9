#!/usr/bin/env bash
# Real people buying evidence: the beads log of the shared data, fitted for all people, by person, and on held-out
# payoffs. usage: run.sh PROGRAM beads_voi_decisions.csv FOLDER (from any folder; minutes on 2 cores)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
idm=$1
data=$2
out=$3
mkdir -p "$out"
log=$out/beads.csv
python3 "$here/prepare.py" "$data" >"$log"
problem=example:beads

say() { printf '\n== %s\n\n' "$*"; }

say "known facts: where the optimal policy draws, by n_high - n_low (horizon 23)"
at=()
for d in {-12..5}; do at+=(--at "$(python3 -c "p = 1 / (1 + 1.5 ** -($d)); print('%.17g,%.17g' % (p, 1 - p))")"); done
for pay in '70,0 0,10' '170,100 100,110' '7,0 0,1'; do
  "$idm" solve $problem --set planner=rational --set horizon=23 --set utility.draw=-0.1 --set "utility.bet_high=[${pay% *}]" \
    --set "utility.bet_low=[${pay#* }]" "${at[@]}" --json |
    python3 -c 'import json, sys
draw = [d for d, p in zip(range(-12, 6), json.load(sys.stdin)["policy"]["draw"]) if p == 1]
print("bet_high, bet_low %-18s draws at %d to %d" % (sys.argv[1], draw[0], draw[-1]))' "$pay"
done

# One alpha for all people, in the unit of the file, or in units of the range of each payoff.
say "everybody together, alpha_unit: absolute (the maximum alone)"
"$idm" fit $problem "$log" --free alpha --inverse map -o "$out/all-absolute" --overwrite 2>/dev/null | awk '$1 == "alpha"'
say "everybody together, alpha_unit: range"
"$idm" fit $problem "$log" --free alpha --set alpha_unit=range -o "$out/all-range" --overwrite

say "alpha a payoff scheme, in one fit: a condition within every person (170 is the reference)"
"$idm" fit $problem "$log" --by agent --free alpha --model 'alpha ~ C(reward_high)' --draws 500 --warmup 300 -o "$out/by-pay" --overwrite

# held NAME OPTIONS...: log-loss on each payoff scheme, fitted on the two others.
loss() { python3 -c 'import json, sys; j = [json.loads(t) for t in sys.stdin.read().split("\n\n") if t.strip()]
print("%.4f" % (-sum(x["log_likelihood"] for x in j) / sum(x["decisions"] for x in j)))'; }
held() {
  printf '%-44s' "$1"
  shift
  for pay in 70 170 7; do
    "$idm" fit $problem "$log" "$@" --where "reward_high!=$pay" --inverse map -o "$out/one" --overwrite >/dev/null 2>&1
    "$idm" score "$out/one" "$log" --where "reward_high=$pay" --json 2>/dev/null | loss | tr '\n' ' '
  done
  echo
}
held_by_person() {
  printf '%-44s' "$1"
  shift
  for pay in 70 170 7; do
    for person in $(cut -d, -f1 "$log" | tail -n +2 | sort -u); do
      "$idm" fit $problem "$log" "$@" --where "reward_high!=$pay" --where "subject=$person" --inverse map -o "$out/one" --overwrite \
        >/dev/null 2>&1
      "$idm" score "$out/one" "$log" --where "reward_high=$pay" --where "subject=$person" --json 2>/dev/null
      echo
    done | loss | tr '\n' ' '
  done
  echo
}
say "held-out payoffs: log-loss a decision where a high bet pays 70, 170, 7, learnt from the other two"
for by in everybody person; do
  printf '%-44s' "frequencies by bead difference, $by"
  for pay in 70 170 7; do python3 "$here/baseline.py" "$log" $pay $by | tr '\n' ' '; done
  echo
done
held "alpha, absolute" --free alpha
held "alpha, range" --free alpha --set alpha_unit=range
held "alpha and habits, range" --free alpha,action_prior --set alpha_unit=range
held_by_person "alpha, range, by person" --free alpha --set alpha_unit=range
held_by_person "alpha and habits, absolute, by person" --free alpha,action_prior
held_by_person "alpha and habits, range, by person" --free alpha,action_prior --set alpha_unit=range
held_by_person "alpha, eta and habits, range, by person" --free alpha,eta,action_prior --set alpha_unit=range

say "one person, step by step"
person=sub-TK3556
"$idm" fit $problem "$log" --where subject=$person --free alpha,action_prior --set alpha_unit=range -o "$out/$person" --overwrite
"$idm" explain "$out/$person" "$log" --top 6
"$idm" explain "$out/$person" "$log" --trajectory $person/2/57

say "person by person, then people of one population"
"$idm" fit $problem "$log" --each agent --free alpha,action_prior --set alpha_unit=range --draws 300 --warmup 300 -o "$out/each" --overwrite
"$idm" fit $problem "$log" --by agent --free alpha --set alpha_unit=range -o "$out/people" --overwrite
"$idm" explain "$out/people" "$log" --top 6
