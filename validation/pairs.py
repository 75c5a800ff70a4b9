#!/usr/bin/env python3
"""Recovery of every planner's agents by every inverse planner: the table of docs/method/validation.md.

usage: pairs.py PROGRAM FOLDER

Rows are agents, columns inverse planners. For every pair the script simulates a log of the planner and another one for
scoring, fits the first, and compares. A pair *recovers* if every free number is within 4 posterior sds or 15 % of the
truth (and 0.1 of a number below 1). Otherwise it *recovers up to* the directions that the inverse planner reports as
open, if the second log has at most 0.01 nats per decision less than under the truth. Otherwise the cell refers to the
refusal, below the table. A second table has the inverse planners with other evidence, which infer utilities: scores,
comparisons and policies of successive batches are computed here, not by the program. Sets *recover* if every range
contains the truth. Exit code 1 if a pair that ends within 2 minutes of processor time is neither recovered nor refused.
Results are kept in FOLDER, so that the same command continues where it stopped.
"""
import csv
import json
import math
import pathlib
import random
import resource
import signal
import subprocess
import sys

MDP = """states: [a, b, c]
actions: [x, y]
observations: states
start: [0.6, 0.3, 0.1]
discount: 0.8
transition: {x: [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], y: [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.6, 0.3, 0.1]]}
utility: {x: [1, 0, -0.5], y: [0, 0.7, 0.4]}
"""
HIDDEN = """states: [good, bad]
actions: [use, mend, look]
observations: [fine, odd]
start: [0.8, 0.2]
discount: 0.9
transition: {use: [[0.85, 0.15], [0, 1]], mend: [[1, 0], [0.9, 0.1]], look: [[0.95, 0.05], [0, 1]]}
observation: {"*": [[0.6, 0.4], [0.4, 0.6]], look: [[0.85, 0.15], [0.15, 0.85]]}
utility: {use: [1, -1], mend: [-0.6, -0.6], look: [-0.1, -0.1]}
"""
BANDIT = """states: [a_good, b_good]
actions: [a, b]
observations: [win, loss]
start: uniform
discount: 0
transition: {'*': [[0.944, 0.056], [0.056, 0.944]]}
observation_from: before
observation: {a: [[0.84, 0.16], [0.15, 0.85]], b: [[0.15, 0.85], [0.84, 0.16]]}
utility: {a: [1, -1], b: [-1, 1]}
"""
TIGER = """states: [left, right]
actions: [listen, open_left, open_right]
observations: [hear_left, hear_right]
start: uniform
discount: 0.95
transition: {listen: identity, open_left: uniform, open_right: uniform}
observation: {listen: [[0.85, 0.15], [0.15, 0.85]], open_left: uniform, open_right: uniform}
utility: {listen: -1, open_left: [-100, 10], open_right: [10, -100]}
"""
MODELS = "models: {perturb: {transition: 0.3}}\nutility:"
# planner, and whether states are observed or another name of the row: problem, agent, free blocks
AGENTS = {
    ("bounded-rational", "observed"): (MDP, "alpha: 0.5, lapse: 0.1", "alpha,lapse"),
    ("bounded-rational", "utility"): (MDP, "alpha: 0.5", "utility"),
    ("bounded-rational", "hidden"): (HIDDEN, "alpha: 0.3, resolution: 40", "alpha"),
    ("bounded-rational", "beliefs"): (HIDDEN, "alpha: 0.3, resolution: 40", "utility"),
    ("cvar-robust", "hidden"): (HIDDEN.replace("utility:", "models: {perturb: {observation: 0.3}}\nutility:"),
                                "alpha: 0.3, risk_level: 0.6, resolution: 40", "alpha"),
    ("decision-rule", "observed"): (MDP, "weights: {x: [0, 0, 0, 0], y: [0, 1, -0.5, 0.3]}", "weights"),
    ("decision-rule", "hidden"): (HIDDEN, "weights: {use: [0, 0, 0], mend: [0, -1.5, 1], look: [0, -1, 0.2]}", "weights"),
    ("decision-network", "observed"): (MDP, "hidden: 4, seed: 1", "network"),
    ("value-iteration-network", "observed"): (MDP, "sweeps: 10, alpha: 0.5", "alpha"),
    ("prototype", "hidden"): (HIDDEN, "sharpness: 8, prototypes: {use: [0.9, 0.1], mend: [0.1, 0.9], look: [0.6, 0.4]}",
                              "sharpness"),
    ("td-learner", "hidden"): (BANDIT, "inverse_temperature: 3, learning_rate_gain: 0.4, learning_rate_loss: 0.4",
                               "inverse_temperature,learning_rate_gain,learning_rate_loss"),
    ("rational", "observed"): (MDP, "", "utility"),
    ("rational", "beliefs"): (HIDDEN, "resolution: 40", "utility"),
    ("bounded-rational", "discount"): (MDP, "alpha: 0.5", "alpha,discount"),
    ("bounded-rational", "models"): (MDP.replace("utility:", MODELS), "alpha: 0.5, beta: 1, eta: 0.2", "alpha,beta,eta"),
    ("bounded-rational", "tiger"): (TIGER, "alpha: 2", "alpha"),
    ("boltzmann-exploratory", "observed"): (MDP, "temperature: 0.5", "temperature"),
    ("recurrent", "hidden"): (HIDDEN, "hidden: 2, seed: 1", "network"),
    # every plan of a learner is a run of learning
    ("soft-q-learning", "observed"): (MDP, "alpha: 0.5, seed: 1", "alpha"),
}
INVERSES = {"map": [], "bayes": ["--draws", "500"], "laplace": [], "distribution-matching": [],
            "distribution-matching-bayes": ["--draws", "500"], "regularised-margin": [], "maximum-margin": [],
            "minimum-perturbation": []}


