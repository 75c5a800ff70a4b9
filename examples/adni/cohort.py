#!/usr/bin/env python3
"""cohort.py FOLDER: write a synthetic cohort with the columns of ADNIMERGE, and a record of how it was generated.

Decisions are simulated by `idm simulate` from the problem in this folder, one run per cell of the three risk factors,
each with its own optimism. Beliefs are exact, and values are those of a lattice three times as fine as the problem's.
The results are written as raw columns (ratings in halves, volumes in mm3, diagnoses with their changes) and damaged
like real tables: visits skipped, ratings and diagnoses blank, genotypes missing, rows shuffled. FOLDER/record.json
contains the true optimism and the counts that `idm lint` must report. The same seed gives the same bytes.
"""

import argparse
import csv
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = ["RID", "VISCODE", "M", "AGE", "PTGENDER", "APOE4", "CDRSB", "Hippocampus", "DX"]
PREDICATES = ["APOE4!=0", "PTGENDER=Female", "AGE>75"]
CDR = ["normal", "questionable", "abnormal"]
VOLUME = ["low", "mid", "high", "none"]
RESOLUTION = 119  # resolution of the values that decisions are simulated from
SUBJECTS, UNRATED, UNDIAGNOSED, CHANGING = 1737, 38, 17, 56  # of which 1,626 remain
VISITS = ([1, 2, 3, 4, 5, 6, 7, 8], [13, 20, 30, 15, 9, 6, 4, 3])  # numbers of consecutive visits, and their weights
MEAN, SD = 6642, 1225  # of the volume: the authors' cut points are 6642 -+ 612.5
# 1 / beta: the reference has no risk factor; effects are additive.
OPTIMISM = {
    "optimism": (2.0, [-0.8, -1.6, -2.4]),
    "none": (0.5, [0.0, 0.0, 0.0]),
    "dynamics": (0.5, [0.0, 0.0, 0.0]),
}
# Patients over 75 in the variant `dynamics`: their disease progresses faster, and clinicians know it.
FAST = '{"*": [[0.88, 0.1, 0.02], [0.01, 0.79, 0.2], [0.0, 0.02, 0.98]]}'


class Subject:
    """One patient: risk factors, and visits as simulated."""

    def __init__(self, rid, rng):
        self.rid = rid
        self.age = round(min(max(rng.gauss(73.5, 7), 55), 91), 1)
        self.female = rng.random() < 0.45
        alleles = rng.choices([0, 1, 2], [54, 36, 10])[0]
        # Patients without a genotype satisfy no predicate, so none of them is a carrier here.
        self.apoe4 = "" if alleles == 0 and rng.random() < 0.06 else str(alleles)
        self.consecutive = rng.choices(*VISITS)[0]
        self.later = rng.choices([0, 1, 2], [30, 40, 30])[0]
        self.rows = []

    def factors(self):
        return (self.apoe4 not in ("", "0"), self.female, self.age > 75)

    def months(self, rng):
        months = [6 * i for i in range(self.consecutive)]
        for _ in range(self.later):
            months.append(months[-1] + rng.choice([12, 12, 18, 24]))
        return months


# --- decisions ---------------------------------------------------------------------------------


