"""Twenty posteriors, compared with those of an earlier sampler in engine.json: plain fits, populations, groups, agents
in groups.

Every case is a simulated log, the same for the same seed, and a request. Means and standard deviations of every number
must agree within Monte Carlo error: |difference| <= 4.8 standard errors of both, which about 700 numbers exceed by
chance once in 500 runs. Prints the largest difference of each case in standard errors; exit code 1 if one is larger.
usage: engine.py PROGRAM FOLDER [--keep]      --keep writes engine.json from PROGRAM's own answers
"""

import csv
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 4.8
LEARNER = os.path.join(HERE, "learner.yaml")
# Groups of agents: simulation settings, site and arm.
SITES = [({"alpha": 0.4, "beta": 1.5}, "a", "0"), ({"alpha": 0.6, "beta": 2}, "b", "0"),
         ({"alpha": 0.5, "beta": 4}, "c", "1"), ({"alpha": 0.9, "beta": 1.2}, "a", "1")]
LEARNERS = [({"inverse_temperature": 1 + 0.4 * k, "learning_rate_gain": 0.2 + 0.05 * k, "learning_rate_loss": 0.5 - 0.04 * k,
              "perseverance": 0.1 * k}, "a" if k % 2 else "b", str(k % 3 % 2)) for k in range(10)]
RATES = ("{inverse_temperature: , learning_rate_gain: {scale: logit}, learning_rate_loss: {scale: logit}, perseverance: }")
# name: (problem, log, command, options)
CASES = {
    "alpha": ("example:diag", "one", "fit", ["--free", "alpha"]),
    "alpha-beta": ("example:diag", "one", "fit", ["--free", "alpha,beta"]),
    "alpha-beta-eta": ("example:diag", "one", "fit", ["--free", "alpha,beta,eta"]),
    "nuts": ("example:diag", "one", "fit", ["--free", "alpha,beta", "--sampler", "nuts"]),
    "learner": (LEARNER, "learner", "fit", ["--free", RATES]),
    "by-alpha": ("example:diag", "sites", "fit", ["--by", "agent", "--free", "alpha"]),
    "by-alpha-beta": ("example:diag", "sites", "fit", ["--by", "agent", "--free", "alpha,beta"]),
    "by-regression": ("example:diag", "sites", "fit", ["--by", "agent", "--free", "alpha,beta", "--model", "alpha, beta ~ arm"]),
    "by-within": ("example:diag", "sites", "fit", ["--by", "site", "--free", "alpha", "--model", "alpha ~ arm"]),
    "by-learner-two": (LEARNER, "learners", "fit",
                       ["--by", "agent", "--free", "{inverse_temperature: , learning_rate_gain: {scale: logit}}"]),
    "by-learner-three": (LEARNER, "learners", "fit",
                         ["--by", "agent", "--free",
                          "{inverse_temperature: , learning_rate_gain: {scale: logit}, learning_rate_loss: {scale: logit}}"]),
    "by-learner-four": (LEARNER, "learners", "fit", ["--by", "agent", "--free", RATES, "--warmup", "4000", "--draws", "20000"]),
    "audit": ("example:diag", "sites", "audit", ["--by", "site", "--free", "alpha,beta"]),
    "audit-one": ("example:diag", "sites", "audit", ["--by", "site", "--free", "beta"]),
    "audit-apart": ("example:diag", "sites", "audit", ["--by", "site", "--free", "alpha,beta", "--pool", "none"]),
    "audit-holm": ("example:diag", "sites", "audit", ["--by", "arm", "--free", "alpha", "--pool", "holm"]),
    "audit-predicates": ("example:diag", "sites", "audit", ["--group", "site=a", "--group", "arm=1", "--free", "alpha,beta"]),
    "audit-predicates-apart": ("example:diag", "sites", "audit",
                               ["--group", "site=a", "--group", "arm=1", "--free", "alpha", "--pool", "none"]),
    "audit-people": ("example:diag", "sites", "audit", ["--by", "arm", "--free", "alpha,beta", "--people"]),
    "audit-people-predicates": ("example:diag", "sites", "audit",
                                ["--group", "site=a", "--group", "arm=1", "--free", "alpha", "--people"]),
}


def call(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"idm {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def simulate(program, folder, name, problem, groups, trajectories, steps, agents):
    """A log of groups, whose trajectories are distributed over a few agents each; a learner has one trajectory."""
    path = os.path.join(folder, name + ".csv")
    rows = []
    for k, (numbers, site, arm) in enumerate(groups):
        part = os.path.join(folder, f"{name}-{k}.csv")
        words = [word for key, value in numbers.items() for word in ("--set", f"{key}={value}")]
        call(program, "simulate", problem, "-n", trajectories, "--steps", steps, "--seed", 10 + k, *words, "-o", part)
        for row in csv.DictReader(open(part)):
            dealt = int(row["trajectory"]) % agents
            rows.append({**row, "trajectory": f"{k}-{row['trajectory']}", "agent": f"{k}-{dealt}", "site": site, "arm": arm})
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def numbers(tree, name=""):
    """Every number with a mean, an sd and their errors, by its path in the summary."""
    if isinstance(tree, dict):
        if "mcse_mean" in tree and "mcse_sd" in tree:
            yield name, [tree[key] for key in ("mean", "sd", "mcse_mean", "mcse_sd")]
        for key, value in tree.items():
            yield from numbers(value, f"{name}/{key}")
    if isinstance(tree, list):
        for key, value in enumerate(tree):
            yield from numbers(value, f"{name}/{key}")


def answer(program, folder, logs, name):
    problem, log, command, options = CASES[name]
    out = call(program, command, problem, logs[log], *options, "--seed", 3, "-o", os.path.join(folder, name), "--overwrite", "--json")
    return dict(numbers(json.loads(out)))


def worst(now, before):
    """Largest difference in standard errors, and its place."""
    found = (0, "")
    for name, (mean, sd, mean_error, sd_error) in now.items():
        old = before[name]
        for value, other, error in ((mean, old[0], math.hypot(mean_error, old[2])), (sd, old[1], math.hypot(sd_error, old[3]))):
            if None in (value, other) or not error > 0:
                continue
            found = max(found, (abs(value - other) / error, name))
    return found


def main():
    program, folder = sys.argv[1:3]
    keep = "--keep" in sys.argv
    kept = os.path.join(HERE, "engine.json")
    os.makedirs(folder, exist_ok=True)
    logs = {"one": simulate(program, folder, "one", "example:diag", SITES[:1], 200, 30, 1),
            "sites": simulate(program, folder, "sites", "example:diag", SITES, 60, 30, 5),
            "learner": simulate(program, folder, "learner", LEARNER, LEARNERS[3:4], 4, 60, 1),
            "learners": simulate(program, folder, "learners", LEARNER, LEARNERS, 1, 40, 1)}
    before = {} if keep else json.load(open(kept))
    answers, failures = {}, 0
    for name in CASES:
        answers[name] = answer(program, folder, logs, name)
        if keep:
            print(f"{name}: {len(answers[name])} numbers", flush=True)
            continue
        if set(answers[name]) != set(before[name]):
            raise SystemExit(f"{name}: other numbers than before")
        most, where = worst(answers[name], before[name])
        failures += most > LIMIT
        print(f"{name:24} {len(answers[name]):4} numbers, largest difference {most:.2f} standard errors ({where})"
              f"{' FAILED' if most > LIMIT else ''}", flush=True)
    if keep:
        json.dump(answers, open(kept, "w"), indent=0, sort_keys=True)
    print(f"{len(CASES)} cases, {failures} disagree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
