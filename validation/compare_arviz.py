#!/usr/bin/env python3
"""Compare the diagnostics with ArviZ's: usage: compare_arviz.py PROGRAM FOLDER PYTHON

Fits DIAG (metropolis and nuts; with whole blocks free, and parts of them; people of one population), audits groups, and
opens run.nc with PYTHON (with ArviZ) by run_arviz.py, where every warning is an error. Mean, sd, quantiles, MCSE, ESS
and R-hat of every quantity must agree to a relative 1e-6.
"""

import csv
import glob
import json
import os
import subprocess
import sys

from study import Study

NAMES = {"mean": "mean", "sd": "sd", "mcse_mean": "mcse_mean", "mcse_sd": "mcse_sd", "ess_bulk": "ess_bulk",
         "ess_tail": "ess_tail", "r_hat": "r_hat", "q5": "q05", "q50": "q50", "q95": "q95"}


def compare(ours, theirs):
    """Largest relative difference over all numbers."""
    worst = 0
    for quantity, one in ours.items():
        for name, other in NAMES.items():
            a, b = one[name], theirs[quantity][other]
            worst = max(worst, abs(a - b) / max(abs(a), abs(b), 1e-300))
    return worst


def read(python, run, label, ours, axes=None):
    """ArviZ's view of a run must equal that of the run, along the axes documented in docs/."""
    chains = sorted(glob.glob(os.path.join(run, "chain-*.csv")))
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_arviz.py")
    done = subprocess.run([python, script, os.path.join(run, "run.nc"), *chains], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"run_arviz.py: {done.stdout}{done.stderr}")
    theirs = json.loads(done.stdout)
    for name, expected in (axes or {}).items():
        if theirs["axes"].get(name) != expected:
            raise SystemExit(f"{label}: {name} over {theirs['axes'].get(name)}, not {expected}")
    # The mean of beta may not exist: beta has draws, like its inverse, but no summary.
    apart = (set(ours) ^ set(theirs["summary"])) - {"beta"}
    if apart:
        raise SystemExit(f"{label}: summary.json and run.nc differ in {sorted(apart)}")
    worst = compare(ours, theirs["summary"])
    loo = f"az.loo {theirs['loo']['elpd_loo']:.2f} ± {theirs['loo']['se']:.2f}; " if "loo" in theirs else ""
    print(f"{label:10} run.nc opened by ArviZ without a warning; {loo}"
          f"largest relative difference of {len(ours)} x {len(NAMES)} numbers {worst:.1e}")
    if not worst <= 1e-6:
        raise SystemExit("our diagnostics and ArviZ's differ by more than 1e-6")


def fits(study, folder, python):
    log = study.log("optimistic", 1)
    few = study.log("optimistic", 2, 40)
    parts = "{utility: {entries: [monitor, declare_healthy]}}"
    for name, sampler, free in (("metropolis", "metropolis", "beta,eta"), ("nuts", "nuts", "beta,eta"),
                                ("arrays", "nuts", "utility"), ("parts", "nuts", parts)):
        run = os.path.join(folder, f"arviz-{name}")
        # Arrays are tested for their form only: a small log and a few short chains.
        small = name != sampler
        size = ("--draws", 501)
        if small:
            size = ("--draws", 101, "--warmup", 100, "--chains", 2, "--log-likelihood", "none")
        study.call("fit", "example:diag", few if small else log, "-o", run, "--overwrite", "--free", free, "--sampler", sampler,
                   "--stan", *size)
        read(python, run, name, json.loads(study.call("summary", run, "--json").stdout)["posterior"])


def sites(study):
    """A log of eight people, every second one from site b."""
    path = os.path.join(study.folder, "sites.csv")
    with open(study.log("optimistic", 3, 80)) as file, open(path, "w", newline="") as other:
        rows, writer = csv.DictReader(file), csv.writer(other)
        writer.writerow([*rows.fieldnames, "site"])
        for row in rows:
            person = (int(row["trajectory"]) - 1) // 10
            writer.writerow([*{**row, "agent": f"p{person}"}.values(), "ab"[person % 2]])
    return path


def people(study, folder, python, log):
    """One formula for all blocks, and one formula per block, which gives each its own axis of coefficients."""
    for label, models in (("people", ["alpha, beta ~ site"]), ("formulas", ["alpha ~ site"])):
        run = os.path.join(folder, f"arviz-{label}")
        study.call("fit", "example:diag", log, "-o", run, "--overwrite", "--free", "alpha,beta", "--by", "agent",
                   "--draws", 101, "--warmup", 200, *(word for model in models for word in ("--model", model)))
        with open(os.path.join(run, "summary.json")) as file:
            summary = json.load(file)
        population, ours = summary["population"], {}
        for pair, one in population.pop("correlation").items():
            ours[f"correlation[{pair}]"] = one
        for number, parts in population.items():
            ours.update({f"{number}_coefficient[{name}]": one for name, one in parts.pop("coefficient").items()})
            ours.update({f"{number}_{name}": one for name, one in parts.items()})
            ours.update({f"{number}[{name}]": one[number] for name, one in summary["people"].items()})
        axis = "coefficient" if label == "people" else "coefficient_alpha"
        read(python, run, label, ours,
             {"log_alpha": ["person"], "log_alpha_coefficient": [axis], "log_alpha_sd": [], "correlation": ["pair"]})


def audit(study, folder, python, log):
    run = os.path.join(folder, "arviz-audit")
    study.call("audit", "example:diag", log, "-o", run, "--overwrite", "--free", "alpha,beta", "--by", "site",
               "--draws", 101)
    with open(os.path.join(run, "summary.json")) as file:
        summary = json.load(file)
    ours = {}
    for number, parts in summary["population"].items():
        ours.update({f"{number}_{name}": one for name, one in parts.items()})
        ours.update({f"{number}[{name}]": one[number] for name, one in summary["groups"].items()})
        ours.update({f"{number}_contrast[{one['group']} - {one['against']}]": one[number] for one in summary["contrasts"]})
    read(python, run, "audit", ours,
         {"log_alpha": ["group"], "log_alpha_contrast": ["contrast"], "log_alpha_mean": [], "log_alpha_sd": []})


def main():
    program, folder, python = sys.argv[1:4]
    study = Study(program, folder)
    fits(study, folder, python)
    log = sites(study)
    people(study, folder, python, log)
    audit(study, folder, python, log)


if __name__ == "__main__":
    main()
