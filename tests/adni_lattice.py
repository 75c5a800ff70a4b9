#!/usr/bin/env python3
"""adni_lattice.py PROGRAM EXAMPLE: convergence of the ADNI problem in the resolution of its lattice, by numpy.

Values of examples/adni/adni.yaml are computed here on lattices of resolution 19, 39 and 79 from the equations and the
numbers of the file: Freudenthal's triangulation by sorted fractions, all successors of all points as arrays, and value
iteration. Beliefs of a simulated log are followed exactly. The log-likelihoods must agree with `idm score` at every
resolution. As a function of 1/beta they give a posterior per resolution, and from 39, that of the file, to 79 its mean
must move by at most .1 posterior sd. The exit code is 77 (skipped) if numpy is missing.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

DEBIAN = "/usr/bin/python3"  # the interpreter of python3-numpy, whichever python3 is first on the path
try:
    import numpy as np
except ImportError:
    if sys.executable == DEBIAN or not os.path.exists(DEBIAN):
        sys.exit(77)
    os.execv(DEBIAN, [DEBIAN, *sys.argv])

ALPHA, DISCOUNT, COST = 0.3, 0.95, 1.0
ABOVE, AWARD, WIDTH = 0.9, 2.5, 0.05
ACTIONS = ("mri", "none")
OBSERVATIONS = [f"{cdr}/{volume}" for cdr in ("normal", "questionable", "abnormal")
                for volume in ("low", "mid", "high", "none")]
TRUTH, PRIOR_SD = 0.5, 3.0  # 1/beta
NODES = TRUTH + np.array([-0.15, 0.0, 0.15])
LIKE = 1e-8


def read_dynamics(text):
    """Transition [s][t], and emission [u][t][x], of the file."""
    lists = [[float(v) for v in found.split(",")] for found in re.findall(r"\[([0-9., ]+)\]", text)]
    emission = np.array([row for row in lists if len(row) == 12]).reshape(2, 3, 12)
    return np.array([row for row in lists if len(row) == 3][1:4]), emission


def perturbed(rows, offset):
    """The likeliest outcome of every row changes by the offset; the others keep their proportions."""
    rows = rows.copy()
    for row in rows.reshape(-1, rows.shape[-1]):
        top = row.argmax()
        after = min(max(row[top] + offset, 0.001), 0.999)
        row *= (1 - after) / (row.sum() - row[top])
        row[top] = after
    return rows


def award(z):
    return AWARD * np.clip((z.max(axis=-1) - ABOVE) / WIDTH + 0.5, 0, 1)


class Models:
    """The nine models of the file, and beliefs after an action and an observation."""

    def __init__(self, text):
        transition, emission = read_dynamics(text)
        pairs = [(perturbed(transition, d), perturbed(emission, e)) for e in (-0.1, 0, 0.1) for d in (-0.1, 0, 0.1)]
        # [m][u][s][t][x]: probability of the next state and the observation
        self.joint = np.array([[t[:, :, None] * e[u][None] for u in range(2)] for t, e in pairs])

    def successors(self, z):
        """p [m][u][x][point], and beliefs [m][u][x][point][state]; 0 where an observation is impossible."""
        joint = np.einsum("ps,mustx->muxpt", z, self.joint)
        p = joint.sum(axis=-1)
        return p, joint / np.where(p > 0, p, 1)[..., None]


def corners(z, r):
    """Indices of the vertices of the cells with beliefs z, and their weights, by Freudenthal's triangulation."""
    y = np.stack([r * (1 - z[..., 0]), r * z[..., 2]], axis=-1).clip(0, r)  # r >= y0 >= y1 >= 0
    base = np.floor(y + 1e-12)
    part = (y - base).clip(0, 1)
    first = part[..., 0] >= part[..., 1]
    high, low = part.max(axis=-1), part.min(axis=-1)
    one = base + np.where(first[..., None], [1, 0], [0, 1])
    index = [(c[..., 0] * (c[..., 0] + 1) / 2 + c[..., 1]).astype(int) for c in (base, one, base + 1)]
    weight = [1 - high, high - low, low]
    last = (r + 1) * (r + 2) // 2 - 1
    return np.stack([np.minimum(i, last) for i in index], -1), np.stack(weight, -1)


class Step:
    """Values one step ahead from some beliefs, given those of the lattice."""

    def __init__(self, models, z, r):
        p, after = models.successors(z)
        seen = p.any(axis=(0, 3))  # of action and observation
        self.pay = -COST * np.array([1.0, 0.0])
        self.parts = []
        for u in range(2):
            index, weight = corners(after[:, u, seen[u]], r)
            self.parts.append((p[:, u, seen[u]], index, weight, award(after[:, u, seen[u]])))

    def quality(self, value, inverse_beta):
        """Q [point][u], and the weights of the models [u][m][point]."""
        quality, share = [], []
        for u, (p, index, weight, paid) in enumerate(self.parts):
            ahead = DISCOUNT * (p * ((value[index] * weight).sum(axis=-1) + paid)).sum(axis=1)
            top = ahead.max(axis=0) if inverse_beta > 0 else ahead.min(axis=0)
            odds = np.exp((ahead - top) * inverse_beta)
            soft = ahead.mean(axis=0) if inverse_beta == 0 else top + np.log(odds.mean(axis=0)) / inverse_beta
            quality.append(self.pay[u] + soft)
            share.append(odds / odds.sum(axis=0))
        return np.array(quality).T, share


