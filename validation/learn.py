#!/usr/bin/env python3
"""Coverage of posterior intervals of learnt dynamics: usage: learn.py PROGRAM FOLDER [COHORTS]

50 cohorts of 300 patients with 6 visits, whose actions are uniformly random, are simulated from one problem with hidden
states, zeros and a matrix shared by two actions. `idm learn --draws` learns each from a start that specifies the zeros
and little else. Cohorts are independent, so that the number of 90 % intervals that contain the truth is binomial for
each of the 25 probabilities: none may be rarer than one in a thousand among all of them. Within a cohort the
probabilities are dependent: the share of a cohort's intervals that cover is compared with .9 by its standard error over
cohorts, for start, transition, observation; a deviation of more than 3.5 standard errors occurs in one of 700 sets of
cohorts. Results are kept in FOLDER. Exit code 1 and a line with FAILS if a test fails. Two minutes on one core.
"""

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

NOMINAL = 0.9
RARE = 0.001
FAR = 3.5
PATIENTS, VISITS = 300, 6
TRUTH = """
name: cohort
states: [a, b, c]
actions: [look, test]
observations: [low, middle, high]
start: %s
discount: 0.9
transition: {"*": %s}
observation: {look: %s, test: %s}
utility: {look: 0, test: 0}
"""
START = [0.5, 0.3, 0.2]
TRANSITION = [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0.1, 0.9]]
LOOK = [[0.8, 0.2, 0], [0.5, 0.5, 0], [0.2, 0.8, 0]]
TEST = [[0.84, 0.08, 0.08], [0.08, 0.84, 0.08], [0.08, 0.08, 0.84]]
# Start of learning; its only information is that the test is right more often than not.
VAGUE = ([1 / 3] * 3, [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]], [[0.5, 0.5, 0]] * 3,
         [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])


def truths():
    """True probabilities by the names that a run uses."""
    states, seen = "abc", ("low", "middle", "high")
    answer = {f"start[{s}]": p for s, p in zip(states, START)}
    for s, row in zip(states, TRANSITION):
        answer.update({f"transition[*,{s},{t}]": p for t, p in zip(states, row)})
    for action, matrix in (("look", LOOK), ("test", TEST)):
        for s, row in zip(states, matrix):
            answer.update({f"observation[{action},{s},{x}]": p for x, p in zip(seen, row)})
    return {name: p for name, p in answer.items() if p}


def call(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"idm {' '.join(map(str, words))}: {done.stderr}")


def posterior(program, folder, seed):
    """Summaries of one cohort's probabilities; they are kept."""
    kept = os.path.join(folder, f"cohort-{seed}.json")
    if not os.path.exists(kept):
        log, run = os.path.join(folder, f"cohort-{seed}.csv"), os.path.join(folder, f"cohort-{seed}")
        call(program, "simulate", os.path.join(folder, "truth.yaml"), "-n", PATIENTS, "--steps", VISITS, "--seed", seed, "-o", log)
        call(program, "learn", os.path.join(folder, "vague.yaml"), log, "-o", run, "--overwrite", "--draws", 3000, "--warmup", 300,
             "--chains", 2, "--threads", 1, "--seed", seed)
        os.replace(os.path.join(run, "summary.json"), kept)
    with open(kept) as file:
        return json.load(file)["posterior"]


def unlikely(covered, cohorts):
    """Twice the smaller tail of the binomial distribution at `covered`."""
    def mass(k):
        return math.comb(cohorts, k) * NOMINAL ** k * (1 - NOMINAL) ** (cohorts - k)
    below, above = sum(map(mass, range(covered + 1))), sum(map(mass, range(covered, cohorts + 1)))
    return min(1, 2 * min(below, above))


def judge(cohorts, truth):
    """Print one line per probability and one per kind; return whether all tests pass."""
    sound = True
    covers = {name: [one[name]["q5"] <= p <= one[name]["q95"] for one in cohorts] for name, p in truth.items()}
    for name, p in truth.items():
        count = sum(covers[name])
        rare = unlikely(count, len(cohorts)) < RARE / len(truth)
        far = sum((one[name]["mean"] - p) / one[name]["sd"] for one in cohorts) / len(cohorts)
        sound = sound and not rare
        print(f"  {name:28} {p:5.2f}   covered {count:3} of {len(cohorts)}, mean error {far:+.2f} sd{'   FAILS' if rare else ''}")
    for kind in ("start", "transition", "observation"):
        names = [name for name in truth if name.startswith(kind + "[")]
        share = [sum(covers[name][i] for name in names) / len(names) for i in range(len(cohorts))]
        mean = sum(share) / len(share)
        error = math.sqrt(sum((x - mean) ** 2 for x in share) / (len(share) - 1) / len(share))
        far = abs(mean - NOMINAL) > FAR * error
        sound = sound and not far
        print(f"{kind:12} {mean:.3f} ± {error:.3f} of 90 % intervals cover{'   FAILS' if far else ''}")
    return sound


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    os.makedirs(folder, exist_ok=True)
    for name, numbers in (("truth", (START, TRANSITION, LOOK, TEST)), ("vague", VAGUE)):
        with open(os.path.join(folder, name + ".yaml"), "w") as file:
            file.write(TRUTH % tuple(json.dumps(part) for part in numbers))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cohorts = list(pool.map(lambda seed: posterior(program, folder, seed), range(1, count + 1)))
    truth = truths()
    if any(set(one) != set(truth) for one in cohorts):
        raise SystemExit(f"learnt: {sorted(cohorts[0])}, not {sorted(truth)}")
    print(f"{count} cohorts of {PATIENTS} patients of {VISITS} visits")
    sound = judge(cohorts, truth)
    print(f"worst R-hat {max(x['r_hat'] for one in cohorts for x in one.values()):.3f}, least ESS "
          f"{min(x['ess_bulk'] for one in cohorts for x in one.values()):.0f} (of 6,000 draws)")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
