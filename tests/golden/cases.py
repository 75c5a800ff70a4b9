"""The golden cases: problems as they stand in a file, from Python, and a writer for them."""

import copy
import math
import random

INF = math.inf


def agent(alpha, beta, eta, resolution=None, **more):
    chosen = {"planner": "bounded-rational", "alpha": alpha, "beta": beta, "eta": eta}
    if resolution:
        chosen["resolution"] = resolution
    return chosen | more


def with_agent(problem, *numbers, **more):
    return copy.deepcopy(problem) | {"agent": agent(*numbers, **more)}


# --- problems written by hand ---------------------------------------------------------------------

DIAG = {
    "states": ["healthy", "diseased"],
    "actions": ["declare_healthy", "declare_diseased", "monitor"],
    "observations": ["negative", "positive"],
    "start": [0.5, 0.5],
    "discount": 0.95,
    "ends": ["declare_healthy", "declare_diseased"],
    "transition": {
        "monitor": "identity",
        "declare_healthy": "uniform",
        "declare_diseased": "uniform",
    },
    "observation": {"*": [[0.7, 0.3], [0.3, 0.7]]},
    "utility": {"monitor": -1, "declare_healthy": [10, -36], "declare_diseased": [-36, 10]},
    "models": [
        {"weight": 1, "observation": {"*": [[0.6, 0.4], [0.4, 0.6]]}},
        {"weight": 1},
        {"weight": 1, "observation": {"*": [[0.8, 0.2], [0.2, 0.8]]}},
    ],
}

TIGER = {
    "states": ["left", "right"],
    "actions": ["listen", "open_left", "open_right"],
    "observations": ["hear_left", "hear_right"],
    "start": [0.5, 0.5],
    "discount": 0.95,
    "transition": {"listen": "identity", "*": "uniform"},
    "observation": {"listen": [[0.85, 0.15], [0.15, 0.85]], "*": "uniform"},
    "utility": {"listen": -1, "open_left": [-100, 10], "open_right": [10, -100]},
}

# A jar of beads: bets end the trial, draws cost little.
BEADS = {
    "states": ["high", "low"],
    "actions": ["draw", "bet_high", "bet_low"],
    "observations": ["green", "blue"],
    "start": [0.4, 0.6],
    "discount": 0.9,
    "terminal": ["bet_high", "bet_low"],
    "transition": {"*": "identity"},
    "observation": {"*": [[0.6, 0.4], [0.4, 0.6]]},
    "utility": {"draw": -0.1, "bet_high": [7, 0], "bet_low": [0, 5]},
    "models": [
        {"weight": 2},
        {"weight": 1, "observation": {"draw": [[0.75, 0.25], [0.35, 0.65]], "*": "uniform"}},
    ],
}

# Nothing here is symmetric and no belief is absorbing, so that no two choices tie at a limit.
DRIFT = {
    "states": ["calm", "rough"],
    "actions": ["rest", "probe", "act"],
    "observations": ["low", "middle", "high"],
    "start": [0.65, 0.35],
    "discount": 0.9,
    "transition": {
        "rest": [[0.93, 0.07], [0.12, 0.88]],
        "probe": [[0.97, 0.03], [0.05, 0.95]],
        "act": [[0.45, 0.55], [0.7, 0.3]],
    },
    "observation": {
        "rest": [[0.5, 0.3, 0.2], [0.25, 0.35, 0.4]],
        "probe": [[0.72, 0.2, 0.08], [0.1, 0.24, 0.66]],
        "act": [[0.4, 0.37, 0.23], [0.3, 0.31, 0.39]],
    },
    "utility": {"rest": [0.6, -0.9], "probe": -0.4, "act": [-2.5, 3.1]},
    "models": [
        {"weight": 3},
        {
            "weight": 1,
            "transition": {
                "rest": [[0.85, 0.15], [0.2, 0.8]],
                "probe": [[0.9, 0.1], [0.08, 0.92]],
                "act": [[0.35, 0.65], [0.6, 0.4]],
            },
        },
        {
            "weight": 1.5,
            "observation": {"*": [[0.55, 0.3, 0.15], [0.17, 0.26, 0.57]]},
            "transition": {
                "rest": [[0.96, 0.04], [0.09, 0.91]],
                "*": [[0.62, 0.38], [0.27, 0.73]],
            },
        },
    ],
}

# Two options, one of which is good: which, changes now and then.
REVERSAL = {
    "states": ["a_good", "b_good"],
    "actions": ["a", "b"],
    "observations": ["win", "loss"],
    "start": [0.5, 0.5],
    "discount": 0.9,
    "transition": {"*": [[0.944, 0.056], [0.056, 0.944]]},
    "observation": {
        "a": [[0.84, 0.16], [0.15, 0.85]],
        "b": [[0.15, 0.85], [0.84, 0.16]],
    },
    "utility": {"a": [0.84, 0.15], "b": [0.15, 0.84]},
}

