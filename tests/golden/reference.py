"""Bounded rational control from its equations: slow, plain, in double precision.

An implementation for comparison only. It follows the equations line by line and shares nothing
with the library: dense matrices over the lattice, value iteration, a dense solve for the occupancy.
"""

import itertools
import math

import numpy as np

BOUND = 1e-11  # largest accepted error of V
PATIENCE = 20  # sweeps without a better bound before rounding is held to have stopped the iteration
TIE = 1e-12  # two values nearer than this, relative to the larger, are a tie
GAP = 1e-7  # a case at a limit must keep its choices further apart than this


# --- the problem, as arrays -----------------------------------------------------------------------


def matrices(spec, actions, rows, columns):
    """A matrix an action from {action: matrix | identity | uniform, "*": ...}."""
    words = {"identity": np.eye(rows, columns), "uniform": np.full((rows, columns), 1 / columns)}
    chosen = [spec[action] if action in spec else spec["*"] for action in actions]
    return np.array([words[m] if isinstance(m, str) else np.array(m, float) for m in chosen])


class Problem:
    """The arrays of a case. Indices: m model, u action, s state, x observation."""

    def __init__(self, case):
        agent = case["agent"]
        self.states, self.actions = case["states"], case["actions"]
        self.observed = case["observations"] == "states"
        self.observations = self.states if self.observed else case["observations"]
        k, actions, width = len(self.states), self.actions, len(self.observations)
        self.start = np.array(case["start"], float)
        self.gamma = float(case["discount"])
        self.horizon = case.get("horizon", 0)
        self.terminal = [action in case.get("terminal", []) for action in actions]
        ends = case.get("ends", []) + case.get("terminal", [])
        self.ends = [action in ends for action in actions]
        self.utility = np.array([np.broadcast_to(case["utility"][u], k) for u in actions], float)
        models = case.get("models", [{"weight": 1}])
        weight = np.array([m["weight"] for m in models], float)
        self.model_prior = weight / weight.sum()
        self.tau = np.array(
            [matrices(m.get("transition", case["transition"]), actions, k, k) for m in models]
        )
        emission = {"*": "identity"} if self.observed else case["observation"]
        self.omega = np.array(
            [matrices(m.get("observation", emission), actions, k, width) for m in models]
        )
        prior = np.array(case.get("action_prior", [1 / len(actions)] * len(actions)), float)
        self.action_prior = prior / prior.sum()
        self.dirichlet = case.get("belief_prior", {}).get("dirichlet")
        self.certainty = case.get("certainty")
        self.alpha, self.beta, self.eta = (float(agent[c]) for c in ("alpha", "beta", "eta"))
        self.evaluate = agent.get("evaluate", "lookahead")
        self.merge = agent.get("surprise", "belief") == "belief"
        self.before = case.get("observation_from") == "before"
        # Where the state is seen, beliefs are corners: the lattice of resolution 1.
        self.r = 1 if self.observed else agent["resolution"]


# --- the lattice ----------------------------------------------------------------------------------


class Lattice:
    """Beliefs whose coordinates are multiples of 1/r, with Freudenthal's triangulation."""

    def __init__(self, k, r):
        self.k, self.r = k, r
        whole = [n for n in itertools.product(range(r + 1), repeat=k) if sum(n) == r]
        self.points = np.array(whole, float) / r
        self.index = {n: i for i, n in enumerate(whole)}

    def vertices(self, z):
        """Corners of the cell that holds z: pairs (index of a point, weight), weights sum to 1."""
        k, r = self.k, self.r
        # Summed from the end, so that rounding keeps y_i >= y_(i+1).
        tail = np.cumsum(np.asarray(z)[::-1])[::-1]
        y = [float(r)] + [min(r * float(t), float(r)) for t in tail[1:]]
        base = [math.floor(v) for v in y]
        part = [v - b for v, b in zip(y, base)]
        order = sorted(range(k), key=lambda i: -part[i])
        levels = [1.0] + [part[i] for i in order]
        corner, cell = list(base), []
        for step in range(k):
            weight = levels[step] - levels[step + 1]
            if weight > 0:
                n = tuple(a - b for a, b in zip(corner, corner[1:] + [0]))
                cell.append((self.index[n], weight))
            corner[order[step]] += 1
        return cell

    def interpolate(self, table, z):
        return sum(weight * table[i] for i, weight in self.vertices(z))


