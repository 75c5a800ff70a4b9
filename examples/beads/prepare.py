#!/usr/bin/env python3
"""prepare.py beads_voi_decisions.csv > beads.csv: the beads log of OpenNeuro ds003758, one row per decision, for
beads.yaml.

It adds `available` (only the two bets if drawing was not allowed or the time was over: draws_allowed other than 1),
`belief.high` and `belief.low` on the first row of a trial (log-odds (n_high - n_low) ln 1.5 of the beads shown first),
and `difference` (n_high - n_low) for baselines.
"""
import csv
import sys


def main():
    rows = csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8"))
    added = ["available", "belief.high", "belief.low", "difference"]
    out = csv.DictWriter(sys.stdout, [*rows.fieldnames, *added], lineterminator="\n")
    out.writeheader()
    for row in rows:
        difference = int(row["n_high"]) - int(row["n_low"])
        first = row["step"] == "1"
        row["available"] = "" if row["draws_allowed"] == "1" else "bet_high|bet_low"
        row["belief.high"] = repr(1 / (1 + 1.5**-difference)) if first else ""
        row["belief.low"] = repr(1 / (1 + 1.5**difference)) if first else ""
        row["difference"] = difference
        out.writerow(row)


main()
