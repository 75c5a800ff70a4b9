#!/usr/bin/env python3
"""Posteriors of `idm fit` compared with dense quadrature: usage: grid.py PROGRAM FOLDER

An independent implementation in numpy: problems written out below, planner by fixed-point iteration, mean-belief
filter, log-likelihood of the CSV log, and the posterior as a sum over a grid. The program simulates the logs. Its
log-likelihoods must agree to 1e-6, its posteriors within Monte Carlo error. Exit code 1 and a line with FAILS if
something differs. About two minutes on one core.
"""

import csv
import itertools
import json
import os
import subprocess
import sys
import time

import numpy as np

TOLERANCE = 1e-9  # relative to the range of V, certified
WIDTH = 20.0      # a grid ends where the log posterior is this far below its maximum: e^-20 of the mode
ERRORS = 4.0      # accepted Monte Carlo errors; 68 comparisons, 6e-5 each: a false alarm in 250 sets of seeds
QUANTILES = {"q5": 0.05, "q50": 0.5, "q95": 0.95}
HERE = os.path.dirname(os.path.abspath(__file__))


# ------------------------------------------------------------------ problems, by hand

def diagnosis():
    """examples/diag.yaml: three models of the test, at .6, .7 and .8."""
    half = np.full((2, 2), 0.5)
    test = np.array([[[q, 1 - q], [1 - q, q]] for q in (0.6, 0.7, 0.8)])
    return Problem(["healthy", "diseased"], ["declare_healthy", "declare_diseased", "monitor"], ["negative", "positive"],
                   start=[0.5, 0.5], discount=0.95, transition=[half, half, np.eye(2)],
                   observation=np.repeat(test[:, None], 3, axis=1),
                   utility=[[10, -36], [-36, 10], [-1, -1]], resolution=99, lookahead=False)


def three_states(lookahead):
    """validation/sbc-three.yaml on a lattice of 20: the most probable observation of every row changes by -.1, 0, .1."""
    drift = np.array([[0.95, 0.05, 0], [0.02, 0.9, 0.08], [0, 0.05, 0.95]])
    dull = np.array([[0.4, 0.33, 0.27], [0.33, 0.34, 0.33], [0.27, 0.33, 0.4]])
    sharp = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])

    def moved(rows, by):
        top = np.eye(3, dtype=bool)  # in both tables the most probable observation is that of the state
        change = np.where(top, rows + by, 0)
        rest = 1 - change.sum(axis=1, keepdims=True)
        others = np.where(top, 0, rows)
        return change + rest * others / others.sum(axis=1, keepdims=True)

    models = [[moved(dull, by), moved(sharp, by), moved(sharp, by)] for by in (-0.1, 0.0, 0.1)]
    return Problem(["none", "mild", "grave"], ["wait", "test", "treat"], ["low", "middle", "high"],
                   start=[0.5, 0.3, 0.2], discount=0.9, transition=[drift, drift, np.tile([0.5, 0.3, 0.2], (3, 1))],
                   observation=models, utility=[[0, -1, -4], [-1, -2, -5], [-8, 2, 8]], resolution=20,
                   lookahead=lookahead)


# ------------------------------------------------------------------ lattice and geometry

class Lattice:
    """Beliefs whose coordinates are multiples of 1/r, with Freudenthal's triangulation."""

    def __init__(self, states, resolution):
        self.resolution = resolution
        corners = [c for c in itertools.product(range(resolution + 1), repeat=states) if sum(c) == resolution]
        self.points = np.array(corners) / resolution
        # Vertices are identified by their tail sums y_2..y_k, each in 0..r.
        tails = np.cumsum(np.array(corners)[:, ::-1], axis=1)[:, ::-1][:, 1:]
        self.index = np.zeros((resolution + 1,) * (states - 1), dtype=int)
        self.index[tuple(tails.T)] = np.arange(len(corners))

    def locate(self, beliefs):
        """Vertices and weights (..., k) of the simplex that contains each belief (..., k)."""
        y = self.resolution * np.cumsum(beliefs[..., ::-1], axis=-1)[..., ::-1][..., 1:]
        y = np.clip(y, 0, self.resolution)
        low = np.minimum(np.floor(y), self.resolution - 1)
        part = y - low
        order = np.argsort(-part, axis=-1, kind="stable")
        falling = np.take_along_axis(part, order, axis=-1)
        edge = np.ones(falling.shape[:-1] + (1,))
        weights = -np.diff(np.concatenate([edge, falling, 0 * edge], axis=-1), axis=-1)
        vertices, at = [], low.astype(int)
        for step in range(y.shape[-1] + 1):
            # A vertex of weight 0 may be outside the simplex; the table then has an arbitrary point.
            vertices.append(self.index[tuple(np.moveaxis(at, -1, 0))])
            if step < y.shape[-1]:
                at = at + (np.arange(y.shape[-1]) == order[..., step, None])
        return np.stack(vertices, axis=-1), weights


