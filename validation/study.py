"""Shared functions of the studies: simulated logs, fits, and their results, by the program alone."""

import csv
import glob
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

AGENTS = {
    "optimistic": {"alpha": 0.5, "beta": 1.25, "eta": 0.001},
    "non-adaptive": {"alpha": 0.5, "beta": 1000, "eta": 75},
    "extremely flexible": {"alpha": 1e-5, "beta": 1000, "eta": 0.001},
    "flexible": {"alpha": 0.5, "beta": 1000, "eta": 0.001},
    "inflexible": {"alpha": 10, "beta": 1000, "eta": 0.001},
    "pessimistic": {"alpha": 0.5, "beta": -0.75, "eta": 0.001},
    "contrary": {"alpha": -10, "beta": 1000, "eta": 0.001},
}


def complete_lines(path):
    """Lines of a file of results. The beginning of a line, which a killed call leaves, is removed from the file."""
    if not os.path.exists(path):
        return []
    with open(path, "r+", encoding="utf-8") as file:
        text = file.read()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            file.seek(0)
            file.write(whole)
            file.truncate()
    return whole.splitlines()


def settings(values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


class Study:
    """Logs and runs in a folder; parallel fits, one thread each."""

    def __init__(self, program, folder, problem="example:diag"):
        self.program, self.folder, self.problem = program, folder, problem
        self.pool = ThreadPoolExecutor(os.cpu_count())
        self.logs = {}
        os.makedirs(folder, exist_ok=True)

    def call(self, *words, check=True):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if check and done.returncode not in (0, 1):
            raise SystemExit(f"idm {' '.join(map(str, words))}: {done.stderr}")
        return done

    def log(self, agent, seed, patients=1000):
        """A log of an agent; the same seed gives the same log."""
        path = os.path.join(self.folder, f"{agent.replace(' ', '-')}-{seed}.csv")
        if path not in self.logs:
            self.call("simulate", self.problem, *settings(AGENTS[agent]), "-n", patients,
                      "--seed", seed, "-o", path)
            self.logs[path] = True
        return path

    def fit(self, name, agent, seed, free, held=None, *options):
        """Start a fit; the result is its summary, with the folder as `run`."""
        log = self.log(agent, seed)
        run = os.path.join(self.folder, f"{name}-{agent.replace(' ', '-')}-{seed}")

        def work():
            done = self.call("fit", self.problem, log, "-o", run, "--overwrite", "--free", free,
                             "--json", "--threads", 1, "--log-likelihood", "none", "--seed", seed,
                             *settings(held or {}), *options)
            return {**json.loads(done.stdout), "run": run, "notes": done.stderr}

        return self.pool.submit(work)


def draws(run):
    """Draws by quantity from the CSV files of a run (--stan)."""
    columns = {}
    for path in sorted(glob.glob(os.path.join(run, "chain-*.csv"))):
        names, lines = {}, []
        with open(path) as file:
            for line in file:
                if line.startswith("# column "):
                    column, name = line[len("# column "):].rstrip("\n").split(": ", 1)
                    names[column] = name
                elif not line.startswith("#"):
                    lines.append(line)
        for row in csv.DictReader(lines):
            for column, value in row.items():
                columns.setdefault(names.get(column, column), []).append(float(value))
    return columns


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def interval(one, digits=3):
    return f"{one['mean']:.{digits}g} ± {one['sd']:.2g} [{one['q5']:.{digits}g}, {one['q95']:.{digits}g}]"


def converged(summary):
    """Worst R-hat and bulk ESS of a summary, as text."""
    rhats = [x["r_hat"] for x in summary["posterior"].values()]
    esses = [x["ess_bulk"] for x in summary["posterior"].values()]
    rhat = "one chain" if None in rhats else f"R-hat {max(rhats):.3f}"
    return f"{rhat}, ESS {min(esses):.0f}"
