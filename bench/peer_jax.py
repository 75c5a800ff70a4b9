#!/usr/bin/env python3
"""One DIAG likelihood in JAX, computed as in the paper: the peer of the library.

Usage: peer_jax.py DATA.csv [--repeat N] [--alpha A --beta B --eta E]

DATA.csv has the columns agent, trajectory, step, action, observation with DIAG's labels; the
observation of a trajectory's last row may be empty. Prints one JSON object: log_likelihood, seconds
(processor time, the best of N calls, after compilation), wall, value_start, jax.

The scheme is that of the paper (Theorems 4 and 5, Appendix B): a grid of 100 beliefs, values by
state

    lambda(s,z)    = sum_u pi(u|z) [nu(s,z,u) - alpha log pi(u|z)/prior(u)]
    nu(s,z,u)      = utility(s,u)
                     + sum_m sigma(m|z,u) [kappa(s,z,u,m) - beta log sigma(m|z,u)/prior(m)]
    kappa(s,z,u,m) = E_(s',x|s,u,m) [-eta log p_m(x|z,u) + gamma lambda(s',z'_m(z,u,x))]

with pi and sigma the softmax of their expectations under the belief. All three are swept 100 times
from zero in single precision, and successor beliefs are recomputed in every sweep. XLA detects that
they are constant and moves them out of the loop; --recompute prevents this optimisation. The log is
then filtered with the mean belief, and policies are interpolated linearly between grid points. One
thread.

With --sample DRAWS, the program runs the paper's chain instead (beta and eta free, alpha fixed),
writes one draw per line, and prints seconds of processor time, wall-clock seconds and the
acceptance rate.
"""

import argparse
import csv
import json
import os
import sys
import time
from typing import NamedTuple

# Set before JAX starts: one thread in every library.
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

ACTIONS = ["declare_healthy", "declare_diseased", "monitor"]
OBSERVATIONS = ["negative", "positive"]


class Problem(NamedTuple):
    """DIAG. Indices: m model, u action, s state, t next state, x observation.

    A belief is the probability of the second state, diseased.
    """

    transition: jax.Array  # [u][s][t]
    emission: jax.Array  # [m][t][x]
    utility: jax.Array  # [u][s]
    model_prior: jax.Array  # [m]
    action_prior: jax.Array  # [u]
    discount: jax.Array
    start: jax.Array


class Log(NamedTuple):
    """N trajectories padded to T decisions; `decided` is 1 where a decision was made, otherwise 0."""

    action: jax.Array  # [N][T]
    observation: jax.Array  # [N][T]
    decided: jax.Array  # [N][T]


class Plan(NamedTuple):
    """Output of the planner for the filter, over the grid of beliefs z."""

    state_value: jax.Array  # lambda [s][z]
    decision: jax.Array  # pi [z][u]
    specification: jax.Array  # sigma [z][u][m]


def diag():
    accuracy = [0.6, 0.7, 0.8]
    problem = Problem(
        transition=np.array([np.full((2, 2), 0.5), np.full((2, 2), 0.5), np.eye(2)]),
        emission=np.array([[[a, 1 - a], [1 - a, a]] for a in accuracy]),
        utility=np.array([[10.0, -36.0], [-36.0, 10.0], [-1.0, -1.0]]),
        model_prior=np.full(3, 1 / 3),
        action_prior=np.full(3, 1 / 3),
        discount=0.95,
        start=0.5,
    )
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), problem)


# --- planner --------------------------------------------------------------------------------------


def by_state(belief):
    """Probabilities of both states, along a new first axis."""
    return jnp.stack([1 - belief, belief])


def locate(belief, points):
    """Grid cell of a belief: index of its lower end, and relative position within the cell."""
    position = belief * (points - 1)
    lower = jnp.clip(jnp.floor(position), 0, points - 2)
    return lower.astype(jnp.int32), position - lower


def interpolate_state_value(state_value, belief):
    """lambda(s, .) between grid points, for each s in the first axis.

    Weights are those of the grid points given the state, so that V = sum_s z_s lambda(s, z) is
    linear between them. Interpolation of lambda would not give the fixed point of B* on the grid.
    """
    points = state_value.shape[1]
    lower, along = locate(belief, points)
    end = lower.astype(belief.dtype) / (points - 1)
    low, high = (1 - along) * by_state(end), along * by_state(end + 1 / (points - 1))
    share = jnp.where(low + high > 0, high / (low + high), along)
    return state_value[:, lower] + share * (state_value[:, lower + 1] - state_value[:, lower])


def soft(values, prior, temperature, axis):
    """Policy over an axis, and temperature times its log ratio to the prior."""
    log_prior = jnp.log(prior)
    log_policy = jax.nn.log_softmax(values / temperature + log_prior, axis)
    return jnp.exp(log_policy), temperature * (log_policy - log_prior)


