#!/usr/bin/env python3
"""paper_figures.py PROGRAM VALIDATION: Figures 3a, 3b and 3c of `make paper`, recomputed by numpy.

The exact posteriors of example:diag on a grid of parameters: value iteration over 100 beliefs for all parameters at
once, beliefs of every history of the log, and the priors. The plotted numbers must agree: the curve of alpha with the
density, contours of 1/beta and eta with the share of the mass at higher density, and modes with the mode. The exit code
is 77 (skipped) if numpy is missing.
"""
import collections
import csv
import math
import os
import sys
import tempfile

DEBIAN = "/usr/bin/python3"  # the interpreter of python3-numpy, whichever python3 is first on the path
try:
    import numpy as np
except ImportError:
    if sys.executable == DEBIAN or not os.path.exists(DEBIAN):
        sys.exit(77)
    os.execv(DEBIAN, [DEBIAN, *sys.argv])

POINTS, DISCOUNT, MODELS = 100, 0.95, np.array([0.6, 0.7, 0.8])
MONITOR, HEALTHY, DISEASED = range(3)
ACTION = {"monitor": MONITOR, "declare_healthy": HEALTHY, "declare_diseased": DISEASED}
RANGE = 46  # of the utilities
# The curve and the contours are of 4,000 draws, smoothed: shares of mass that may differ.
CURVE, CONTOUR, TOP = 0.045, 0.04, 0.12


def soft(values, inverse, axis):
    """log mean exp(inverse values) / inverse along the axis, and the weights."""
    scaled = values * inverse
    top = scaled.max(axis=axis, keepdims=True)
    odds = np.exp(scaled - top)
    value = (top + np.log(odds.mean(axis=axis, keepdims=True))) / inverse
    return value.squeeze(axis), odds / odds.sum(axis=axis, keepdims=True)


def outcomes(z):
    """Probability of a negative and a positive test, and the belief after it: [model][...][result]."""
    right = np.stack([1 - MODELS, MODELS], -1)
    z = np.asarray(z)[..., None]
    right = right.reshape(3, *[1] * (z.ndim - 1), 2)
    seen = right * z + (1 - right) * (1 - z)
    return seen, right * z / seen


def interpolation(z):
    low = np.minimum((z * (POINTS - 1)).astype(int), POINTS - 2)
    return low, z * (POINTS - 1) - low


class Agents:
    """Policies [agent][point][action] and weights of the models [agent][point][model] while monitoring, of all agents."""

    def __init__(self, alpha, inverse_beta, eta):
        z = np.linspace(0, 1, POINTS)
        count = len(alpha)
        utility = [np.full(POINTS, -1.0), 10 - 46 * z, 46 * z - 36]
        places = [z, np.full(1, 0.5)]  # beliefs before the test; a declaration brings a new patient
        ahead = [(seen, *interpolation(after)) for seen, after in map(outcomes, places)]
        surprise = [eta[:, None, None] * -(seen * np.log(seen)).sum(axis=-1) for seen, _, _ in ahead]
        value = np.zeros((count, POINTS))
        while True:
            future = []
            for (seen, low, part), bonus in zip(ahead, surprise):
                at = value[:, low] * (1 - part) + value[:, low + 1] * part
                best, share = soft(bonus + DISCOUNT * (seen * at).sum(axis=-1), inverse_beta[:, None, None], 1)
                future.append((best, share))
            later = {MONITOR: future[0][0], HEALTHY: future[1][0], DISEASED: future[1][0]}
            quality = np.stack([utility[u] + later[u] for u in later], 1)
            following, policy = soft(quality, 1 / alpha[:, None, None], 1)
            change = following - value
            value = following
            if np.ptp(change, axis=1).max() < 1e-7:
                break
        self.policy, self.share = policy.transpose(0, 2, 1), future[0][1].transpose(0, 2, 1)

    def log_likelihood(self, log):
        """Of histories {tests so far: counts of the actions}; beliefs are means over the models."""
        agents = np.arange(len(self.policy))
        beliefs, total = {"": np.full(len(agents), 0.5)}, np.zeros(len(agents))
        for tests in sorted(log, key=len):
            z = beliefs[tests]
            low, part = interpolation(z)
            policy, share = (t[agents, low] * (1 - part)[:, None] + t[agents, low + 1] * part[:, None]
                             for t in (self.policy, self.share))
            taken = log[tests] > 0
            total += np.log(policy[:, taken]) @ log[tests][taken]
            after = outcomes(z)[1]  # [model][agent][result]
            for k, word in enumerate("-+"):
                beliefs[tests + word] = (share * after[:, :, k].T).sum(axis=1)
        return total


