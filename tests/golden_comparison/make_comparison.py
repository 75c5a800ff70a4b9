#!/usr/bin/env python3
"""make_comparison.py SEED OUT: arrays, and what ArviZ, scikit-learn and SciPy compute for them, for tests/comparison.py.

cases.json is the output for seed 29. Needs arviz-stats 1.3, arviz-base, scikit-learn and scipy. On Python 3.11,
arviz-stats installs by `pip install --no-deps --ignore-requires-python` beside numpy, scipy, xarray, xarray-einstats and
lazy_loader. Requests and their numbers are those of tests/infer/comparison_peer.c.
"""
import json
import sys
import warnings

import arviz_base
import arviz_stats
import numpy as np
import scipy
import sklearn
from arviz_stats.base import array_stats
from arviz_stats.loo.loo_helper import _get_r_eff
from scipy.integrate import quad
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import gamma, norm
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import (auc, average_precision_score, brier_score_loss, log_loss, precision_recall_curve,
                             roc_auc_score)


def rounded(x):
    """Numbers with few digits, and without ties, whose order ArviZ leaves open."""
    return np.round(x, 8)


# --- leave one out -----------------------------------------------------------------------------------


def autoregressive(random, shape, rho):
    x = random.standard_normal(shape)
    for t in range(1, shape[-1]):
        x[..., t] = rho * x[..., t - 1] + np.sqrt(1 - rho**2) * x[..., t]
    return x


def efficiency(numbers):
    quantities, chains, draws = (int(n) for n in numbers[:3])
    x = np.reshape(numbers[3:], (quantities, chains, draws))
    data = arviz_base.from_dict({"posterior": {f"x{q}": x[q] for q in range(quantities)}})
    return [_get_r_eff(data, chains * draws)]


def psis(numbers):
    weights, shape = array_stats.psislw(-np.array(numbers[1:]), r_eff=numbers[0])
    return [shape, *weights]


def left_out(numbers):
    elpd, shape, _ = array_stats.loo(np.array(numbers[1:])[None, :], r_eff=numbers[0], chain_axis=0, draw_axis=1)
    return [elpd, shape]


def difference(numbers):
    """The standard error of ArviZ's difference has the denominator n, that of its elpd n - 1; here both have n - 1."""
    a, b = np.reshape(numbers, (2, -1))
    elpd, se, _, _ = array_stats.loo_summary(a, a)
    paired, paired_se, _, _ = array_stats.loo_summary(a - b, a)
    return [elpd, se, paired, paired_se, norm.cdf(paired / paired_se)]


def leave_one_out_cases(random):
    for quantities, chains, draws, rho in ((2, 4, 100, 0.5), (1, 1, 60, 0.5), (3, 3, 51, -0.3)):
        x = autoregressive(random, (quantities, chains, draws), rho)
        yield "efficiency", [quantities, chains, draws, *rounded(x.ravel())]
    for share, draws, scale in ((0.7, 1000, 1), (1, 200, 3), (1.2, 300, 0.3), (0.2, 400, 0.8), (1, 31, 1)):
        yield "psis", [share, *rounded(scale * random.standard_normal(draws))]
    for share, draws, scale in ((0.8, 800, 0.5), (1, 100, 2), (0.5, 60, 1)):
        yield "left_out", [share, *rounded(-3 - scale * random.standard_gamma(2, draws))]
    for units in (2, 15, 120):
        yield "difference", [*rounded(random.normal(-20, 5, units)), *rounded(random.normal(-20.5, 5, units))]


# --- stacking ----------------------------------------------------------------------------------------


