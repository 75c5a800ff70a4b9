"""Table 4 and Figure 2 of the paper: the agents, and the policies and beliefs of six of them."""

import csv
import json
import os

from study import settings

# Table 4: 1/alpha, 1/beta, 1/eta as printed ("->" is a limit), and the planner of that row.
TABLE_4 = [
    ("Uniformly Random Agent", "-> 0, -> 0, -> ±inf", "uniformly-random", {}),
    ("Deterministic, Optimal Agent", "-> inf, -> 0, -> ±inf", "deterministic-optimal", {}),
    ("Boltzmann-Exploratory Agent", "-> inf, -> 0, -> ±inf, softmax on Q", "boltzmann-exploratory", {}),
    ("Minimum-Information Agent", "1, -> 0, 1", "minimum-information", {}),
    ("Maximum Entropy Agent", "(0, inf), -> 0, -> ±inf", "maximum-entropy", {"alpha": 0.5}),
    ("(Action) KL-Regularized Agent", "(0, inf), -> 0, -> ±inf", "kl-regularised", {"alpha": 0.5}),
    ("KL-Penalized Robust Agent", "-> inf, (-inf, 0), -> ±inf", "kl-penalised-robust", {"beta": -1}),
    ("General Formulation", "any, any, any", "bounded-rational", {"alpha": 0.5, "beta": 1.25, "eta": 0.001}),
]

# Figure 2: agent, its keys, and values of the printed figure: the beliefs after one, two and three positive tests, and
# the belief at which declaring becomes as probable as monitoring. Read from the authors' figure to one pixel, which is
# .0024 wide.
SIX = [
    ("flexible (α = 0.001)", {"alpha": 0.001, "beta": 1000, "eta": 0.001}, (.700, .842, .923), .842),
    ("optimistic (β = 1.25)", {"alpha": 0.5, "beta": 1.25, "eta": 0.001}, (.755, .906, .961), .833),
    ("adaptive (η = 0.001)", {"alpha": 0.5, "beta": 1000, "eta": 0.001}, (.700, .842, .923), .841),
    ("inflexible (α = 10)", {"alpha": 10, "beta": 1000, "eta": 0.001}, (.700, .842, .923), .863),
    ("pessimistic (β = −0.75)", {"alpha": 0.5, "beta": -0.75, "eta": 0.001}, (.629, .739, .823), .853),
    ("non-adaptive (η = 75)", {"alpha": 0.5, "beta": 1000, "eta": 75}, (.700, .842, .923), .773),
]
POSITIVE = ",".join(["monitor:positive"] * 3)


def table_4(study):
    """Each row's parameters as clamped by the program, and the resulting policy at a belief of .8."""
    print(f"{'row':31} {'1/alpha, 1/beta, 1/eta as printed':37} {'ours: alpha, beta, eta':24} monitor, declare at .8")
    for row, printed, planner, keys in TABLE_4:
        solved = json.loads(study.call("solve", "example:diag", *settings({"planner": planner, **keys}),
                                       "--at", "0.2,0.8", "--json").stdout)
        ours = ", ".join(str(solved[name]) for name in ("alpha", "beta", "eta"))
        policy = solved["policy"]
        print(f"{row:31} {printed:37} {ours:24} {policy['monitor'][0]:.3f}, {policy['declare_diseased'][0]:.3f}")


def crossing(points):
    """First belief above .5 at which declaring is as probable as monitoring."""
    curves = {name: [(x, y) for x, y in points[name] if x >= 0.5] for name in ("monitor", "declare_diseased")}
    gap = [(x, y - z) for (x, y), (_, z) in zip(curves["declare_diseased"], curves["monitor"])]
    for (left, low), (right, high) in zip(gap, gap[1:]):
        if low < 0 <= high:
            return left + (right - left) * -low / (high - low)
    return float("nan")


def read_six(path):
    """{panel: (beliefs along the path, crossing)} from the data of a plot."""
    curves, beliefs = {}, {}
    with open(path, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["kind"] == "steps":
                beliefs.setdefault(row["panel"], []).append(float(row["x"]))
            else:
                curves.setdefault(row["panel"], {}).setdefault(row["mark"], []).append((float(row["x"]), float(row["y"])))
    return {panel: (beliefs[panel], crossing(curves[panel])) for panel in curves}


def plot_six(study):
    """Arguments of `idm plot` for Figure 2, and its numbers."""
    data = os.path.join(study.folder, "agents.csv")
    words = ["policy", "example:diag", "--path", POSITIVE, "--data", data]
    for title, keys, *_ in SIX:
        words += ["--panel", f"{title}: " + ", ".join(f"{key}={value}" for key, value in keys.items())]
    return words, data


def figure_2(study):
    words, data = plot_six(study)
    study.call("plot", *words, "-o", os.path.join(study.folder, "agents.svg"))
    ours = read_six(data)
    print(f"{'agent':24} {'beliefs after 1, 2, 3 positives':33} {'printed':21} {'declares above':15} printed")
    for title, _, printed, threshold in SIX:
        beliefs, ours_threshold = ours[title]
        print(f"{title:24} {', '.join(f'{z:.4f}' for z in beliefs[1:]):33} {', '.join(f'{z:.3f}' for z in printed):21} "
              f"{ours_threshold:<15.4f} {threshold:.3f}")
    worst = max(abs(a - b) for title, _, printed, threshold in SIX
                for a, b in zip(ours[title][0][1:] + [ours[title][1]], (*printed, threshold)))
    print(f"printed numbers are read from the picture to ±.0024 (a pixel); the largest difference is {worst:.4f}")
