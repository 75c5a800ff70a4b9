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
  read -r _ ours log_likelihood solving nodes < <(grep '^likelihood' "$work/rows")
  for mode in "" --recompute; do
    label="JAX, successors hoisted out of the loop by XLA"
    [ -z "$mode" ] || label="JAX, successors recomputed each update, the scheme as stated"
    if $python -c 'import jax' 2>/dev/null; then
      $python bench/peer_jax.py "$work/diag.csv" --repeat 300 $mode >"$work/peer.json"
      python3 - "$work/peer.json" "$ours" "$log_likelihood" "$solving" "$nodes" "$label" <<'PYTHON'
import json, sys
peer = json.load(open(sys.argv[1]))
ours, ours_ll, solving, nodes, label = float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5], sys.argv[6]
print(f"| DIAG likelihood, 1,000 patients: solve warm to 1e-6 + score ({1e6 * solving:.0f} us of it solving, {nodes} histories; "
      f"log-likelihood {ours_ll:.3f}) | {1e6 * ours:.1f} us | {1e6 * peer['seconds']:.0f} us ({label}, {peer['jax']}; "
      f"{peer['log_likelihood']:.3f}) | {peer['seconds'] / ours:.0f}x | >= 150x |")
PYTHON
    else
      echo "| DIAG likelihood, 1,000 patients | $ours s | $label: could not be installed | | >= 150x |"
    fi
  done
}

report | tee bench/RESULTS.md
