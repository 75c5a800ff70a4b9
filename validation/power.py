#!/usr/bin/env python3
"""Power of the tests of the model, by kind of misfit and number of decisions: the table of docs/method/validation.md.

usage: power.py IDM_POWER FOLDER [LOGS]

The kinds are described in validation/power.c. Results are kept in FOLDER, so that the same command continues where it
stopped. For correct models, the number of failures must have a probability of at least 0.1 % at a rate of 1 %.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from alarms import upper

DECISIONS = (200, 500, 2000)


def count(program, folder, kind, decisions, logs):
    """{"any": failures, test: failures, ...} over the logs."""
    kept = folder / ("%s-%d-%d.txt" % (kind, decisions, logs))
    if not kept.exists():
        done = subprocess.run([program, kind, str(decisions), str(logs)], capture_output=True, text=True, check=True)
        kept.write_text(done.stdout)
    text = kept.read_text()
    found = {name: int(number) for name, number in re.findall(r"([a-z_]+) (\d+)", text.split(";")[1])}
    return {"any": int(re.search(r": (\d+) of", text).group(1)), **found}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    logs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    folder.mkdir(parents=True, exist_ok=True)
    kinds = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    cells = [(kind, decisions) for kind in kinds for decisions in DECISIONS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(cells, pool.map(lambda cell: count(program, folder, *cell, logs), cells)))
    print("| kind | " + " | ".join("%d decisions" % n for n in DECISIONS) + " |")
    print("|---|" + "---|" * len(DECISIONS))
    for kind in kinds:
        print("| %s | " % kind + " | ".join("%(any)d (%(extensions)d, %(calibration)d)" % found[kind, n]
                                            for n in DECISIONS) + " |")
    right = [found[cell]["any"] for cell in cells if cell[0].startswith("right-")]
    most = upper(logs * len(right), 0.01, 1e-3)
    print("%d of %d right models fail (fewer than %d)" % (sum(right), logs * len(right), most))
    sys.exit(sum(right) >= most)


if __name__ == "__main__":
    main()
