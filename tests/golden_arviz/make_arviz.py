#!/usr/bin/env python3
"""Write draws, and what ArviZ says of them: NAME.csv for each set, and expected.csv.

Run it anywhere with Python 3 and `pip install "arviz<1" numpy`; it writes beside itself. NAME.csv
has a row a draw and a column a chain. Rows of expected.csv are `set,key,value`, after a first line
with the versions that made them; keys are the members of idm_diagnosis, and bfmi.CHAIN with the
draws taken for energies.
"""

import os
import warnings

import arviz as az
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20240613


def autoregressive(random, chains, draws, rho):
    x = np.empty((chains, draws))
    x[:, 0] = random.standard_normal(chains)
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * random.standard_normal(chains)
    return x


def draw_sets(random):
    sets = {
        "independent": random.standard_normal((4, 200)),
        "autoregressive": autoregressive(random, 4, 200, 0.9),
        "antithetic": autoregressive(random, 4, 200, -0.7),
        "shifted": random.standard_normal((4, 200)) + np.array([[0.0], [0], [0], [2]]),
        "scaled": random.standard_normal((4, 200)) * np.array([[1.0], [1], [1], [6]]),
        "cauchy": random.standard_cauchy((4, 200)),
        "stuck": random.standard_normal((4, 200)),
        "discrete": random.integers(0, 5, (4, 200)).astype(float),
        "tenths": np.round(random.standard_normal((4, 200)), 1),
        "binary": np.where(random.random((4, 60)) < 0.5, -1.0, 1.0),
        "odd": autoregressive(random, 4, 101, 0.5),
        "odd_one": autoregressive(random, 1, 101, 0.5),
        "two": autoregressive(random, 2, 150, 0.3),
        "three": autoregressive(random, 3, 121, 0.3),
        "one": autoregressive(random, 1, 200, 0.6),
        "trending": random.standard_normal((4, 200)) + np.linspace(-2, 2, 200),
        "far": 1e6 + random.standard_normal((4, 100)),
        "constant": np.full((4, 50), 3.0),
        "apart": np.repeat([[1.0], [2.0]], 32, axis=1),
        "three_draws": random.standard_normal((4, 3)),
        "four_draws": random.standard_normal((4, 4)),
        "five_draws": random.standard_normal((4, 5)),
        "ten_draws": random.standard_normal((2, 10)),
        "eleven_draws": autoregressive(random, 3, 11, 0.9),
        "infinite": random.standard_normal((2, 40)),
        "odd_scaled": random.standard_normal((4, 101)) * np.array([[1.0], [1], [1], [6]]),
    }
    sets["stuck"][2] = 0.25
    sets["infinite"][1, 7] = np.inf
    return sets


def diagnose(x):
    q05, q50, q95 = np.quantile(x, [0.05, 0.5, 0.95])
    answers = {
        "mean": x.mean(),
        "sd": x.std(ddof=1),
        "mcse_mean": az.mcse(x, method="mean"),
        "mcse_sd": az.mcse(x, method="sd"),
        "q05": q05,
        "q50": q50,
        "q95": q95,
        "ess_bulk": az.ess(x, method="bulk"),
        "ess_tail": az.ess(x, method="tail"),
        # az.rhat folds about the median of the split draws, az.summary (and R's posterior) about that of all.
        "rhat": az.summary({"x": x}, kind="diagnostics", round_to="none")["r_hat"].iloc[0],
    }
    for chain, value in enumerate(az.bfmi(x)):
        answers[f"bfmi.{chain}"] = value
    return answers


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sets = draw_sets(np.random.default_rng(SEED))
    with open(os.path.join(HERE, "expected.csv"), "w", encoding="ascii") as expected:
        print(f"# arviz {az.__version__}, numpy {np.__version__}, seed {SEED}", file=expected)
        for name, x in sets.items():
            with open(os.path.join(HERE, name + ".csv"), "w", encoding="ascii") as draws:
                for row in x.T:
                    print(",".join(repr(float(number)) for number in row), file=draws)
            for key, value in diagnose(x).items():
                print(f"{name},{key},{float(value)!r}", file=expected)


if __name__ == "__main__":
    main()