def log_policy(quality):
    scaled = (quality - quality.max(axis=1)[:, None]) / ALPHA
    return scaled - np.log(np.exp(scaled).sum(axis=1))[:, None]


class Lattice:
    """Values of a resolution; each solution begins at the last one."""

    def __init__(self, models, r):
        self.models, self.r = models, r
        points = [(1 - i / r, (i - j) / r, j / r) for i in range(r + 1) for j in range(i + 1)]
        self.step = Step(models, np.array(points), r)
        self.value = np.zeros(len(points))

    def solve(self, inverse_beta):
        """Value iteration until a constant remains, which is then added."""
        while True:
            quality, _ = self.step.quality(self.value, inverse_beta)
            top = quality.max(axis=1)
            change = top + ALPHA * np.log(np.exp((quality - top[:, None]) / ALPHA).mean(axis=1)) - self.value
            self.value = self.value + change
            if np.ptp(change) < 1e-8:
                self.value += DISCOUNT / (1 - DISCOUNT) * change.mean()
                return

    def log_likelihood(self, inverse_beta, log):
        """The log is a list of (action, observation) per trajectory, of equal lengths."""
        self.solve(inverse_beta)
        beliefs, total = np.tile(START, (len(log), 1)), 0.0
        for t in range(log.shape[1]):
            u, x = log[:, t, 0], log[:, t, 1]
            rows, back = np.unique(np.column_stack([beliefs, u, x]), axis=0, return_inverse=True)
            z, u, x = rows[:, :3], rows[:, 3].astype(int), rows[:, 4].astype(int)
            quality, share = Step(self.models, z, self.r).quality(self.value, inverse_beta)
            at = np.arange(len(z))
            total += np.bincount(back.ravel(), minlength=len(z)) @ log_policy(quality)[at, u]
            _, after = self.models.successors(z)
            weight = np.array([share[a][:, i] for i, a in enumerate(u)])  # [point][m]
            beliefs = np.einsum("pm,pms->ps", weight, np.array([after[:, a, o, i] for i, (a, o) in enumerate(zip(u, x))]))
            beliefs = beliefs[back.ravel()]
        return total


START = np.array([0.3, 0.5, 0.2])


def posterior(likelihoods):
    """Mean and sd of 1/beta from log-likelihoods at the nodes, interpolated by a polynomial, and the prior."""
    at = np.linspace(TRUTH - 0.6, TRUTH + 0.6, 4001)
    polynomial = np.polynomial.Polynomial.fit(NODES, likelihoods, len(NODES) - 1)
    log_density = polynomial(at) - (at / PRIOR_SD) ** 2 / 2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ at
    return mean, np.sqrt(weight @ (at - mean) ** 2)


def main(program, example):
    with open(os.path.join(example, "adni.yaml"), encoding="utf-8") as file:
        text = file.read().split("\n# One row per visit")[0]  # columns are named as the simulation names them

    def call(*words):
        return subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        problem, table = os.path.join(folder, "adni.yaml"), os.path.join(folder, "log.csv")
        with open(problem, "w", encoding="utf-8") as file:
            file.write(text)
        call("simulate", problem, "--set", f"beta={1 / TRUTH}", "--set", "resolution=119", "-n", 1626,
             "--steps", 3, "--seed", 1, "-o", table)
        with open(table, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        log = np.array([[ACTIONS.index(row["action"]), OBSERVATIONS.index(row["observation"])]
                        for row in rows]).reshape(1626, -1, 2)
        own = int(re.search(r"resolution: (\d+)", text)[1])  # that of the file
        models, found = Models(text), []
        for r in ((own - 1) // 2, own, 2 * own + 1):
            lattice = Lattice(models, r)
            heights = [lattice.log_likelihood(b, log) for b in NODES]
            for b, value in ((NODES[0], heights[0]), (NODES[-1], heights[-1])):
                answer = call("score", problem, table, "--set", f"beta={float(1 / b)!r}", "--set", f"resolution={r}",
                                   "--json")
                score = json.loads(answer)["log_likelihood"]
                assert abs(score - value) <= LIKE * abs(value), (r, b, score, value)
            found.append(posterior(heights))
            print("resolution %3d: 1/beta %.4f +- %.4f" % (r, *found[-1]))
    _, (mean, _), (finest, sd) = found
    assert abs(mean - finest) <= 0.1 * sd, found


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
