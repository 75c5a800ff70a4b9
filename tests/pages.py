#!/usr/bin/env python3
"""Figures compared with tables, and tables with the draws and replications they summarise, for every kind of answer.

    pages.py PROGRAM

A fit, a fit of people, one with jointly sampled dynamics, audits of groups and of people, studies by `recover` and
`sbc`, dynamics of `learn` and two agents of `compare` are each made once, with small settings. Their pages must have
the numbers of summary.json, and their figures the numbers of both; every dot must be inside its own interval, and
shares must sum to 1. The results of studies and comparisons are recomputed here.
"""

import base64
import collections
import csv
import html
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

FEW = "--free alpha --chains 2 --draws 60 --warmup 40 --threads 1".split()
STUDY = "--set resolution=9 --free alpha --replications 12 -n 10 --draws 60 --warmup 40 --chains 2 --threads 1".split()
WALK = """name: walk
states: [a, b, c]
actions: [left, right]
observations: states
discount: 0.9
start: a
transition:
  left: [[1, 0, 0], [0.8, 0.2, 0], [0, 1, 0]]
  right: [[0.2, 0.8, 0], [0, 0, 1], [0, 0, 1]]
utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}
agent: {planner: maximum-entropy, alpha: %s}
"""

DIAG = """name: diag
states: [healthy, diseased]
actions: [declare_healthy, declare_diseased, monitor]
observations: [negative, positive]
start: %s
discount: 0.95
ends: [declare_healthy, declare_diseased]
transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}
observation: {"*": %s}
utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}
agent: {planner: bounded-rational, alpha: 0.5, beta: inf, eta: 0, resolution: 19, evaluate: interpolate}
free: {alpha: {scale: log, prior: {normal: [0, 2]}}}
"""

failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("failed:", what)


def near(found, expected, tolerance=1e-9):
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= tolerance * max(1, abs(expected))


