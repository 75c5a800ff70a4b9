#!/usr/bin/env python3
"""The joint density of people and population, recomputed independently: usage: people_density.py PROGRAM [SEED...]

PROGRAM is build/idm_people. The input is a log of four people on DIAG and some draws of `idm_people density`.
Likelihoods are computed by value iteration over the lattice and the mean-belief filter; normal, half-normal and LKJ
densities by formula; all in Python's standard library, independent of the library. Exit code 1 and a line with FAILS if
they differ.
"""

import json
import math
import subprocess
import sys

DISCOUNT = 0.95
QUALITY = (0.6, 0.7, 0.8)  # accuracy of the test, by model
UTILITY = ((10, -36), (-36, 10), (-1, -1))  # declare healthy, declare diseased, monitor; by state
MONITOR = 2
SWEEPS = 700  # .95^700 is 3e-16
TOLERANCE = 1e-6  # of the log density: the library plans to a bound, not to rounding error


def test(model, u, ill):
    """(probability, next belief) of each observation, from the probability of disease."""
    ill = ill if u == MONITOR else 0.5  # a declaration brings the next patient
    right = QUALITY[model]
    for negative in (True, False):
        seen_ill = 1 - right if negative else right
        p = seen_ill * ill + (1 - seen_ill) * (1 - ill)
        yield p, seen_ill * ill / p


def between(values, ill, resolution):
    """Linear interpolation between the points of the lattice."""
    at = min(int(ill * resolution), resolution - 1)
    share = ill * resolution - at
    return (1 - share) * values[at] + share * values[at + 1]


class Agent:
    """Policies at the points of the lattice, by value iteration."""

    def __init__(self, alpha, optimism, resolution):
        self.resolution = resolution
        points = [i / resolution for i in range(resolution + 1)]
        paths = [[[list(test(m, u, ill)) for m in range(3)] for u in range(3)] for ill in points]
        value = [0.0] * len(points)
        for _ in range(SWEEPS):
            future = [[[DISCOUNT * sum(p * between(value, after, resolution) for p, after in model) for model in action]
                       for action in point] for point in paths]
            quality = [[(1 - ill) * UTILITY[u][0] + ill * UTILITY[u][1] + self.soft(future[i][u], optimism)
                        for u in range(3)] for i, ill in enumerate(points)]
            value = [alpha * self.log_mean([q / alpha for q in row]) for row in quality]
        self.decision = []
        self.trust = []
        for i in range(len(points)):
            top = max(quality[i])
            weight = [math.exp((q - top) / alpha) for q in quality[i]]
            self.decision.append([w / sum(weight) for w in weight])
            row = []
            for u in range(3):
                top = max(k * optimism for k in future[i][u])
                weight = [math.exp(k * optimism - top) for k in future[i][u]]
                row.append([w / sum(weight) for w in weight])
            self.trust.append(row)

    @staticmethod
    def log_mean(values):
        top = max(values)
        return top + math.log(sum(math.exp(v - top) for v in values) / len(values))

    def soft(self, future, optimism):
        if abs(optimism) < 1e-9:
            return sum(future) / len(future)
        return self.log_mean([k * optimism for k in future]) / optimism

    def policy(self, ill):
        return [between([row[u] for row in self.decision], ill, self.resolution) for u in range(3)]

    def after(self, ill, u, x):
        """Mean belief over models."""
        return sum(between([row[u][m] for row in self.trust], ill, self.resolution) * list(test(m, u, ill))[x][1]
                   for m in range(3))


def log_likelihood(agent, rows):
    total, last, ill = 0.0, None, 0.5
    for _, trajectory, u, x in rows:
        if trajectory != last:
            last, ill = trajectory, 0.5
        total += math.log(agent.policy(ill)[u])
        if x >= 0:
            ill = agent.after(ill, u, x)
    return total


def log_normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)


def log_prior(found, draw, pick):
    b, sd = pick("coefficient", 4, draw), pick("sd", 2, draw)
    c = pick("correlation", 1, draw)[0]
    total = math.log(0.75 * (1 - c * c))  # LKJ(2) of two effects
    for j in range(2):
        mean, width = found["mean"][j], found["width"][j]
        total += log_normal(b[2 * j], mean, width) + log_normal(b[2 * j + 1], 0, width / 2)
        total += math.log(2) + log_normal(sd[j], 0, width / 2)
    return total


def check(program, seed):
    found = json.loads(subprocess.run([program, "density", str(seed)], capture_output=True, text=True, check=True).stdout)
    people, draws = found["people"], found["draws"]

    def pick(name, rows, draw):
        return [found[name][row * draws + draw] for row in range(rows)]

    worst = 0
    for draw in range(draws):
        total = log_prior(found, draw, pick)
        b, sd, c = pick("coefficient", 4, draw), pick("sd", 2, draw), pick("correlation", 1, draw)[0]
        effect = pick("effect", 2 * people, draw)
        for i in range(people):
            x = effect[i], effect[people + i]
            mean = [b[2 * j] + b[2 * j + 1] * (i - 1.5) for j in range(2)]
            total += log_normal(x[0], mean[0], sd[0])
            total += log_normal(x[1], mean[1] + c * sd[1] / sd[0] * (x[0] - mean[0]), sd[1] * math.sqrt(1 - c * c))
            agent = Agent(math.exp(x[0]), x[1], found["resolution"])
            one = log_likelihood(agent, [row for row in found["rows"] if row[0] == i])
            worst = max(worst, abs(one - pick("log_likelihood", people, draw)[i]))
            total += one
        ours = found["log_posterior"][draw]
        worst = max(worst, abs(total - ours))
        print(f"  seed {seed}, draw {draw + 1}: log density {ours:.9f}, in Python {total:.9f}")
    print(f"  largest difference {worst:.2g}{'' if worst < TOLERANCE else '   FAILS'}")
    return worst < TOLERANCE


def main():
    seeds = sys.argv[2:] or ["1", "2"]
    return 0 if all([check(sys.argv[1], seed) for seed in seeds]) else 1


if __name__ == "__main__":
    sys.exit(main())
