#!/usr/bin/env python3
"""Long tails and separate modes: usage: tails.py PROGRAM FOLDER

Short logs whose posteriors have a plateau on one side, a spike before a tail, or two modes, each fitted with 12 seeds.
The true posterior is a sum over a grid of log-likelihoods by `idm score`. Every fit must be correct (mean within .15
sd, sd within 15 %) or its draws must not be trusted. Prints a table of logs by seeds: `.` correct and trusted, `o` not
trusted, `W` wrong and trusted. Exit code 1 if there is a W. Existing fits are not repeated. About ten minutes on two
cores.
"""

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SEEDS = range(1, 13)
RIGHT = 0.15

DIAG = """states: [healthy, diseased]
actions: [declare_healthy, declare_diseased, monitor]
observations: [negative, positive]
start: [0.5, 0.5]
discount: 0.95
ends: [declare_healthy, declare_diseased]
transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}
observation: {"*": [[0.7, 0.3], [0.3, 0.7]]}
utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}
models:
  - {weight: 1, observation: {"*": [[0.6, 0.4], [0.4, 0.6]]}}
  - {weight: 1}
  - {weight: 1, observation: {"*": [[0.8, 0.2], [0.2, 0.8]]}}
"""
AGENT = "agent: {planner: bounded-rational, alpha: %s, beta: %s, eta: %s, resolution: 40}\n"

# The side of a bet after unrecorded observations is uninformative: 1/alpha and -1/alpha explain a log equally well.
BETS = """states: [l, r]
actions: [look, left, right, safe]
observations: [x, y]
start: [0.5, 0.5]
discount: 0.9
terminal: [left, right, safe]
transition: {look: identity, left: identity, right: identity, safe: identity}
observation: {"*": [[0.8, 0.2], [0.2, 0.8]]}
utility: {look: 0, left: [1, -1], right: [-1, 1], safe: 0}
agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}
"""
BETTING = "trajectory,action,observation\n" + "".join(f"{i},look,\n{i},look,\n{i},{side},\n" for i, side in
                                                      enumerate(["left", "right"] * 6))

# A coordinate of a prior: how the program sets it, and its name in summary.json.
COORDINATES = {"eta": ("eta", lambda c: c), "inverse_beta": ("beta", lambda c: 1 / c if c else math.inf),
               "inverse_alpha": ("alpha", lambda c: 1 / c if c else math.inf)}


class Case:
    """A log, the free numbers, and grids: coordinate, mean and sd of its prior, points."""

    def __init__(self, name, problem, free, log):
        self.name, self.problem, self.free, self.log = name, problem, free, log


def tail(name, alpha, beta, eta, patients, seed, *free):
    return Case(name, DIAG + AGENT % (alpha, beta, eta), free, ["-n", patients, "--steps", 12, "--seed", seed])


CASES = [
    tail("eta, plateau above", 0.5, 1.25, 10, 14, 3, ("eta", 0, 150, 401)),
    tail("eta, wide", 3, 1.25, 10, 20, 3, ("eta", 0, 150, 401)),
    tail("eta, two cases", 0.5, 1.25, 10, 2, 4, ("eta", 0, 150, 401)),
    tail("eta, eight cases", 2, "inf", 3, 8, 2, ("eta", 0, 150, 401)),
    tail("1/beta, spike and tail", 0.5, 1.25, 10, 20, 1, ("inverse_beta", 0, 3, 401)),
    tail("1/beta, tail above", 3, "inf", -10, 20, 3, ("inverse_beta", 0, 3, 401)),
    tail("1/beta, tail below", 3, "inf", 0.3, 8, 4, ("inverse_beta", 0, 3, 401)),
    tail("1/beta, two cases", 0.5, "inf", 0.3, 2, 1, ("inverse_beta", 0, 3, 401)),
    tail("1/beta and eta", 3, 1.25, 10, 14, 2, ("inverse_beta", 0, 3, 61), ("eta", 0, 150, 61)),
    Case("1/alpha, two modes alike", BETS, (("inverse_alpha", 0, 6, 401),), None),
    Case("1/alpha, two modes, 1 to 2", BETS, (("inverse_alpha", 0.5, 6, 401),), None),
    Case("1/alpha, two modes, 1 to 20", BETS, (("inverse_alpha", 2, 6, 401),), None),
]


def grid(mean, sd, points):
    """Six sds to either side of the prior mean; points are denser around 0 and the mean."""
    end = abs(mean) + 6 * sd
    return [end * math.sinh(5 * (2 * i / (points - 1) - 1)) / math.sinh(5) for i in range(points)]


