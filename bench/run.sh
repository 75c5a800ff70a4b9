#!/usr/bin/env bash
# Run all benchmarks and print a Markdown table, which is also stored in bench/RESULTS.md. usage: run.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The peer: JAX in a virtual environment. If it cannot be installed, the table reports that.
python=.venv/bin/python
if ! [ -x $python ] || ! $python -c 'import jax' 2>/dev/null; then
  { python3 -m venv .venv && .venv/bin/pip install -q -r bench/requirements.txt; } >"$work/venv.log" 2>&1 || true
fi

# Effective draws per second: the whole of `idm fit` (reading, warm-up and assessment included) on one thread, against
# the paper's chain in JAX, compiled in advance. Effective sample sizes are computed by the same code for both, for each
# parameter.
sampling() {
  local ours wall user system mode label TIMEFORMAT='%R %U %S'
  read -r wall user system < <({ time taskset -c 0 "$build/idm" fit example:diag "$work/diag.csv" --set alpha=0.5 --free beta,eta \
    --threads 1 --log-likelihood none --json -o "$work/run" >"$work/fit.json" 2>/dev/null; } 2>&1)
  ours=$(python3 -c "print($user + $system)")
  for mode in "" --recompute; do
    label="JAX, successors hoisted by XLA"
    [ -z "$mode" ] || label="JAX, successors recomputed, the scheme as stated"
    : >"$work/peer.json"
    if $python -c 'import jax' 2>/dev/null; then
      $python bench/peer_jax.py "$work/diag.csv" --sample "$work/draws" $mode >"$work/peer.json"
      "$build/idm_bench" ess "$work/draws" >"$work/ess"
    fi
    python3 - "$work" "$ours" "$label" "$wall" <<'PYTHON'
import json, sys
work, ours, label, wall = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
fit = json.load(open(f"{work}/fit.json"))["posterior"]
mine = [fit[name]["ess_bulk"] for name in ("inverse_beta", "eta")]
text = open(f"{work}/peer.json").read()
if text:
    peer = json.loads(text)
    theirs = [float(line) for line in open(f"{work}/ess")]
    rows = [("worst parameter", min(mine), min(theirs), ">= 1000x"), ("beta alone", mine[0], theirs[0], "")]
    for what, a, b, target in rows:
        ratio = a / ours / (b / peer["seconds"])
        target += ", missed" if target and ratio < 1000 else ""
        print(f"| effective draws a second, DIAG, 1,000 patients, beta and eta free: {what} | {a / ours:.0f} /s ({a:.0f} in "
              f"{ours:.2f} s; {wall} s) | {b / peer['seconds']:.3g} /s ({b:.0f} in {peer['seconds']:.1f} s; {peer['wall']:.1f} s; {label}) | "
              f"{ratio:.0f}x | {target} |")
else:
    print(f"| effective draws a second, DIAG | {min(mine) / ours:.0f} /s | {label}: could not be installed | | >= 1000x |")
PYTHON
  done
}

# A complete fit of the ADNI-size problem, on all cores.
adni() {
  "$build/idm" simulate bench/adni.yaml -n 1600 --steps 10 --seed 1 -o "$work/adni.csv" 2>/dev/null
  local begun=$EPOCHREALTIME
  "$build/idm" fit bench/adni.yaml "$work/adni.csv" --free beta,eta --warmup 200 --draws 500 --json \
    -o "$work/adni" >"$work/adni.json" 2>/dev/null
  python3 - "$work/adni.json" "$(python3 -c "print($EPOCHREALTIME - $begun)")" <<'PYTHON'
import json, sys
one = json.load(open(sys.argv[1]))["posterior"].values()
seconds = float(sys.argv[2])
good = seconds <= 60 and all(x["r_hat"] <= 1.01 and x["ess_bulk"] >= 1000 for x in one)
print(f"| ADNI-size, 1,600 patients, beta and eta free, 4 chains of 200 + 500 draws: R-hat {max(x['r_hat'] for x in one):.3f}, "
      f"ESS {min(x['ess_bulk'] for x in one):.0f} | {seconds:.1f} s of wall clock | | | <= 60 s, R-hat <= 1.01, ESS >= 1000"
      f"{'' if good else ', missed'} |")
PYTHON
}

# People with partial pooling on two threads, 4 chains of 1,000 + 1,000 draws: wall-clock time and processor time.
people() {
  local size limit seconds work rhat ess
  for size in "79 100 90" "1000 50 900"; do
    read -r count decisions limit <<<"$size"
    for free in alpha,beta beta,eta; do
      [ "$count $free" != "1000 beta,eta" ] || continue
      read -r seconds work rhat ess < <("$build/idm_people" speed "$count" "$decisions" $free)
      python3 - "$count" "$decisions" "$free" "$seconds" "$work" "$rhat" "$ess" "$limit" <<'PYTHON'
import sys
people, decisions, free = sys.argv[1:4]
seconds, work, rhat, ess, limit = map(float, sys.argv[4:])
good = seconds <= limit and rhat <= 1.01 and ess >= 400
print(f"| people, DIAG, {free.replace(',', ' and ')} free, {people} x {decisions} decisions, population: R-hat {rhat:.3f}, "
      f"ESS {ess:.0f} | {seconds:.0f} s ({work:.0f} s of processors) | | | <= {limit:.0f} s, R-hat <= 1.01, ESS >= 400"
      f"{'' if good else ', missed'} |")
PYTHON
    done
  done
}