class Problem:
    """A problem and its lattice; models have equal weight, and so have actions."""

    def __init__(self, states, actions, observations, start, discount, transition, observation, utility, resolution,
                 lookahead):
        self.actions = {name: i for i, name in enumerate(actions)}
        self.observations = {name: i for i, name in enumerate(observations)}
        self.start, self.discount, self.lookahead = np.array(start), discount, lookahead
        self.transition = np.array(transition, dtype=float)    # [u, s, s']
        self.observation = np.array(observation, dtype=float)  # [m, u, s', x]
        self.utility = np.array(utility, dtype=float)          # [u, s]
        self.lattice = Lattice(len(states), resolution)
        self.no_columns_alike()
        self.sweep_rows()

    def no_columns_alike(self):
        """Observations with proportional columns would count as one surprise; neither problem has any."""
        for table in self.observation.reshape(-1, *self.observation.shape[2:]):
            for a, b in itertools.combinations(table.T, 2):
                assert abs(a @ b) < (1 - 1e-9) * np.sqrt((a @ a) * (b @ b))

    def successors(self, beliefs):
        """p[..., u, m, x], surprise H[..., u, m] and the Bayes updates z'[..., u, m, x, s']."""
        forward = np.einsum("...s,ust->...ut", beliefs, self.transition)
        joint = np.einsum("...ut,mutx->...umxt", forward, self.observation)
        p = joint.sum(axis=-1)
        return p, -(p * np.log(p)).sum(axis=-1), joint / p[..., None]

    def sweep_rows(self):
        """Successors of the lattice as one matrix; pairs (z, u) with the same successors are computed once."""
        points = self.lattice.points
        p, surprise, after = self.successors(points)
        vertices, weights = self.lattice.locate(after)
        n, actions, models = surprise.shape
        rows = np.zeros((n * actions * models, n))
        flat = np.arange(len(rows))[:, None]
        np.add.at(rows, (flat, vertices.reshape(len(rows), -1)), (p[..., None] * weights).reshape(len(rows), -1))
        whole = np.concatenate([rows.reshape(n * actions, -1), surprise.reshape(n * actions, -1)], axis=1)
        _, first, inverse = np.unique(np.round(whole, 12), axis=0, return_index=True, return_inverse=True)
        self.group = inverse.reshape(n, actions)
        self.matrix = rows.reshape(n * actions, models, n)[first].reshape(-1, n).T.copy()
        self.surprise = surprise.reshape(n * actions, models)[first]
        self.reward = points @ self.utility.T


# ------------------------------------------------------------------ planner

def soft_over_models(K, optimism):
    """beta log mean exp(K/beta) with optimism 1/beta, over the last axis (models), and the specification policy; 0 is
    the mean.
    """
    mean = K.mean(axis=-1, keepdims=True)
    optimism = np.where(optimism == 0, 1e-30, optimism)[..., None]
    with np.errstate(over="raise", invalid="raise"):
        tilt = (K - mean) * optimism
        grown = np.expm1(tilt).mean(axis=-1, keepdims=True)
        value = mean + np.log1p(grown) / optimism
        return value[..., 0], (1 + np.expm1(tilt)) / (1 + grown) / K.shape[-1]


def soft_over_actions(Q, alpha):
    """alpha log mean exp(Q/alpha) over the last axis (actions), and the log decision policy; alpha is positive here."""
    top = Q.max(axis=-1, keepdims=True)
    gap = (Q - top) / alpha[..., None]
    total = np.log(np.exp(gap).sum(axis=-1, keepdims=True))
    return top[..., 0] + alpha * (total[..., 0] - np.log(Q.shape[-1])), gap - total


