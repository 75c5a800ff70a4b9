#!/usr/bin/env python3
"""Coverage of audits whose dynamics are learnt from the same log.

usage: joint.py PROGRAM FOLDER clinic|adni [COUNT [FIRST LAST]]

clinic  COUNT (50) cohorts of a clinic with three groups of 150 patients. 1/beta of every group, the accuracy of the
        test and the prevalence are drawn for each cohort. The dynamics are learnt from the cohort and drawn together
        with the decisions. Of the intervals of 90 %, at least 85 % of the levels (groups and all) and of the contrasts
        contain the truth.
adni    examples/adni/run.sh with COUNT (20) seeds: intervals of 90 % of the effects (-0.8, -1.6, -2.4) and of the
        levels, and the verdict.

FOLDER/clinic.jsonl and FOLDER/adni.jsonl have one line per cohort. Cohorts that have one are not run again. With FIRST
and LAST only these cohorts are run, and the intervals are judged by the call that completes the COUNT cohorts.
"""
import csv
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import audit
from study import complete_lines

PROBLEM = """
name: clinic
states: [healthy, diseased]
actions: [declare_healthy, declare_diseased, monitor]
observations: [negative, positive]
start: [%(healthy).6f, %(diseased).6f]
discount: 0.95
ends: [declare_healthy, declare_diseased]
transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}
observation: {"*": [[%(right).6f, %(wrong).6f], [%(wrong).6f, %(right).6f]]}
utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}
models: {perturb: {observation: 0.1}}
agent: {planner: bounded-rational, alpha: 1, beta: inf, eta: 0, resolution: 19, evaluate: interpolate}
free: {beta: {scale: inverse, prior: {normal: [0, 1]}}}
"""
GROUPS = "abc"
PATIENTS = 150
DRAWS = ["--draws", 600, "--warmup", 200]


def write_problem(path, right, healthy):
    path.write_text(PROBLEM % {"right": right, "wrong": 1 - right, "healthy": healthy, "diseased": 1 - healthy})
    return path


