"""Recovery and coverage of the paper's stochastic classes on data from their own planners.

Recovery: agents are drawn from priors, logs of 10, 100 and 1,000 trajectories are simulated, each is fitted by its
class, and the estimated policy (for posteriors: the mean over draws) is compared with the true one over the decisions
of a log that was not fitted: the mean of KL(truth || estimate), each policy at its own beliefs. The test fails if the
mean over agents does not decrease with the size, or is not near 0 at the largest. Coverage, of classes with a
posterior: `idm recover` draws agents from the prior, so that 90 % intervals have exactly their nominal coverage. The
test fails if a number's coverage is off by more than chance allows (p < .001, binomial). Coverage of preference-bayes
is in preference.py.

usage: classes.py PROGRAM FOLDER [AGENTS [LOGS]]
"""

import csv
import json
import math
import os
import random
import sys

from study import Study
from subjective import unlikely

SIZES = (10, 100, 1000)
STEPS = 5
HELD_OUT = 200
# Largest accepted divergence, in nats per decision, from the true policy after 5,000 decisions; d free numbers
# contribute about d/10,000.
NEAR = 0.005

ACTIONS, STATES = ("wait", "treat"), ("well", "ill")
SEEN = {
    "name": "seen",
    "states": STATES,
    "actions": ACTIONS,
    "observations": "states",
    "start": [0.6, 0.4],
    "discount": 0.8,
    "transition": {"wait": [[0.8, 0.2], [0.1, 0.9]], "treat": [[0.9, 0.1], [0.6, 0.4]]},
    "utility": {"wait": [0, 0], "treat": [0, 0]},
}
HIDDEN = {**SEEN, "name": "hidden", "observations": ["low", "high"], "observation": {"*": [[0.75, 0.25], [0.3, 0.7]]}}
# An agent with known utilities and uncertain knowledge.
BOUNDED = {**HIDDEN, "name": "bounded", "utility": {"wait": [1, -3], "treat": [-1, 1]},
           "models": {"perturb": {"observation": 0.15}}}
BOLTZMANN = {"planner": "boltzmann-exploratory", "temperature": 1, "resolution": 20}
ENTROPY = {"planner": "maximum-entropy", "alpha": 1}
RULE = {"planner": "decision-rule", "weights": {"wait": [0, 0, 0], "treat": [0, 0, 0]}}
PROTOTYPE = {"planner": "prototype", "sharpness": 5, "prototypes": {"wait": [0.5, 0.5], "treat": [0.5, 0.5]},
             "resolution": 20}
CONTROL = {"planner": "bounded-rational", "alpha": 1, "beta": "inf", "eta": 0, "resolution": 20}

NORMAL = {"prior": {"normal": [0, 1.5]}}
ROWS = {"prior": {"dirichlet": [2, 2]}}
UTILITY = {"utility": NORMAL}
WORLD = {"utility": NORMAL, "transition": ROWS}
WEIGHTS = {"weights": {"prior": {"normal": [0, 1]}, "reference": "wait"}}
POINTS = {"prototypes": {"prior": {"dirichlet": [1, 1, 1, 1]}}, "sharpness": {"scale": "log", "prior": {"normal": [1.5, 0.5]}},
          "transition": ROWS, "emission": ROWS}
PRICES = {"alpha": {"scale": "log", "prior": {"normal": [0, 0.7]}}, "beta": {"scale": "inverse", "prior": {"normal": [0, 1]}},
          "eta": {"prior": {"normal": [0, 2]}}}

# class: environment, agent, free numbers, further options of the fit, whether the answer is a posterior.
CLASSES = {
    "bc-il": (HIDDEN, RULE, WEIGHTS, [], False),
    "subj-bc-il": (HIDDEN, PROTOTYPE, POINTS, [], False),
    "stoc-dm-il": (SEEN, RULE, WEIGHTS, [], False),
    "stoc-irl": (SEEN, BOLTZMANN, UTILITY, [], True),
    "subj-irl": (SEEN, BOLTZMANN, WORLD, [], True),
    "stoc-po-irl": (HIDDEN, BOLTZMANN, UTILITY, [], True),
    "subj-po-irl": (HIDDEN, BOLTZMANN, {**WORLD, "emission": ROWS}, [], True),
    "me-irl": (SEEN, ENTROPY, UTILITY, ["--lambda", 1000], False),
    "subj-me-irl": (SEEN, ENTROPY, WORLD, [], True),
    "ibrc": (BOUNDED, CONTROL, PRICES, [], True),
}
# If utilities and all rows of the dynamics are free, a class has explanations that exchange states, and one fit takes
# half a minute; coverage is that of some utilities, and of dynamics by two numbers.
MIRROR = {**HIDDEN, "observation": {"*": [[0.75, 0.25], [0.25, 0.75]]}}
TIED = {
    "utility": {**NORMAL, "entries": ["wait.ill", "treat"]},
    "transition": {"prior": {"normal": [-1.4, 0.5]}, "decline": {"wait": [["a", "b"], [".", "."]]}},
    "emission": {"prior": {"normal": [-1.1, 0.5]}, "error": [["a", "b"], ["b", "a"]]},
}
COVERED = {"subj-po-irl": (MIRROR, BOLTZMANN, TIED)}
CHAINS = ["--chains", 2, "--draws", 250, "--warmup", 250, "--threads", 1]


def draw_row(chance, shape):
    weights = [chance.gammavariate(a, 1) for a in shape]
    return [w / sum(weights) for w in weights]


def draw_rows(chance, free):
    return [draw_row(chance, free["prior"]["dirichlet"]) for _ in STATES]