# Sections 4 and 5 and Appendices B and D of the paper, by the program of `make paper`.
paper() {
  local begun=$EPOCHREALTIME
  python3 validation/paper.py "$build/idm" "$work/paper" >"$work/paper.txt"
  python3 -c "s = $EPOCHREALTIME - $begun; print(f'| make paper, whole | {s:.1f} s of wall clock | | | <= 300 s{[\", missed\", \"\"][s <= 300]} |')"
}

# Public problems to a gap of 1e-3, by the whole program: best of five rounds, programs in turn. A round repeats a
# program until it has used a fifth of a second, so that its time is not one of the clock's resolution. SARSOP is the
# path of its pomdpsol.
planning() {
  python3 - "$build/idm" "${IDM_SHARED:-../shared}/data/pomdp" "${SARSOP:-}" "$work" <<'PYTHON'
import json, math, os, resource, subprocess, sys, time
program, folder, peer, work = sys.argv[1:]
targets = {"tiger.95": .02, "1d": .02, "parr95.95": .02, "shuttle.95": .02, "cheese.95": .02, "paint.95": .08, "4x3.95": .87}


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command, repeats):
    """Processor and wall-clock seconds of a run, as means of `repeats` runs, and the output of the last."""
    begun, before = time.perf_counter(), processor_time()
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, check=True)
    return (processor_time() - before) / repeats, (time.perf_counter() - begun) / repeats, done.stdout


def repeats_of(command):
    used, wall, _ = measure(command, 3)
    return max(1, math.ceil(0.2 / max(used, wall / 10, 1e-4)))


for name, target in targets.items():
    path = f"{folder}/{name}.POMDP"
    if not os.path.exists(path):
        print(f"| point-based, {name} | not timed: {path} is not here | | | <= {target} s |")
        continue
    commands = [[program, "solve", path, "--set", "planner=point-based", "--gap", "1e-3", "--json"]]
    if peer:
        commands.append([peer, "--precision", "1e-3", "-o", f"{work}/{name}.policy", path])
    repeats = [repeats_of(command) for command in commands]
    rounds = [[measure(command, n) for command, n in zip(commands, repeats)] for _ in range(5)]
    best = [(min(r[i][0] for r in rounds), min(r[i][1] for r in rounds)) for i in range(len(commands))]
    found = json.loads(rounds[0][0][2])
    ours = best[0][0]
    theirs, ratio = "SARSOP is not set", ""
    if peer:
        theirs, ratio = f"{best[1][0]:.4f} s ({best[1][1]:.4f}; pomdpsol)", f"{best[1][0] / ours:.1f}x"
    print(f"| point-based, {name}, to a gap of 1e-3: {found['lower']:.5f} to {found['upper']:.5f} | {ours:.4f} s ({best[0][1]:.4f}) | "
          f"{theirs} | {ratio} | <= {target} s{'' if ours <= target else ', missed'} |")
PYTHON
}

# A recurrent network, LSTM 64 and layer 64: one loss with gradient over 1,600 sequences, compared with PyTorch if it is
# installed.
recurrent() {
  : >"$work/recurrent.txt"
  : >"$work/torch.json"
  for _ in 1 2 3; do
    "$build/idm_bench" recurrent "$work/recurrent.csv" >>"$work/recurrent.txt"
    ! $python -c 'import torch' 2>/dev/null || taskset -c 0 $python bench/peer_torch.py "$work/recurrent.csv" >>"$work/torch.json"
  done
  python3 - "$work" <<'PYTHON'
import json, statistics, sys
work = sys.argv[1]
runs = [line.split() for line in open(f"{work}/recurrent.txt")]
_, numbers, nodes, rows, _ = runs[0]
seconds, wall = (statistics.median(float(run[i]) for run in runs) for i in (0, 4))
what = f"recurrent, LSTM 64 and layer 64 ({numbers} numbers), loss and gradient, 1,600 sequences, {rows} rows, {nodes} histories"
text = open(f"{work}/torch.json").read()
if not text:
    print(f"| {what} | {1e3 * seconds:.1f} ms ({1e3 * wall:.1f}) | PyTorch is not installed | | >= 3x |")
for name in ("double", "single") if text else ():
    peers = [json.loads(line) for line in text.splitlines()]
    theirs, walls = (statistics.median(peer[key] for peer in peers) for key in (name, f"{name}_wall"))
    ratio = theirs / seconds
    print(f"| {what} | {1e3 * seconds:.1f} ms ({1e3 * wall:.1f}) | {1e3 * theirs:.1f} ms ({1e3 * walls:.1f}; PyTorch "
          f"{peers[0]['torch']}, {name} precision) | "
          f"{ratio:.1f}x | >= 3x{'' if ratio >= 3 else ', missed'} |")
PYTHON
}