BEFORE = {"observation_from": "before"}


# --- problems drawn at random ---------------------------------------------------------------------


def draw_matrix(source, rows, columns):
    """Rows of thousandths that sum to 1."""
    matrix = []
    for _ in range(rows):
        weight = [source.uniform(0.1, 1) ** 2 for _ in range(columns)]
        row = [round(w / sum(weight), 3) for w in weight[:-1]]
        matrix.append(row + [round(1 - sum(row), 3)])
    return matrix


def draw_problem(seed, states, actions, observations, weights):
    """Random dynamics and utilities; every model but the first has its own."""
    source = random.Random(seed)
    k = len(states)
    seen = 0 if observations == "states" else len(observations)

    def dynamics():
        parts = {"transition": {u: draw_matrix(source, k, k) for u in actions}}
        if seen:
            parts["observation"] = {u: draw_matrix(source, k, seen) for u in actions}
        return parts

    problem = {"states": states, "actions": actions, "observations": observations}
    problem |= {"start": draw_matrix(source, 1, k)[0], "discount": 0.9} | dynamics()
    problem["utility"] = {u: [round(source.uniform(-3, 3), 2) for _ in states] for u in actions}
    first, *others = weights
    problem["models"] = [{"weight": first}] + [{"weight": w} | dynamics() for w in others]
    return problem


THREE = draw_problem(3, ["low", "mid", "top"], ["a", "b", "c"], ["dim", "bright"], [2, 1, 0.5])
FOUR = draw_problem(
    seed=4,
    states=["north", "east", "south", "west"],
    actions=["turn", "stay", "push"],
    observations=["dark", "grey", "light"],
    weights=[1, 3],
)
FIVE = draw_problem(
    5, ["den", "hill", "lake", "road", "wood"], ["left", "right", "wait"], "states", [1, 2]
)


def ties():
    """An action and a model stand twice, so that what is best is always shared."""
    problem = copy.deepcopy(DRIFT)
    problem["actions"] = ["rest", "probe", "act", "again"]
    problem["action_prior"] = [0.25, 0.25, 0.1, 0.4]
    for table in (problem["transition"], problem["observation"], problem["utility"]):
        table["again"] = table["act"]
    for model in problem["models"][1:]:
        if "act" in model["transition"]:
            model["transition"]["again"] = model["transition"]["act"]
    problem["models"] += [copy.deepcopy(model) | {"weight": 0.5} for model in problem["models"]]
    return problem


def impossible():
    """A model in which one observation never happens."""
    problem = copy.deepcopy(THREE)
    problem["observations"] = ["dim", "bright", "flash"]
    problem["observation"] = {"*": [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.25, 0.25, 0.5]]}
    problem["models"] = [
        {"weight": 1},
        {"weight": 2, "observation": {"*": [[0.6, 0.4, 0], [0.1, 0.9, 0], [0.45, 0.55, 0]]}},
    ]
    return problem


# --- the list -------------------------------------------------------------------------------------

INTERPOLATE = {"evaluate": "interpolate"}

def reset():
    """Tiger whose doors show what was behind them: a reset that tells of the state before it."""
    problem = copy.deepcopy(TIGER)
    problem["observation"]["open_left"] = [[0.9, 0.1], [0.2, 0.8]]
    return problem