# --- one step ahead -------------------------------------------------------------------------------


def soft(values, prior, temperature):
    """T log sum_i prior_i exp(values_i / T) over the last axis, for every sign and limit of T.

    Returns the aggregate, the policy that attains it, and log(policy / prior).
    """
    sign = math.copysign(1.0, temperature)
    if math.isinf(temperature):
        return values @ prior, np.broadcast_to(prior, values.shape), np.zeros(values.shape)
    best = (sign * np.where(prior > 0, values, -sign * np.inf)).max(-1, keepdims=True) * sign
    if temperature == 0:
        winner = (np.abs(values - best) <= TIE * np.maximum(1, np.abs(best))) & (prior > 0)
        share = (prior * winner).sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            ratio = np.log(winner / share)
        return best[..., 0], prior * winner / share, ratio
    # Actions outside the prior's support can lie beyond the best: they carry no weight.
    exponent = np.where(prior > 0, (values - best) / temperature, 0.0)
    below = (prior * np.expm1(exponent)).sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_mean = np.where(
            below > -0.5, np.log1p(below), np.log((prior * np.exp(exponent)).sum(-1, keepdims=True))
        )
    ratio = exponent - log_mean
    return (best + temperature * log_mean)[..., 0], prior * np.exp(ratio), ratio


def divergence(ratio, prior):
    """KL(policy || prior) over the last axis from log(policy / prior), without cancellation."""
    finite = np.where(np.isfinite(ratio), ratio, 0.0)
    closed = finite * np.exp(finite) - np.expm1(finite)
    series = sum(finite**n * (n - 1) / math.factorial(n) for n in range(2, 16))
    term = np.where(np.abs(finite) < 0.3, series, closed)
    return (prior * np.where(np.isfinite(ratio), term, 1.0)).sum(-1)


def log_belief_prior(problem, z):
    """log of the Dirichlet density, half a cell in from the faces; 0 where none is given."""
    if problem.dirichlet is None:
        return 0.0
    a, margin = problem.dirichlet, 1 / (2 * problem.r)
    constant = math.lgamma(sum(a)) - sum(math.lgamma(v) for v in a)
    inner = [(c + margin) / (1 + len(a) * margin) for c in z]
    return constant + sum((v - 1) * math.log(c) for v, c in zip(a, inner))


def classes(problem, u, m):
    """Observations by successor belief: those with proportional emission columns together."""
    if problem.before and problem.merge:
        return classes_by_trial(problem, u, m)
    groups = []
    for x in range(len(problem.observations)):
        column = problem.omega[m, u, :, x]
        for group in groups if problem.merge else []:
            other = problem.omega[m, u, :, group[0]]
            if np.abs(np.outer(column, other) - np.outer(other, column)).max() <= 1e-12:
                group.append(x)
                break
        else:
            if column.any():  # a column of zeros is proportional to all and never seen
                groups.append([x])
    return groups


def classes_by_trial(problem, u, m):
    """Observations that lead to one belief from each of a hundred random ones."""
    trials = np.random.default_rng(1).dirichlet(np.ones(len(problem.states)), 100)
    found = [successors(problem, z, u, m) for z in trials]
    groups = []
    for x in range(len(problem.observations)):
        for group in groups:
            pairs = [(f[x][1], f[group[0]][1]) for f in found if x in f and group[0] in f]
            if max(np.abs(a - b).max() for a, b in pairs) <= 1e-12:
                group.append(x)
                break
        else:
            if problem.omega[m, u, :, x].any():
                groups.append([x])
    return groups


def successors(problem, z, u, m):
    """{x: (p_m(x|z,u), z_m'(z,u,x))} for the observations that can happen."""
    reached = z @ problem.tau[m, u]
    found = {}
    for x in range(len(problem.observations)):
        seen = problem.omega[m, u, :, x]
        joint = (z * seen) @ problem.tau[m, u] if problem.before else seen * reached
        if joint.sum() > 0:
            found[x] = (joint.sum(), joint / joint.sum())
    return found