def predict(emission, transition, belief):
    """p_m(x|z,u) and the successor belief, for one action's transition.

    Emissions are [m][t][x], or [m][t] for one observation.
    """
    ahead = (1 - belief) * transition[0, 1] + belief * transition[1, 1]
    healthy, diseased = emission[:, 0] * (1 - ahead), emission[:, 1] * ahead
    return healthy + diseased, diseased / (healthy + diseased)


def decision_policy(problem, alpha, belief, nu):
    return soft((belief[:, None] * nu).sum(0), problem.action_prior[:, None], alpha, axis=0)


def specification_policy(problem, beta, belief, kappa):
    return soft((belief[:, None, None] * kappa).sum(0), problem.model_prior[:, None], beta, axis=1)


def sweep(problem, alpha, beta, eta, grid, nu, kappa):
    """lambda [s][z] from nu [s][u][z], nu from kappa [s][u][m][z], kappa from the new lambda.

    The grid is the last axis, and short sums are written out: XLA compiles them to vector loops,
    whereas einsum would call a matrix product for every grid point (four times slower).
    """
    belief = by_state(grid)
    pi, price = decision_policy(problem, alpha, belief, nu)
    state_value = (pi * (nu - price)).sum(1)

    sigma, price = specification_policy(problem, beta, belief, kappa)
    nu = problem.utility.T[:, :, None] + (sigma * (kappa - price)).sum(2)

    over_grid = jax.vmap(predict, (None, None, 0), -1)
    chance, after = jax.vmap(over_grid, (None, 0, None))(problem.emission, problem.transition, grid)
    ahead = interpolate_state_value(state_value, after)  # [t][u][m][x][z]
    worth = problem.discount * ahead - eta * jnp.log(chance)
    seen = (problem.emission.transpose(1, 0, 2)[:, None, :, :, None] * worth).sum(3)
    kappa = (problem.transition.transpose(2, 1, 0)[:, :, :, None, None] * seen[:, None]).sum(0)
    return state_value, nu, kappa


def plan(problem, log_alpha, log_beta, log_eta, points=100, sweeps=100, recompute=False):
    """The paper's backward recursion, and the resulting policies.

    With `recompute`, XLA cannot move the successor beliefs out of the loop.
    """
    alpha, beta, eta = jnp.exp(log_alpha), jnp.exp(log_beta), jnp.exp(log_eta)
    grid = jnp.linspace(0, 1, points)
    actions, models = len(problem.action_prior), len(problem.model_prior)
    shapes = (2, points), (2, actions, points), (2, actions, models, points)

    def body(_, values):
        _, nu, kappa = values
        here, nu = jax.lax.optimization_barrier((grid, nu)) if recompute else (grid, nu)
        return sweep(problem, alpha, beta, eta, here, nu, kappa)

    zero = tuple(jnp.zeros(shape) for shape in shapes)
    state_value, nu, kappa = jax.lax.fori_loop(0, sweeps, body, zero)
    pi, _ = decision_policy(problem, alpha, by_state(grid), nu)
    sigma, _ = specification_policy(problem, beta, by_state(grid), kappa)
    return Plan(state_value, decision=pi.T, specification=jnp.moveaxis(sigma, -1, 0))


def value_at(solved, belief):
    belief = jnp.asarray(belief, float)
    return by_state(belief) @ interpolate_state_value(solved.state_value, belief)


# --- likelihood -----------------------------------------------------------------------------------


def trajectory_log_likelihood(problem, solved, action, observation, decided):
    """log of the product of pi(u_t|z_t) over one padded trajectory, filtered by the mean belief."""

    def between(table, u, lower, along):
        low, high = table[lower, u], table[lower + 1, u]
        return low + along * (high - low)

    def step(belief, row):
        u, x, counts = row
        cell = locate(belief, len(solved.decision))
        log_chance = jnp.log(between(solved.decision, u, *cell))
        sigma = between(solved.specification, u, *cell)
        _, after = predict(problem.emission[:, :, x], problem.transition[u], belief)
        return sigma @ after, jnp.where(counts, log_chance, 0)

    return jax.lax.scan(step, problem.start, (action, observation, decided))[1].sum()


def make_log_likelihood(problem, **options):
    """One compiled function of (log alpha, log beta, log eta, log).

    It returns the log-likelihood and the value at the start. Options are those of `plan`.
    """

    @jax.jit
    def log_likelihood(log_alpha, log_beta, log_eta, log):
        solved = plan(problem, log_alpha, log_beta, log_eta, **options)
        one = lambda *row: trajectory_log_likelihood(problem, solved, *row)
        return jax.vmap(one)(*log).sum(), value_at(solved, problem.start)

    return log_likelihood


