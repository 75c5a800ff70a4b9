#!/usr/bin/env python3
"""comparison.py CASES PEER...: results of the comparison of models against those of other packages.

CASES is a file of golden_comparison/make_comparison.py: requests, their numbers, and what ArviZ, scikit-learn and SciPy
compute for them. PEER is the command of comparison_peer, which computes them with the library. Prints the largest
difference per request, relative to numbers above 1, and fails above its tolerance.
"""
import json
import math
import subprocess
import sys

TOLERANCES = {"efficiency": 1e-9, "psis": 1e-9, "left_out": 1e-9, "difference": 1e-9, "stacking": 1e-8, "selection": 1e-8,
              "exceedance": 1e-8, "events": 1e-12, "decisions": 1e-12, "isotonic": 1e-12, "sensitivity": 1e-9}


def results(peer, cases):
    """What the library computes: a list of words per case."""
    text = "".join(f"{case['request']} {len(case['numbers'])} {' '.join(map(repr, case['numbers']))}\n" for case in cases)
    done = subprocess.run(peer, input=text, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def difference(words, expected):
    """Largest difference of the numbers; infinite if they are not as many, or a status is among them."""
    if len(words) < len(expected) or any(word.startswith("IDM") for word in words):
        return math.inf
    pairs = [(float(word), number) for word, number in zip(words, expected) if number is not None]
    return max(0 if a == b else abs(a - b) / max(1, abs(b)) for a, b in pairs)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        stored = json.load(file)
    worst, failed = {}, False
    answers = results(sys.argv[2:], stored["cases"])
    if len(answers) != len(stored["cases"]):
        raise SystemExit(f"{len(answers)} answers to {len(stored['cases'])} requests")
    for case, words in zip(stored["cases"], answers):
        found = difference(words, case["expected"])
        name = case["request"]
        worst[name] = max(worst.get(name, 0), found)
        if not found <= TOLERANCES[name]:
            print(f"FAILED: {name}: {' '.join(words)[:200]}, not {str(case['expected'])[:200]}")
            failed = True
    for name, value in worst.items():
        print(f"{name:12} largest difference {value:.1e}, tolerance {TOLERANCES[name]:.0e}")
    if set(worst) != set(TOLERANCES):
        raise SystemExit(f"no case of {', '.join(sorted(set(TOLERANCES) - set(worst)))}")
    print("computed by", stored["versions"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