# Numbers of MDP and HIDDEN, repeated for evidence that is computed here.
GAMMA = {"observed": 0.8, "hidden": 0.9}
MOVES = {"x": [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], "y": [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.6, 0.3, 0.1]]}
UTILITY = {"x": [1, 0, -0.5], "y": [0, 0.7, 0.4]}
HIDDEN_MOVES = {"use": [[0.85, 0.15], [0, 1]], "mend": [[1, 0], [0.9, 0.1]], "look": [[0.95, 0.05], [0, 1]]}
HIDDEN_SIGNALS = {"use": [[0.6, 0.4], [0.4, 0.6]], "mend": [[0.6, 0.4], [0.4, 0.6]], "look": [[0.85, 0.15], [0.15, 0.85]]}
HIDDEN_UTILITY = {"use": [1, -1], "mend": [-0.6, -0.6], "look": [-0.1, -0.1]}
# A second environment for `multiple-experimentation`: the rows of the two actions are exchanged.
ENVIRONMENTS = "environments: {first: {}, second: {transition: {x: %s, y: %s}}}\n" % (MOVES["y"], MOVES["x"])
EVIDENCE = ["distance", "policy-inversion", "preference", "preference-bayes", "multiple-experimentation"]

LIMIT = 120  # seconds of processor time, independent of load


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def run_limited(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)))


def last_words(done):
    lines = [line for line in done.stderr.splitlines() if "note:" not in line and line.startswith("idm:")]
    return (lines or done.stderr.splitlines() or [""])[-1].removeprefix("idm: ")


def held_out(program, subject, log):
    """Log-likelihood per decision; None where there is none."""
    done = run(program, "score", subject, log, "--json")
    if done.returncode:
        return None
    found = json.loads(done.stdout)
    return float(found["log_likelihood"]) / max(1, found["decisions"])


def numbers(summary):
    """{name: (mean, sd)} of the inferred numbers."""
    found = {}
    for name, value in summary.get("posterior", {}).items():
        if isinstance(value, dict) and "mean" in value:
            found[name] = (value["mean"], value.get("sd") or 0)
        elif isinstance(value, (int, float)):
            found[name] = (value, 0)
    return found


def truth_of(agent):
    pairs = (part.split(":") for part in agent.split(",") if part.count(":") == 1 and "{" not in part and "[" not in part)
    truth = {}
    for name, value in pairs:
        try:
            truth[name.strip()] = float(value)
        except ValueError:
            pass
    return truth