class Plan:
    """The fixed points V of many agents (alpha, 1/beta, eta), given as arrays of one length."""

    def __init__(self, problem, alpha, optimism, eta):
        self.problem, self.alpha, self.optimism, self.eta = problem, alpha, optimism, eta
        self.V = np.zeros((len(alpha), len(problem.lattice.points)))
        self.solve()

    def solve(self):
        """Fixed-point iteration until the policies are certain: V* - BV is within gamma/(1-gamma) [min d, max d]."""
        gamma, active = self.problem.discount, np.arange(len(self.V))
        while len(active):
            V = self.V[active]
            new, _, _ = self.backup(V, active)
            d = new - V
            self.V[active] = new - new.mean(axis=1, keepdims=True)  # a constant does not change a policy
            active = active[gamma / (1 - gamma) * np.ptp(d, axis=1) > TOLERANCE]

    def backup(self, V, which):
        problem = self.problem
        future = (V @ problem.matrix).reshape(len(V), *problem.surprise.shape)
        K = self.eta[which, None, None] * problem.surprise + problem.discount * future
        certain, specification = soft_over_models(K, self.optimism[which, None])
        Q = problem.reward + certain[:, problem.group]
        value, decision = soft_over_actions(Q, self.alpha[which, None])
        return value, decision, specification

    def policies(self):
        """On the lattice: log decision [b, z, u] and specification [b, z, u, m]."""
        _, decision, specification = self.backup(self.V, np.arange(len(self.V)))
        return decision, specification[:, self.problem.group]

    def look_ahead(self, beliefs):
        """One step from V at beliefs [b, i, s]: exact policies there, decisions as logarithms."""
        p, surprise, after = self.problem.successors(beliefs)
        vertices, weights = self.problem.lattice.locate(after)
        row = np.arange(len(self.V)).reshape(-1, *(1,) * (vertices.ndim - 1))
        future = (p * (self.V[row, vertices] * weights).sum(axis=-1)).sum(axis=-1)
        K = self.eta[:, None, None, None] * surprise + self.problem.discount * future
        certain, specification = soft_over_models(K, self.optimism[:, None, None])
        _, decision = soft_over_actions(beliefs @ self.problem.utility.T + certain, self.alpha[:, None])
        return decision, specification


# ------------------------------------------------------------------ log-likelihood

class Log:
    """A log as a tree of histories: by depth, each history's parent, last action and observation, and counts of the
    next actions.
    """

    def __init__(self, problem, path):
        self.problem, self.levels = problem, []
        names = {}
        with open(path, newline="") as file:
            paths = {}
            for row in csv.DictReader(file):
                paths.setdefault((row["agent"], row["trajectory"]), []).append(row)
        for rows in paths.values():
            parent = 0
            for depth, row in enumerate(rows):
                if depth == 0:
                    self.node(0, names, ())
                action = problem.actions[row["action"]]
                self.levels[depth][parent][3][action] += 1
                if depth + 1 < len(rows):
                    seen = problem.observations[row["observation"]]
                    parent = self.node(depth + 1, names, (parent, action, seen))
        self.levels = [tuple(np.array(column) for column in zip(*level)) for level in self.levels]

    def node(self, depth, names, key):
        if depth == len(self.levels):
            self.levels.append([])
        if (depth, key) not in names:
            names[depth, key] = len(self.levels[depth])
            self.levels[depth].append([*(key or (0, 0, 0)), [0] * len(self.problem.actions)])
        return names[depth, key]

    def histories(self):
        return sum(len(level[0]) for level in self.levels)

    def log_likelihood(self, alpha, optimism, eta, batch=128):
        """Log-likelihood of agents given by arrays of one shape, causally conditioned on the observations."""
        alpha, optimism, eta = np.broadcast_arrays(*map(np.asarray, (alpha, optimism, eta)))
        flat = [np.array(x, dtype=float).ravel() for x in (alpha, optimism, eta)]
        total = [self.of_batch(*(x[i:i + batch] for x in flat)) for i in range(0, len(flat[0]), batch)]
        return np.concatenate(total).reshape(alpha.shape)

    def of_batch(self, alpha, optimism, eta):
        problem = self.problem
        plan = Plan(problem, alpha, optimism, eta)
        on_lattice = None if problem.lookahead else plan.policies()
        total = np.zeros(len(alpha))
        for depth, (parent, action, seen, counts) in enumerate(self.levels):
            if depth == 0:
                beliefs = np.tile(problem.start, (len(alpha), 1, 1))
            else:
                # Mean belief: the updates of the models, weighted by the specification policy.
                forward = np.einsum("bcs,cst->bct", beliefs[:, parent], problem.transition[action])
                joint = forward[:, :, None] * problem.observation[:, action, :, seen]  # [b, c, m, s']
                update = joint / joint.sum(axis=-1, keepdims=True)
                weight = specification[:, parent, action]
                beliefs = (weight[..., None] * update).sum(axis=2)
            if problem.lookahead:
                decision, specification = plan.look_ahead(beliefs)
            else:
                decision, specification = interpolated(problem.lattice, beliefs, *on_lattice)
            used = counts > 0
            total += decision[:, used] @ counts[used]
        return total


