#!/usr/bin/env python3
"""Audits of groups with known optimism.

usage: audit.py PROGRAM FOLDER clinic|adni [SEEDS]

clinic: three groups of a clinic similar to DIAG at r = 19, 1/beta free, SEEDS logs (20) of each kind:

  differ    1/beta differs between groups: 90 % intervals of the four values (the groups and all) cover in at least 64 of
            80 cases, and the groups are in the right order;
  alike     1/beta is the same: at most 6 of 60 contrasts are significant at 95 %;
  dynamics  1/beta is the same, and one group has a less accurate test, which its doctors know: with the dynamics of all
            groups, the audit finds a spurious difference, and reports that it depends on them.

adni: the same for the synthetic ADNI cohort (examples/adni/cohort.py), which is simulated on a finer lattice and has
overlapping predicates: `optimism`, `none` and `dynamics`, the last with dynamics learnt from all patients and from each
cell.

Results are kept in FOLDER, and the same command continues where it stopped.
"""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

PROBLEM = """
name: clinic
states: [healthy, diseased]
actions: [declare_healthy, declare_diseased, monitor]
observations: [negative, positive]
start: [0.5, 0.5]
discount: 0.95
ends: [declare_healthy, declare_diseased]
transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}
observation: {"*": [[%(right)g, %(wrong)g], [%(wrong)g, %(right)g]]}
utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}
models: {perturb: {observation: 0.1}}
agent: {planner: bounded-rational, alpha: 1, beta: inf, eta: 0, resolution: 19, evaluate: interpolate}
free: {beta: {scale: inverse, prior: {normal: [0, 1]}}}
"""
GROUPS = "abc"
PATIENTS = 200
KINDS = {  # 1/beta, and accuracy of the test, of each group
    "differ": ((0.1, 0.4, 0.7), (0.7, 0.7, 0.7)),
    "alike": ((0.4, 0.4, 0.4), (0.7, 0.7, 0.7)),
    "dynamics": ((0.4, 0.4, 0.4), (0.7, 0.7, 0.6)),
}


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def problem(folder, right):
    path = folder / ("clinic-%g.yaml" % right)
    if not path.exists():
        path.write_text(PROBLEM % {"right": right, "wrong": 1 - right})
    return path


def make_log(program, folder, kind, seed, path):
    optimism, right = KINDS[kind]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for i, group in enumerate(GROUPS):
            text = run(program, "simulate", problem(folder, right[i]), "-n", PATIENTS, "--seed", 100 * seed + i,
                       "--set", "beta=%r" % (1 / optimism[i]))
            for row, cells in enumerate(csv.reader(io.StringIO(text))):
                if row:
                    writer.writerow(["%s%s" % (group, cell) for cell in cells[:2]] + cells[2:] + [group])
                elif not i:
                    writer.writerow(cells + ["group"])


def audit(program, folder, kind, seed):
    """Summary of the audit of one log; it is kept."""
    kept = folder / ("%s-%d.json" % (kind, seed))
    if not kept.exists():
        log = folder / ("%s-%d.csv" % (kind, seed))
        make_log(program, folder, kind, seed, log)
        text = run(program, "audit", problem(folder, 0.7), log, "--by", "group", "--threads", 1, "--draws", 500, "--seed",
                   seed, "--dynamics", "group" if kind == "dynamics" else "pooled", "--json", "--overwrite",
                   "-o", folder / ("%s-%d" % (kind, seed)))
        kept.write_text(text)
        log.unlink()
    return json.loads(kept.read_text())


ADNI = pathlib.Path(__file__).resolve().parent.parent / "examples" / "adni"
PREDICATES = ("APOE4!=0", "PTGENDER=Female", "AGE>75")


def adni(program, folder, kind, seed):
    """Summary of the audit of one cohort, and its true values."""
    kept = folder / ("adni-%s-%d.json" % (kind, seed))
    if not kept.exists():
        cohort = folder / ("adni-%s-%d" % (kind, seed))
        subprocess.run([sys.executable, str(ADNI / "cohort.py"), str(cohort), "--seed", str(seed), "--variant", kind,
                        "--idm", program], check=True)
        data, problem_file = cohort / "cohort.csv", ADNI / "adni.yaml"
        if kind == "dynamics":
            run(program, "learn", problem_file, data, "-o", cohort / "learned.yaml")
            problem_file = cohort / "learned.yaml"
        groups = [x for p in PREDICATES for x in ("--group", p)]
        text = run(program, "audit", problem_file, data, *groups, "--threads", 1, "--seed", seed, "--dynamics",
                   "group" if kind == "dynamics" else "pooled", "--json", "--overwrite", "-o", cohort / "run")
        kept.write_text(json.dumps({"audit": json.loads(text), "truth": adni_truth(cohort)}))
    return json.loads(kept.read_text())


