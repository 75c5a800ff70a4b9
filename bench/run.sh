#!/usr/bin/env bash
# All benchmarks in one run, as a Markdown table; also kept in bench/RESULTS.md. usage: run.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The peer: JAX in a virtual environment of its own; without it its rows say so.
python=.venv/bin/python
if ! [ -x $python ] || ! $python -c 'import jax' 2>/dev/null; then
  { python3 -m venv .venv && .venv/bin/pip install -q -r bench/requirements.txt; } >"$work/venv.log" 2>&1 || true
fi

report() {
  echo "# Benchmarks"
  echo
  echo "Ratios measured side by side in one run on one core by \`make bench\`. $(date -u +%Y-%m-%d), $(nproc) cores," \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(cc --version | head -1)."
  echo
  echo "| what | idm | against | ratio | target |"
  echo "|---|---|---|---|---|"
  "$build/idm_bench" "$work" | tee "$work/rows" | grep '^|'
  for mode in "" --recompute; do
    label="JAX, successors hoisted out of the loop by XLA"
    [ -z "$mode" ] || label="JAX, successors recomputed each update, the scheme as stated"
    : >"$work/peer.json"
    if $python -c 'import jax' 2>/dev/null; then
      $python bench/peer_jax.py "$work/diag.csv" --repeat 300 $mode >"$work/peer.json"
    fi
    grep '^likelihood' "$work/rows" | while read -r _ ours log_likelihood solving nodes tolerance; do
      python3 - "$work/peer.json" "$ours" "$log_likelihood" "$solving" "$nodes" "$tolerance" "$label" <<'PYTHON'
import json, sys
text = open(sys.argv[1]).read()
ours, ours_ll, solving = map(float, sys.argv[2:5])
nodes, tolerance, label = sys.argv[5:8]
what = (f"DIAG likelihood, 1,000 patients: solve warm to {tolerance} + score ({1e6 * solving:.0f} us of it solving, "
        f"{nodes} histories; log-likelihood {ours_ll:.3f})")
if not text:
    print(f"| {what} | {1e6 * ours:.1f} us | {label}: could not be installed | | >= 150x |")
else:
    peer = json.loads(text)
    print(f"| {what} | {1e6 * ours:.1f} us | {1e6 * peer['seconds']:.0f} us ({label}, {peer['jax']}; "
          f"{peer['log_likelihood']:.3f}) | {peer['seconds'] / ours:.0f}x | >= 150x |")
PYTHON
    done
  done
}

report | tee bench/RESULTS.md
