#!/usr/bin/env python3
"""Our diagnostics against ArviZ's, live: usage: compare_arviz.py PROGRAM FOLDER PYTHON

Fits DIAG (metropolis and nuts; with whole blocks free, and parts of them), lets PYTHON (with ArviZ) open run.nc by run_arviz.py, every warning an
error, and compares mean, sd, MCSE, ESS and R-hat to a relative 1e-6.
"""

import glob
import json
import os
import subprocess
import sys

from study import Study

NAMES = {"mean": "mean", "sd": "sd", "mcse_mean": "mcse_mean", "mcse_sd": "mcse_sd", "ess_bulk": "ess_bulk",
         "ess_tail": "ess_tail", "r_hat": "r_hat", "q5": "q05", "q50": "q50", "q95": "q95"}


def compare(ours, theirs):
    """The largest relative difference over all numbers."""
    worst = 0
    for quantity, one in ours.items():
        for name, other in NAMES.items():
            a, b = one[name], theirs[quantity][other]
            worst = max(worst, abs(a - b) / max(abs(a), abs(b), 1e-300))
    return worst


def main():
    program, folder, python = sys.argv[1:4]
    study = Study(program, folder)
    log = study.log("optimistic", 1)
    here = os.path.dirname(os.path.abspath(__file__))
    few = study.log("optimistic", 2, 40)
    parts = "{utility: {entries: [monitor, declare_healthy]}}"
    for name, sampler, free in (("metropolis", "metropolis", "beta,eta"), ("nuts", "nuts", "beta,eta"),
                                ("arrays", "nuts", "utility"), ("parts", "nuts", parts)):
        run = os.path.join(folder, f"arviz-{name}")
        # Of arrays only the form is at stake: a small log and a few short chains.
        small = name != sampler
        size = ("--draws", 501)
        if small:
            size = ("--draws", 101, "--warmup", 100, "--chains", 2, "--log-likelihood", "none")
        study.call("fit", "example:diag", few if small else log, "-o", run, "--overwrite", "--free", free, "--sampler", sampler,
                   "--stan", *size)
        ours = json.loads(study.call("summary", run, "--json").stdout)["posterior"]
        chains = sorted(glob.glob(os.path.join(run, "chain-*.csv")))
        done = subprocess.run([python, os.path.join(here, "run_arviz.py"), os.path.join(run, "run.nc"), *chains],
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"run_arviz.py: {done.stdout}{done.stderr}")
        theirs = json.loads(done.stdout)
        worst = compare(ours, theirs["summary"])
        loo = f"az.loo {theirs['loo']['elpd_loo']:.2f} ± {theirs['loo']['se']:.2f}; " if "loo" in theirs else ""
        print(f"{name:10} run.nc opened by ArviZ without a warning; {loo}"
              f"largest relative difference of {len(ours)} x {len(NAMES)} numbers {worst:.1e}")
        if not worst <= 1e-6:
            raise SystemExit("our diagnostics and ArviZ's differ by more than 1e-6")


if __name__ == "__main__":
    main()
