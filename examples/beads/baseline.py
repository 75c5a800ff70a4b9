#!/usr/bin/env python3
"""baseline.py beads.csv REWARD_HIGH everybody|person: log-loss of the trials that pay REWARD_HIGH, predicted by
frequencies of the others.

The prediction is the frequency of each action at each difference of beads, among available actions (1 is added to every
count, so that no probability is 0), over all people or over the same person, counted in the trials with another payoff.
"""
import csv
import math
import sys
from collections import Counter

ACTIONS = ["draw", "bet_high", "bet_low"]


def main():
    path, held, by = sys.argv[1:]
    counts, total, decisions = Counter(), 0.0, 0
    rows = list(csv.DictReader(open(path, newline="", encoding="utf-8")))

    def at(row):
        return row["subject"] if by == "person" else "", row["difference"], row["available"]

    for row in rows:
        if row["reward_high"] != held:
            counts[at(row), row["action"]] += 1
    for row in rows:
        if row["reward_high"] != held:
            continue
        actions = row["available"].split("|") if row["available"] else ACTIONS
        weights = [counts[at(row), u] + 1 for u in actions]
        total -= math.log(weights[actions.index(row["action"])] / sum(weights))
        decisions += 1
    print("%.4f" % (total / decisions))


main()