def near(mean, sd, true):
    return abs(mean - true) <= max(4 * sd, 0.15 * abs(true), 0.1 if abs(true) < 1 else 0)


def outcome(program, folder, key, inverse):
    text, agent, free = AGENTS[key]
    planner = key[0]
    place = folder / ("%s-%s-%s" % (planner, key[1], inverse))
    place.mkdir(parents=True, exist_ok=True)
    problem, log, other = place / "problem.yaml", place / "log.csv", place / "other.csv"
    problem.write_text(text + "agent: {planner: %s%s}\n" % (planner, ", " + agent if agent else ""))
    for seed, file in (1, log), (2, other):
        done = run(program, "simulate", problem, "-n", 200, "--steps", 20, "--seed", seed, "-o", file)
        if done.returncode:
            return "not simulated: " + last_words(done)
    # kl is infinite if an agent never takes some action; js is finite.
    options = ["--divergence", "js"] if (planner, inverse) == ("rational", "distribution-matching") else INVERSES[inverse]
    done = run_limited(program, "fit", problem, log, "--inverse", inverse, "--free", free, "-o", place / "run",
                       "--overwrite", *options)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "over 2 minutes"
    if done.returncode:
        return "refused: " + last_words(done)
    summary = json.loads((place / "run" / "summary.json").read_text())
    found, truth = numbers(summary), truth_of(agent)
    compared = [name for name in free.split(",") if name in found and name in truth]
    if compared and all(near(*found[name], truth[name]) for name in compared):
        return "recovers"
    mine, own = held_out(program, place / "run", other), held_out(program, problem, other)
    if mine is not None and own is not None and mine >= own - 0.01:
        return "recovers up to"
    return "**missed**: %s, held out %s against %s" % ({n: found.get(n) for n in compared}, mine, own)


# --- evidence of their own --------------------------------------------------------------------


def read_rows(path):
    """[(trajectory, [row, ...])] of a log."""
    lives = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            lives.setdefault(row["trajectory"], []).append(row)
    return list(lives.items())


def returns(log, states, utility=None):
    """Discounted sum of a utility (default: the truth) over every trajectory: of states, or expected under Bayesian
    beliefs.
    """
    utility = utility or {"observed": UTILITY, "hidden": HIDDEN_UTILITY}[states]
    sums = []
    for _, rows in read_rows(log):
        total, weight, belief = 0, 1, [0.8, 0.2]
        for row in rows:
            action = row["action"]
            if not action:
                continue
            if states == "observed":
                total += weight * utility[action]["abc".index(row["state"])]
            else:
                total += weight * sum(b * u for b, u in zip(belief, utility[action]))
                signal_of = ["fine", "odd"].index(row["observation"])
                belief = [sum(belief[s] * HIDDEN_MOVES[action][s][t] for s in range(2)) * HIDDEN_SIGNALS[action][t][signal_of]
                          for t in range(2)]
                belief = [b / sum(belief) for b in belief]
            weight *= GAMMA[states]
        sums.append(total)
    return sums


def add_column(log, name, values):
    """A column with one value per trajectory."""
    lives = read_rows(log)
    with open(log, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*lives[0][1][0], name])
        for (_, rows), value in zip(lives, values):
            for row in rows:
                writer.writerow([*row.values(), value])


def write_preferences(path, log, states, rng):
    sums = returns(log, states)
    names = [name for name, _ in read_rows(log)]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worse", "better"])
        for _ in range(2000):
            a, b = rng.sample(range(len(names)), 2)
            if rng.random() < 1 / (1 + math.exp(sums[a] - sums[b])):
                a, b = b, a
            writer.writerow([names[b], names[a]])


def soft_values(policy, alpha):
    """State values of a policy whose choices cost alpha per nat of divergence from the prior (1/2)."""
    v = [0, 0, 0]
    for _ in range(400):
        v = [sum(policy[s][u] * (UTILITY[a][s] - alpha * math.log(2 * policy[s][u]) + 0.8 * sum(p * w for p, w in zip(MOVES[a][s], v)))
                 for u, a in enumerate("xy")) for s in range(3)]
    return v


