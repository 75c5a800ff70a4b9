#!/usr/bin/env python3
"""run_arviz.py RUN.nc [CHAIN.csv ...]: read a run with ArviZ; every warning is an error.

Opens the file with arviz.from_netcdf, runs az.summary, az.loo (if there is a log-likelihood of cases that share their
parameters) and az.plot_trace, checks types and labels as read by xarray, and prints the summary as JSON with full
precision, with the axes of every variable of the posterior. The file may be a fit, a fit of people or an audit. CSV
files in CmdStan's layout (all chains, in order) must contain the same numbers. Needs arviz, h5netcdf and netCDF4.
"""
import itertools
import json
import sys
import warnings

import matplotlib

matplotlib.use("Agg")
import arviz as az  # noqa: E402
import numpy as np  # noqa: E402


def expect(truth, what):
    if not truth:
        sys.exit(f"run_arviz.py: {what}")


def check_types(data):
    """Integers stay integers, Booleans stay Booleans, labels are text."""
    sampled = [name for name in ("posterior", "sample_stats") if name in data.groups()]
    for name in sampled:
        group = data[name]
        expect(group.attrs["inference_library"] == "idm", f"no inference_library in {name}")
        expect("created_at" not in group.attrs, f"a date in {name}")
        for axis in ("chain", "draw"):
            expect(list(group[axis].values) == list(range(group.sizes[axis])), f"{axis} of {name}")
        for axis in set(group.dims) - {"chain", "draw"}:
            expect(all(isinstance(label, str) for label in group[axis].values), f"labels of {axis}")
    if len(sampled) == 2:
        check_design(data)


def check_design(data):
    """Contents of a fit besides its draws: statistics of the sampler, the setting, the log."""
    stats = data.sample_stats
    expect(stats["diverging"].dtype == bool, "diverging is not boolean")
    for name in ("n_steps", "tree_depth"):
        if name in stats:
            expect(stats[name].dtype == np.int64, f"{name} is {stats[name].dtype}")
    constant = data.constant_data
    for axis in ("state", "action", "observation"):
        expect(all(isinstance(label, str) for label in constant[axis].values), f"labels of {axis}")
    if "observed_data" in data.groups():
        observed = data.observed_data
        for name in ("action", "observation"):
            codes = observed[name]
            expect(codes.dtype == np.int32, f"{name} is {codes.dtype}")
            expect(codes.min() >= -1 and codes.max() < constant.sizes[name], f"codes of {name}")
            meanings = codes.attrs["flag_meanings"].split(" ")
            expect(len(meanings) == len(codes.attrs["flag_values"]), f"flags of {name}")
    if "log_likelihood" in data.groups():
        choice = data.log_likelihood["choice"]
        expect(choice.dims[2] in ("trajectory", "decision", "person"), "dimensions of choice")
        expect(all(isinstance(label, str) for label in choice[choice.dims[2]].values), "units")


def entries(name, variable):
    """Combinations of the labels along a variable's axes."""
    labels = [[str(label) for label in variable[axis].values] for axis in variable.dims[2:]]
    return [f"{name}[{','.join(one)}]" for one in itertools.product(*labels)]


def quantities(data):
    """Exact names with their draws over (chain, draw): one per entry of an array, otherwise the long name."""
    for short, variable in data.posterior.items():
        flat = variable.values.reshape(variable.shape[:2] + (-1,))
        names = entries(short, variable) if variable.dims[2:] else [variable.attrs.get("long_name", short)]
        for i, name in enumerate(names):
            yield str(name), flat[:, :, i]


def check_arrays(data):
    """Draws are the first axes, and the exact names of an array are the combinations of its labels."""
    for name, variable in data.posterior.items():
        expect(variable.dims[:2] == ("chain", "draw"), f"dimensions of {name}")
        if "entries" in variable.attrs:
            expected = entries(name, variable)
            expect(expected == [str(one) for one in variable.attrs["entries"]], f"entries of {name}: {expected}")


def summarise(data):
    """One object per quantity, by its exact name, with ArviZ's keys, unrounded numbers, and quantiles."""
    answer = {}
    table = az.summary(data, round_to="none", stat_focus="mean")
    for (name, draws), (_, row) in zip(quantities(data), table.iterrows(), strict=True):
        one = {key: float(value) for key, value in row.items()}
        for q in (0.05, 0.5, 0.95):
            one[f"q{100 * q:02.0f}"] = float(np.quantile(draws, q))
        answer[name] = one
    return answer


def leave_one_out(data):
    result = az.loo(data, var_name="choice", pointwise=True)
    return {
        "elpd_loo": float(result.elpd_loo),
        "se": float(result.se),
        "p_loo": float(result.p_loo),
        "pareto_k_max": float(np.max(result.pareto_k)),
    }


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def check_stan(data, paths):
    """The CSV files contain the same numbers: base[...] of a run is an array `base` in them."""
    stan = az.from_cmdstan(posterior=paths)
    draws = dict(quantities(data))
    for name, values in stan.posterior.items():
        runs = [key for key in draws if key == name or key.startswith(name + "[")]
        flat = values.values.reshape(values.shape[:2] + (-1,))
        expect(flat.shape[2] == len(runs), f"{name} has {flat.shape[2]} columns, not {len(runs)}")
        for i, key in enumerate(runs):
            expect(same(flat[:, :, i], draws[key]), f"{name} differs from {key}")
    for name, values in stan.sample_stats.items():
        expect(same(values, data.sample_stats[name]), f"{name} differs")
    expect(len(stan.sample_stats) == len(data.sample_stats), "statistics are missing")


def main(path, csv):
    warnings.simplefilter("error")
    data = az.from_netcdf(path)
    other = az.from_netcdf(path, engine="netcdf4")
    check_types(data)
    check_types(other)
    check_arrays(data)
    for name in data.groups():
        expect(data[name].equals(other[name]), f"engines disagree on {name}")
    answer = {"groups": data.groups(), "attributes": {k: str(v) for k, v in data.posterior.attrs.items()}}
    answer["axes"] = {name: variable.dims[2:] for name, variable in data.posterior.items()}
    answer["summary"] = summarise(data)
    # Leaving out a person removes all information on that person's own numbers, so that importance weights are
    # meaningless.
    if "log_likelihood" in data.groups() and "person" not in data.log_likelihood.dims:
        answer["loo"] = leave_one_out(data)
    az.plot_trace(data)
    matplotlib.pyplot.close("all")
    if csv:
        check_stan(data, csv)
    json.dump(answer, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