def stacking(numbers):
    """Expectation maximisation from equal weights, with the bound on what is left to gain."""
    elpd = np.reshape(numbers[1:], (-1, int(numbers[0])))
    largest = elpd.max(axis=1, keepdims=True)
    density, weight = np.exp(elpd - largest), np.full(elpd.shape[1], 1 / elpd.shape[1])
    for _ in range(2000000):
        gradient = (density / (density @ weight)[:, None]).mean(axis=0)
        if len(elpd) * (gradient.max() - 1) < 1e-9:
            return [np.sum(np.log(density @ weight)) + largest.sum()]
        weight = weight * gradient
    raise SystemExit("stacking did not converge")


def stacking_cases(random):
    for units, models, spread in ((40, 2, 1), (100, 4, 1.5), (12, 3, 3), (300, 8, 0.7)):
        yield "stacking", [models, *rounded(random.normal(-10, spread, units * models))]


# --- model selection ---------------------------------------------------------------------------------


def exceedance(numbers):
    def integrand(t, k):
        x = np.exp(t)
        others = np.prod([gamma.cdf(x, a) for j, a in enumerate(numbers) if j != k])
        return gamma.pdf(x, numbers[k]) * x * others

    top = np.log(max(numbers) + 12 * np.sqrt(max(numbers)) + 60)
    cuts = np.linspace(-30, top, 40)
    return [sum(quad(integrand, a, b, args=(k,), epsabs=1e-13, epsrel=1e-11)[0] for a, b in zip(cuts, cuts[1:]))
            for k in range(len(numbers))]


def selection(numbers):
    """Stephan et al. (2009), equations 12 to 14, and Rigoux et al. (2014), appendix."""
    prior, models = numbers[0], int(numbers[1])
    evidence = np.reshape(numbers[2:], (-1, models))
    count = np.full(models, prior)
    for _ in range(200000):
        log_u = evidence + digamma(count) - digamma(count.sum())
        share = np.exp(log_u - logsumexp(log_u, axis=1, keepdims=True))
        before, count = count, prior + share.sum(axis=0)
        if np.abs(count - before).max() < 1e-13:
            break
    bonus = digamma(count) - digamma(count.sum())
    bound = (np.sum(share * (evidence + bonus - np.log(np.maximum(share, 1e-300))))
             + gammaln(models * prior) - models * gammaln(prior) + (prior - 1) * bonus.sum()
             - gammaln(count.sum()) + gammaln(count).sum() - np.sum((count - 1) * bonus))
    equal = np.sum(logsumexp(evidence, axis=1) - np.log(models))
    risk = 1 / (1 + np.exp(bound - equal))
    exceed = np.array(exceedance(list(count)))
    return [*count, *count / count.sum(), *exceed, *exceed * (1 - risk) + risk / models, risk]


def selection_cases(random):
    for counts in ([1, 1], [3.5, 2], [0.3, 0.7, 1.2], [40, 38, 1, 1], [900, 880], [5] * 12, [0.05, 2], [2000, 1, 30]):
        yield "exceedance", [float(c) for c in counts]
    for people, models, prior, spread in ((15, 2, 1, 1), (40, 3, 1, 2), (10, 5, 0.5, 0.3), (200, 4, 1, 0.5)):
        lead = np.arange(models) * 0.3
        yield "selection", [prior, models, *rounded(random.normal(lead, spread, (people, models)).ravel())]


# --- accuracy ----------------------------------------------------------------------------------------


def calibration_error(occurred, probability):
    """Of scikit-learn's calibration curve, with the number of forecasts in each bin."""
    true, predicted = calibration_curve(occurred, probability, n_bins=10)
    edges = np.linspace(0, 1, 11)
    size = np.bincount(np.searchsorted(edges[1:-1], probability), minlength=10)
    return np.sum(size[size > 0] / len(probability) * np.abs(true - predicted))


def score(occurred, probability):
    precision, recall, _ = precision_recall_curve(occurred, probability)
    fitted = IsotonicRegression().fit(probability, occurred).predict(probability)
    brier = brier_score_loss(occurred, probability)
    uncertainty = brier_score_loss(occurred, np.full(len(occurred), np.mean(occurred)))
    recalibrated = np.mean((fitted - occurred) ** 2)
    return [brier, log_loss(occurred, probability), average_precision_score(occurred, probability),
            roc_auc_score(occurred, probability), calibration_error(occurred, probability), auc(recall, precision),
            brier - recalibrated, uncertainty - recalibrated, uncertainty]