def simulate(program, problem, beta, subjects, steps, seed):
    """One list of (action, cdr, volume, next state) per subject."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "cell.csv")
        subprocess.run([program, "simulate", problem, "--set", f"beta={beta!r}", "--set",
                        f"resolution={RESOLUTION}", "-n", str(subjects), "--steps",
                        str(steps + 1), "--seed", str(seed), "--states", "-o", str(out)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    courses = {}
    for row in rows:
        courses.setdefault(row["RID"], []).append(row)
    return [[(now["ordered"], now["cdr"], now["volume"], after["state"]) for now, after in zip(course, course[1:])]
            for course in courses.values()]


def decide(subjects, arguments, reference, effects):
    text = arguments.problem.read_text(encoding="utf-8")
    cells = {}
    for subject in subjects:
        cells.setdefault(subject.factors(), []).append(subject)
    with tempfile.TemporaryDirectory() as folder:
        fast = Path(folder, "fast.yaml")
        fast.write_text(re.sub(r"(?m)^transition: .*$", "transition: " + FAST, text), encoding="utf-8")
        for number, (factors, members) in enumerate(sorted(cells.items())):
            inverse = reference + sum(e for e, has in zip(effects, factors) if has)
            beta = 1 / inverse if inverse else float("inf")
            problem = fast if arguments.variant == "dynamics" and factors[2] else arguments.problem
            steps = max(s.consecutive + s.later for s in members)
            courses = simulate(arguments.idm, problem, beta, len(members), steps, 1000 * arguments.seed + number)
            for subject, course in zip(members, courses):
                subject.course = course[: subject.consecutive + subject.later]


# --- raw columns -------------------------------------------------------------------------------


def rating(label, rng):
    """CDR-SB, in halves."""
    return {"normal": 0, "questionable": rng.randint(1, 5) / 2, "abnormal": rng.randint(6, 20) / 2}[label]


def make_rows(subject, rng):
    before = subject.course[0][3]
    for month, (action, cdr, volume, state) in zip(subject.months(rng), subject.course):
        subject.rows.append({
            "RID": subject.rid, "VISCODE": "bl" if month == 0 else f"m{month:02d}", "M": month, "AGE": subject.age,
            "PTGENDER": "Female" if subject.female else "Male", "APOE4": subject.apoe4,
            "CDRSB": rating(cdr, rng), "DX": state if state == before else f"{before} to {state}",
            "state": state, "ordered": action, "cdr": cdr, "volume": volume})
        before = state


def blank(subjects, rng):
    """Missing ratings and diagnoses: all of a few subjects, and some later visits of others."""
    unrated, undiagnosed = subjects[:UNRATED], subjects[UNRATED:UNRATED + UNDIAGNOSED]
    for column, lost in ("CDRSB", unrated), ("DX", undiagnosed):
        for subject in lost:
            for row in subject.rows:
                row[column] = ""
    for subject in subjects[UNRATED + UNDIAGNOSED:]:
        for row in subject.rows[1:]:
            if rng.random() < 0.04:
                row["CDRSB"] = ""
            if rng.random() < 0.02:
                row["DX"] = ""


def complete(subject):
    return [row for row in subject.rows if row["DX"] != "" and row["CDRSB"] != ""]


def course_of(subject):
    """Rows that are left after a skipped visit truncates them."""
    rows = []
    for row in complete(subject):
        if rows and row["M"] != rows[-1]["M"] + 6:
            break
        rows.append(row)
    return rows


def settle_ends(subjects):
    """The last kept diagnosis is a change in exactly the specified number of subjects, and in no others."""
    rest = [s for s in subjects if course_of(s)]
    rest.sort(key=lambda s: " to " not in course_of(s)[-1]["DX"])  # subjects with a change first; sorting is stable
    for place, subject in enumerate(rest):
        last = course_of(subject)[-1]
        if place >= CHANGING:
            last["DX"] = last["state"]
        elif " to " not in last["DX"]:
            last["DX"] = f"{'NL' if last['state'] == 'MCI' else 'MCI'} to {last['state']}"
    return rest[:CHANGING], rest[CHANGING:]


def spread(counts):
    """Extent of low and high volumes, in standard deviations, so that all volumes have mean 0 and sd 1.

    Low is uniform on [-.6 - 2a, -.6], mid on [-.4, .4], high on [.6, .6 + 2b]: a gap of .2 around the cuts at -+.5.
    """
    low, mid, high = (counts[name] for name in VOLUME[:3])

    def other(a):
        return (low * (0.6 + a) - 0.6 * high) / high

    def variance(a):
        b = other(a)
        of = low * ((0.6 + a) ** 2 + a * a / 3) + high * ((0.6 + b) ** 2 + b * b / 3) + mid * 0.16 / 3
        return of / (low + mid + high)

    least, most = max(0.0, 0.6 * (high - low) / low), 5.0
    for _ in range(100):
        middle = (least + most) / 2
        least, most = (middle, most) if variance(middle) < 1 else (least, middle)
    return least, other(least)


def make_volumes(subjects, rng):
    """Volumes whose labels are the simulated ones, with cuts at half a standard deviation of the rows kept before
    truncation. Returns these rows.
    """
    rows = [row for subject in subjects for row in complete(subject) if row["volume"] != "none"]
    counts = {name: sum(row["volume"] == name for row in rows) for name in VOLUME}
    a, b = spread(counts)
    bounds = {"low": (-0.6 - 2 * a, -0.6), "mid": (-0.4, 0.4), "high": (0.6, 0.6 + 2 * b)}
    for subject in subjects:
        for row in subject.rows:
            row["Hippocampus"] = "" if row["volume"] == "none" else round(MEAN + SD * rng.uniform(*bounds[row["volume"]]))
    return rows


def cut_points(rows):
    volumes = [row["Hippocampus"] for row in rows]
    mean, sd = statistics.fmean(volumes), statistics.stdev(volumes)
    at = [mean - 0.5 * sd, mean + 0.5 * sd]
    for row in rows:
        if VOLUME[sum(row["Hippocampus"] > point for point in at)] != row["volume"]:
            raise SystemExit("cohort.py: a volume falls on the wrong side of its cut point; try another seed")
    return {"column": "Hippocampus", "rows": len(rows), "mean": mean, "sd": sd, "at": at}


# --- the record --------------------------------------------------------------------------------


def lengths(kept):
    sizes = [len(course_of(s)) for s in kept]
    return {"shortest": min(sizes), "median": statistics.median(sizes), "mean": statistics.fmean(sizes),
            "longest": max(sizes), "single": sizes.count(1)}


def dropped(subjects, changing):
    """Rows dropped by each rule, in order."""
    rows = [row for subject in subjects for row in subject.rows]
    no_dx = sum(row["DX"] == "" for row in rows)
    no_cdr = sum(row["DX"] != "" and row["CDRSB"] == "" for row in rows)
    behind = sum(len(complete(s)) - len(course_of(s)) for s in subjects)
    ends = sum(len(course_of(s)) for s in changing)
    table = [("require DX", no_dx, UNDIAGNOSED, no_dx), ("require CDRSB", no_cdr, UNRATED, no_cdr),
             ("truncate M every 6", behind, 0, 0), ("ends DX in NL, MCI, Dementia", ends, CHANGING, 0)]
    return [{"reason": reason, "rows": lost, "trajectories": trajectories, "agents": 0, "missing": missing}
            for reason, lost, trajectories, missing in table]


def make_record(subjects, table, changing, kept, cuts, arguments, reference, effects):
    final = [row for subject in kept for row in course_of(subject)]
    place = {id(row): number for number, row in enumerate(table)}
    in_order = [[place[id(row)] for row in course_of(s)] for s in kept]
    seen = [f"{cdr}/{volume}" for cdr in CDR for volume in VOLUME]
    lint = {
        "read": {"rows": len(table), "trajectories": len(subjects), "agents": 1},
        "dropped": dropped(subjects, changing),
        "kept": {"rows": len(final), "trajectories": len(kept), "agents": 1},
        "parted": sum(len(course_of(s)) < len(s.rows) for s in kept),
        "unsorted": sum(places != sorted(places) for places in in_order),
        "cuts": {"volume": cuts},
        "actions": {name: sum(row["ordered"] == name for row in final) for name in ("mri", "none")},
        "observations": {name: sum(f"{row['cdr']}/{row['volume']}" == name for row in final) for name in seen},
        "missing": {"action": 0, "observation": 0},
        "lengths": lengths(kept),
        "impossible": [],
    }
    members = {p: sum(s.factors()[i] for s in kept) for i, p in enumerate(PREDICATES)}
    return {
        "seed": arguments.seed, "variant": arguments.variant, "lint": lint,
        "optimism": {"coordinate": "inverse_beta", "reference": reference, "effects": dict(zip(PREDICATES, effects)),
                     "values": {p: reference + e for p, e in zip(PREDICATES, effects)}},
        "members": members, "missing_apoe4": sum(s.apoe4 == "" for s in kept),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variant", choices=list(OPTIMISM), default="optimism",
                        help="differences in optimism, none, or in dynamics alone")
    parser.add_argument("--idm", default=os.environ.get("IDM_PROGRAM", "idm"), help="the program, such as build/idm")
    parser.add_argument("--problem", type=Path, default=HERE / "adni.yaml")
    arguments = parser.parse_args()
    if not shutil.which(arguments.idm):
        sys.exit(f"cohort.py: no program '{arguments.idm}'; say where it is by --idm, such as --idm build/idm")
    reference, effects = OPTIMISM[arguments.variant]
    rng = random.Random(arguments.seed)
    subjects = [Subject(rid, rng) for rid in rng.sample(range(1, 6000), SUBJECTS)]
    decide(subjects, arguments, reference, effects)
    for subject in subjects:
        make_rows(subject, rng)
    blank(subjects, rng)
    changing, kept = settle_ends(subjects)
    cuts = cut_points(make_volumes(subjects, rng))
    table = [row for subject in subjects for row in subject.rows]
    rng.shuffle(table)
    record = make_record(subjects, table, changing, kept, cuts, arguments, reference, effects)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with open(arguments.folder / "cohort.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    (arguments.folder / "record.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if (len(kept), record["lint"]["lengths"]["median"]) != (1626, 3):
        sys.exit("cohort.py: expected 1,626 subjects with a median of three visits; try another seed")


if __name__ == "__main__":
    main()