# Utilities of 400 cells by maximum causal entropy, compared with the `imitation` project in its own environment. The
# peer learns until its occupancies are within 1e-6 of the demonstrator's, or for 1,000 updates.
margin() {
  local imitation=.venv-imitation/bin/python
  if ! $imitation -c 'import imitation' 2>/dev/null; then
    { python3 -m venv .venv-imitation && .venv-imitation/bin/pip install -q imitation==1.0.1; } >"$work/venv.log" 2>&1 || true
  fi
  : >"$work/margin.txt"
  : >"$work/imitation.json"
  for _ in 1 2 3; do
    "$build/idm_bench" margin "$work/frequencies" >>"$work/margin.txt"
    ! $imitation -c 'import imitation' 2>/dev/null || OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 taskset -c 0 $imitation \
      bench/peer_imitation.py "$work/frequencies" --eps 1e-6 --limit 1000 >>"$work/imitation.json" 2>/dev/null || true
  done
  python3 - "$work" <<'PYTHON'
import json, statistics, sys
work = sys.argv[1]
runs = [[float(word) for word in line.split()] for line in open(f"{work}/margin.txt")]
seconds, slope, wall = (statistics.median(run[i] for run in runs) for i in range(3))
what = f"regularised-margin, 20 x 20 grid, 40 steps, a utility a cell, lambda 1e6, to a gradient of {slope:.0e}"
text = open(f"{work}/imitation.json").read()
if not text:
    print(f"| {what} | {seconds:.2f} s ({wall:.2f}) | imitation: could not be installed | | >= 20x |")
else:
    peers = [json.loads(line) for line in text.splitlines()]
    peer = peers[0]
    theirs, walls = (statistics.median(p[key] for p in peers) for key in ("seconds", "wall"))
    ratio = theirs / seconds
    print(f"| {what} | {seconds:.2f} s ({wall:.2f}) | {theirs:.1f} s ({walls:.1f}) to {peer['slope']:.0e} in {peer['updates']} updates (imitation "
          f"{peer['imitation']}, MCE-IRL) | {ratio:.0f}x | >= 20x{'' if ratio >= 20 else ', missed'} |")
PYTHON
}

# One likelihood, compared with the paper's scheme in JAX, with and without the loop-invariant code motion of XLA: three
# rounds, programs in turn.
likelihood() {
  : >"$work/rows"
  : >"$work/hoisted.json"
  : >"$work/recomputed.json"
  for _ in 1 2 3; do
    "$build/idm_bench" likelihood "$work/diag.csv" >>"$work/rows"
    $python -c 'import jax' 2>/dev/null || continue
    $python bench/peer_jax.py "$work/diag.csv" --repeat 300 >>"$work/hoisted.json"
    $python bench/peer_jax.py "$work/diag.csv" --repeat 300 --recompute >>"$work/recomputed.json"
  done
  python3 - "$work" <<'PYTHON'
import json, statistics, sys
work = sys.argv[1]
runs = [line.split()[1:] for line in open(f"{work}/rows")]
labels = {"hoisted": "JAX, successors hoisted out of the loop by XLA",
          "recomputed": "JAX, successors recomputed each update, the scheme as stated"}
for file, label in labels.items():
    peers = [json.loads(line) for line in open(f"{work}/{file}.json")]
    for tolerance in sorted({run[4] for run in runs}, reverse=True):
        mine = [run for run in runs if run[4] == tolerance]
        ours, solving, wall = (statistics.median(float(run[i]) for run in mine) for i in (0, 2, 5))
        what = (f"DIAG likelihood, 1,000 patients: solve warm to {tolerance} + score ({1e6 * solving:.0f} us of it solving, "
                f"{mine[0][3]} histories; log-likelihood {float(mine[0][1]):.3f})")
        if not peers:
            print(f"| {what} | {1e6 * ours:.1f} us ({1e6 * wall:.1f}) | {label}: could not be installed | | >= 150x |")
            continue
        theirs, walls = (statistics.median(peer[key] for peer in peers) for key in ("seconds", "wall"))
        ratio = theirs / ours
        print(f"| {what} | {1e6 * ours:.1f} us ({1e6 * wall:.1f}) | {1e6 * theirs:.0f} us ({1e6 * walls:.0f}; {label}, "
              f"{peers[0]['jax']}; {peers[0]['log_likelihood']:.3f}) | {ratio:.0f}x | >= 150x{'' if ratio >= 150 else ', missed'} |")
PYTHON
}

report() {
  echo "# Benchmarks"
  echo
  echo "Measured by \`make bench\`: processor time, wall-clock time in parentheses. Ratios are of processor time; both sides" \
    "of a ratio take turns. $(date -u +%Y-%m-%d), $(nproc) cores," \
    "$(lscpu | sed -n 's/^Model name: *//p' | head -1), $(cc --version | head -1)."
  echo
  echo "| what | idm | against | ratio | target |"
  echo "|---|---|---|---|---|"
  "$build/idm_bench" "$work" | grep '^|'
  likelihood
  planning
  recurrent
  margin
  sampling
  adni
  people
  paper
  cat bench/large.md
}

report | tee bench/RESULTS.md
