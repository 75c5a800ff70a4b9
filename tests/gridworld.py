#!/usr/bin/env python3
"""gridworld.py PROGRAM EXAMPLE: the grid world of examples/gridworld, end to end.

Soft value iteration in Python computes the log-likelihood of walkers on ice under the true costs and under the
estimates of each of five inverse planners. The program prints six decimals per decision, which must agree. For a
posterior it averages over draws, whereas this test uses the means, so that 1e-3 is allowed there.
"""
import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile

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


def main(program, example):
    world = load(os.path.join(example, "world.py"))
    ground = [world.NAME[letter] for line in world.MAP for letter in line][:-1]
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(["sh", os.path.join(example, "run.sh"), folder], env={**os.environ, "IDM": program}, check=True,
                             capture_output=True, text=True).stdout
        table = {" ".join(line.split()[:-1]): float(line.split()[-1]) for line in out.splitlines()[-6:]}
        with open(os.path.join(folder, "ice.csv"), encoding="utf-8") as file:
            log = list(csv.DictReader(file))
        truth = log_likelihood(world, [world.WEIGHTS[word] for word in ground], 0.5, log)
        assert abs(truth - table["the true prices"]) < 1e-6, (truth, table)
        for name in PLANNERS:
            with open(os.path.join(folder, name, "summary.json"), encoding="utf-8") as file:
                posterior = json.load(file)["posterior"]
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


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