# --- sampling -------------------------------------------------------------------------------------


def make_sampler(log_likelihood, log_alpha, log, burn_in=1000, steps=10000, every=10):
    """The paper's chain over (log beta, log eta) with alpha fixed, as one compiled function of a
    key.

    A random walk of sd 0.1 under flat priors from beta = eta = 1. It returns every tenth step after
    the burn-in, and whether each step was accepted.
    """

    def step(state, key):
        theta, total = state
        walk, coin = jax.random.split(key)
        proposal = theta + 0.1 * jax.random.normal(walk, (2,))
        proposed, _ = log_likelihood(log_alpha, proposal[0], proposal[1], log)
        accept = jnp.log(jax.random.uniform(coin)) < proposed - total
        state = jnp.where(accept, proposal, theta), jnp.where(accept, proposed, total)
        return state, (state[0], accept)

    @jax.jit
    def run(key):
        start = jnp.zeros(2)
        first, _ = log_likelihood(log_alpha, start[0], start[1], log)
        keys = jax.random.split(key, burn_in + steps)
        _, (path, accepted) = jax.lax.scan(step, (start, first), keys)
        return path[burn_in + every - 1 :: every], accepted[burn_in:].mean()

    return run


def sample(options, log_likelihood, log):
    """Run the chain once after compilation, and write its draws of beta and eta."""
    run = make_sampler(log_likelihood, jnp.log(jnp.asarray(options.alpha, float)), log)
    compiled = run.lower(jax.random.key(0)).compile()
    begun, wall = time.process_time(), time.perf_counter()
    draws, accepted = jax.block_until_ready(compiled(jax.random.key(options.seed)))
    seconds, wall = time.process_time() - begun, time.perf_counter() - wall
    np.savetxt(options.sample, np.exp(np.asarray(draws, float)), fmt="%.17g")
    print(json.dumps({"seconds": seconds, "wall": wall, "accepted": float(accepted), "jax": jax.__version__}))


def read_log(path):
    """Read a log with DIAG's labels, and pad it."""
    trajectories = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows = trajectories.setdefault((row["agent"], row["trajectory"]), [])
            seen = row["observation"]
            rows.append(
                (int(row["step"]), ACTIONS.index(row["action"]),
                 OBSERVATIONS.index(seen) if seen else -1)
            )
    if not trajectories:
        raise ValueError("no rows")
    longest = max(len(rows) for rows in trajectories.values())
    action, observation, decided = np.zeros((3, len(trajectories), longest), np.int32)
    for n, rows in enumerate(trajectories.values()):
        rows.sort()
        if any(x < 0 for _, _, x in rows[:-1]):
            raise ValueError("only the last observation of a trajectory may be empty")
        decided[n, : len(rows)] = 1
        action[n, : len(rows)] = [u for _, u, _ in rows]
        observation[n, : len(rows)] = [max(x, 0) for _, _, x in rows]
    return Log(*(jnp.asarray(a) for a in (action, observation, decided)))


# --- command --------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", metavar="DATA.csv")
    parser.add_argument("--repeat", type=int, default=20, metavar="N")
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--beta", type=float, default=1.25)
    parser.add_argument("--eta", type=float, default=0.001)
    parser.add_argument("--sweeps", type=int, default=100, help="the paper's scheme: 100")
    parser.add_argument("--recompute", action="store_true", help="successor beliefs in every sweep")
    parser.add_argument("--sample", metavar="DRAWS", help="run the paper's chain, write its draws")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--double", action="store_true", help="double precision")
    return parser.parse_args()


def main():
    options = arguments()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    jax.config.update("jax_enable_x64", options.double)
    try:
        log = read_log(options.data)
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"{options.data}: {error}")
    log_likelihood = make_log_likelihood(diag(), sweeps=options.sweeps, recompute=options.recompute)
    if options.sample:
        sample(options, log_likelihood, log)
        return
    theta = [jnp.log(jnp.asarray(v, float)) for v in (options.alpha, options.beta, options.eta)]
    total, value = jax.block_until_ready(log_likelihood(*theta, log))
    best = wall = float("inf")
    for _ in range(max(1, options.repeat)):
        begun, started = time.process_time(), time.perf_counter()
        jax.block_until_ready(log_likelihood(*theta, log))
        best = min(best, time.process_time() - begun)
        wall = min(wall, time.perf_counter() - started)
    # A policy that underflows to 0 gives -inf, which JSON can represent only as a string.
    report = {
        "log_likelihood": float(total) if np.isfinite(total) else str(float(total)),
        "seconds": best,
        "wall": wall,
        "value_start": float(value),
        "jax": jax.__version__,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