def events(numbers):
    probability, occurred = np.reshape(numbers, (2, -1))
    return score(occurred.astype(int), probability)


def decisions(numbers):
    actions = int(numbers[0])
    decided = (len(numbers) - 1) // (actions + 1)
    probability = np.reshape(numbers[1:1 + decided * actions], (decided, actions))
    taken = np.array(numbers[1 + decided * actions:], dtype=int)
    pooled = score(np.eye(actions, dtype=int)[taken].ravel(), probability.ravel())
    pooled[1] = log_loss(taken, probability, labels=range(actions))
    return pooled


def isotonic(numbers):
    x, y, weight = np.reshape(numbers, (3, -1))
    return list(IsotonicRegression().fit(x, y, sample_weight=weight).predict(x))


def accuracy_cases(random):
    for count, digits in ((200, 5), (200, 1), (50, 2), (3, 5)):
        probability = np.round(random.random(count), digits)
        occurred = random.random(count) < probability
        occurred[:2] = [False, True]
        yield "events", [*probability, *occurred.astype(float)]
    yield "events", [0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    for decided, actions in ((60, 3), (40, 2)):
        shares = random.integers(1, 2**20, (decided, actions)).astype(float)
        shares[:, -1] = 2**23 - shares[:, :-1].sum(axis=1)
        probability = shares / 2**23  # exact, so that they sum to 1 exactly
        yield "decisions", [actions, *probability.ravel(), *random.integers(0, actions, decided).astype(float)]
    for count, digits in ((100, 5), (60, 1)):
        x = np.round(random.random(count), digits)
        yield "isotonic", [*x, *rounded(x + random.standard_normal(count)), *rounded(0.1 + random.random(count))]


# --- power scaling -----------------------------------------------------------------------------------


def sensitivity(numbers):
    component, quantity = np.reshape(numbers, (2, 1, -1))
    weights = [np.exp(array_stats.power_scale_lw(component, alpha=alpha, axis=(0, 1))) for alpha in (0.99, 1.01)]
    return [array_stats.power_scale_sense(quantity, *weights, 0.99, 1.01, chain_axis=0, draw_axis=1)]


def power_cases(random):
    for draws, slope, rho in ((1000, 1, 0), (400, 5, 0.8), (60, 0.2, 0)):
        x = autoregressive(random, (draws,), rho)
        component = -0.5 * slope * (x - 1) ** 2 + 0.1 * random.standard_normal(draws)
        yield "sensitivity", [*rounded(component), *rounded(x)]


EXPECTED = {f.__name__: f for f in (efficiency, psis, left_out, difference, stacking, selection, exceedance, events,
                                    decisions, isotonic, sensitivity)}


def main():
    warnings.simplefilter("ignore")
    seed, out = int(sys.argv[1]), sys.argv[2]
    random, cases = np.random.default_rng(seed), []
    for make in (leave_one_out_cases, stacking_cases, selection_cases, accuracy_cases, power_cases):
        for request, numbers in make(random):
            numbers = [float(number) for number in numbers]
            expected = EXPECTED[request](numbers)
            if request == "stacking":
                expected = expected[:1]
            cases.append({"request": request, "numbers": numbers, "expected": [float(number) for number in expected]})
    versions = {package.__name__: package.__version__ for package in (arviz_stats, arviz_base, sklearn, scipy, np)}
    with open(out, "w", encoding="ascii") as file:
        file.write('{"versions": ' + json.dumps({**versions, "seed": seed}) + ', "cases": [\n')
        file.write(",\n".join(map(json.dumps, cases)) + "\n]}\n")


if __name__ == "__main__":
    main()
