#!/usr/bin/env python3
"""world.py FOLDER: write a grid world of 8 x 11 cells, and the same world on ice.

A walker goes to the goal in the lower right corner, which ends a trajectory. The cost of a step depends on the ground
of the cell that is left: plain, road, mud or thorns. With probability .1 (on ice .5) a step goes in a random direction
instead.

Output: world.yaml and ice.yaml with the true weights of the ground, ground.csv with the features of each cell, and
unknown.yaml, the world with all utilities 0 and one free number per cell.
"""
import csv
import os
import sys

ROWS, COLUMNS = 8, 11
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
WEIGHTS = {"plain": -0.3, "road": -0.1, "mud": -0.8, "thorns": -1.5}
ALPHA, DISCOUNT = 0.2, 0.95
#  p plain, r road, m mud, t thorns
MAP = ["pprpppmmppp",
       "pprppmmmppp",
       "pprrrrrrrrp",
       "ptttppmpprp",
       "pptttpmmprp",
       "mppttppmprp",
       "mmpppptpprp",
       "mmmpppttppp"]
NAME = {letter: word for word in WEIGHTS for letter in word[0]}


def cells():
    """Names of the cells, row by row; the last one is the goal."""
    names = [f"r{r}c{c}" for r in range(ROWS) for c in range(COLUMNS)]
    return names[:-1] + ["goal"]


def after(cell, step):
    """The cell reached by a step: walls block it."""
    r, c = divmod(cell, COLUMNS)
    return (min(max(r + step[0], 0), ROWS - 1) * COLUMNS + min(max(c + step[1], 0), COLUMNS - 1))


def row(cell, action, slip):
    """Probabilities of the cells after an action."""
    probability = {}
    for other, step in STEPS.items():
        p = slip / len(STEPS) + (1 - slip) * (other == action)
        probability[after(cell, step)] = probability.get(after(cell, step), 0) + p
    return probability


def text(slip, known):
    """A problem file."""
    names = cells()
    lines = ["# Made by world.py.", f"name: {'world' if slip < 0.5 else 'ice'}", f"states: [{', '.join(names)}]",
             f"actions: [{', '.join(STEPS)}]", "observations: states", "start: uniform", "terminal: [goal]",
             f"discount: {DISCOUNT}", "transition:"]
    for action in STEPS:
        lines.append(f"  {action}:")
        for cell, name in enumerate(names):
            if name == "goal":
                lines.append("    goal: goal")
                continue
            odds = ", ".join(f"{names[k]}: {p:.6g}" for k, p in row(cell, action, slip).items())
            lines.append(f"    {name}: {{{odds}}}")
    if known:
        weights = ", ".join(f"{word}: {weight}" for word, weight in WEIGHTS.items())
        lines += ["features: ground.csv", f"feature_weights: {{{weights}}}"]
        free = "  utility: {prior: {normal: [0, 1]}}"
    else:
        lines.append("utility: {" + ", ".join(f"{action}: 0" for action in STEPS) + "}")
        entries = ", ".join(f"u_{name}: [{', '.join(f'{action}.{name}' for action in STEPS)}]" for name in names[:-1])
        free = f"  utility: {{prior: {{normal: [0, 1]}}, entries: {{{entries}}}}}"
    return "\n".join(lines + [f"agent: {{planner: maximum-entropy, alpha: {ALPHA}}}", "free:", free, ""])


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "ground.csv"), "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["state", *WEIGHTS])
        for cell, name in enumerate(cells()):
            ground = NAME[MAP[cell // COLUMNS][cell % COLUMNS]]
            table.writerow([name, *(int(word == ground and name != "goal") for word in WEIGHTS)])
    for name, slip, known in (("world", 0.1, True), ("ice", 0.5, True), ("unknown", 0.1, False)):
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(text(slip, known))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