def adni_truth(cohort):
    """1/beta of each group and of all patients: mean over subjects of reference plus effects."""
    optimism = json.loads((cohort / "record.json").read_text())["optimism"]
    with open(cohort / "cohort.csv", newline="") as file:
        subjects = {row["RID"]: row for row in csv.DictReader(file)}
    met = [{"APOE4!=0": row["APOE4"] not in ("", "0"), "PTGENDER=Female": row["PTGENDER"] == "Female",
            "AGE>75": float(row["AGE"]) > 75} for row in subjects.values()]
    value = [optimism["reference"] + sum(optimism["effects"][p] for p in PREDICATES if m[p]) for m in met]
    truth = {}
    for name in PREDICATES + ("all",):
        own = [v for v, m in zip(value, met) if name == "all" or m[name]]
        truth[name] = sum(own) / len(own)
    return truth


def covers(number, truth):
    return number["q5"] <= truth <= number["q95"]


def check_adni(program, folder, seeds, expect):
    jobs = [(kind, seed) for kind in ("optimism", "none", "dynamics") for seed in seeds]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(jobs, pool.map(lambda job: adni(program, folder, *job), jobs)))
    n = len(seeds)
    values = [(found["optimism", seed], name) for seed in seeds for name in PREDICATES + ("all",)]
    covered = sum(covers(f["audit"]["groups"][name]["inverse_beta"], f["truth"][name]) for f, name in values)
    expect(covered >= 64 * n / 20, "ADNI: %d of %d intervals of 90 %% cover" % (covered, len(values)))

    def order(number):
        return sorted(PREDICATES, key=number)
    ordered = sum(order(lambda p: found["optimism", seed]["audit"]["groups"][p]["inverse_beta"]["mean"])
                  == order(lambda p: found["optimism", seed]["truth"][p]) for seed in seeds)
    expect(ordered == n, "ADNI: the order of the groups is right in %d of %d audits" % (ordered, n))
    flags = [c["inverse_beta"]["flagged"] for seed in seeds for c in found["none", seed]["audit"]["contrasts"]]
    expect(sum(flags) <= 6 * n / 20, "ADNI: %d of %d contrasts that are none are flagged" % (sum(flags), len(flags)))
    contrasts = [c for seed in seeds for c in found["dynamics", seed]["audit"]["contrasts"] if c["group"] == "AGE>75"]
    fooled = [c for c in contrasts if c["pooled_dynamics"]["inverse_beta"]["flagged"]]
    told = sum(c["verdict"] == "depends on dynamics" for c in fooled)
    expect(told >= 0.9 * len(fooled), "ADNI: of %d contrasts of %d that pooled dynamics make up, %d are said to depend "
           "on them" % (len(fooled), len(contrasts), told))


def check_clinic(program, folder, seeds, expect):
    for right in (0.6, 0.7):
        problem(folder, right)
    jobs = [(kind, seed) for kind in KINDS for seed in seeds]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(jobs, pool.map(lambda job: audit(program, folder, *job), jobs)))
    n = len(seeds)
    truth = dict(zip(GROUPS, KINDS["differ"][0]))
    truth["all"] = sum(truth.values()) / len(truth)
    values = [(found["differ", seed]["groups"], name) for seed in seeds for name in truth]
    covered = sum(covers(groups[name]["inverse_beta"], truth[name]) for groups, name in values)
    expect(covered >= 64 * n / 20, "%d of %d intervals of 90 %% cover" % (covered, len(values)))
    means = [[found["differ", seed]["groups"][g]["inverse_beta"]["mean"] for g in GROUPS] for seed in seeds]
    ordered = sum(m == sorted(m) for m in means)
    expect(ordered == n, "the order of the groups is right in %d of %d audits" % (ordered, n))
    flags = [c["inverse_beta"]["flagged"] for seed in seeds for c in found["alike", seed]["contrasts"]]
    expect(sum(flags) <= 6 * n / 20, "%d of %d contrasts that are none are flagged" % (sum(flags), len(flags)))
    contrasts = [c for seed in seeds for c in found["dynamics", seed]["contrasts"] if c["group"] == "c"]
    fooled = [c for c in contrasts if c["pooled_dynamics"]["inverse_beta"]["flagged"]]
    told = sum(c["verdict"] == "depends on dynamics" for c in fooled)
    still = sum(c["inverse_beta"]["flagged"] for c in contrasts)
    expect(told >= 0.9 * len(fooled), "of %d contrasts of %d that pooled dynamics make up, %d are said to depend on them"
           % (len(fooled), len(contrasts), told))
    print("      with each group's own dynamics, as learnt from %d patients, %d of %d are flagged"
          % (PATIENTS, still, len(contrasts)))
    verdicts = [g["verdict"] for audit_found in found.values() for g in audit_found["groups"].values()]
    print("      verdicts: " + ", ".join("%d %s" % (verdicts.count(v), v) for v in sorted(set(verdicts))))


def main():
    program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    check = {"clinic": check_clinic, "adni": check_adni}[sys.argv[3]]
    seeds = range(1, 1 + (int(sys.argv[4]) if len(sys.argv) > 4 else 20))
    folder.mkdir(parents=True, exist_ok=True)
    failed = []

    def expect(holds, sentence):
        print("%s  %s" % ("ok  " if holds else "FAIL", sentence))
        if not holds:
            failed.append(sentence)

    check(program, folder, seeds, expect)
    if failed:
        sys.exit("%d of these do not hold" % len(failed))


if __name__ == "__main__":
    main()