def surprise(problem, z, u, m):
    """H_m(z,u), the negative of one step's recognition complexity."""
    found, total = successors(problem, z, u, m), 0.0
    for group in classes(problem, u, m):
        group = [x for x in group if x in found]
        if group:
            p = sum(found[x][0] for x in group)
            total -= p * (math.log(p) - log_belief_prior(problem, found[group[0]][1]))
    return total


def award(problem, z):
    """What a belief earns by being certain: nothing, all, or over a width around the threshold a share."""
    if not problem.certainty:
        return 0.0
    over, width = max(z) - problem.certainty["above"], problem.certainty.get("width", 0.0)
    if width and abs(over) < width / 2:
        return problem.certainty["award"] * (over / width + 0.5)
    return problem.certainty["award"] if over > TIE else 0.0


class Geometry:
    """A step from each of some beliefs: rewards, surprise terms, rows of the successor matrix.

    The award for certainty jumps, so it is paid to each successor at its own belief; values on the
    lattice leave out that of their own point.
    """

    def __init__(self, problem, lattice, beliefs):
        models, actions = problem.tau.shape[:2]
        count = len(beliefs)
        self.rows = np.zeros((count, actions, models, len(lattice.points)))
        self.surprise = np.zeros((count, actions, models))
        self.arrival = np.zeros((count, actions, models))
        self.reward = np.array([problem.utility @ z for z in beliefs])
        self.award = np.array([award(problem, z) for z in beliefs])
        for i, u, m in np.ndindex(count, actions, models):
            if problem.terminal[u]:
                continue
            self.surprise[i, u, m] = surprise(problem, beliefs[i], u, m)
            for p, successor in successors(problem, beliefs[i], u, m).values():
                self.arrival[i, u, m] += p * award(problem, successor)
                for j, weight in lattice.vertices(successor):
                    self.rows[i, u, m, j] += p * weight


class Backup:
    """B* at some beliefs, given V on the lattice: values, policies, log ratios to the priors."""

    def __init__(self, problem, geometry, value, last=False):
        following = geometry.rows @ value + (0 if last else geometry.arrival)
        self.K = problem.eta * geometry.surprise + problem.gamma * following
        future, self.sigma, self.sigma_ratio = soft(self.K, problem.model_prior, problem.beta)
        self.Q = geometry.reward + future
        self.V, self.pi, self.pi_ratio = soft(self.Q, problem.action_prior, problem.alpha)


def closest_choice(problem, table):
    """Smallest distance from the best to what is no tie, where alpha or beta is 0 (else inf)."""
    lasting = np.flatnonzero(np.logical_not(problem.terminal))
    gaps = [math.inf]
    for values, prior, temperature in (
        (table.Q, problem.action_prior, problem.alpha),
        (table.K[:, lasting], problem.model_prior, problem.beta),
    ):
        if temperature == 0:
            signed = math.copysign(1, temperature) * values[..., prior > 0]
            below = signed.max(-1, keepdims=True) - signed
            gaps.extend(below[below > TIE * np.maximum(1, np.abs(signed))])
    return min(gaps)


# --- solving --------------------------------------------------------------------------------------