def draw_truth(chance, world, agent, free):
    """The problem with its free numbers drawn from their priors."""
    truth = {**world, "agent": dict(agent)}
    normal = {name: one["prior"]["normal"] for name, one in free.items() if "normal" in one["prior"]}
    model = {}
    if "utility" in free:
        truth["utility"] = {u: [chance.gauss(*normal["utility"]) for _ in STATES] for u in ACTIONS}
    if "weights" in free:
        truth["agent"]["weights"] = {"wait": [0, 0, 0], "treat": [0] + [chance.gauss(*normal["weights"]) for _ in STATES]}
    if "prototypes" in free:
        truth["agent"]["prototypes"] = {u: draw_row(chance, [1, 1]) for u in ACTIONS}
    for name in ("sharpness", "alpha"):
        if name in free:
            truth["agent"][name] = math.exp(chance.gauss(*normal[name]))
    if "beta" in free:
        truth["agent"]["beta"] = 1 / chance.gauss(*normal["beta"])
    if "eta" in free:
        truth["agent"]["eta"] = chance.gauss(*normal["eta"])
    if "transition" in free:
        model["transition"] = {u: draw_rows(chance, free["transition"]) for u in ACTIONS}
    if "emission" in free:
        model["observation"] = {"*": draw_rows(chance, free["emission"])}
    return {**truth, "models": [model]} if model else truth


def write(path, problem):
    with open(path, "w") as file:
        json.dump(problem, file)


def policies(path):
    """Probabilities of the actions at every decision of a log (idm score --trials)."""
    with open(path) as file:
        return [[float(row[f"probability.{u}"]) for u in ACTIONS] for row in csv.DictReader(file)]


def divergence(truth, answer):
    """Mean KL over decisions."""
    sums = (p * math.log(p / q) if q > 0 else math.inf for a, b in zip(truth, answer, strict=True)
            for p, q in zip(a, b) if p > 0)
    return sum(sums) / len(truth)


def recover(study, name, number):
    """KL divergence of the estimated policy from one agent's, by size of the log."""
    world, agent, free, options, _ = CLASSES[name]
    base = os.path.join(study.folder, f"{name}-{number}")
    question, truth, held_out = (f"{base}-{what}" for what in ("question.json", "truth.json", "held-out.csv"))
    kept = base + "-found.json"

    def work():
        if os.path.exists(kept):
            with open(kept) as file:
                return json.load(file)
        write(truth, draw_truth(random.Random(f"{name}-{number}"), world, agent, free))
        write(question, {**world, "agent": agent, "free": free})
        study.call("simulate", truth, "-n", HELD_OUT, "--steps", STEPS, "--seed", 10**6 + number, "-o", held_out)
        study.call("score", truth, held_out, "--trials", base + "-truth.csv")
        found = []
        for size in SIZES:
            study.call("simulate", truth, "-n", size, "--steps", STEPS, "--seed", number, "-o", base + ".csv")
            study.call("fit", question, base + ".csv", "--class", name, "-o", base, "--overwrite", "--json", *CHAINS,
                       "--log-likelihood", "none", *options)
            study.call("score", base, held_out, "--trials", base + "-answer.csv")
            found.append(divergence(policies(base + "-truth.csv"), policies(base + "-answer.csv")))
        write(kept, found)
        return found

    return study.pool.submit(work)


def cover(study, name, logs):
    """Coverage of every number of a class, by `idm recover`."""
    world, agent, free = COVERED.get(name, CLASSES[name][:3])
    base = os.path.join(study.folder, f"{name}-coverage")

    def work():
        write(base + ".json", {**world, "agent": agent, "free": free})
        done = study.call("recover", base + ".json", "-n", 20, "--steps", STEPS, "--replications", logs, "-o", base, *CHAINS,
                          "--json")
        return json.loads(done.stdout)

    return study.pool.submit(work)


def show_recovery(asked, agents):
    print(f"KL(truth's policy || answer's), nats a decision, mean over {agents} agents (and the largest)\n")
    print(f"{'':14}" + "".join(f"{f'{size} trajectories':>28}" for size in SIZES))
    failed = []
    for name, several in asked.items():
        found = [one.result() for one in several]
        mean = [sum(one[i] for one in found) / agents for i in range(len(SIZES))]
        print(f"{name:14}" + "".join(f"{mean[i]:16.6f} ({max(one[i] for one in found):.6f})" for i in range(len(SIZES))), flush=True)
        if not (mean[0] > mean[1] > mean[2] and mean[2] < NEAR):
            failed.append(name)
    return failed


def show_coverage(asked, logs):
    print(f"\nshare of {logs} intervals of 90 % that cover the truth, agents drawn from the prior\n")
    failed = []
    for name, one in asked.items():
        print(name)
        for number, answer in one.result().items():
            p = unlikely(round(answer["coverage_90"] * logs), logs)
            print(f"  {number:28}{answer['coverage_90']:6.2f}   p {p:5.3f}   rms error {answer['rms_error']:.3g}", flush=True)
            if p < 0.001:
                failed.append(f"{name} {number}")
    return failed


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    program, folder = sys.argv[1:3]
    agents = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    logs = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    study = Study(program, folder)
    recovered = {name: [recover(study, name, i) for i in range(agents)] for name in CLASSES}
    covered = {name: cover(study, name, logs) for name in CLASSES if CLASSES[name][-1]}
    failed = show_recovery(recovered, agents) + show_coverage(covered, logs)
    if failed:
        raise SystemExit(f"FAILED: {', '.join(failed)}")
    print("\nevery class finds its policies again, and every interval covers as often as it says")


if __name__ == "__main__":
    main()
