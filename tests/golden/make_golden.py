#!/usr/bin/env python3
"""Write the golden cases: NAME.yaml for each, and expected.csv with what a planner must answer.

Run it anywhere with Python 3.9 and numpy: `python3 tests/golden/make_golden.py`. It takes ten
seconds, writes beside itself, and prints one line a case: the bound on V, the gap of the duality
J - alpha I_pi - beta I_sigma - eta I_rho = (1 - gamma) E V, and the distance from the best choice
to the next where alpha or beta is 0. It fails if any of the three is not as it should be.

Rows of expected.csv are `case,key,value`; a key may hold commas, so it is what stands between the
first and the last comma of a line. Beliefs are written p/p/..., histories
ACTION:OBSERVATION,... Keys:

    value@BELIEF                   V at a belief, at the first step where there is a horizon
    value@start                    where the state is seen: the mean of V over the first state
    policy:ACTION@BELIEF           probability of the action there
    belief:STATE@HISTORY           probability of the state after the history, from the start
    loglik@HISTORY                 log-likelihood of a trajectory from the start; ends in `ACTION:`
    return, complexity.decision, complexity.specification, complexity.recognition

The last four are internal to the agent: averages over the occupancy, (1 - gamma) gamma^t a step, or
with a horizon discounted sums.
"""

import math
import os
import sys

import numpy as np

from cases import CASES, to_yaml
from reference import BOUND, GAP, Forward, Problem, Solution

# Off every lattice used here.
BELIEFS = {
    2: ([0.123, 0.877], [0.4444, 0.5556], [0.937, 0.063]),
    3: ([0.2, 0.33, 0.47], [0.71, 0.04, 0.25], [0.05, 0.873, 0.077]),
    4: ([0.31, 0.24, 0.13, 0.32], [0.04, 0.11, 0.62, 0.23], [0.52, 0.01, 0.09, 0.38]),
}
MOST_STEPS = 5  # of a trajectory


def written(belief):
    return "/".join(f"{p:g}" for p in belief)


class Mind:
    """What the agent may be thinking: one belief, but where it sees the first state and we do not,
    several with weights."""

    def __init__(self, solution):
        problem = solution.problem
        self.solution, self.left, self.score = solution, problem.horizon, 0.0
        self.beliefs = [(1.0, problem.start)]
        if problem.observed:
            corners = np.eye(len(problem.states))
            self.beliefs = [(p, z) for p, z in zip(problem.start, corners) if p > 0]

    def policies(self):
        return [(w, z, self.solution.at(z, self.left)[1]) for w, z in self.beliefs]

    def policy(self):
        return sum(w * policy for w, _, policy in self.policies())

    def act(self, u):
        chance = self.policy()[u]
        self.score += math.log(chance)
        self.beliefs = [(w * policy[u] / chance, z) for w, z, policy in self.policies()]

    def observe(self, u, x):
        moved = [(w, self.solution.recognise(z, u, x, self.left)) for w, z in self.beliefs]
        self.beliefs = moved
        self.left -= 1

    def mean(self):
        return sum(w * z for w, z in self.beliefs)


def trajectories(solution):
    """Two histories with unlike observations: what the agent would most likely do, and one that
    goes on while it can and now and then takes the second best action."""
    problem = solution.problem
    steps = min(MOST_STEPS, problem.horizon or MOST_STEPS)
    for rank, stride in ((0, 1), (1, 2)):
        mind, rows = Mind(solution), []
        for t in range(steps):
            last = t == steps - 1
            policy = mind.policy()
            likely = [u for u in np.argsort(-policy) if policy[u] > 1e-12]
            if rank and not last:
                likely = [u for u in likely if not problem.ends[u]] or likely
            u = likely[min(rank if t % 2 else 0, len(likely) - 1)]
            if last or problem.ends[u]:
                yield rows, u
                break
            x = (1 + t * stride) % len(problem.observations)
            rows = rows + [(u, x)]
            mind.act(u)
            mind.observe(u, x)


def ask_beliefs(solution):
    problem = solution.problem
    k, first = len(problem.states), problem.horizon
    beliefs = [problem.start, *BELIEFS.get(k, ())]
    if problem.observed:
        yield "value@start", solution.lattice.interpolate(solution.backup(first).V, problem.start)
        beliefs = list(np.eye(k))
    for belief in beliefs:
        value, policy, _ = solution.at(np.array(belief), first)
        yield f"value@{written(belief)}", value
        for action, chance in zip(problem.actions, policy):
            yield f"policy:{action}@{written(belief)}", chance


def ask_histories(solution):
    problem = solution.problem
    for rows, final in trajectories(solution):
        mind, told = Mind(solution), []
        for u, x in rows:
            mind.act(u)
            mind.observe(u, x)
            told.append(f"{problem.actions[u]}:{problem.observations[x]}")
        if told:
            for state, chance in zip(problem.states, mind.mean()):
                yield f"belief:{state}@{','.join(told)}", chance
        mind.act(final)
        yield f"loglik@{','.join(told + [problem.actions[final] + ':'])}", mind.score


def ask(name, case):
    """All answers of a case. Prints its line; ends the run where the case is not fit for use."""
    solution = Solution(Problem(case))
    forward = Forward(solution)
    rows = [*ask_beliefs(solution), *ask_histories(solution), ("return", forward.totals[0])]
    parts = ("decision", "specification", "recognition")
    rows += [(f"complexity.{part}", total) for part, total in zip(parts, forward.totals[1:])]
    bound, gap = solution.bound, solution.gap
    print(f"{name:26} bound {bound:.1e}  duality {forward.gap:+.1e}  choice {gap:.1e}")
    if not (bound <= BOUND and abs(forward.gap) <= 1e-10 and gap > GAP):
        sys.exit(f"{name}: not fit to be a golden case")
    return rows


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    lines = [
        "# Made by tests/golden/make_golden.py (numpy, independent of the library): "
        "case,key,value; the key is between the first and the last comma."
    ]
    for name, case in CASES.items():
        with open(os.path.join(here, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(to_yaml(name, case))
        lines += [f"{name},{key},{value:.15g}" for key, value in ask(name, case)]
    with open(os.path.join(here, "expected.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
