"""Section 5.2 of the paper: cost-benefit ratios by Bayesian IRL, by the authors' statistic and by ours."""

import statistics

from study import converged, draws, quantile

# "ratio (of incorrect/correct diagnoses) of -2.70 +- 0.31 ... -2.60 +- 0.29", Section 5.2.
PRINTED = {"optimistic": (-2.70, 0.31), "non-adaptive": (-2.60, 0.29)}
HELD = {"alpha": 0.5, "beta": 1000, "eta": 0.001}
ENTRIES = "{utility: {entries: [declare_healthy, declare_diseased], prior: {normal: [0, 50]}}}"
TIED = ("{utility: {entries: {correct: [declare_healthy.healthy, declare_diseased.diseased], "
        "incorrect: [declare_healthy.diseased, declare_diseased.healthy]}, prior: {normal: [0, 50]}}}")
# The authors' chain: flat prior, start at utilities of 0, 1,000 steps discarded, then every tenth of 10,000 kept.
FLAT = "{utility: {entries: [declare_healthy, declare_diseased], prior: flat}}"
FROM_ZERO = {**HELD, "utility.declare_healthy": 0, "utility.declare_diseased": 0}
AUTHORS = ("--sampler", "paper", "--warmup", 100, "--draws", 1000, "--stan", "--checks", "none")
# Incorrect and correct declaration in each state.
BY_STATE = [("utility[declare_diseased,healthy]", "utility[declare_healthy,healthy]"),
            ("utility[declare_healthy,diseased]", "utility[declare_diseased,diseased]")]


def start(fit, seeds):
    for agent in PRINTED:
        for seed in seeds:
            fit("four authors", agent, seed, FLAT, FROM_ZERO, *AUTHORS)
        fit("four", agent, 1, ENTRIES, HELD, "--stan", "--checks", "full")
        fit("tied", agent, 1, TIED, HELD, "--stan", "--checks", "none")


def by_state(columns):
    """Ratios incorrect/correct of every draw, one list per state."""
    return [[wrong / right for wrong, right in zip(columns[a], columns[b])] for a, b in BY_STATE]


def pooled(columns):
    """The authors' statistic: mean and sd of the ratios of both states, pooled in one list."""
    both = sum(by_state(columns), [])
    return statistics.fmean(both), statistics.pstdev(both)


def of_sums(columns, tied):
    """Our statistic: the sum of both incorrect utilities over the sum of both correct ones, for every draw."""
    if tied:
        return [wrong / right for wrong, right in zip(columns["utility[incorrect]"], columns["utility[correct]"])]
    sums = [[sum(pair) for pair in zip(*(columns[entry[k]] for entry in BY_STATE))] for k in (0, 1)]
    return [wrong / right for wrong, right in zip(*sums)]


def describe(values):
    return f"{quantile(values, .5):.2f} [{quantile(values, .05):.2f}, {quantile(values, .95):.2f}]"


def authors_statistic(fits, seeds):
    print("by the authors' statistic: mean ± sd of u(incorrect)/u(correct) over draws and both states in one list, by their chain")
    print("(random walk of step .1 from utilities of 0, 1,000 steps discarded, every tenth of 10,000 kept), on 10 logs")
    for agent, (mean, sd) in PRINTED.items():
        columns = [draws(fits["four authors", agent, seed].result()["run"]) for seed in seeds]
        found = [pooled(c) for c in columns]
        gaps = [abs(statistics.fmean(one) - statistics.fmean(other)) for one, other in map(by_state, columns)]
        within = [statistics.fmean(statistics.pstdev(part) for part in by_state(c)) for c in columns]
        least = min(min(abs(v) for v in c[right]) for c in columns for _, right in BY_STATE)
        print(f"{agent:14} printed {mean:.2f} ± {sd:.2f}; ours: means {min(f[0] for f in found):.2f} to {max(f[0] for f in found):.2f}, "
              f"median {statistics.median(f[0] for f in found):.2f}; sds {min(f[1] for f in found):.2f} to "
              f"{max(f[1] for f in found):.2f}, median {statistics.median(f[1] for f in found):.2f}")
        print(f"{'':14} by log: " + ", ".join(f"{m:.2f} ± {s:.2f}" for m, s in found))
        print(f"{'':14} the two states' means differ by {min(gaps):.2f} to {max(gaps):.2f}, the sd within a state is "
              f"{min(within):.2f} to {max(within):.2f}, the smallest |u(correct)| is {least:.1f}")
    print("""The spread is not the uncertainty of one ratio, and no denominator is near 0. The two states' ratios differ, and the difference
depends on the place of the chain along a ridge: with both utilities of a healthy patient lower by Phi and both of a diseased
one higher by Phi, decisions hardly change (potential shaping; monitoring keeps the state, so that its utility, which is held,
would change by -.05 Phi). A step of .1 crosses that ridge slowly. A chain that begins at 0, where both states are alike, and
stays near the middle has a small sd.""")


def our_statistic(fits):
    print("\nby our statistic, which is another one: the sum of both incorrect utilities over the sum of both correct ones, converged")
    print("chains and a normal(0, 50) prior, median [90 %]; shaping leaves it alone. The normative ratio is -3.60")
    print(f"{'agent':14} {'four entries':24} {'two entries, tied':24} {'four, pooled by state':28} printed")
    for agent, printed in PRINTED.items():
        four, tied = (fits[kind, agent, 1].result() for kind in ("four", "tied"))
        columns = draws(four["run"])
        print(f"{agent:14} {describe(of_sums(columns, False)):24} {describe(of_sums(draws(tied['run']), True)):24} "
              f"{'%.2f ± %.2f' % pooled(columns):28} {'%.2f ± %.2f' % printed}")
        print(f"{'':14} {converged(four):24} {converged(tied):24} "
              f"{'smallest |u(correct)| %.2f' % min(min(map(abs, columns[right])) for _, right in BY_STATE)}")
    print("Converged draws go along the whole ridge, to where a utility of a correct declaration is 0: there a mean of ratios by")
    print("state does not exist, and the third column is what one finite chain gives.")
    print(fits["four", "optimistic", 1].result()["ridge"]["sentence"] or "no ridge")


def report(fits, seeds):
    authors_statistic(fits, seeds)
    our_statistic(fits)
