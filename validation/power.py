#!/usr/bin/env python3
"""Power of the tests of the model, by kind of misfit and number of decisions: the table of docs/method/validation.md.

usage: power.py IDM_POWER FOLDER right|wrong [LOGS]

The kinds are described in validation/power.c. `right`: those with a correct model, LOGS (100) logs of 200, 500 and 2,000
decisions each; the number of failures must have a probability of at least 0.1 % at a rate of 1 %. `wrong`: the others,
LOGS (20) logs, and half as many of 2,000 decisions. Results are kept in FOLDER, so that the same command continues where
it stopped.
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
        whole = kept.with_suffix(".part")
        whole.write_text(done.stdout)
        whole.rename(kept)
    text = kept.read_text()
    found = {name: int(number) for name, number in re.findall(r"([a-z_]+) (\d+)", text.split(";")[1])}
    return {"any": int(re.search(r": (\d+) of", text).group(1)), **found}


def main():
    program, folder, chosen = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    right = {"right": True, "wrong": False}[chosen]
    logs = int(sys.argv[4]) if len(sys.argv) > 4 else 100 if right else 20
    size = {n: logs if right or n < 2000 else max(1, logs // 2) for n in DECISIONS}
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
             if kind.startswith("right-") == right]
    cells = [(kind, decisions) for kind in kinds for decisions in DECISIONS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(cells, pool.map(lambda cell: count(program, folder, *cell, size[cell[1]]), cells)))
    print("| kind | " + " | ".join("%d decisions, %d logs" % (n, size[n]) for n in DECISIONS) + " |")
    print("|---|" + "---|" * len(DECISIONS))
    for kind in kinds:
        print("| %s | " % kind + " | ".join("%(any)d (%(extensions)d, %(calibration)d)" % found[kind, n]
                                            for n in DECISIONS) + " |")
    if not right:
        return
    failed, total = sum(found[cell]["any"] for cell in cells), sum(size[n] for _, n in cells)
    most = upper(total, 0.01, 1e-3)
    print("%d of %d right models fail (fewer than %d)" % (failed, total, most))
    sys.exit(failed >= most)


if __name__ == "__main__":
    main()