def read_log(path):
    """{tests so far: counts of the actions}."""
    counts, tests, trajectory = collections.defaultdict(lambda: np.zeros(3)), "", None
    with open(path, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            tests = tests if row["trajectory"] == trajectory else ""
            trajectory = row["trajectory"]
            counts[tests][ACTION[row["action"]]] += 1
            tests += {"negative": "-", "positive": "+", "": ""}[row["observation"]]
    return counts


def normal(x, mean, sd):
    return -((x - mean) / sd) ** 2 / 2


def read_data(path):
    """{mark, or kind of what has no mark: points} of a figure."""
    marks = collections.defaultdict(list)
    with open(path, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            marks[row["mark"] or row["kind"]].append([float(row[c]) if row[c] else math.nan for c in ("x", "y")])
    return {mark: np.array(points) for mark, points in marks.items()}


def wrong_curve(name, data, log, truth):
    """Figure 3a: share of mass by which curve and density differ, and the distance of the modes in sds."""
    curve = data["posterior"]
    x = np.exp(np.linspace(math.log(curve[0, 0]), math.log(curve[-1, 0]), 201))
    found = Agents(x, np.full(len(x), 1e-3), np.full(len(x), 1e-3)).log_likelihood(log)
    density = np.exp((found - found.max()) + normal(np.log(x), math.log(RANGE / 20), 2))  # of log alpha
    logarithmic = truth < 1e-3
    if not logarithmic:
        density /= x
    width = np.gradient(np.log(x) if logarithmic else x)
    density /= (density * width).sum()
    drawn = np.interp(x, curve[:, 0], curve[:, 1])
    off = abs(density - drawn) @ width / 2
    height = np.interp(data["mode"][0, 0], x, density) / density.max()
    print(f"(a) {name}: {off:.3f} of the mass differs; the density at the mode that is drawn is {height:.3f} of the highest")
    if not off < CURVE or not height > 1 - TOP:
        yield f"Figure 3a, {name}: {off:.3f}, {height:.3f}"
    if abs(data["truth"][0, 0] - truth) > 1e-12:
        yield f"Figure 3a, {name}: the true value is drawn at {data['truth'][0, 0]}"


def wrong_contours(name, data, log, truth):
    """Figures 3b and 3c: share of the mass at a higher density than that of the points of a contour, and of the mode."""
    points = data["draws"]
    centre, spread = points.mean(axis=0), points.std(axis=0)
    axes = [np.linspace(c - 5 * s, c + 5 * s, 46) for c, s in zip(centre, spread)]
    x, y = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    found = Agents(np.full(len(x), 0.5), x, y).log_likelihood(log) + normal(x, 0, 20 / RANGE) + normal(y, 0, RANGE)
    surface = np.exp(found - found.max()).reshape(46, 46)
    order = np.sort(surface.ravel())[::-1]
    held = np.cumsum(order) / order.sum()

    def above(marks):
        """Mean share of the mass at a higher density than that of points, by bilinear interpolation of its logarithm."""
        marks = marks[np.isfinite(marks).all(axis=1)]  # lines are separated by gaps
        place = [(marks[:, k] - axes[k][0]) / (axes[k][1] - axes[k][0]) for k in (0, 1)]
        low = [np.clip(p.astype(int), 0, 44) for p in place]
        part = [p - i for p, i in zip(place, low)]
        log_surface = np.log(np.maximum(surface, 1e-300))
        level = sum(log_surface[low[0] + i, low[1] + j] * abs(1 - i - part[0]) * abs(1 - j - part[1])
                    for i in (0, 1) for j in (0, 1))
        return held[np.searchsorted(-order, -np.exp(level)).clip(0, len(held) - 1)].mean()

    shares = [above(data[mark]) for mark in ("50 % of the draws", "90 % of the draws")]
    mode = above(data["mode"])
    print(f"{name}: contours hold {shares[0]:.3f} and {shares[1]:.3f}; {mode:.3f} is higher than the mode that is drawn")
    if not abs(shares[0] - 0.5) < CONTOUR or not abs(shares[1] - 0.9) < CONTOUR or not mode < TOP:
        yield f"{name}: contours hold {shares}, {mode} is higher than the mode"
    drawn = data["truth"][0, 0], data["levels"][0, 1]
    if not np.allclose(drawn, truth):
        yield f"{name}: the true value is drawn at {drawn}"


def main():
    program, validation = sys.argv[1:3]
    sys.path.insert(0, validation)
    import paper
    from study import AGENTS, Study

    faults = []
    with tempfile.TemporaryDirectory() as folder:
        study = Study(program, folder)
        fits = {}
        for agent in paper.FLEXIBILITY:
            fits["alpha", agent, 1] = study.fit("alpha", agent, 1, "alpha", paper.HELD_NEUTRAL, *paper.FAST)
        for agent in paper.DISTINCT:
            fits["joint", agent, 1] = study.fit("joint", agent, 1, "beta,eta", paper.HELD_ALPHA, *paper.FAST)
        agents = [*paper.FLEXIBILITY, *paper.DISTINCT]
        for agent, (caption, words) in zip(agents, paper.figures_3(fits)):
            path = os.path.join(folder, "figure.csv")
            study.call("plot", *words, "--data", path, "-o", os.path.join(folder, "figure.svg"))
            log, one = read_log(study.log(agent, 1)), AGENTS[agent]
            if agent in paper.FLEXIBILITY:
                faults += wrong_curve(agent, read_data(path), log, one["alpha"])
            else:
                faults += wrong_contours(caption[:3] + " " + agent, read_data(path), log, (1 / one["beta"], one["eta"]))
    for fault in faults:
        print(f"FAILED: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
