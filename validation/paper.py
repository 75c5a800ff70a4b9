#!/usr/bin/env python3
"""Reproduce the figures and tables of the paper's Sections 4 and 5 and Appendices B and D: usage: paper.py PROGRAM
FOLDER

Each table has a column for converged chains with proper priors (ours), one for the paper's scheme (--sampler paper) on
the same logs, and one for the values reported by the paper or by the authors' code. FOLDER/paper.html contains tables
and figures on one page.
"""

import csv
import os
import statistics
import sys
import time

import paper_adni
import paper_agents
import paper_ratio
from paper_page import Page
from study import AGENTS, Study, converged, draws, interval, quantile

# Results of the authors' code on its own simulated data: posterior mean, posterior sd.
AUTHORS = {("optimistic", "beta"): (1.35, 0.09), ("non-adaptive", "eta"): (61, 10),
           ("inflexible", "alpha"): (10.2, 0.4), ("flexible", "alpha"): (0.497, 0.031)}
# Figure 3a: the mode marked in the printed figure, read to one pixel (2e-6, .0005 and .005 wide).
MODES = {"extremely flexible": "1.9e-05", "flexible": "0.4956", "inflexible": "10.11"}
FLEXIBILITY = ("extremely flexible", "flexible", "inflexible")  # Figure 3a
DISTINCT = ("non-adaptive", "optimistic")  # Figures 3b and 3c
SEEDS = range(1, 11)
FEW = range(1, 6)
HELD_ALPHA = {"alpha": 0.5}
HELD_NEUTRAL = {"beta": 1000, "eta": 0.001}
FULL = ("--checks", "full")  # the printed text needs all checks, whatever the load of the machine
FAST = ("--checks", "none")  # only intervals are read
# alpha < 0 needs a coordinate that includes both signs: 1/alpha.
BOTH_SIGNS = "{alpha: {scale: inverse, prior: {normal: [0, 2]}}}"


def mode(study, run):
    """The mode that `idm plot posterior` marks."""
    path = os.path.join(study.folder, "posterior.csv")
    study.call("plot", "posterior", run, "--data", path, "-o", os.path.join(study.folder, "posterior.svg"))
    with open(path, newline="", encoding="utf-8") as stream:
        return next(float(row["x"]) for row in csv.DictReader(stream) if row["mark"] == "mode")


def flexibility(study, fits):
    print("posterior of alpha (beta = 1000, eta = .001 held), 1,000 patients")
    print(f"{'agent':20} {'truth':>8}  {'ours: mean ± sd [90 %]':34} {'ours: mode':10} {'printed mode':13} "
          f"{'paper scheme, same log':35} authors' code")
    for agent in FLEXIBILITY:
        ours, theirs = (fits[kind, agent, 1].result() for kind in ("alpha", "alpha paper"))
        known = AUTHORS.get((agent, "alpha"))
        print(f"{agent:20} {AGENTS[agent]['alpha']:8g}  {interval(ours['posterior']['alpha']):34} "
              f"{mode(study, ours['run']):<10.4g} {MODES[agent]:13} {interval(theirs['posterior']['alpha']):35} "
              f"{'%g ± %g' % known if known else '-'}")
        print(f"{'':30} {converged(ours):59} {converged(theirs)}")
        sentence = ours["identification"]["alpha"]["sentence"]
        if "by the prior" in sentence:
            print(f"{'':30} {sentence}")


def joint(fits):
    print("joint posterior of beta, eta (alpha = .5 held), 1,000 patients, log 1")
    for agent in DISTINCT:
        ours, theirs = (fits[kind, agent, 1].result() for kind in ("joint", "joint paper"))
        print(f"{agent} (beta = {AGENTS[agent]['beta']:g}, eta = {AGENTS[agent]['eta']:g})")
        for name in ("inverse_beta", "eta"):
            print(f"  ours   {name:14} {interval(ours['posterior'][name])}")
        print(f"         {converged(ours)}")
        for name in ("inverse_beta", "eta"):
            print(f"         {ours['identification'][name]['sentence']}")
        for name in ("beta", "eta"):
            print(f"  paper  {name:14} {interval(theirs['posterior'][name])}")
        print(f"         {converged(theirs)}")
        for failure in theirs["verdict"]["failures"]:
            if failure.startswith("nothing bounds"):
                print(f"         {failure}")


def distinction(fits):
    print("the distinction, over 10 logs each (alpha = .5 held): of 10, how many 90 % intervals")
    posts = {agent: [fits["joint", agent, seed].result() for seed in SEEDS]
             for agent in ("optimistic", "non-adaptive")}

    def count(agent, name, holds):
        return sum(holds(p["posterior"][name]["q5"], p["posterior"][name]["q95"]) for p in posts[agent])

    def contains(value):
        return lambda low, high: low <= value <= high

    def excludes(value):
        return lambda low, high: not low <= value <= high

    rows = [("optimistic", "1/beta excludes 0", "inverse_beta", excludes(0), "10"),
            ("optimistic", "1/beta contains 0.8", "inverse_beta", contains(0.8), ">= 7"),
            ("optimistic", "eta within [-10, 20]", "eta", lambda low, high: low >= -10 and high <= 20, "10"),
            ("non-adaptive", "1/beta excludes 0.8", "inverse_beta", excludes(0.8), "10"),
            ("non-adaptive", "1/beta contains 0", "inverse_beta", contains(0), ">= 7"),
            ("non-adaptive", "eta contains 75", "eta", contains(75), ">= 7")]
    for agent, words, name, holds, expected in rows:
        print(f"{agent:14} {words:24} {count(agent, name, holds):3d}   (expected {expected})")
    worst = [(max(x["r_hat"] for x in p["posterior"].values()), min(x["ess_bulk"] for x in p["posterior"].values()))
             for agent in posts for p in posts[agent]]
    print(f"worst R-hat {max(w[0] for w in worst):.4f}, least bulk ESS {min(w[1] for w in worst):.0f} over the 20 fits")