def improve(policy, alpha):
    """Next policy of a soft learner."""
    v = soft_values(policy, alpha)
    better = []
    for s in range(3):
        q = [UTILITY[a][s] + 0.8 * sum(p * w for p, w in zip(MOVES[a][s], v)) for a in "xy"]
        z = [math.exp(x / alpha) for x in q]
        better.append([x / sum(z) for x in z])
    return better


def walk(rng, moves, choose, steps):
    state, rows = rng.choices(range(3), [0.6, 0.3, 0.1])[0], []
    for _ in range(steps):
        action = choose(state)
        rows.append(("abc"[state], action))
        state = rng.choices(range(3), moves[action][state])[0]
    return rows


def write_walks(path, extra, walks):
    """walks: [(content of the extra column, rows)]"""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trajectory", extra, "state", "action"])
        for i, (value, rows) in enumerate(walks):
            for state, action in rows:
                writer.writerow([i + 1, value, state, action])


def write_batches(path, rng):
    """Three successive policies of a soft learner, 1,000 trajectories each."""
    policy, walks = [[0.5, 0.5]] * 3, []
    for batch in range(1, 4):
        for _ in range(1000):
            walks.append((batch, walk(rng, MOVES, lambda s: rng.choices("xy", policy[s])[0], 20)))
        policy = improve(policy, 0.5)
    write_walks(path, "batch", walks)


def best_actions(moves):
    v = [0, 0, 0]
    for _ in range(400):
        q = [{a: UTILITY[a][s] + 0.8 * sum(p * w for p, w in zip(moves[a][s], v)) for a in "xy"} for s in range(3)]
        v = [max(x.values()) for x in q]
    return [max(x, key=x.get) for x in q]


def write_environments(path, rng):
    """Optimal actions in two environments."""
    walks = []
    for name, moves in ("first", MOVES), ("second", {"x": MOVES["y"], "y": MOVES["x"]}):
        best = best_actions(moves)
        walks += [(name, walk(rng, moves, lambda s: best[s], 20)) for _ in range(20)]
    write_walks(path, "environment", walks)


def make_evidence(program, place, problem, states, inverse):
    """The log and further options of a fit."""
    log, rng = place / "log.csv", random.Random(1)
    if inverse == "policy-inversion" and states == "observed":
        write_batches(log, rng)
        return log, ["--smoothing", "0.5"]
    if inverse == "multiple-experimentation" and states == "observed":
        write_environments(log, rng)
        return log, []
    done = run(program, "simulate", problem, "-n", 200, "--steps", 20, "--seed", 1, "-o", log)
    if done.returncode:
        raise RuntimeError("not simulated: " + last_words(done))
    if inverse == "policy-inversion":
        add_column(log, "batch", [1 + i % 3 for i in range(200)])
    elif inverse == "multiple-experimentation":
        add_column(log, "environment", ["first"] * 200)
    elif inverse == "distance":
        add_column(log, "score", returns(log, states))
    elif inverse.startswith("preference"):
        write_preferences(place / "pairs.csv", log, states, rng)
        return log, ["--preferences", place / "pairs.csv"]
    return log, []


def holds_truth(found):
    """Whether the range of every number in a set contains the truth."""
    for name, value in found.items():
        action, state = name.removeprefix("utility[").rstrip("]").split(",")
        truth = UTILITY[action]["abc".index(state)]
        if not value[0] - 1e-9 <= truth <= value[1] + 1e-9:
            return False
    return bool(found)


def tabulate(found, states):
    """Means as a table of utilities by action, and whether each number is near the truth."""
    truth, names = (UTILITY, "abc") if states == "observed" else (HIDDEN_UTILITY, ["good", "bad"])
    utility, all_near = {action: list(row) for action, row in truth.items()}, True
    for name, value in found.items():
        action, state = name.removeprefix("utility[").rstrip("]").split(",")
        utility[action][names.index(state)] = value[0]
        all_near = all_near and near(*value, truth[action][names.index(state)])
    return utility, all_near and bool(found)


def lost_comparisons(log, states, utility):
    """Mean loss in nats of another utility on preferences between neighbouring trajectories: the divergence of two
    logistic distributions.
    """
    own, found = returns(log, states), returns(log, states, utility)
    total = 0
    for i in range(len(own) - 1):
        p, q = (1 / (1 + math.exp(sums[i + 1] - sums[i])) for sums in (own, found))
        total += p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    return total / (len(own) - 1)


