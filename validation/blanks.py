#!/usr/bin/env python3
"""Unrecorded cells reduce precision without bias: usage: blanks.py PROGRAM FOLDER [LOGS]

LOGS logs (100) of 150 patients with at most 12 steps from blanks.yaml: half of them from an agent with 1/beta = .8,
half from agents drawn from the prior. Each log is fitted completely, with half of its observations left out at random,
and with a fifth of its actions left out. The posteriors must agree, those with gaps must be wider, and over the agents
from the prior 90 % intervals must have their nominal coverage (at a single value the coverage may be higher: choices
hardly depend on 1/beta between two of its steps). Exit code 1 and a line with FAILS otherwise. About fifteen minutes on
one core.
"""

import csv
import json
import math
import os
import random
import statistics
import sys

from study import Study

HERE = os.path.dirname(os.path.abspath(__file__))
TRUTH, SPREAD = 0.8, 0.3  # of 1/beta, as in blanks.yaml
KINDS = {"whole": (0, 0), "half of the observations left out": (0.5, 0), "a fifth of the actions left out": (0, 0.2)}
EFFORT = ("--chains", 2, "--warmup", 300, "--draws", 500)
RARE = 0.001  # false-alarm rate of each line


def leave_out(source, target, observations, actions, seed):
    """Clear cells of a log at random."""
    draw = random.Random(seed)
    with open(source) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if draw.random() < observations:
            row["observation"] = ""
        if draw.random() < actions:
            row["action"] = ""
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def fit(study, seed, kind):
    """Posterior of 1/beta from one log; earlier fits are read."""
    whole = os.path.join(study.folder, f"log-{seed}.csv")
    run = os.path.join(study.folder, f"log-{seed}-{list(KINDS).index(kind)}")
    summary = os.path.join(run, "summary.json")
    if not os.path.exists(summary):
        leave_out(whole, run + ".csv", *KINDS[kind], seed)
        study.call("fit", study.problem, run + ".csv", "-o", run, "--overwrite", "--json", "--threads", 1,
                   "--log-likelihood", "none", "--seed", seed, *EFFORT)
    with open(summary) as file:
        return json.load(file)["posterior"]["inverse_beta"]


def tail(held, logs, level=0.9):
    """Probability of a number of intervals at least as far from its expectation."""
    chance = [math.comb(logs, k) * level**k * (1 - level) ** (logs - k) for k in range(logs + 1)]
    return sum(p for p in chance if p <= chance[held] * (1 + 1e-9))


def truth_of(seed, drawn):
    """1/beta of the agent of a log: the prior mean, or a draw."""
    return random.Random(f"agent {seed}").gauss(TRUTH, SPREAD) if drawn else TRUTH


def simulate(study, seed, drawn):
    study.call("simulate", study.problem, "--set", f"beta={1 / truth_of(seed, drawn)!r}", "-n", 150, "--steps", 12, "--seed",
               seed, "-o", os.path.join(study.folder, f"log-{seed}.csv"))


def coverage(found, truths, judged):
    """Print one line per kind; return whether intervals have their nominal coverage."""
    sound = True
    for kind, posts in found.items():
        held = sum(p["q5"] <= truth <= p["q95"] for p, truth in zip(posts, truths))
        error = statistics.mean((p["mean"] - truth) / p["sd"] for p, truth in zip(posts, truths))
        width = statistics.median(p["sd"] for p in posts)
        holds = not judged or tail(held, len(posts)) > RARE
        print(f"{kind:36} {held:3d} of {len(posts)}   {error:+.2f}   {width:.3f}{'' if holds else '   FAILS'}")
        sound = sound and holds
    return sound


def agreement(found):
    """Print one line per kind of gap, compared with the complete logs."""
    sound = True
    for kind in list(KINDS)[1:]:
        pairs = list(zip(found[kind], found["whole"]))
        apart = [(gaps["mean"] - whole["mean"]) / gaps["sd"] for gaps, whole in pairs]
        ratio = statistics.median(gaps["sd"] / whole["sd"] for gaps, whole in pairs)
        holds = abs(statistics.mean(apart)) < 3.3 / math.sqrt(len(pairs)) and ratio > 1
        print(f"{kind:36} {statistics.mean(apart):+.2f}   {max(apart, key=abs):+.2f}   {ratio:.2f}"
              f"{'' if holds else '   FAILS'}")
        sound = sound and holds
    return sound


def main():
    program, folder = sys.argv[1:3]
    logs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    study = Study(program, folder, os.path.join(HERE, "blanks.yaml"))
    halves = {False: range(1, logs // 2 + 1), True: range(logs // 2 + 1, logs + 1)}
    for drawn, seeds in halves.items():
        for seed in seeds:
            simulate(study, seed, drawn)
    work = {(kind, seed): study.pool.submit(fit, study, seed, kind)
            for kind in KINDS for seeds in halves.values() for seed in seeds}
    sound = True
    for drawn, seeds in halves.items():
        found = {kind: [work[kind, seed].result() for seed in seeds] for kind in KINDS}
        truths = [truth_of(seed, drawn) for seed in seeds]
        print(f"{'agents drawn from the prior' if drawn else f'1/beta = {TRUTH}'}, {len(seeds)} logs of 150 patients: "
              "90 % intervals that hold it, mean error in sds, sd")
        sound = coverage(found, truths, drawn) and sound
        print("against the whole logs: difference of means in sds (mean, largest), ratio of sds")
        sound = agreement(found) and sound
        print()
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