class Program:
    """The program in a separate folder."""

    def __init__(self, path, folder):
        self.path = str(Path(path).resolve())
        self.folder = folder

    def run(self, *words, codes=(0,)):
        done = subprocess.run([self.path, *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            raise SystemExit(f"idm {' '.join(map(str, words))} ends with {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *words, codes=(0,)):
        return json.loads(self.run(*words, "--json", codes=codes))

    def figure(self, kind, run, *words):
        """Data of a figure; numeric cells as numbers."""
        self.run("plot", kind, run, *words, "-o", "figure.svg", "--data", "figure.csv")
        with open(self.folder / "figure.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        names = {"panel", "mark", "kind", "label"}
        return [{k: v if k in names else float(v) if v else None for k, v in row.items()} for row in rows]

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def page(self, run):
        self.run("report", run)
        return (self.folder / run / "report.html").read_text()


# --- properties of every figure and page -----------------------------------------------------------


def dots_are_inside(rows, what):
    """Every dot is inside its own interval, and the narrow interval inside the wide one."""
    seen = 0
    for row in rows:
        low, high = row.get("low"), row.get("high")
        dot = row["x"] if row["kind"] == "forest" else row.get("y")
        if row["kind"] not in ("forest", "ranges") or None in (low, high, dot):
            continue
        seen += 1
        slack = 1e-12 * max(1, abs(low), abs(high))
        expect(low - slack <= dot <= high + slack, f"{what}: {row['label']} {dot} outside of [{low}, {high}]")
        if row.get("inner_low") is not None:
            inside = low - slack <= row["inner_low"] <= row["inner_high"] <= high + slack
            expect(inside, f"{what}: the inner interval of {row['label']} is not inside")
    expect(seen > 0, f"{what} has dots with intervals")


def diagnoses(value, path=()):
    """Every summarised number of a summary, with the keys that lead to it."""
    if isinstance(value, dict):
        if {"mean", "sd", "q5", "q50", "q95"} <= set(value):
            yield path, value
        for key, part in value.items():
            yield from diagnoses(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from diagnoses(part, (*path, str(number)))


def page_has(page, numbers, what):
    """Rows of a table of the page: mean, sd, 5 %, 50 %, 95 %; dashes for mean and sd if a sentence explains them."""
    explained = "A dash in place of mean and sd" in page
    for path, one in numbers:
        cells = ["<td>-</td>" if one[k] is None else "<td>%.4g</td>" % one[k] for k in ("mean", "sd", "q5", "q50", "q95")]
        dashed = "".join(["<td>-</td>"] * 2 + cells[2:])
        there = "".join(cells) in page or (explained and dashed in page)
        expect(there, f"{what}: the page lacks {'.'.join(path)}: {''.join(cells)}")


def words_of(page, section):
    return html.unescape(re.sub("<[^>]+>", " ", page[page.index(f'id="{section}"'):]))


def forest_is(rows, numbers, what):
    """Every number of the summary is a row of the forest plot: its interval, and its mean or, if the tail is heavy or
    the mean is outside, its median.
    """
    rows = [row for row in rows if row["kind"] == "forest"]
    for path, one in numbers:
        same = [row for row in rows if near(row["low"], one["q5"]) and near(row["high"], one["q95"])]
        expect(same, f"{what}: no row of the forest has the interval of {'.'.join(path)}")
        inside = one["mean"] is not None and one["q5"] <= one["mean"] <= one["q95"]
        centres = [one["q50"], *([one["mean"]] if inside else [])]
        expect(any(near(row["x"], c) for row in same for c in centres), f"{what}: no dot of the forest is at {'.'.join(path)}")


def shares_are_whole(rows, panel, width, what):
    """For each mark of a panel, shares sum to 1 over every `width` rows."""
    for mark in {row["mark"] for row in rows if row["panel"] == panel}:
        shares = [row["x"] for row in rows if row["panel"] == panel and row["mark"] == mark]
        sums = [sum(shares[i : i + width]) for i in range(0, len(shares), width)]
        expect(len(shares) >= width and all(near(s, 1) for s in sums), f"{what}: {mark} of '{panel}' sum to {sums}")


# --- kinds of answers -----------------------------------------------------------------------------


def fits(idm):
    """A fit, and a fit of people."""
    idm.run("fit", "example:diag", "log.csv", *FEW, "-o", "fit")
    idm.run("fit", "example:diag", "people.csv", "--by", "agent", *FEW, "-o", "people")
    for run, parts in ("fit", ("posterior",)), ("people", ("population", "people")):
        summary, page = idm.summary(run), idm.page(run)
        numbers = list(diagnoses({part: summary[part] for part in parts}))
        expect(len(numbers) >= len(parts), f"{run} has numbers")
        page_has(page, numbers, run)
        rows = idm.figure("forest", run)
        dots_are_inside(rows, f"forest of {run}")
        forest_is(rows, [n for n in numbers if n[0][0] != "population"], run)
        decisions = f"We analysed {summary['projection']['decisions']:,} decision"
        expect(decisions in words_of(page, "methods"), f"{run}: the page does not say '{decisions}'")
    rows = idm.figure("ppc", "fit")
    dots_are_inside(rows, "ppc of fit")
    shares_are_whole(rows, "actions taken", 3, "ppc of fit")
    shares_are_whole(rows, "actions after an observation", 3, "ppc of fit")
    shares_are_whole(rows, "actions by belief", 3, "ppc of fit")
    expect(len({row["panel"] for row in rows}) == 6, "ppc of fit: a panel per test of the whole log but that of conditions")


def many(idm):
    """14 observations: of 42 cells, a panel shows the complete observations that deviate most. Two payoff schemes have
    cells.
    """
    letters = [f"o{i}" for i in range(14)]
    slope = [(i + 4) / sum(range(4, 18)) for i in range(14)]
    problem = DIAG % ([0.5, 0.5], [slope, slope[::-1]])
    problem = problem.replace("[negative, positive]", str(letters)).replace("alpha: 0.5", "alpha: 0.1")
    problem = problem.replace("declare_healthy: [10, -36]", "declare_healthy: [paid, -36]")
    (idm.folder / "many.yaml").write_text(problem)
    with open(idm.folder / "many.csv", "w", encoding="utf-8", newline="") as whole:
        for paid in 10, 20:
            idm.run("simulate", "many.yaml", "--set", f"utility.declare_healthy.healthy={paid}", "-n", 400, "--seed", paid,
                    "-o", "part.csv")
            lines = (idm.folder / "part.csv").read_text().splitlines()
            first = [lines[0]] if paid == 10 else []
            whole.write("\n".join([*first, *(line.replace(",", f",{paid}-", 1) for line in lines[1:]), ""]))
    idm.run("fit", "many.yaml", "many.csv", *FEW, "-o", "many")
    rows = idm.figure("ppc", "many")
    dots_are_inside(rows, "ppc of many observations")
    panels = {row["panel"] for row in rows}
    some = "actions after an observation: the 36 of 42 farthest off"
    expect(some in panels and "actions by condition" in panels, f"ppc of many observations: panels are {panels}")
    shares_are_whole(rows, some, 3, "ppc of many observations")
    shares_are_whole(rows, "actions by condition", 3, "ppc of many observations")
    expect(sum(row["panel"] == "actions by condition" for row in rows) == 12, "ppc: two conditions of three actions")


def audits(idm):
    """Groups, and groups of people: their numbers, contrasts and population."""
    idm.run("audit", "example:diag", "people.csv", "--by", "site", *FEW, "-o", "audit")
    idm.run("audit", "example:diag", "people.csv", "--by", "site", "--people", *FEW, "-o", "nested")
    for run in "audit", "nested":
        summary, page = idm.summary(run), idm.page(run)
        numbers = list(diagnoses({part: summary[part] for part in ("groups", "contrasts", "population")}))
        page_has(page, numbers, run)
        rows = idm.figure("forest", run)
        dots_are_inside(rows, f"forest of {run}")
        forest_is(rows, [n for n in numbers if n[0][0] != "population" and "within" not in n[0]], run)
        groups = {name: one for name, one in summary["groups"].items() if name != "all"}
        for count in "decisions", "trajectories", "agents":
            total = sum(one[count] for one in groups.values())
            expect(total == summary["groups"]["all"][count], f"{run}: {count} of groups sum to {total}")
        decisions = f"We analysed {summary['groups']['all']['decisions']:,} decision"
        expect(decisions in words_of(page, "methods"), f"{run}: the page does not say '{decisions}'")
        for contrast in summary["contrasts"]:
            difference = groups[contrast["group"]]["log_alpha"]["mean"] - groups[contrast["against"]]["log_alpha"]["mean"]
            expect(near(contrast["log_alpha"]["mean"], difference, 1e-6), f"{run}: a contrast is no difference of its groups")


def replications(idm, run):
    lines = (idm.folder / run / "replications.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if "replication" in json.loads(line)]


def recovered(found):
    """Results of `idm recover` for one quantity."""
    n = len(found)
    means, truths = [r["mean"] for r in found], [r["truth"] for r in found]
    centred = [(m - sum(means) / n, t - sum(truths) / n) for m, t in zip(means, truths)]
    return {
        "coverage_90": sum(r["q5"] <= r["truth"] <= r["q95"] for r in found) / n,
        "bias_in_sd": sum((r["mean"] - r["truth"]) / r["sd"] for r in found) / n,
        "rms_error": math.sqrt(sum((r["mean"] - r["truth"]) ** 2 for r in found) / n),
        "correlation": sum(m * t for m, t in centred)
        / math.sqrt(sum(m * m for m, _ in centred) * sum(t * t for _, t in centred)),
    }


def classes(idm):
    """Answers of the paper's classes and of preferences: shares of a step sum to 1 and are inside their intervals; a
    point is inside the interval that the data bound, and has no figure of a posterior.
    """
    idm.run("simulate", "example:maintenance", "-n", 60, "--steps", 15, "--seed", 3, "-o", "worn.csv")
    prefer = "worse,better\n" + "".join(f"{i},{i + 1}\n" for i in range(1, 40)) + "40,1\n7,3\n"
    (idm.folder / "prefer.csv").write_text(prefer)
    small = FEW[2:]
    kinds = {
        "stoc-irl": ("--class", "stoc-irl", *small),
        "me-irl": ("--class", "me-irl"),
        "bc-il": ("--class", "bc-il"),
        "preferred": ("--free", "utility", "--inverse", "preference-bayes", "--preferences", "prefer.csv", *small),
    }
    for name, options in kinds.items():
        idm.run("fit", "example:maintenance", "worn.csv", *options, "-o", name)
        summary, page = idm.summary(name), idm.page(name)
        drawn = summary["draws"] > 1
        expect(('id="posterior"' in page) == drawn, f"{name}: the page has a posterior without draws, or lacks it")
        if name == "preferred":
            expect("We analysed 41 preferences between trajectories" in words_of(page, "methods"), "methods of preferences")
            expect("explain 41 preferences" in html.unescape(page), "the question of preferences")
            expect('id="cases"' not in page and 'id="calibration"' not in page, "decisions are judged by preferences")
            expect("decisions are not evidence" in page, "the caption of ppc of preferences")
            continue
        rows = idm.figure("ppc", name)
        dots_are_inside(rows, f"ppc of {name}")
        for panel in "actions taken", "actions after an observation":
            shares_are_whole(rows, panel, 3, f"ppc of {name}")
        expect(distance(rows) < 0.05, f"{name}: ppc predicts other actions than were taken")
    summary = idm.summary("bc-il")
    bounds = {key: one["profile_regions"] for key, one in summary["identification"].items()}
    expect(len(bounds) == 6, f"bc-il bounds {sorted(bounds)}")
    for key, regions in bounds.items():
        value = summary["posterior"][key]["mean"]
        inside = any(float(low) <= value <= float(high) for low, high in regions)
        expect(inside, f"bc-il: {key} is {value}, and the data bound it within {regions}")


def studies(idm):
    """Results of replications, their figures and the page, recomputed from the replications."""
    table = idm.json("recover", "example:diag", *STUDY, "-o", "recover")
    found, page = replications(idm, "recover"), idm.page("recover")
    held = total = 0
    for name, reported in table.items():
        again = recovered([one[name] for one in found])
        expect(all(near(reported[k], again[k]) for k in again), f"recover: {name} is {reported}, of its replications {again}")
        held += round(again["coverage_90"] * len(found))
        total += len(found)
    sentence = f"Of the {total} intervals that should contain the truth with a probability of 90 %, {held} do"
    expect(sentence in html.unescape(page), f"recover: the page does not say '{sentence}'")
    rows = idm.figure("recovery", "recover")
    dots_are_inside(rows, "figure of recover")
    dots = [row for row in rows if row["kind"] == "ranges"]
    expect(len(dots) == total, f"recover: {len(dots)} dots of {total} intervals")
    for row in dots:
        covers = row["low"] <= row["x"] <= row["high"]
        expect(covers == ("covers" in row["mark"]), "recover: a dot has the colour of the others")
        expect(any(near(row["x"], one[n]["truth"]) and near(row["y"], one[n]["mean"]) for one in found for n in table),
               "recover: a dot is no replication")
    ranks(idm)


def ranks(idm):
    table = idm.json("sbc", "example:diag", *STUDY, "-o", "sbc", codes=(0, 1))
    found = replications(idm, "sbc")
    rows = idm.figure("sbc", "sbc")
    for name, reported in table.items():
        bins = len(reported["counts"])
        counts = [0] * bins
        for one in found:
            counts[int(one[name]["rank"]) * bins // 100] += 1
        expect(counts == reported["counts"], f"sbc: {name} has {reported['counts']}, its replications {counts}")
        expected = len(found) / bins
        statistic = sum((c - expected) ** 2 / expected for c in counts)
        expect(near(reported["chi_square"], statistic), f"sbc: chi-square of {name}")
    for panel in {row["panel"] for row in rows}:
        bars = sum(row["y"] for row in rows if row["panel"] == panel and row["kind"] == "bars")
        expect(near(bars, len(found)), f"sbc: bars of '{panel}' sum to {bars}")


def learnt(idm):
    """Dynamics: rows are distributions, in the answer and in the means of draws, and near the simulated ones."""
    answer = idm.json("learn", "example:diag", "log.csv", "--draws", 200, "--warmup", 50, "--chains", 2, "--threads", 1,
                      "-o", "learnt", codes=(0, 1))
    expect(near(sum(answer["start"]), 1), "learn: the start sums to 1")
    for part in "transition", "observation":
        for action, matrix in answer[part].items():
            expect(all(near(sum(row), 1) for row in matrix), f"learn: rows of {part} of {action} sum to 1")
    expect(abs(answer["observation"]["monitor"][0][0] - 0.7) < 0.1, "learn: tests are right 70 % of the time")
    summary = idm.summary("learnt")
    numbers = list(diagnoses({"posterior": summary["posterior"]}))
    rows = idm.figure("forest", "learnt")
    dots_are_inside(rows, "forest of learn")
    forest_is(rows, numbers, "learn")
    for name, one in answer["draws"].items():
        if name in summary["posterior"]:
            expect(near(summary["posterior"][name]["mean"], one["mean"]), f"learn: {name} differs from summary.json")


def same_rows(one, other, what):
    """Two figures have the same numbers."""
    columns = [[row.get(k) for row in rows for k in ("x", "y", "low", "high")] for rows in (one, other)]
    expect(len(one) == len(other) > 0 and all(near(a, b, 1e-6) for a, b in zip(*columns)), what)


def drawn_dynamics(idm):
    """A fit over learnt dynamics, sampled jointly or given some draws (cut): policies and predictions are those of the
    learnt dynamics, as in a problem file with the same numbers, and not those of the file, whose tests are much more
    accurate than the log's.
    """
    (idm.folder / "true.yaml").write_text(DIAG % ([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]]))
    (idm.folder / "file.yaml").write_text(DIAG % ([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]]))
    for log, seed in ("own.csv", 5), ("other.csv", 6):
        idm.run("simulate", "true.yaml", "-n", 120, "--seed", seed, "-o", log)
    idm.run("learn", "file.yaml", "own.csv", "--draws", 200, "--warmup", 100, "--chains", 2, "--threads", 1, "-o", "known",
            codes=(0, 1))
    for run, log in ("joint", "own.csv"), ("cut", "other.csv"):
        idm.run("fit", "file.yaml", log, "--dynamics", "known", "--dynamics-draws", 3, *FEW, "-o", run, codes=(0, 1))
        summary = idm.summary(run)
        expect(("joint_dynamics" in summary) == (run == "joint"), f"{run} draws dynamics together with the numbers")
        planned = summary["planned_dynamics"]["probability"]
        tests = planned[-4:]
        expect(max(tests) < 0.85, f"{run}: the tests of the plan are those of the file: {tests}")
        (idm.folder / "planned.yaml").write_text(DIAG % (planned[:2], [tests[:2], tests[2:]]))
        agent = ("--set", f"alpha={idm.json('solve', run)['alpha']!r}")
        policies = [idm.json("solve", *words)["policy"] for words in ((run,), ("planned.yaml", *agent))]
        for action in policies[0]:
            expect(near(policies[0][action][0], policies[1][action][0], 1e-6), f"{run}: solve plans {action} elsewhere")
        (idm.folder / "agent.yaml").write_text((idm.folder / "planned.yaml").read_text().replace(
            "alpha: 0.5", agent[1].replace("=", ": ")))
        same_rows(idm.figure("policy", run), idm.figure("policy", "agent.yaml"), f"{run}: the policy is of other dynamics")
        scores = [idm.json("score", which, log)["log_likelihood"] for which in (run, "agent.yaml", "file.yaml")]
        apart = abs(scores[0] - scores[1])
        expect(apart < (10 if run == "joint" else 100) < scores[1] - scores[2], f"{run}: scores are {scores}")
        idm.run("simulate", run, "-n", 400, "--seed", 7, "-o", "again.csv")
        expect(abs(agreement(idm, "again.csv") - agreement(idm, log)) < 0.1, f"{run}: simulates tests of other dynamics")
        dots_are_inside(idm.figure("ppc", run), f"ppc of {run}")
        expect(distance(idm.figure("ppc", run)) < 0.1, f"{run}: ppc predicts other actions than were taken")
        explained = idm.json("explain", run, log)
        surprise = next(iter(explained["people"].values()))["surprise"]
        expect(surprise < 1 < -scores[2] / decisions(idm, log), f"{run}: explain is surprised by {surprise}")
        idm.run("explore", run, "-o", "explore.html")
        expect(struct.pack("<d", tests[0]) in parcels(idm, "explore.html"), f"{run}: the explorer lacks {tests[0]}")
        captions_name_dynamics(idm.page(run), run)


def agreement(idm, log):
    """Frequency of equal results of two successive tests of a case: 0.58 at an accuracy of 70 %, 0.905 at 95 %."""
    with open(idm.folder / log, encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["observation"]]
    pairs = [(a["observation"], b["observation"]) for a, b in zip(rows, rows[1:]) if a["trajectory"] == b["trajectory"]]
    return sum(a == b for a, b in pairs) / max(1, len(pairs))


def decisions(idm, log):
    with open(idm.folder / log, encoding="utf-8") as stream:
        return sum(1 for row in csv.DictReader(stream) if row["action"])


def distance(rows):
    """Mean distance of predicted and observed shares of actions."""
    rows = [row for row in rows if row["panel"] == "actions taken"]
    found = {kind: [row["x"] for row in rows if row["kind"] == kind] for kind in ("forest", "points")}
    return sum(abs(a - b) for a, b in zip(found["forest"], found["points"])) / len(found["points"])


def parcels(idm, name):
    """Base64 contents of a page."""
    texts = re.findall(r"[\">]([A-Za-z0-9+/=]{200,})[\"<]", (idm.folder / name).read_text())
    return b"".join(base64.b64decode(text + "=" * (-len(text) % 4)) for text in texts)


def captions_name_dynamics(page, run):
    """Figures of policies and predictions name their dynamics; a figure of the posterior does not."""
    centre = {"joint": "Dynamics: the mean of those drawn together", "cut": "of 3 of the learnt ones"}[run]
    words = {"policy": centre, "ppc": "Dynamics: those of the draw of highest density", "calibration": "Dynamics: learnt, each draw with its own"}
    for figure in *words, "posterior":
        found = re.search(rf'<figure id="{figure}">.*?<figcaption>(.*?)</figcaption>', page, re.S)
        caption = found[1] if found else ""
        named = words[figure] in caption if figure in words else "Dynamics" not in caption
        expect(found and named, f"{run}: caption of {figure} is '{caption}'")


def occupancy(policy, transition, discount, start, states):
    """Discounted visits by state, by iteration."""
    now, total = dict(start), dict.fromkeys(states, 0.0)
    weight = 1 - discount
    for _ in range(2000):
        after = dict.fromkeys(states, 0.0)
        for s in states:
            total[s] += weight * now[s]
            for u, p in policy[s].items():
                for k, t in enumerate(states):
                    after[t] += now[s] * p * transition[u][states.index(s)][k]
        now, weight = after, weight * discount
    return total


def compared(idm):
    """Divergences from the policies of `solve`, which are the frequencies of `simulate`; the text has the same numbers.
    """
    states = ["a", "b", "c"]
    transition = {"left": [[1, 0, 0], [0.8, 0.2, 0], [0, 1, 0]], "right": [[0.2, 0.8, 0], [0, 0, 1], [0, 0, 1]]}
    policies = []
    for name, alpha in ("first", 1), ("second", 3):
        (idm.folder / f"{name}.yaml").write_text(WALK % alpha)
        answer = idm.json("solve", f"{name}.yaml")
        policies.append({s: answer["states"][s]["policy"] for s in states})
    apart = idm.json("compare", "first.yaml", "second.yaml")
    for key, (one, other) in ("first_second", policies), ("second_first", policies[::-1]):
        visits = occupancy(one, transition, 0.9, {"a": 1.0, "b": 0.0, "c": 0.0}, states)
        kl = sum(visits[s] * sum(p * math.log(p / other[s][u]) for u, p in one[s].items()) for s in states)
        expect(near(apart["kl"][key], kl, 1e-7), f"compare: {key} is {apart['kl'][key]}, by the policies {kl}")
    expect(near(apart["canonical_distance"], 0, 1e-9), "compare: utilities that are the same are apart")
    words = idm.run("compare", "first.yaml", "second.yaml")
    for number in apart["kl"].values():
        expect("%.6g" % number in words, f"compare: the words lack {number}")
    idm.run("simulate", "first.yaml", "-n", 400, "--steps", 20, "-o", "walk.csv")
    with open(idm.folder / "walk.csv", encoding="utf-8") as stream:
        taken = collections.Counter((row["state"], row["action"]) for row in csv.DictReader(stream))
    for s in states:
        n = taken[s, "left"] + taken[s, "right"]
        p = policies[0][s]["left"]
        # Four sds of a binomial: one state in 16,000 would fail; the seed is fixed.
        expect(abs(taken[s, "left"] / n - p) < 4 * math.sqrt(p * (1 - p) / n), f"simulate: shares in {s} are not the policy's")


def make_logs(idm):
    """A log, and a log of six people at two sites."""
    idm.run("simulate", "example:diag", "-n", 60, "--seed", 5, "-o", "log.csv")
    with open(idm.folder / "log.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with open(idm.folder / "people.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "site"])
        writer.writeheader()
        for row in rows:
            person = int(row["trajectory"]) % 6
            writer.writerow({**row, "agent": f"p{person}", "site": "north" if person % 2 else "south"})


def main():
    with tempfile.TemporaryDirectory() as folder:
        idm = Program(sys.argv[1], Path(folder))
        make_logs(idm)
        for kind in fits, many, classes, audits, studies, learnt, drawn_dynamics, compared:
            kind(idm)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
