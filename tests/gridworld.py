#!/usr/bin/env python3
"""gridworld.py PROGRAM EXAMPLE: the grid world of examples/gridworld, end to end.

Soft value iteration in Python computes the log-likelihood of walkers on ice under the true costs and under the
estimates of each of five inverse planners. The program prints six decimals per decision, which must agree. For a
posterior it averages over draws, whereas this test uses the means, so that 1e-3 is allowed there. The same iteration
gives the log posterior of the four costs, and its differences the mode and the curvature there, with which the means
and sds of `laplace` and `bayes` must agree.
"""
import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile

# Largest distance of a mean from the mode, and difference of an sd, both in sds. Of 4,000 draws, means have a standard
# error of .016 and sds one of .011; `bayes` has fewer effective draws, and its posterior is not exactly normal.
NEAR = {"laplace": (0.08, 0.055), "bayes": (0.2, 0.1)}
PLANNERS = ["bayes", "laplace", "map", "regularised-margin", "distribution-matching"]


def load(path):
    spec = importlib.util.spec_from_file_location("world", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def policy(world, utility, slip):
    """log pi[cell][action] of a soft plan, V = alpha log mean exp(Q / alpha), with V(goal) = 0."""
    names, actions = world.cells(), list(world.STEPS)
    goal = len(names) - 1
    rows = [[world.row(cell, action, slip) for action in actions] for cell in range(goal)]
    value = [0.0] * len(names)
    while True:
        change, result = 0.0, []
        for cell in range(goal):
            q = [utility[cell] + world.DISCOUNT * sum(p * value[k] for k, p in rows[cell][a].items()) for a in range(len(actions))]
            top = max(q)
            total = sum(math.exp((x - top) / world.ALPHA) for x in q)
            result.append([(x - top) / world.ALPHA - math.log(total) for x in q])
            new = top + world.ALPHA * math.log(total / len(actions))
            change = max(change, abs(new - value[cell]))
            value[cell] = new
        if change < 1e-12:
            return result


def log_likelihood(world, utility, slip, log):
    plan, at = policy(world, utility, slip), {name: i for i, name in enumerate(world.cells())}
    action = {name: i for i, name in enumerate(world.STEPS)}
    return sum(plan[at[row["state"]]][action[row["action"]]] for row in log) / len(log)


def log_posterior(world, ground, log):
    """The log posterior of the four costs under normal(0, 1) priors, as a function."""
    def evaluate(costs):
        cost = dict(zip(world.WEIGHTS, costs))
        return len(log) * log_likelihood(world, [cost[word] for word in ground], 0.1, log) - sum(x * x for x in costs) / 2
    return evaluate


def derivatives(function, x, step):
    """Gradient and Hessian by central differences."""
    def at(*moves):
        moved = list(x)
        for i, sign in moves:
            moved[i] += sign * step[i]
        return function(moved)

    n, middle, both = len(x), at(), [[at((i, 1)), at((i, -1))] for i in range(len(x))]
    gradient = [(up - down) / (2 * step[i]) for i, (up, down) in enumerate(both)]
    hessian = [[0.0] * n for _ in x]
    for i in range(n):
        hessian[i][i] = (both[i][0] - 2 * middle + both[i][1]) / step[i] ** 2
        for j in range(i):
            cross = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
            hessian[i][j] = hessian[j][i] = cross / (4 * step[i] * step[j])
    return gradient, hessian


def inverse(matrix):
    """Gauss-Jordan elimination of a definite matrix."""
    n = len(matrix)
    rows = [list(row) + [float(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for i in range(n):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [v - rows[j][i] * w for v, w in zip(rows[j], rows[i])]
    return [row[n:] for row in rows]


def check_posterior(world, ground, log, posteriors):
    """Compare means and sds with the mode, which is a Newton step away from the means, and the curvature there."""
    names = [f"utility[{word}]" for word in world.WEIGHTS]
    at = [posteriors["laplace"][name]["mean"] for name in names]
    step = [0.1 * posteriors["laplace"][name]["sd"] for name in names]
    gradient, hessian = derivatives(log_posterior(world, ground, log), at, step)
    covariance = inverse([[-v for v in row] for row in hessian])
    for i, name in enumerate(names):
        sd = math.sqrt(covariance[i][i])
        mode = at[i] + sum(c * g for c, g in zip(covariance[i], gradient))
        for planner, (near, same) in NEAR.items():
            found = posteriors[planner][name]
            off, ratio = (found["mean"] - mode) / sd, found["sd"] / sd
            print(f"{name:16s} {planner:8s} mean {off:+.3f} sd off the mode, sd {ratio:.3f} of that of the curvature")
            assert abs(off) < near and abs(ratio - 1) < same, (name, planner, mode, sd, found)


def main(program, example):
    world = load(os.path.join(example, "world.py"))
    ground = [world.NAME[letter] for line in world.MAP for letter in line][:-1]
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(["sh", os.path.join(example, "run.sh"), folder], env={**os.environ, "IDM": program}, check=True,
                             capture_output=True, text=True).stdout
        table = {" ".join(line.split()[:-1]): float(line.split()[-1]) for line in out.splitlines()[-6:]}
        with open(os.path.join(folder, "ice.csv"), encoding="utf-8") as file:
            log = list(csv.DictReader(file))
        with open(os.path.join(folder, "walks.csv"), encoding="utf-8") as file:
            walks = list(csv.DictReader(file))
        truth = log_likelihood(world, [world.WEIGHTS[word] for word in ground], 0.5, log)
        assert abs(truth - table["the true prices"]) < 1e-6, (truth, table)
        posteriors = {}
        for name in PLANNERS:
            with open(os.path.join(folder, name, "summary.json"), encoding="utf-8") as file:
                posterior = posteriors[name] = json.load(file)["posterior"]
            if name == "map":
                utility = [posterior[f"utility[u_{cell}]"]["mean"] for cell in world.cells()[:-1]]
            else:
                utility = [posterior[f"utility[{word}]"]["mean"] for word in ground]
            own = log_likelihood(world, utility, 0.5, log)
            assert abs(own - table[name]) < (1e-3 if name in ("bayes", "laplace") else 1e-6), (name, own, table)
            # 2,926 decisions: the errors in costs of four kinds of ground lose less than .002 on ice, those of every
            # cell .05.
            assert truth - 0.05 < own < truth + 0.01, (name, own, truth)
            print(f"{name:22s} {own:.4f}")
        print(f"{'the true prices':22s} {truth:.4f}")
        check_posterior(world, ground, walks, posteriors)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
