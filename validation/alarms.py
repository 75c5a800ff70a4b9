#!/usr/bin/env python3
"""Rate of alarms of the model tests, for correct and for wrong models.

usage: alarms.py PROGRAM FOLDER [LOGS]

Each log is simulated from a problem and fitted with the same problem (--inverse map; the tests use the best draw, so
that posterior draws do not change them). A correct model should fail in about 1 % of fits, and the test fails if the
number of alarms has a probability below 0.1 %. Wrong models differ between agents, choose at random, or have a number
without effect: the expected message may be missing in at most 1 % of logs, by the same rule.

The environment part: sites whose tests are right with probability .70, .65 or .60, with agents whose models are near
that, under a file that specifies .70. A correct site fails the test of the environment in at most 1 % of logs, by the
same rule. For 600 patients at .65, and for 300 at .60, the test names the observations in all but 5 % of logs, by the
same rule.

Results are kept in FOLDER, and a later call continues; CORES=N limits the number of processes.
"""
import concurrent.futures
import csv
import io
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys

from study import complete_lines

DIAG = "example:diag"

REVERSAL = """
states: [left_good, right_good]
actions: [left, right]
observations: [win, loss]
start: [0.5, 0.5]
discount: 0.5
transition: {"*": [[0.944, 0.056], [0.056, 0.944]]}
observation: {left: [[0.84, 0.16], [0.15, 0.85]], right: [[0.15, 0.85], [0.84, 0.16]]}
utility: {left: [0.84, 0.15], right: [0.15, 0.84]}
agent: {planner: bounded-rational, alpha: 0.3, resolution: 40}
"""

LEARNER = """
states: [left_good, right_good]
actions: [left, right]
observations: [win, loss]
start: [0.5, 0.5]
discount: 0
transition: {"*": [[0.944, 0.056], [0.056, 0.944]]}
observation_from: before
observation: {left: [[0.84, 0.16], [0.15, 0.85]], right: [[0.15, 0.85], [0.84, 0.16]]}
utility: {left: [1, -1], right: [-1, 1]}
agent: {planner: td-learner, inverse_temperature: 3, learning_rate_gain: 0.4, learning_rate_loss: 0.4}
"""
RATES = "inverse_temperature,learning_rate_gain,learning_rate_loss"


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit("%s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def simulate(program, problem, seed, agents, trajectories, steps, settings):
    """Simulate a log of several agents, each with its own settings (a function of its number)."""
    rows = []
    for agent in range(agents):
        options = [x for key, value in settings(agent).items() for x in ("--set", "%s=%r" % (key, value))]
        text = run(program, "simulate", problem, "-n", trajectories, "--steps", steps, "--seed",
                   1000 * seed + agent, *options)
        for row in csv.DictReader(io.StringIO(text)):
            row["agent"] = "a%d" % agent
            row["trajectory"] = "%d.%s" % (agent, row["trajectory"])
            rows.append(row)
    return rows


def write(rows, path):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def verdict(program, folder, problem, rows, free):
    folder.mkdir(exist_ok=True)
    write(rows, folder / "log.csv")
    return json.loads(run(program, "fit", problem, folder / "log.csv", "--free", free, "--inverse", "map", "--threads",
                          1, "--json", "-o", folder / "run", "--overwrite"))


def over_seeds(folder, name, logs, one):
    """one(seed) for every log, on all cores or CORES of them; results of an earlier call are read."""
    path = folder / (re.sub(r"[^A-Za-z0-9.]+", "-", name) + ".jsonl")
    done = {seed: value for seed, value in map(json.loads, complete_lines(path))}
    missing = [seed for seed in range(1, logs + 1) if seed not in done]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("CORES", os.cpu_count()))) as pool:
        with open(path, "a") as file:
            for seed, value in zip(missing, pool.map(one, missing)):
                file.write(json.dumps([seed, value]) + "\n")
                file.flush()
                done[seed] = value
    return [done[seed] for seed in range(1, logs + 1)]


def alike(**settings):
    return lambda agent: settings


def different(seed, key, centre, sd):
    """A number per agent: lognormal around a centre."""
    draw = random.Random(seed)
    values = {}
    return lambda agent: {key: values.setdefault(agent, centre * math.exp(sd * draw.gauss(0, 1)))}


def at_random(rows, seed):
    """The same log with random actions."""
    draw = random.Random(seed)
    actions = sorted({row["action"] for row in rows})
    return [{**row, "action": draw.choice(actions)} for row in rows]


def upper(n, p, tail):
    """Smallest count whose binomial upper tail is below `tail`."""
    above, count = 1.0, 0
    while above > tail:
        above -= math.comb(n, count) * p**count * (1 - p) ** (n - count)
        count += 1
    return count


def right_models(program, folder, logs, reversal, learner):
    """(name, misfits of each log that has any, lists of p by test) for correct models."""
    cases = [
        ("DIAG, 1 agent, 60 patients", DIAG, 1, 60, 50, dict(alpha=0.5, beta=1.25, eta=0.001), "beta,eta"),
        ("DIAG, 12 agents of 8 patients", DIAG, 12, 8, 50, dict(alpha=2.0), "alpha"),
        ("DIAG, 30 agents of 1 patient", DIAG, 30, 1, 50, dict(alpha=1.0, beta=1.25), "alpha,beta"),
        ("reversal, 15 agents of 60 choices", reversal, 15, 1, 60, dict(alpha=0.3), "alpha"),
        ("learner, 1 agent of 500 choices", learner, 1, 10, 50, dict(inverse_temperature=3.0), RATES),
    ]
    for name, problem, agents, trajectories, steps, settings, free in cases:
        def one(seed):
            rows = simulate(program, problem, seed, agents, trajectories, steps, alike(**settings))
            found = verdict(program, folder / str(seed), problem, rows, free)
            return [found["verdict"]["misfits"],
                    {test: values["p"] for test, values in found["model"]["tests"].items()}]
        found = over_seeds(folder, name, logs, one)
        tests = {}
        for _, each in found:
            for test, p in each.items():
                tests.setdefault(test, []).append(p)
        yield name, [misfits for misfits, _ in found if misfits], tests


