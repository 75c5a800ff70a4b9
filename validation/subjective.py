"""Identifiability of subjective parameters, alone and together, for agents drawn from priors.

DIAG: the weights of prior and evidence together with optimism and adaptivity (alpha held). Reversals: perseverance,
lapse and a subjective hazard shared by both rows. Learners from rewards, of bandits and of reversals. A number is
separately identified if it is as precise jointly with the others as alone. Intervals of 90 % must have their nominal
coverage. The test fails if coverage is off by more than chance allows (p < .001, binomial, over all numbers of a fit).

usage: subjective.py PROGRAM FOLDER [LOGS]
"""

import json
import math
import os
import sys

from study import Study

DIAG = {
    "prior_weight": "prior: {normal: [0, 0.5]}",
    "evidence_weight": "prior: {normal: [0, 0.5]}",
    "eta": "prior: {normal: [0, 10]}",
    "beta": "prior: {normal: [0, 0.3]}",
}
REVERSAL = {
    "perseverance": "prior: {normal: [0, 1]}",
    "lapse": "prior: {beta: [1, 9]}",
    "transition": "prior: {normal: [-2.5, 0.7]}, hazard: [[a, b], [b, a]]",
}
LEARNER = {
    "inverse_temperature": "prior: {normal: [0.7, 0.5]}",
    "learning_rate_gain": "prior: {beta: [2, 2]}",
    "learning_rate_loss": "prior: {beta: [2, 2]}",
    "perseverance": "prior: {normal: [0, 0.5]}",
}
CHAINS = ["--chains", 2, "--draws", 300, "--warmup", 200, "--threads", 1, "--json"]


def freedom(blocks, names):
    return "{" + ", ".join(f"{name}: {{{blocks[name]}}}" for name in names) + "}"


def recover(study, problem, name, blocks, names, size, logs):
    """Results of `idm recover` by number, for agents whose free numbers are drawn from their priors."""
    folder = os.path.join(study.folder, name)

    def work():
        done = study.call("recover", problem, "--free", freedom(blocks, names), *size, "--replications", logs,
                          "-o", folder, *CHAINS)
        return json.loads(done.stdout)

    return study.pool.submit(work)


def unlikely(covered, count, share=0.9):
    """Two-sided probability of a number of covered intervals at least as extreme."""
    terms = [math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count + 1)]
    return min(1, 2 * min(sum(terms[: covered + 1]), sum(terms[covered:])))


def table(title, blocks, alone, together, logs):
    print(f"\n{title}: {logs} logs\n")
    print(f"{'':28}{'90 % covers':>24}{'rms error':>24}{'correlation':>24}{'error':>9}")
    print(f"{'':28}" + f"{'alone':>12}{'together':>12}" * 3 + f"{'ratio':>9}")
    failed = False
    beside = together.result()
    for name in blocks:
        for number, one in alone[name].result().items():
            both = beside[number]
            cells = "".join(f"{one[key]:12.3g}{both[key]:12.3g}" for key in ("coverage_90", "rms_error", "correlation"))
            print(f"{number:28}{cells}{both['rms_error'] / one['rms_error']:9.2f}")
            for answer in (one, both):
                failed = failed or unlikely(round(answer["coverage_90"] * logs), logs) < 0.001
    return failed


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    program, folder = sys.argv[1:3]
    logs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    study = Study(program, folder)
    reversal, bandit, learner = (
        os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.yaml") for name in ("subjective", "bandit", "learner")
    )
    parts = [
        ("Learners of a bandit, 500 choices", bandit, LEARNER, ["-n", 5, "--steps", 100]),
        ("Learners of reversals, 500 choices", learner, LEARNER, ["-n", 5, "--steps", 100]),
        ("Reversals, 10 sequences of 60 choices", reversal, REVERSAL, ["-n", 10, "--steps", 60]),
        ("DIAG, 60 patients", "example:diag", DIAG, ["-n", 60, "--steps", 50]),
    ]
    asked = []
    for title, problem, blocks, size in parts:
        name = title.split(",")[0].lower()
        alone = {one: recover(study, problem, f"{name}-{one}", blocks, [one], size, logs) for one in blocks}
        asked.append((title, blocks, alone, recover(study, problem, f"{name}-all", blocks, list(blocks), size, logs)))
    failed = [table(*one, logs) for one in asked]
    if any(failed):
        raise SystemExit("FAILED: intervals do not cover as often as they say")
    print("\nevery interval covers as often as it says")


if __name__ == "__main__":
    main()