def interpolated(lattice, beliefs, log_decision, specification):
    """Both policies, interpolated linearly between lattice points as probabilities; decisions are returned as
    logarithms.
    """
    vertices, weights = lattice.locate(beliefs)
    row = np.arange(len(beliefs))[:, None, None]
    corners = log_decision[row, vertices]
    top = corners.max(axis=2)
    decision = top + np.log(np.einsum("bik,biku->biu", weights, np.exp(corners - top[:, :, None])))
    return decision, np.einsum("bik,bikum->bium", weights, specification[row, vertices])


# ------------------------------------------------------------------ posterior on a grid

class Axis:
    """A free number: its coordinate, first range, its normal prior there, and the reported number."""

    def __init__(self, name, centre, sd, report=lambda x: x):
        self.name, self.centre, self.sd, self.report = name, centre, sd, report
        self.first = (centre - 5 * sd, centre + 5 * sd)

    def log_prior(self, x):
        return -0.5 * ((x - self.centre) / self.sd) ** 2 - np.log(self.sd * np.sqrt(2 * np.pi))


def evaluate(function, axes, boxes, points):
    """Log posterior and log-likelihood on a grid of points per axis."""
    ticks = [np.linspace(low, high, points) for low, high in boxes]
    mesh = np.meshgrid(*ticks, indexing="ij")
    likelihood = function(*mesh)
    return ticks, likelihood + sum(axis.log_prior(x) for axis, x in zip(axes, mesh)), likelihood


def around_mode(function, axes, coarse):
    """Boxes that contain all points within WIDTH of the maximum of the log posterior, found by zooming."""
    boxes = [axis.first for axis in axes]
    for _ in range(8):
        ticks, density, _ = evaluate(function, axes, boxes, coarse)
        high = density > density.max() - WIDTH
        smaller = []
        for d, tick in enumerate(ticks):
            at = np.flatnonzero(high.any(axis=tuple(i for i in range(len(axes)) if i != d)))
            smaller.append((tick[max(at[0] - 1, 0)], tick[min(at[-1] + 1, coarse - 1)]))
        shrunk = min((b - a) / (d - c) for (a, b), (c, d) in zip(smaller, boxes))
        boxes = smaller
        if shrunk > 0.6:
            return boxes
    raise SystemExit("grid.py: the box around the mode does not settle")


class Marginal:
    """One number's marginal by the trapezoidal rule. The density vanishes at both ends, so that Whittaker's series
    interpolates it from its ticks to fine ones; linear interpolation would add up to .003 of probability to either
    tail.
    """

    def __init__(self, axis, tick, density):
        fine = np.linspace(tick[0], tick[-1], 4001)
        density = np.sinc((fine[:, None] - tick) / (tick[1] - tick[0])) @ density
        self.value = axis.report(fine)
        mass = density[1:] + density[:-1]
        weight = density / density.sum()
        self.cumulative = np.concatenate([[0], np.cumsum(mass)]) / mass.sum()
        self.numbers = {"mean": weight @ self.value}
        self.numbers["sd"] = np.sqrt(weight @ (self.value - self.numbers["mean"]) ** 2)
        for name, q in QUANTILES.items():
            self.numbers[name] = np.interp(q, self.cumulative, self.value)

    def below(self, value):
        return np.interp(value, self.value, self.cumulative)