def own_outcome(program, folder, key, inverse):
    text, agent, _ = AGENTS[key]
    states = "observed" if "observations: states" in text else "hidden"
    text = HIDDEN if text == BANDIT else text
    place = folder / ("own-%s-%s-%s" % (*key, inverse))
    place.mkdir(parents=True, exist_ok=True)
    problem, other = place / "problem.yaml", place / "other.csv"
    several = inverse == "multiple-experimentation"
    problem.write_text(text + "agent: {planner: %s%s}\n" % (key[0], ", " + agent if agent else "") +
                       ("" if not several else ENVIRONMENTS if states == "observed" else "environments: {first: {}}\n"))
    log, options = make_evidence(program, place, problem, states, inverse)
    # The scale of a set of utilities is fixed by two held entries.
    free = "{utility: {prior: {normal: [0, 2]}}}"
    if several:
        free = "{utility: {entries: %s}}" % ("[x.b, x.c, y.b, y.c]" if states == "observed" else "[use]")
    done = run_limited(program, "fit", problem, log, "--inverse", inverse, "--free", free, "-o", place / "run", "--overwrite",
                       *options)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "over 2 minutes"
    if done.returncode:
        return "refused: " + last_words(done)
    summary = json.loads((place / "run" / "summary.json").read_text())
    if several:
        return "recovers" if holds_truth(summary["ranges"]) else "**missed**: the truth is outside a range"
    utility, all_near = tabulate(numbers(summary), states)
    if all_near:
        return "recovers"
    run(program, "simulate", problem, "-n", 200, "--steps", 20, "--seed", 2, "-o", other)
    if inverse.startswith("preference"):
        lost = lost_comparisons(other, states, utility)
        return "recovers up to" if lost <= 0.01 else "**missed**: %s loses %s nats per comparison" % (utility, lost)
    mine, own = held_out(program, place / "run", other), held_out(program, problem, other)
    if mine is not None and own is not None and mine >= own - 0.01:
        return "recovers up to"
    return "**missed**: %s, held out %s against %s" % (numbers(summary), mine, own)


def reason(found, planner, inverse, free):
    """The refusal, without the parts that differ between pairs."""
    text = found.removeprefix("refused: ").replace("'%s'" % inverse, "it").replace("the planner '%s'" % planner, "the planner").replace(
        "'%s'" % planner, "the planner")
    for name in free.split(","):
        text = text.replace("and %s is free too" % name, "and something else is free too").replace("%s has" % name, "the block has")
    return text


def table(folder, agents, inverses, outcome_of, free_of):
    """Print a table and its refusals; return the number of missed pairs."""
    reasons, missed = [], 0
    print("| planner | states | free | " + " | ".join("`%s`" % name for name in inverses) + " |")
    print("|---" * (3 + len(inverses)) + "|")
    for key in agents:
        cells, free = [], free_of(key)
        for inverse in inverses:
            kept = folder / ("%s-%s-%s.txt" % (*key, inverse))
            if not kept.exists():
                kept.write_text(outcome_of(key, inverse))
            found = kept.read_text()
            missed += not found.startswith(("recovers", "refused", "over"))
            if found.startswith("refused"):
                why = reason(found, key[0], inverse, free)
                reasons += [why] if why not in reasons else []
                found = "refused (%d)" % (reasons.index(why) + 1)
            cells.append(found)
        states = "observed" if "observations: states" in AGENTS[key][0] else "hidden"
        print("| `%s` | %s | %s | " % (key[0], states, free.replace(",", ", ")) + " | ".join(cells) + " |")
    print()
    for i, why in enumerate(reasons):
        print("%d. %s" % (i + 1, why))
    print()
    return missed


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    missed = table(folder, AGENTS, INVERSES, lambda key, inverse: outcome(program, folder, key, inverse), lambda key: AGENTS[key][2])
    agents = [key for key in AGENTS if key[1] in ("observed", "hidden")]
    missed += table(folder, agents, EVIDENCE, lambda key, inverse: own_outcome(program, folder, key, inverse), lambda key: "utility")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