class Solution:
    """The planner's answer: `steps[n]` is the backup with n steps left, `steps[0]` is None.

    Without a horizon there is one backup, whatever the steps left. `gap` is the smallest distance
    between choices met so far, where a limit makes them hard.
    """

    def __init__(self, problem):
        self.problem = problem
        self.lattice = Lattice(len(problem.states), problem.r)
        self.geometry = Geometry(problem, self.lattice, self.lattice.points)
        self.zero = np.zeros(len(self.lattice.points))
        self.steps = [None]
        self.bound = 0.0
        if problem.horizon:
            for _ in range(problem.horizon):
                left = len(self.steps)
                self.steps.append(Backup(problem, self.geometry, self.next_value(left), left == 1))
        else:
            self.fixed = self.iterate()
            self.steps.append(Backup(problem, self.geometry, self.fixed))
        self.gap = min(closest_choice(problem, table) for table in self.steps[1:])

    def iterate(self):
        """Value iteration to a certified bound, and on until rounding stops it.

        A constant added to V moves B*V by gamma times it only where every action has a successor.
        With terminal actions the extreme differences bound the error on the side of 0 as well.
        """
        problem, value = self.problem, self.zero
        reach = problem.gamma / (1 - problem.gamma)
        self.bound, idle = math.inf, 0
        while self.bound > BOUND or idle < PATIENCE:
            following = Backup(problem, self.geometry, value).V
            low, high = (following - value).min(), (following - value).max()
            if any(problem.terminal):
                low, high = min(low, 0.0), max(high, 0.0)
            value, bound = following, reach * (high - low) / 2
            idle = 0 if bound < self.bound else idle + 1
            self.bound = min(bound, self.bound)
            if not idle:
                answer = value + reach * (high + low) / 2
        return answer

    def next_value(self, left):
        """V on the lattice after this step, with `left` steps left before it."""
        if not self.problem.horizon:
            return self.fixed
        return self.zero if left == 1 else self.steps[left - 1].V

    def backup(self, left):
        return self.steps[left if self.problem.horizon else 1]

    def at(self, z, left):
        """Value, decision policy and specification policy at any belief."""
        if self.problem.evaluate == "interpolate":
            table = self.backup(left)
            value, pi, sigma = (self.lattice.interpolate(t, z) for t in (table.V, table.pi, table.sigma))
            return value + award(self.problem, z), pi, sigma
        last = bool(self.problem.horizon) and left == 1
        geometry = Geometry(self.problem, self.lattice, [z])
        here = Backup(self.problem, geometry, self.next_value(left), last)
        self.gap = min(self.gap, closest_choice(self.problem, here))
        return here.V[0] + geometry.award[0], here.pi[0], here.sigma[0]

    def recognise(self, z, u, x, left):
        """The mean belief after u and x; models that rule x out are dropped."""
        sigma = self.at(z, left)[2][u]
        found = [successors(self.problem, z, u, m).get(x) for m in range(len(sigma))]
        total = sum(s for s, f in zip(sigma, found) if f)
        return sum(s / total * f[1] for s, f in zip(sigma, found) if f)


# --- the forward recursion ------------------------------------------------------------------------


class Forward:
    """Return and complexities of the agent in its own eyes, on the lattice, and the duality's gap.

    Averages over the occupancy, (1 - gamma) gamma^t a step, or with a horizon discounted sums.
    """

    def __init__(self, solution):
        problem, lattice = solution.problem, solution.lattice
        start = np.zeros(len(lattice.points))
        for i, weight in lattice.vertices(problem.start):
            start[i] += weight
        self.totals = np.zeros(4)
        if problem.horizon:
            flow = start
            for left in range(problem.horizon, 0, -1):
                table = solution.backup(left)
                self.add(solution, table, flow, left == 1)
                flow = problem.gamma * flow @ self.moves(solution, table)
            target = start @ solution.backup(problem.horizon).V + award(problem, problem.start)
            self.totals[0] += award(problem, problem.start)
        else:
            table, rate = solution.backup(1), 1 - problem.gamma
            system = np.eye(len(start)) - problem.gamma * self.moves(solution, table).T
            self.add(solution, table, np.linalg.solve(system, rate * start))
            target = rate * (start @ table.V + award(problem, problem.start))
            self.totals[0] += rate * award(problem, problem.start)
        self.gap = self.dual(problem) - target

    def moves(self, solution, table):
        return np.einsum("zu,zum,zumy->zy", table.pi, table.sigma, solution.geometry.rows)

    def add(self, solution, table, mass, last=False):
        problem, geometry = solution.problem, solution.geometry
        specification = divergence(table.sigma_ratio, problem.model_prior)
        recognition = -(table.sigma * geometry.surprise).sum(-1)
        arrival = 0 if last else problem.gamma * (table.sigma * geometry.arrival).sum(-1)
        self.totals += [
            mass @ (table.pi * (geometry.reward + arrival)).sum(-1),
            mass @ divergence(table.pi_ratio, problem.action_prior),
            mass @ (table.pi * specification).sum(-1),
            mass @ (table.pi * recognition).sum(-1),
        ]

    def dual(self, problem):
        # At an infinite temperature the complexity is 0, and so is its product in the limit.
        prices = [0 if math.isinf(t) else t for t in (problem.alpha, problem.beta, problem.eta)]
        return self.totals[0] - np.dot(prices, self.totals[1:])