def wrong_models(program, folder, logs, reversal, informs_alike, learner):
    """(name, expected words, number of logs with these words) for wrong models."""
    cases = [
        ("79 agents, log alpha differs by 1", "are not alike", lambda seed: simulate(
            program, reversal, seed, 79, 1, 30, different(seed, "alpha", 0.3, 1)), reversal, "alpha"),
        ("79 agents, many outside their band", "outside their own", lambda seed: simulate(
            program, reversal, seed, 79, 1, 60, different(seed, "alpha", 0.3, 1)), reversal, "alpha"),
        ("choices of a coin", "no better than chance", lambda seed: at_random(simulate(
            program, reversal, seed, 1, 1, 200, alike()), seed), reversal, "alpha"),
        ("beta with one model", "beta cannot matter", lambda seed: simulate(
            program, reversal, seed, 1, 1, 100, alike()), reversal, "alpha,beta"),
        ("eta where every action informs alike", "eta cannot matter", lambda seed: simulate(
            program, informs_alike, seed, 1, 1, 100, alike()), informs_alike, "alpha,eta"),
        ("learner with 30 % slips, no lapse", "lapse at about 0.", lambda seed: simulate(
            program, learner, seed, 1, 40, 50, alike(inverse_temperature=8.0, lapse=0.3)), learner, RATES),
    ]
    for name, words, make, problem, free in cases:
        def one(seed):
            misfits = verdict(program, folder / str(seed), problem, make(seed), free)["verdict"]["misfits"]
            return any(words in text for text in misfits)
        yield name, words, sum(over_seeds(folder, name, logs, one))


SITE = """
states: [healthy, diseased]
actions: [declare_healthy, declare_diseased, monitor]
observations: [negative, positive]
start: [0.5, 0.5]
discount: 0.95
ends: [declare_healthy, declare_diseased]
transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}
observation: {"*": [[%(right)g, %(wrong)g], [%(wrong)g, %(right)g]]}
utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}
models: {perturb: {observation: 0.1}}
agent: {planner: bounded-rational, alpha: 0.5, beta: inf, eta: 0, resolution: 40, evaluate: interpolate}
"""


def environments(program, folder, logs):
    """(name, number of logs in which the environment is a misfit, largest or None, smallest or None) for sites."""
    def write_site(right):
        path = folder / ("site%g.yaml" % right)
        path.write_text(SITE % dict(right=right, wrong=1 - right))
        return path
    given = write_site(0.7)
    for right, patients in ((0.7, 60), (0.7, 300), (0.65, 100), (0.65, 300), (0.65, 600), (0.6, 100), (0.6, 300)):
        site = write_site(right)
        def one(seed):
            rows = simulate(program, site, seed, 1, patients, 50, alike())
            misfits = verdict(program, folder / str(seed), given, rows, "alpha")["verdict"]["misfits"]
            return any("contradict the environment" in text and "observations after `monitor`" in text for text in misfits)
        most = upper(logs, 0.01, 1e-3) if right == 0.7 else None
        least = logs - upper(logs, 0.05, 1e-3) if (right, patients) in ((0.65, 600), (0.6, 300)) else None
        name = "%d patients, tests right with %g" % (patients, right)
        yield name, sum(over_seeds(folder, name, logs, one)), most, least


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    logs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    folder.mkdir(parents=True, exist_ok=True)
    reversal, informs_alike, learner = (folder / name for name in ("reversal.yaml", "alike.yaml", "learner.yaml"))
    learner.write_text(LEARNER)
    reversal.write_text(REVERSAL)
    informs_alike.write_text(REVERSAL.replace(
        "right: [[0.15, 0.85], [0.84, 0.16]]", "right: [[0.84, 0.16], [0.15, 0.85]]"))
    bad = 0
    for name, alarms, tests in right_models(program, folder, logs, reversal, learner):
        most = upper(logs, 0.01, 1e-3)
        bad += len(alarms) >= most
        print("%-40s %d alarms in %d logs (fewer than %d); p <= .05:" % (name, len(alarms), logs, most),
              ", ".join("%s %d" % (test, sum(p <= 0.05 for p in values)) for test, values in tests.items()), flush=True)
        for texts in alarms:
            print("    " + " | ".join(text[:110] for text in texts))
    some = max(2, logs // 20)
    for name, words, said in wrong_models(program, folder, some, reversal, informs_alike, learner):
        bad += some - said >= upper(some, 0.01, 1e-3)
        print("%-40s '%s' said in %d of %d logs" % (name, words, said, some), flush=True)
    for name, named, most, least in environments(program, folder, logs):
        bad += (most is not None and named >= most) or (least is not None and named <= least)
        wanted = "fewer than %d" % most if most is not None else "more than %d" % least if least is not None else "power"
        print("%-40s environment a misfit in %d of %d logs (%s)" % (name, named, logs, wanted), flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
