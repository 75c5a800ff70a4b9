#!/usr/bin/env python3
"""Sections 5.1 and 5.2 of the paper again: usage: paper.py PROGRAM FOLDER

Each table has a column for converged chains with proper priors (ours), one for the paper's own scheme
(--sampler paper) on the same logs, and one for what the paper or the authors' code reports.
"""

import contextlib
import io
import statistics
import sys
import time

import paper_page
from study import AGENTS, Study, converged, draws, interval, quantile

# What the authors' code gives on its own simulated data: posterior mean, posterior sd.
AUTHORS = {("optimistic", "beta"): (1.35, 0.09), ("non-adaptive", "eta"): (61, 10),
           ("inflexible", "alpha"): (10.2, 0.4), ("flexible", "alpha"): (0.497, 0.031)}
# "ratio (of incorrect/correct diagnoses) of -2.70 +- 0.31 ... -2.60 +- 0.29", Section 5.2.
RATIO = {"optimistic": "-2.70 ± 0.31", "non-adaptive": "-2.60 ± 0.29"}
SEEDS = range(1, 11)
FEW = range(1, 6)
HELD_ALPHA = {"alpha": 0.5}
HELD_NEUTRAL = {"beta": 1000, "eta": 0.001}
HELD_IRL = {"alpha": 0.5, "beta": 1000, "eta": 0.001}
ENTRIES = "{utility: {entries: [declare_healthy, declare_diseased], prior: {normal: [0, 50]}}}"
TIED = ("{utility: {entries: {correct: [declare_healthy.healthy, declare_diseased.diseased], "
        "incorrect: [declare_healthy.diseased, declare_diseased.healthy]}, prior: {normal: [0, 50]}}}")
CORRECT = ["utility[declare_healthy,healthy]", "utility[declare_diseased,diseased]"]
WRONG = ["utility[declare_healthy,diseased]", "utility[declare_diseased,healthy]"]
# alpha < 0 wants a coordinate that runs through both signs: 1/alpha.
BOTH_SIGNS = "{alpha: {scale: inverse, prior: {normal: [0, 2]}}}"


def flexibility(fits):
    print("\n## 5.1 Learned alpha (beta = 1000, eta = .001 held), 1,000 patients\n")
    print(f"{'agent':20} {'truth':>8}  {'ours: mean ± sd [90 %]':34} {'paper scheme, same log':34} authors' code")
    for agent in ("extremely flexible", "flexible", "inflexible"):
        ours, theirs = (fits[kind, agent, 1].result() for kind in ("alpha", "alpha paper"))
        known = AUTHORS.get((agent, "alpha"))
        print(f"{agent:20} {AGENTS[agent]['alpha']:8g}  {interval(ours['posterior']['alpha']):34} "
              f"{interval(theirs['posterior']['alpha']):34} {'%g ± %g' % known if known else '-'}")
        print(f"{'':30} {converged(ours):34} {converged(theirs)}")
        sentence = ours["identification"]["alpha"]["sentence"]
        if "by the prior" in sentence:
            print(f"{'':30} {sentence}")


def joint(fits):
    print("\n## 5.1 Joint posterior of beta, eta (alpha = .5 held), 1,000 patients, log 1\n")
    for agent in ("non-adaptive", "optimistic"):
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
    print("\n## 5.2 The distinction, over 10 logs each (alpha = .5 held): of 10, how many 90 % intervals\n")
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
    print("\n## All three free: the optimistic agent, log 1\n")
    fit = fits["three", "optimistic", 1].result()
    for name, one in fit["posterior"].items():
        print(f"  {name:14} {interval(one)}")
    print(f"  {converged(fit)}\n  {fit['ridge']['sentence']}")


def ratios(run, tied):
    columns = draws(run)
    names = (["utility[incorrect]"], ["utility[correct]"]) if tied else (WRONG, CORRECT)
    sums = [[sum(values) for values in zip(*(columns[name] for name in group))] for group in names]
    return [wrong / right for wrong, right in zip(*sums)]


def describe(values):
    return f"{quantile(values, .5):.2f} [{quantile(values, .05):.2f}, {quantile(values, .95):.2f}]"