def three_free(fits):
    print("all three free: the optimistic agent, log 1")
    fit = fits["three", "optimistic", 1].result()
    for name, one in fit["posterior"].items():
        print(f"  {name:14} {interval(one)}")
    print(f"  {converged(fit)}\n  {fit['ridge']['sentence']}")


def other_signs(fits):
    print("agents with other signs, in inverse coordinates")
    pessimistic = fits["joint", "pessimistic", 1].result()
    contrary = fits["contrary", "contrary", 1].result()
    print(f"pessimistic, 1/beta = {1 / -0.75:.3f}: {interval(pessimistic['posterior']['inverse_beta'])} "
          f"({converged(pessimistic)})")
    print(f"contrary, 1/alpha = {1 / AGENTS['contrary']['alpha']:g}: "
          f"{interval(contrary['posterior']['inverse_alpha'])} ({converged(contrary)})")


def reference(fits):
    print("the paper's scheme against the authors' code, mean over 5 logs of the posterior mean")
    for (agent, name), (mean, sd) in AUTHORS.items():
        kind = "alpha paper" if name == "alpha" else "joint paper"
        means = [fits[kind, agent, seed].result()["posterior"][name]["mean"] for seed in FEW]
        ours = statistics.mean(means)
        print(f"{agent:14} {name:6} {ours:8.3f}   authors' code {mean:g} ± {sd:g}: "
              f"{abs(ours - mean) / sd:.2f} posterior sd apart (expected < 2)")


def start_fits(study):
    """Start every fit, by kind, agent and log; fits run in parallel."""
    fits = {}

    def fit(kind, agent, seed, *rest):
        fits[kind, agent, seed] = study.fit(kind.replace(" ", "-"), agent, seed, *rest)

    paper = ("--sampler", "paper")
    for agent in FLEXIBILITY:
        fit("alpha", agent, 1, "alpha", HELD_NEUTRAL, *FULL)
        for seed in FEW if agent != "extremely flexible" else [1]:
            fit("alpha paper", agent, seed, "alpha", HELD_NEUTRAL, *FAST, *paper)
    for agent in DISTINCT:
        for seed in SEEDS:
            fit("joint", agent, seed, "beta,eta", HELD_ALPHA, *(FULL if seed == 1 else FAST))
        for seed in FEW:
            fit("joint paper", agent, seed, "beta,eta", HELD_ALPHA, *(FULL if seed == 1 else FAST), *paper)
    paper_ratio.start(fit, SEEDS)
    fit("three", "optimistic", 1, "alpha,beta,eta", {}, *FULL)
    fit("joint", "pessimistic", 1, "beta,eta", HELD_ALPHA, *FAST)
    fit("contrary", "contrary", 1, BOTH_SIGNS, HELD_NEUTRAL, *FAST)
    return fits


def figures_3(fits):
    """Arguments of `idm plot` for Figure 3: caption, arguments."""
    for agent in FLEXIBILITY:
        truth = AGENTS[agent]["alpha"]
        shape = "; the data bound it above only, and the prior shapes the rest" if truth < 1e-3 else ""
        yield (f"(a) {agent}: alpha, true value {truth:g}, with its mode{shape}.",
               ["posterior", fits["alpha", agent, 1].result()["run"], "--truth", f"alpha={truth}", "--size", "narrow"])
    for letter, agent in zip("bc", DISTINCT):
        truth = AGENTS[agent]
        yield (f"({letter}) {agent}: 1/beta and eta, true values {1 / truth['beta']:g} and {truth['eta']:g}, with the mode.",
               ["joint", fits["joint", agent, 1].result()["run"], "--truth", f"1/beta={1 / truth['beta']}",
                "--truth", f"eta={truth['eta']}"])


def main():
    program, folder = sys.argv[1:3]
    began = time.time()
    study = Study(program, folder)
    cohort = paper_adni.Cohort(study)
    fits = start_fits(study)
    page = Page(study, f"The paper again: {len(fits)} fits to simulated logs, and a synthetic cohort, in {folder}")
    page.add("Table 4: Boundedly Rational Agents (Section 4.2)", paper_agents.table_4, study)
    page.add("Figure 2: Bounded Rational Control (Section 5)", paper_agents.figure_2, study,
             figures=[("What each agent does at every belief, and its belief after 0, 1, 2 and 3 positive tests.",
                       paper_agents.plot_six(study)[0])])
    page.add("Figure 3: Inverse Bounded Rational Control (Section 5.1)", lambda: (flexibility(study, fits), joint(fits)),
             figures=figures_3(fits))
    page.add("Section 5.2: IBRC separates optimistic from non-adaptive behaviour", distinction, fits)
    page.add("Section 5.2: Bayesian IRL does not", paper_ratio.report, fits, SEEDS)
    page.add("Section 5.3: the audit, on a synthetic cohort", paper_adni.audit, cohort)
    page.add("Appendix B: data, computation and Table 5", paper_adni.appendix_b, cohort)
    page.add("Appendix D, Figure 7: Decision Trajectories, on the synthetic cohort", paper_adni.cases, cohort,
             figures=[paper_adni.plot_cases(cohort)])
    page.add("Beyond the paper", lambda: (three_free(fits), other_signs(fits), reference(fits)))
    path = page.write(os.path.join(folder, "paper.html"))
    print(f"\non one page: {path}\n{time.time() - began:.0f} s in all")


if __name__ == "__main__":
    main()