def free_text(free):
    words = []
    for coordinate, mean, sd, _ in free:
        scale = "inverse" if coordinate.startswith("inverse") else "identity"
        words.append(f"{COORDINATES[coordinate][0]}: {{scale: {scale}, prior: {{normal: [{mean}, {sd}]}}}}")
    return "free: {" + ", ".join(words) + "}\n"


class Study:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.pool = ThreadPoolExecutor(os.cpu_count())
        os.makedirs(folder, exist_ok=True)

    def call(self, *words, allowed=(0,)):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in allowed:
            raise SystemExit(f"idm {' '.join(map(str, words))}: {done.stderr}")
        return done

    def prepare(self, number, case):
        base = os.path.join(self.folder, f"{number:02d}")
        with open(base + ".yaml", "w") as file:
            file.write(case.problem + free_text(case.free))
        if case.log is None:
            with open(base + ".csv", "w") as file:
                file.write(BETTING)
        else:
            self.call("simulate", base + ".yaml", *case.log, "-o", base + ".csv")
        return base

    def log_likelihood(self, base, values):
        sets = [word for c, value in values for word in ("--set", f"{COORDINATES[c][0]}={COORDINATES[c][1](value)!r}")]
        done = self.call("score", base + ".yaml", base + ".csv", "--json", *sets, allowed=(0, 3, 4))
        value = json.loads(done.stdout)["log_likelihood"] if done.returncode == 0 else -math.inf
        return float(value)

    def truth(self, base, case):
        """{coordinate: (mean, sd)} by the trapezoidal rule."""
        path = base + ".truth.json"
        if os.path.exists(path):
            with open(path) as file:
                return {key: tuple(value) for key, value in json.load(file).items()}
        axes = [(c, grid(mean, sd, points), mean, sd) for c, mean, sd, points in case.free]
        points = [()]
        for c, ticks, mean, sd in axes:
            step = [(ticks[min(i + 1, len(ticks) - 1)] - ticks[max(i - 1, 0)]) / 2 for i in range(len(ticks))]
            points = [p + ((c, x, math.log(h) - 0.5 * ((x - mean) / sd) ** 2),)
                      for p in points for x, h in zip(ticks, step)]
        heights = list(self.pool.map(lambda p: self.log_likelihood(base, [(c, x) for c, x, _ in p]) +
                                     sum(w for _, _, w in p), points))
        most = max(heights)
        weights = [math.exp(h - most) for h in heights]
        found = {}
        for axis, (c, _, _, _) in enumerate(axes):
            mean = sum(w * p[axis][1] for w, p in zip(weights, points)) / sum(weights)
            square = sum(w * (p[axis][1] - mean) ** 2 for w, p in zip(weights, points)) / sum(weights)
            found[c] = (mean, math.sqrt(square))
        with open(path, "w") as file:
            json.dump(found, file)
        return found

    def fit(self, base, seed):
        run = f"{base}-{seed}"
        if not os.path.exists(os.path.join(run, "summary.json")):
            self.call("fit", base + ".yaml", base + ".csv", "-o", run, "--seed", seed, "--threads", 1, "--overwrite",
                      allowed=(0, 1))
        with open(os.path.join(run, "summary.json")) as file:
            return json.load(file)


def mark(summary, truth):
    right = True
    for coordinate, (mean, sd) in truth.items():
        posterior = summary["posterior"][coordinate]
        right = right and abs(posterior["mean"] - mean) <= RIGHT * sd and abs(posterior["sd"] / sd - 1) <= RIGHT
    return "o" if summary["verdict"]["failures"] else "." if right else "W"


def main():
    study = Study(sys.argv[1], sys.argv[2])
    wrong = 0
    print(f"{'log':30s} {'truth':>34s}  seeds 1 to {len(SEEDS)}")
    for number, case in enumerate(CASES):
        base = study.prepare(number, case)
        truth = study.truth(base, case)
        marks = "".join(study.pool.map(lambda seed: mark(study.fit(base, seed), truth), SEEDS))
        wrong += marks.count("W")
        words = ", ".join(f"{mean:.3g} +- {sd:.3g}" for mean, sd in truth.values())
        print(f"{case.name:30s} {words:>34s}  {marks}", flush=True)
    print(f"{wrong} of {len(CASES) * len(SEEDS)} fits are wrong and trusted")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