def marginals(axes, ticks, density):
    """The density falls to e^-WIDTH at the border, so that plain sums are trapezoidal sums."""
    power = np.exp(density - density.max())
    every = range(len(axes))
    return [Marginal(axes[d], ticks[d], power.sum(axis=tuple(i for i in every if i != d))) for d in every]


class Posterior:
    """Marginals, and the error of each number as its change when every second grid point is left out."""

    def __init__(self, function, axes, coarse, points):
        self.axes = axes
        self.boxes = around_mode(function, axes, coarse)
        ticks, density, self.likelihood = evaluate(function, axes, self.boxes, points)
        self.marginals = marginals(axes, ticks, density)
        half = marginals(axes, [t[::2] for t in ticks], density[(slice(None, None, 2),) * len(axes)])
        self.errors = [{name: abs(fine.numbers[name] - rough.numbers[name]) for name in fine.numbers}
                       for fine, rough in zip(self.marginals, half)]
        self.half = half


# ------------------------------------------------------------------ comparison

class Check:
    """The program, its folder, and whether all comparisons agreed."""

    def __init__(self, program, folder):
        program = os.path.abspath(program) if os.sep in program else program
        self.program, self.folder, self.failures, self.count = program, folder, 0, 0
        os.makedirs(folder, exist_ok=True)

    def call(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"idm {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def judge(self, difference, allowed, unit=""):
        """Record one comparison; returns the end of its line."""
        self.count += 1
        good = abs(difference) <= allowed  # False for nan.
        self.failures += not good
        return f"{difference:+.2e} of {allowed:.1e}{unit}" + ("" if good else "   FAILS")

    def simulate(self, problem, name, agent, number, seed):
        path = os.path.join(self.folder, f"{name}.csv")
        self.call("simulate", problem, *settings(agent), "-n", number, "--seed", seed, "-o", path)
        return path

    def scores(self, problem, path, log, agents, also=None):
        for agent in agents:
            every = settings({**agent, **(also or {})})
            theirs = json.loads(self.call("score", problem, path, *every, "--json"))["log_likelihood"]
            ours = float(log.log_likelihood(agent["alpha"], 1 / float(agent["beta"]), agent["eta"]))
            words = " ".join(f"{key}={value}" for key, value in agent.items())
            print(f"  log-likelihood at {words:38} grid {ours:.9f}  idm {theirs:.9f}  {self.judge(theirs - ours, 1e-6)}")

    def fit(self, problem, path, name, free, held, *options):
        run = os.path.join(self.folder, name)
        return json.loads(self.call("fit", problem, path, "-o", run, "--overwrite", "--free", free, "--json",
                                    "--log-likelihood", "none", *settings(held), *options))

    def compare(self, posterior, summary):
        """Means and sds must agree within ERRORS Monte Carlo errors plus the grid's own, which must resolve 5 % of the
        sd; quantiles are compared by their probability on the grid.
        """
        for axis, ours, half, error in zip(posterior.axes, posterior.marginals, posterior.half, posterior.errors):
            theirs = summary["posterior"][axis.name]
            print(f"  {axis.name}: ess {theirs['ess_bulk']:.0f}, tail {theirs['ess_tail']:.0f}")
            for name, mcse in (("mean", "mcse_mean"), ("sd", "mcse_sd")):
                allowed = ERRORS * theirs[mcse] + error[name]
                if name == "sd":
                    allowed = min(allowed, 0.05 * ours.numbers["sd"])
                self.line(name, ours, theirs, error, self.judge(theirs[name] - ours.numbers[name], allowed))
            for name, q in QUANTILES.items():
                ess = min(theirs["ess_bulk"], theirs["ess_tail"])
                below = ours.below(theirs[name])
                allowed = ERRORS * np.sqrt(q * (1 - q) / ess) + abs(below - half.below(theirs[name]))
                self.line(name, ours, theirs, error, self.judge(below - q, allowed, " in probability"))
        best, grid = summary["maximum_log_likelihood"], posterior.likelihood.max()
        # No point of the grid may exceed the maximum, and a fine grid comes close to it.
        verdict = self.judge(best - grid, 0.1 if best >= grid - 1e-6 else 0)
        print(f"  highest log-likelihood: grid {grid:.4f}  idm {best:.4f}  {verdict}")

    @staticmethod
    def line(name, ours, theirs, error, verdict):
        print(f"    {name:5} grid {ours.numbers[name]:+.5f} (± {error[name]:.0e})  idm {theirs[name]:+.5f}  {verdict}")


def settings(values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


# ------------------------------------------------------------------ studies

AGENTS = {
    "optimistic": {"alpha": 0.5, "beta": 1.25, "eta": 0.001},
    "non-adaptive": {"alpha": 0.5, "beta": 1000, "eta": 75},
    "pessimistic": {"alpha": 0.5, "beta": -0.75, "eta": 0.001},
}
FLEXIBLE = {
    "flexible": {"alpha": 0.5, "beta": 1000, "eta": 0.001},
    "inflexible": {"alpha": 10, "beta": 1000, "eta": 0.001},
}


def optimism_and_adaptivity(check, problem):
    axes = [Axis("inverse_beta", 0, 0.5), Axis("eta", 0, 46)]
    free = "{beta: {scale: inverse, prior: {normal: [0, 0.5]}}, eta: {scale: identity, prior: {normal: [0, 46]}}}"
    for seed, (name, agent) in enumerate(AGENTS.items(), 1):
        started = time.perf_counter()
        path = check.simulate("example:diag", name, agent, 1000, seed)
        log = Log(problem, path)
        print(f"\n== diag, {name}, 1/beta and eta free, alpha = .5: {log.histories()} histories")
        check.scores("example:diag", path, log, [agent, {"alpha": 0.5, "beta": "inf", "eta": 0},
                                                 {"alpha": 2, "beta": -3, "eta": -5}])
        posterior = Posterior(lambda b, eta: log.log_likelihood(0.5, b, eta), axes, 31, 61)
        middle = time.perf_counter()
        check.compare(posterior, check.fit("example:diag", path, f"{name}-run", free, {"alpha": 0.5}, "--draws", 5000,
                                           "--seed", seed))
        print(f"  grid {middle - started:.1f} s, fit {time.perf_counter() - middle:.1f} s")


def flexibility(check, problem):
    axes = [Axis("alpha", 0, 2, np.exp)]
    held = {"beta": 1000, "eta": 0.001}
    for seed, (name, agent) in enumerate(FLEXIBLE.items(), 11):
        path = check.simulate("example:diag", name, agent, 1000, seed)
        log = Log(problem, path)
        print(f"\n== diag, {name}, alpha free (log), beta = 1000, eta = .001: {log.histories()} histories")
        check.scores("example:diag", path, log, [agent, {"alpha": 0.05, "beta": "inf", "eta": 0}])
        posterior = Posterior(lambda a: log.log_likelihood(np.exp(a), 0.001, 0.001), axes, 61, 201)
        check.compare(posterior, check.fit("example:diag", path, f"{name}-run",
                                           "{alpha: {scale: log, prior: {normal: [0, 2]}}}", held, "--draws", 5000,
                                           "--seed", seed))


def three(check):
    file, lattice = os.path.join(HERE, "sbc-three.yaml"), {"resolution": 20}
    held = {"alpha": 1, "beta": 4, **lattice, "evaluate": "lookahead"}
    path = check.simulate(file, "three", {**held, "eta": 1.5}, 200, 1)
    agents = [{"alpha": 1, "beta": 4, "eta": 1.5}, {"alpha": 0.3, "beta": -2, "eta": -0.5}]
    for evaluate in ("interpolate", "lookahead"):
        log = Log(three_states(evaluate == "lookahead"), path)
        print(f"\n== three states, {evaluate}: {log.histories()} histories")
        check.scores(file, path, log, agents, {**lattice, "evaluate": evaluate})
    print("  eta free, alpha = 1, beta = 4")
    posterior = Posterior(lambda eta: log.log_likelihood(1, 0.25, eta), [Axis("eta", 0, 2)], 31, 81)
    check.compare(posterior, check.fit(file, path, "three-run", "{eta: {scale: identity, prior: {normal: [0, 2]}}}", held,
                                       "--draws", 1500))


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: grid.py PROGRAM FOLDER")
    check, started = Check(*sys.argv[1:3]), time.perf_counter()
    problem = diagnosis()
    optimism_and_adaptivity(check, problem)
    flexibility(check, problem)
    three(check)
    print(f"\n{check.count} comparisons, {check.failures} disagree; {time.perf_counter() - started:.0f} s")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
