#!/usr/bin/env python3
"""Which inverse planner recovers the simulated agent of which planner: the table of docs/inverse.md.

usage: pairs.py PROGRAM FOLDER

Rows are agents, columns inverse planners. Every pair simulates a log of the planner and another one to score, fits the first, and compares. It *recovers* where
every free number is within 4 posterior sds or 15 % of the truth (and 0.1 of a number below 1). It *recovers up to* what
the inverse planner itself lists as open where that is not so, but the second log has at most 0.01 nats per decision
less than under the truth. Else the cell refers to the refusal, below the table. Exit code 1 where a pair is neither
recovered nor refused, and answers within 2 minutes of processor time. Results are kept in FOLDER, so that the same command goes on where it stopped.
"""
import json
import pathlib
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
# planner, whether states are observed: problem, agent, what is free
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
    # every plan of a learner is a run of learning
    ("soft-q-learning", "observed"): (MDP, "alpha: 0.5, seed: 1", "alpha"),
}
INVERSES = {"map": [], "bayes": ["--draws", "500"], "laplace": [], "distribution-matching": ["--divergence", "js"],
            "distribution-matching-bayes": ["--draws", "500"], "regularised-margin": [], "maximum-margin": [],
            "minimum-perturbation": []}


LIMIT = 120  # seconds of processor time, whatever else the machine does


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
    return found["log_likelihood"] / max(1, found["decisions"])


def numbers(summary):
    """{name: (mean, sd)} of what was inferred."""
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
    done = run_limited(program, "fit", problem, log, "--inverse", inverse, "--free", free, "-o", place / "run",
                       "--overwrite", *INVERSES[inverse])
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


def reason(found, planner, inverse, free):
    """The refusal without what differs between pairs."""
    text = found.removeprefix("refused: ").replace("'%s'" % inverse, "it").replace("'%s'" % planner, "the planner")
    for name in free.split(","):
        text = text.replace("and %s is free too" % name, "and something else is free too").replace("%s has" % name, "the block has")
    return text


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    reasons, missed = [], 0
    folder.mkdir(parents=True, exist_ok=True)
    print("| planner | states | free | " + " | ".join("`%s`" % name for name in INVERSES) + " |")
    print("|---" * (3 + len(INVERSES)) + "|")
    for key, (text, _, free) in AGENTS.items():
        cells = []
        for inverse in INVERSES:
            kept = folder / ("%s-%s-%s.txt" % (*key, inverse))
            if not kept.exists():
                kept.write_text(outcome(program, folder, key, inverse))
            found = kept.read_text()
            missed += not found.startswith(("recovers", "refused", "over"))
            if found.startswith("refused"):
                why = reason(found, key[0], inverse, free)
                reasons += [why] if why not in reasons else []
                found = "refused (%d)" % (reasons.index(why) + 1)
            cells.append(found)
        states = "observed" if "observations: states" in text else "hidden"
        print("| `%s` | %s | %s | " % (key[0], states, free.replace(",", ", ")) + " | ".join(cells) + " |")
    print()
    for i, why in enumerate(reasons):
        print("%d. %s" % (i + 1, why))
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
