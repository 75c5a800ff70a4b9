#!/usr/bin/env python3
"""baseline.py beads.csv REWARD_HIGH everybody|person: log-loss of the trials that pay REWARD_HIGH by frequencies of the others.

How often each action was taken at each difference of beads, among those open (1 added to every count, so that nothing
is impossible), by everybody or by the same person, counted where the pay was another, predicts what was done where it
was this one.
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
