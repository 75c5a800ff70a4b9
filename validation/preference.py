"""Coverage of 90 % intervals of utilities inferred from preferences, with observed and with hidden states.

Every utility is drawn from its prior, normal(0, 1); trajectories have random actions, and preferences between 80 pairs
of them follow the logistic function of the difference of their discounted sums, computed here. The test fails if the
coverage of a number is off by more than chance allows (p < .001, binomial), or if more than one of twenty fits is not
trusted.

usage: preference.py PROGRAM FOLDER [LOGS]
"""

import csv
import json
import math
import os
import random
import sys

from study import Study
from subjective import unlikely

PAIRS = 80
HERE = os.path.dirname(os.path.abspath(__file__))
# (start, transition[action][state][next], emission[action][next][observation]) of the hidden problem.
UNIFORM = [[0.5, 0.5], [0.5, 0.5]]
DOORS = (
    {"l": 0.7, "r": 0.3},
    {"listen": [[0.9, 0.1], [0.2, 0.8]], "openl": UNIFORM, "openr": UNIFORM},
    {"listen": [[0.8, 0.2], [0.3, 0.7]], "openl": UNIFORM, "openr": [[0.6, 0.4], [0.5, 0.5]]},
)


def see(state, action, observation):
    """Next belief if states are observed."""
    return {observation: 1.0}


def filter_doors(belief, action, observation):
    """Next belief by Bayes' rule."""
    _, transition, emission = DOORS
    x = ("hl", "hr").index(observation)
    after = []
    for k in range(2):
        ahead = sum(belief[s] * transition[action][i][k] for i, s in enumerate("lr"))
        after.append(ahead * emission[action][k][x])
    return {s: after[k] / sum(after) for k, s in enumerate("lr")}


def total(rows, utility, start, after):
    """Discounted sum of a trajectory's utilities."""
    belief, weight, value = start, 1, 0
    for row in rows:
        value += weight * sum(p * utility[row["action"], s] for s, p in belief.items())
        belief, weight = after(belief, row["action"], row["observation"]), weight * 0.9
    return value


def read(path):
    trajectories = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            trajectories.setdefault(row["trajectory"], []).append(row)
    return trajectories


def ask(study, name, problem, states, actions, start, after, number):
    """One log with its preferences, and its fit: (truth, summary). A fit that is complete is not run again."""
    chance = random.Random(f"{name}-{number}")
    utility = {(u, s): chance.gauss(0, 1) for u in actions for s in states}
    base = os.path.join(study.folder, f"{name}-{number}")

    def work():
        kept = os.path.join(base, "summary.json")
        if os.path.exists(kept):
            with open(kept) as file:
                return utility, json.load(file)
        study.call("simulate", problem, "-n", 40, "--steps", 6, "--seed", number + 1, "-o", base + ".csv")
        sums = {t: total(rows, utility, start, after) for t, rows in read(base + ".csv").items()}
        with open(base + "-preferences.csv", "w") as file:
            file.write("worse,better\n")
            for _ in range(PAIRS):
                a, b = chance.sample(sorted(sums), 2)
                if chance.random() >= 1 / (1 + math.exp(sums[a] - sums[b])):
                    a, b = b, a
                file.write(f"{a},{b}\n")
        done = study.call("fit", problem, base + ".csv", "--preferences", base + "-preferences.csv", "--inverse",
                          "preference-bayes", "--free", "{utility: {prior: {normal: [0, 1]}}}", "--threads", 1, "--json",
                          "--overwrite", "-o", base)
        return utility, json.loads(done.stdout)

    return study.pool.submit(work)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    program, folder = sys.argv[1:3]
    logs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    study = Study(program, folder)
    parts = [
        ("walk", "preference.yaml", "abc", ["left", "right"], {"a": 1.0}, see),
        ("doors", "preference_hidden.yaml", "lr", ["listen", "openl", "openr"], DOORS[0], filter_doors),
    ]
    failed = False
    for name, problem, states, actions, start, after in parts:
        asked = [ask(study, name, os.path.join(HERE, problem), states, actions, start, after, i) for i in range(logs)]
        answers = [one.result() for one in asked]
        trusted = sum(summary["verdict"]["trusted"] for _, summary in answers)
        print(f"\n{name}: {logs} logs of {PAIRS} preferences, {trusted} fits trusted\n")
        failed = failed or trusted < 0.95 * logs
        for key in answers[0][0]:
            number = "utility[%s,%s]" % key
            covered = sum(summary["posterior"][number]["q5"] <= truth[key] <= summary["posterior"][number]["q95"]
                          for truth, summary in answers)
            error = math.sqrt(sum((summary["posterior"][number]["mean"] - truth[key]) ** 2 for truth, summary in answers) / logs)
            print(f"{number:24} 90 % covers {covered / logs:5.2f}   rms error {error:5.2f} (prior 1)")
            failed = failed or unlikely(covered, logs) < 0.001
    if failed:
        raise SystemExit("FAILED: intervals do not cover as often as they say, or fits are not trusted")
    print("\nevery interval covers as often as it says")


if __name__ == "__main__":
    main()