CASES = {
    # the paper's agents
    "diag_flexible": with_agent(DIAG, 0.001, 1000, 0.001, 99, **INTERPOLATE),
    "diag_inflexible": with_agent(DIAG, 10, 1000, 0.001, 99, **INTERPOLATE),
    "diag_optimistic": with_agent(DIAG, 0.5, 1.25, 0.001, 99, **INTERPOLATE),
    "diag_pessimistic": with_agent(DIAG, 0.5, -0.75, 0.001, 99, **INTERPOLATE),
    "diag_adaptive": with_agent(DIAG, 0.5, 1000, 0.001, 99, **INTERPOLATE),
    "diag_nonadaptive": with_agent(DIAG, 0.5, 1000, 75, 99, **INTERPOLATE),
    # signs and limits
    "alpha_negative": with_agent(DRIFT, -0.8, 2, 0.3, 37),
    "alpha_zero": with_agent(DRIFT, 0, 0.4, 0.3, 37),
    "alpha_zero_support": with_agent(DRIFT, 0, 0.4, 0.3, 37) | {"action_prior": [0.3, 0.7, 0]},
    "alpha_minus_zero": with_agent(DRIFT, -0.0, 2, 0, 37),
    "alpha_inf": with_agent(DRIFT, INF, 0.5, 0.3, 37) | {"action_prior": [0.2, 0.5, 0.3]},
    "beta_zero": with_agent(DRIFT, 0.5, 0, 0.3, 37),
    "beta_minus_zero": with_agent(DRIFT, 0.5, -0.0, 0.3, 37, **INTERPOLATE),
    "beta_minus_inf": with_agent(DRIFT, 0.5, -INF, 0, 37),
    "best_of_worst": with_agent(DRIFT, 0, -0.0, 0.1, 37),
    "ties": with_agent(ties(), 0, 0, 0.2, 37),
    "near_limits": with_agent(DRIFT, 1e-6, 1e9, 1e-9, 37),
    "eta_negative": with_agent(DRIFT, 0.5, 0.8, -2, 37),
    # more states, uneven priors
    "three_states": with_agent(THREE, 0.4, 0.7, 0.5, 12) | {"action_prior": [0.5, 0.2, 0.3]},
    "three_states_interpolate": with_agent(THREE, 0.4, -0.7, 0.5, 11, **INTERPOLATE)
    | {"action_prior": [0.5, 0.2, 0.3]},
    "four_states": with_agent(FOUR, 0.3, 0.5, 0.2, 6) | {"action_prior": [1, 2, 4]},
    "four_states_interpolate": with_agent(FOUR, -0.6, 0.5, 0.2, 5, **INTERPOLATE),
    # the surprise term
    "tiger_belief": with_agent(TIGER, 0.5, INF, 25, 99, surprise="belief"),
    "tiger_observation": with_agent(TIGER, 0.5, INF, 25, 99, surprise="observation"),
    "impossible": with_agent(impossible(), 0.4, 0.7, 0.6, 10),
    "dirichlet": with_agent(DRIFT, 0.5, 0.8, 0.7, 37)
    | {"belief_prior": {"dirichlet": [0.7, 2.5]}},
    "dirichlet_three": with_agent(THREE, 0.4, 0.7, -0.5, 9, **INTERPOLATE)
    | {"belief_prior": {"dirichlet": [2, 1, 3.5]}},
    # utility of the belief, episodes that end
    "certainty": with_agent(DIAG, 0.5, 1.25, 0.5, 99)
    | {"certainty": {"above": 0.9, "award": 2.5}},
    "certainty_horizon": with_agent(DIAG, 0.5, 1.25, 0.5, 40)
    | {"certainty": {"above": 0.8, "award": 2.5}, "horizon": 6},
    "certainty_three": with_agent(THREE, 0.4, 0.7, -0.5, 9, **INTERPOLATE)
    | {"certainty": {"above": 0.6, "award": 1.5}},
    "certainty_width": with_agent(THREE, 0.4, -0.7, 0, 12)
    | {"certainty": {"above": 0.6, "award": 1.5, "width": 0.3}},
    "terminal": with_agent(BEADS, 0.2, 0.6, 0.4, 50),
    "terminal_patient": with_agent(BEADS, 0.2, -0.6, 0.4, 50) | {"discount": 0.99},
    "terminal_horizon": with_agent(BEADS, 0.2, -0.6, 0.1, 50) | {"horizon": 12, "discount": 1},
    "horizon": with_agent(DRIFT, 0.5, 0.8, 0.3, 37, **INTERPOLATE) | {"horizon": 7},
    # what is seen comes from the state acted in
    "before": with_agent(DRIFT, 0.5, 0.8, 0.3, 37) | BEFORE,
    "before_interpolate": with_agent(THREE, 0.4, -0.7, 0.5, 11, **INTERPOLATE) | BEFORE,
    "before_reversal": with_agent(REVERSAL, 0.1, INF, 0.2, 60) | BEFORE,
    "before_reset": with_agent(reset(), 0.5, INF, 5, 40, surprise="belief") | BEFORE,
    "before_reset_observation": with_agent(reset(), 0.5, INF, 5, 40, surprise="observation")
    | BEFORE,
    "before_horizon": with_agent(BEADS, 0.2, -0.6, 0.1, 50)
    | {"horizon": 6, "discount": 1}
    | BEFORE,
    # the state is seen
    "mdp": with_agent(FIVE, 0.4, 0.7, 0.5),
}


# --- the file -------------------------------------------------------------------------------------


def flow(value):
    """YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    return '"*"' if value == "*" else str(value)


def block(key, value, indent):
    """`key: value`, with matrices one action a line."""
    if key in ("transition", "observation"):
        lines = [f"{indent}{key}:"]
        return lines + [f"{indent}  {flow(u)}: {flow(m)}" for u, m in value.items()]
    return [f"{indent}{key}: {flow(value)}"]


def to_yaml(name, case):
    lines = [f"name: {name}"]
    for key, value in case.items():
        if key != "models":
            lines += block(key, value, "")
            continue
        lines.append("models:")
        for model in value:
            body = [line for item in model.items() for line in block(*item, "    ")]
            lines += ["  - " + body[0].lstrip()] + body[1:]
    return "\n".join(lines) + "\n"