def write_log(program, problem, truth, seed, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for i, group in enumerate(GROUPS):
            text = audit.run(program, "simulate", problem, "-n", PATIENTS, "--seed", 1000 * seed + i, "--set",
                             "beta=%r" % (1 / truth[group]))
            for row, cells in enumerate(csv.reader(io.StringIO(text))):
                if row:
                    writer.writerow(["%s%s" % (group, cell) for cell in cells[:2]] + cells[2:] + [group])
                elif not i:
                    writer.writerow(cells + ["group"])


def clinic(program, folder, seed):
    """Levels and contrasts of one cohort: [truth, q5, q95] each, and the verdicts."""
    rng = random.Random(seed)
    right, healthy = rng.uniform(0.62, 0.8), rng.uniform(0.35, 0.65)
    truth = {group: rng.gauss(0.4, 0.3) for group in GROUPS}
    cohort = folder / ("clinic-%d" % seed)
    cohort.mkdir(exist_ok=True)
    problem = write_problem(cohort / "truth.yaml", right, healthy)
    guess = write_problem(cohort / "guess.yaml", 0.7, 0.5)
    log = cohort / "log.csv"
    write_log(program, problem, truth, seed, log)
    audit.run(program, "learn", guess, log, "--draws", 1000, "--warmup", 300, "--seed", seed, "--overwrite", "-o",
              cohort / "learned")
    found = json.loads(audit.run(program, "audit", cohort / "learned" / "config.yaml", log, "--by", "group", "--seed",
                                 seed, *DRAWS, "--dynamics", cohort / "learned", "--json", "--overwrite", "-o",
                                 cohort / "audit"))
    truth["all"] = sum(truth.values()) / len(truth)
    shutil.rmtree(cohort)
    levels = [interval(truth[name], group["inverse_beta"]) for name, group in found["groups"].items()]
    contrasts = [interval(truth[c["group"]] - truth[c["against"]], c["inverse_beta"]) for c in found["contrasts"]]
    return {"levels": levels, "contrasts": contrasts, "joint": "joint_dynamics" in found,
            "verdicts": [group["verdict"] for group in found["groups"].values()],
            "r_hat": max(g["inverse_beta"]["r_hat"] for g in found["groups"].values()),
            "ess": min(g["inverse_beta"]["ess_bulk"] for g in found["groups"].values())}


def adni(program, folder, seed):
    """The same for a synthetic ADNI cohort, by the script of the example."""
    cohort = folder / ("adni-%d" % seed)
    log = folder / ("adni-%d.log" % seed)
    with open(log, "w") as out:
        subprocess.run(["sh", str(audit.ADNI / "run.sh"), str(cohort)], check=True, stdout=out, stderr=out,
                       env=dict(os.environ, IDM=program, SEED=str(seed), THREE="0"))
    found = json.loads((cohort / "audit" / "summary.json").read_text())
    effects = json.loads((cohort / "record.json").read_text())["optimism"]["effects"]
    truth = audit.adni_truth(cohort)
    levels = [interval(truth[name], group["inverse_beta"]) for name, group in found["groups"].items()]
    contrasts = [interval(effects[c["group"]], c["inverse_beta"]) for c in found["contrasts"]]
    return {"levels": levels, "contrasts": contrasts, "joint": "joint_dynamics" in found,
            "verdicts": [group["verdict"] for group in found["groups"].values()],
            "contrast_verdicts": [c["verdict"] for c in found["contrasts"]],
            "trusted": found["verdict"]["trusted"], "failures": found["verdict"]["failures"],
            "r_hat": max(g["inverse_beta"]["r_hat"] for g in found["groups"].values()),
            "ess": min(g["inverse_beta"]["ess_bulk"] for g in found["groups"].values()),
            "dynamics_r_hat": found.get("joint_dynamics", {}).get("r_hat")}


def interval(truth, number):
    return [truth, number["q5"], number["q95"], number["mean"], number["sd"]]


def covered(rows):
    """Number of intervals that contain the truth, and number of intervals."""
    own = [row for row in rows if row[1] is not None]
    return sum(row[1] <= row[0] <= row[2] for row in own), len(own)


def main():
    program, folder, kind = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else {"clinic": 50, "adni": 20}[kind]
    first, last = map(int, sys.argv[5:7]) if len(sys.argv) > 6 else (1, count)
    folder.mkdir(parents=True, exist_ok=True)
    done = cohorts(program, folder, kind, range(first, last + 1))
    missing = [seed for seed in range(1, count + 1) if seed not in done]
    if missing:
        print("      %d of %d cohorts; the intervals are judged when all are there" % (count - len(missing), count))
        return
    judge([done[seed] for seed in range(1, count + 1)])


def cohorts(program, folder, kind, seeds):
    """Results by seed: those that are kept, and those of `seeds`."""
    kept = folder / (kind + ".jsonl")
    done = {line["seed"]: line for line in map(json.loads, complete_lines(kept))}
    for seed in seeds:
        if seed in done:
            continue
        begun = time.time()
        done[seed] = {"seed": seed, **{"clinic": clinic, "adni": adni}[kind](program, folder, seed),
                      "seconds": round(time.time() - begun, 1)}
        with open(kept, "a") as file:
            file.write(json.dumps(done[seed]) + "\n")
    return done


def judge(rows):
    """Print the coverage of all cohorts; the program ends with 1 if it is below the threshold."""
    failed = []
    for part in ("levels", "contrasts"):
        hits, all_rows = covered([row for one in rows for row in one[part]])
        open_rows = sum(row[1] is None for one in rows for row in one[part])
        holds = hits >= 0.85 * all_rows and all_rows
        print("%s  %d of %d intervals of 90 %% of %s contain the truth; %d have none"
              % ("ok  " if holds else "FAIL", hits, all_rows, part, open_rows))
        if not holds:
            failed.append(part)
    verdicts = [v for one in rows for v in one["verdicts"]]
    print("      verdicts: " + ", ".join("%d %s" % (verdicts.count(v), v) for v in sorted(set(verdicts))))
    print("      %d of %d cohorts are drawn jointly; %.0f s each" % (sum(one["joint"] for one in rows), len(rows),
                                                                  sum(one["seconds"] for one in rows) / len(rows)))
    if failed:
        sys.exit("%d of these do not hold" % len(failed))


if __name__ == "__main__":
    main()
