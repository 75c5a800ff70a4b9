#!/usr/bin/env python3
"""Coverage of `distribution-matching-bayes`, whose intervals depend on a loss scale, at its default (kl, scale 1).

usage: matching.py PROGRAM FOLDER

alpha of 100 agents from the prior, each with a log of 100 trajectories of 20 decisions, with observed and with hidden
states. A generalised posterior is not calibrated by construction. Of 100 intervals of 90 %, at least 75 must contain
the truth: with a coverage of 85 %, fewer would with a probability of .003. The posterior by the likelihood is measured
on the same logs. `idm recover` keeps results in FOLDER.
"""
import json
import pathlib
import subprocess
import sys

from pairs import HIDDEN, MDP

LOGS = ["-n", "100", "--steps", "20", "--replications", "100", "--draws", "300", "--warmup", "200", "--seed", "3"]


def recover(program, problem, inverse, folder):
    done = subprocess.run([program, "recover", problem, "--free", "alpha", "--inverse", inverse, *LOGS, "--json", "-o", folder],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["log_alpha"]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, text, agent in (("observed", MDP, "alpha: 0.5"), ("hidden", HIDDEN, "alpha: 0.3, resolution: 40")):
        problem = folder / (name + ".yaml")
        problem.write_text(text + "agent: {planner: bounded-rational, %s}\n" % agent)
        for inverse in ("distribution-matching-bayes", "bayes"):
            found = recover(program, problem, inverse, folder / (name + "-" + inverse))
            holds = found["coverage_90"] >= 0.75
            failed += not holds
            print("%s  states %s, %s: %.0f of 100 intervals of 90 %% cover, bias %.2f sd"
                  % ("ok  " if holds else "FAIL", name, inverse, 100 * found["coverage_90"], found["bias_in_sd"]), flush=True)
    if failed:
        sys.exit("%d of these do not hold" % failed)


if __name__ == "__main__":
    main()