def irl(fits):
    print("\n## 5.2 Bayesian IRL (alpha = .5, beta = 1000, eta = .001 held): cost-benefit ratio incorrect/correct,")
    print("## median [90 %]; the normative ratio is -3.60; the mean of a ratio need not exist\n")
    print(f"{'agent':14} {'four entries, ours':24} {'tied symmetric, ours':24} {'four, paper scheme':24} paper")
    for agent in ("optimistic", "non-adaptive"):
        four, tied, theirs = (fits[kind, agent, 1].result() for kind in ("four", "tied", "four paper"))
        print(f"{agent:14} {describe(ratios(four['run'], False)):24} {describe(ratios(tied['run'], True)):24} "
              f"{describe(ratios(theirs['run'], False)):24} {RATIO[agent]}")
        print(f"{'':14} {converged(four):24} {converged(tied):24} {converged(theirs)}")
    fit = fits["four", "optimistic", 1].result()
    columns = draws(fit["run"])
    # Adding gamma E Phi(s') - Phi(s) changes no policy. Monitoring keeps the state, so that it would gain only
    # (gamma - 1) Phi(s) = -.05 Phi(s), which is held at 0; declaring loses Phi(s): nearly free.
    signs = {CORRECT[0]: -1, WRONG[0]: 1, WRONG[1]: -1, CORRECT[1]: 1}
    along = [sum(signs[name] * columns[name][i] / 2 for name in signs) for i in range(len(columns[CORRECT[0]]))]
    print("\nnear potential shaping: declaring anything is worth Phi less to a healthy and Phi more to a diseased patient.")
    print(f"posterior sd along that direction {statistics.pstdev(along):.2f} (prior 50); of each entry "
          + ", ".join(f"{statistics.pstdev(columns[name]):.2f}" for name in signs))
    print(fit["ridge"]["sentence"] or "no ridge: least eigenvalue of the correlations "
          f"{fit['ridge']['least_eigenvalue']:.3f}")


def other_signs(fits):
    print("\n## Agents with other signs, in inverse coordinates\n")
    pessimistic = fits["joint", "pessimistic", 1].result()
    contrary = fits["contrary", "contrary", 1].result()
    print(f"pessimistic, 1/beta = {1 / -0.75:.3f}: {interval(pessimistic['posterior']['inverse_beta'])} "
          f"({converged(pessimistic)})")
    print(f"contrary, 1/alpha = {1 / AGENTS['contrary']['alpha']:g}: "
          f"{interval(contrary['posterior']['inverse_alpha'])} ({converged(contrary)})")


def reference(fits):
    print("\n## The paper's scheme against the authors' code, mean over 5 logs of the posterior mean\n")
    for (agent, name), (mean, sd) in AUTHORS.items():
        kind = "alpha paper" if name == "alpha" else "joint paper"
        means = [fits[kind, agent, seed].result()["posterior"][name]["mean"] for seed in FEW]
        ours = statistics.mean(means)
        print(f"{agent:14} {name:6} {ours:8.3f}   authors' code {mean:g} ± {sd:g}: "
              f"{abs(ours - mean) / sd:.2f} posterior sd apart (expected < 2)")


class Both(io.StringIO):
    """Keeps what is printed, and prints it."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def write(self, text):
        self.out.write(text)
        self.out.flush()
        return super().write(text)


def main():
    program, folder = sys.argv[1:3]
    began = time.time()
    study = Study(program, folder)
    fits = {}

    def fit(kind, agent, seed, *rest):
        fits[kind, agent, seed] = study.fit(kind.replace(" ", "-"), agent, seed, *rest)

    paper = ("--sampler", "paper")
    for agent in ("extremely flexible", "flexible", "inflexible"):
        fit("alpha", agent, 1, "alpha", HELD_NEUTRAL)
        for seed in FEW if agent != "extremely flexible" else [1]:
            fit("alpha paper", agent, seed, "alpha", HELD_NEUTRAL, *paper)
    for agent in ("non-adaptive", "optimistic"):
        for seed in SEEDS:
            fit("joint", agent, seed, "beta,eta", HELD_ALPHA)
        for seed in FEW:
            fit("joint paper", agent, seed, "beta,eta", HELD_ALPHA, *paper)
        fit("four", agent, 1, ENTRIES, HELD_IRL, "--stan")
        fit("tied", agent, 1, TIED, HELD_IRL, "--stan")
        fit("four paper", agent, 1, ENTRIES, HELD_IRL, "--stan", *paper)
    fit("three", "optimistic", 1, "alpha,beta,eta")
    fit("joint", "pessimistic", 1, "beta,eta", HELD_ALPHA)
    fit("contrary", "contrary", 1, BOTH_SIGNS, HELD_NEUTRAL)

    tables = Both(sys.stdout)
    with contextlib.redirect_stdout(tables):
        print(f"# The paper's Sections 5.1 and 5.2 again: {len(fits)} fits to simulated logs in {folder}")
        for part in (flexibility, joint, distinction, three_free, irl, other_signs, reference):
            part(fits)
    print(f"\nwith the paper's figures: {paper_page.write(study, fits, tables.getvalue())}")
    print(f"{time.time() - began:.0f} s in all")


if __name__ == "__main__":
    main()
