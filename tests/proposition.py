#!/usr/bin/env python3
"""proposition.py PROGRAM: both sides of the paper's proposition, on example:maintenance, computed without the library.

For each regulariser, the margin is minimised by accelerated proximal gradient steps over utilities. The value at any
utility bounds the margin from above, and minus the matching at any policy bounds it from below (weak duality), so that
both are optimal if they are equal, whatever the method. The policy is the soft plan under the utility. The program's
output must agree with both to 1e-6. The exit code is 77 (skipped) if numpy is missing.
"""
import math
import os
import subprocess
import sys

DEBIAN = "/usr/bin/python3"  # the interpreter of python3-numpy, whichever python3 is first on the path
try:
    import numpy as np
except ImportError:
    if sys.executable == DEBIAN or not os.path.exists(DEBIAN):
        sys.exit(77)
    os.execv(DEBIAN, [DEBIAN, *sys.argv])

ALPHA, DISCOUNT = 0.5, 0.9
LEADS = np.array([[[0.8, 0.2, 0], [0, 0.7, 0.3], [0, 0, 1]], [[1, 0, 0], [0.7, 0.3, 0], [0.2, 0.5, 0.3]],
                  [[1, 0, 0], [1, 0, 0], [1, 0, 0]]]).transpose(1, 0, 2)  # [state][action][next]
PAYS = np.array([[10, 4, -12], [6, 2, -12], [0, -3, -12]], float)
START = np.array([1.0, 0, 0])
SCALE = {"squared": 100, "absolute": 0.02, "entropy": 0.1, "gail": 1, "box": 0.5}


def soft(utility, value):
    """Soft plan under a uniform action prior, by Newton's method from the values of the previous plan."""
    for _ in range(60):
        quality = utility + DISCOUNT * LEADS @ value
        top = quality.max(axis=1)
        weight = np.exp((quality - top[:, None]) / ALPHA)
        left = top + ALPHA * np.log(weight.mean(axis=1)) - value
        policy = weight / weight.sum(axis=1)[:, None]
        if abs(left).max() < 1e-14 * max(1, abs(value).max()):
            break
        value = value + np.linalg.solve(np.eye(3) - DISCOUNT * np.einsum("su,sut->st", policy, LEADS), left)
    return value, policy


def occupancy(policy):
    chain = np.einsum("su,sut->st", policy, LEADS)
    mass = np.linalg.solve(np.eye(3) - DISCOUNT * chain.T, (1 - DISCOUNT) * START)
    return mass[:, None] * policy


def zeta(name, p, v):
    c = SCALE[name]
    return {"squared": lambda: (v**2).sum() / (2 * c), "absolute": lambda: c * abs(v).sum(),
            "entropy": lambda: c * (v * np.log(np.maximum(v, 1e-300)) - v).sum(),
            "gail": lambda: (p * (v - np.log(-np.expm1(-v)))).sum(), "box": lambda: 0.0}[name]()


def conjugate(name, p, q):
    c, d = SCALE[name], p - q
    return {"squared": lambda: c / 2 * (d**2).sum(),
            "absolute": lambda: 0.0 if abs(d).max() <= c + 1e-7 else math.inf,
            "entropy": lambda: c * np.exp(d / c).sum(),
            "gail": lambda: (p * np.log(p / (p + q)) + q * np.log(q / (p + q))).sum(),
            "box": lambda: c * abs(d).sum()}[name]()


def near(name, p, x, step):
    """Minimiser v of zeta(v) + (v - x)^2 / (2 step); by bisection if there is no formula."""
    c = SCALE[name]
    if name == "squared":
        return x / (1 + step / c)
    if name == "absolute":
        return np.sign(x) * np.maximum(abs(x) - step * c, 0)
    if name == "box":
        return np.clip(x, -c, c)
    low, high = np.full_like(x, -700.0), np.full_like(x, 7.0)
    for _ in range(80):  # over log v
        middle = (low + high) / 2
        v = np.exp(middle)
        slope = (c * middle if name == "entropy" else p * (1 - 1 / np.expm1(v))) + (v - x) / step
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.exp((low + high) / 2)


def both(name, p):
    """(margin, matching, occupancy) after convergence."""
    start = 1.0 if name in ("entropy", "gail") else 0.0
    v = w = np.full((3, 3), start)
    value, momentum, step, least = np.zeros(3), 1.0, 8.0, math.inf
    shortest = 0.05  # the curvature is at most (1 - discount) / (alpha (1 - discount)^2) = 20
    for k in range(60000):
        value, policy = soft(w, value)
        at = (1 - DISCOUNT) * START @ value - (p * w).sum()
        slope = occupancy(policy) - p
        while True:
            new = near(name, p, w - step * slope, step)
            there, other = soft(new, value)
            smooth = (1 - DISCOUNT) * START @ there - (p * new).sum()
            change = new - w
            if step == shortest or smooth <= at + (slope * change).sum() + (change**2).sum() / (2 * step):
                break
            step = max(step / 2, shortest)
        margin = smooth + zeta(name, p, new)
        if margin > least + 1e-15:  # step too long
            momentum, w = 1.0, v
            least = math.inf
            continue
        least = margin
        if k % 50 == 0:
            q = occupancy(other)
            matching = conjugate(name, p, q) + ALPHA * (q * np.log(other)).sum()
            if abs(margin + matching + ALPHA * math.log(3)) < 1e-8:
                return margin, matching, q
        faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        w = new + (momentum - 1) / faster * (new - v)
        if name in ("entropy", "gail"):
            w = np.maximum(w, 1e-9)
        v, momentum = new, faster
    raise AssertionError("%s: the sides do not meet: %.9g and %.9g" % (name, margin, matching))


def main():
    printed = subprocess.run([sys.argv[1], "list", "classes", "--proposition"], check=True, capture_output=True,
                             text=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    _, policy = soft(PAYS, np.zeros(3))
    p = occupancy(policy)
    failures = 0
    for name in SCALE:
        margin, matching, _ = both(name, p)
        found = [row for row in rows if row and row[0] == name]
        assert [row[2] for row in found] == ["rule", "network"], found
        for row in found:
            assert float(row[1]) == SCALE[name]
            off = max(abs(float(row[3]) - margin), abs(float(row[4]) - matching))
            failures += not off <= 1e-6
            print("%-9s %-7s margin %.9f matching %.9f, the program's off by %.1e" % (name, row[2], margin, matching, off))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
