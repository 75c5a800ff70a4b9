#!/usr/bin/env python3
"""Calibration of people and groups with partial pooling.

usage: people.py PROGRAM FOLDER [STUDY] [REPLICATIONS]

PROGRAM is build/idm_people; STUDY is one of the names below. Simulation-based calibration: true values are drawn from
the prior of the population, on DIAG with alpha and beta free, 200 replications. The rank of each true value among 99
draws is uniform: the smallest p of a chi-square test over 10 bins, times the number of quantities, is at least .01 in
each study (a false alarm once in 100 sets of seeds). `sbc`: 20 people with 30 decisions each and a regression of both
numbers on a covariate. `learners`: 10 people with 50 choices each who learn from rewards (td-learner), four free
numbers. `audit`: four groups of 60 decisions. `nested`: four groups of six people with 20 decisions each (audit
--people).

`regression`: known differences in both numbers between two groups of 40 people with 50 decisions each, 25 logs; of the
50 intervals of 90 %, at least 39 contain the truth (45 on average; fewer by chance once in 200 sets of seeds).

`alarms-learners`, `alarms-planners`: 200 populations from the prior each, learners as above and 20 planners with 30
decisions each on DIAG, with a correct model: all tests of the model together fail in one of a hundred.
`slips-learners`, `slips-planners`: 20 learners with 100 choices each and 30 % slips, 20 planners with 30 decisions each
and 10 % slips, 20 logs of each, fitted without `lapse`: the model fails in at least half of them.

Results are kept in FOLDER; CORES=N limits the number of processes. Exit code 1 and a line with FAILS if a threshold is
missed.
"""

import functools
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from study import complete_lines

def of_both(*quantities):
    return tuple(f"{quantity} of {number}" for number in ("log alpha", "1/beta") for quantity in quantities)


LEARNT = ("perseverance", "log inverse temperature", "logit rate gain", "logit rate loss")
GROUPED = ("mean", "sd", "a group's value", "contrast")
CALIBRATIONS = {
    "sbc": ("20 people x 30 decisions, a regression",
            of_both("intercept", "slope", "sd", "a person's value") + ("correlation",)),
    "learners": ("10 learners x 50 choices, four numbers",
                 tuple(f"{quantity} of {number}" for number in LEARNT for quantity in ("mean", "sd", "a person's value"))
                 + tuple(f"correlation {j + 1},{i + 1}" for i in range(1, 4) for j in range(i))),
    "audit": ("4 groups x 60 decisions", of_both(*GROUPED)),
    "nested": ("4 groups x 6 people x 20 decisions", of_both(*GROUPED, "sd within groups")),
}
RARE = 0.01  # false-alarm rate of one study
BINS = 10


def replicate(program, folder, study, count):
    """Output of `count` replications as lists of numbers; results of an earlier call are read."""
    path = os.path.join(folder, study + ".txt")
    done = {}
    for line in complete_lines(path):
        words = line.split()
        done[int(words[0])] = [float(word) for word in words[1:]]
    missing = [seed for seed in range(1, count + 1) if seed not in done]

    def work(seed):
        return subprocess.run([program, study, str(seed)], capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(int(os.environ.get("CORES", os.cpu_count()))) as pool, open(path, "a") as file:
        for seed, line in zip(missing, pool.map(work, missing)):
            file.write(f"{seed} {line}")
            file.flush()
            done[seed] = [float(word) for word in line.split()]
    return [done[seed] for seed in range(1, count + 1)]


def upper_tail(statistic, freedom):
    """P(chi-square > statistic), by the series of the incomplete gamma function."""
    a, x = freedom / 2, statistic / 2
    term = total = 1 / a
    k = a
    while term > 1e-16 * total:
        k += 1
        term *= x / k
        total += term
    return 1 - total * math.exp(a * math.log(x) - x - math.lgamma(a)) if x > 0 else 1.0


def calibration(study, program, folder, count):
    title, quantities = CALIBRATIONS[study]
    lines = replicate(program, folder, study, count)
    print(f"{count} replications of {title}: ranks in {BINS} bins")
    least = 1
    for i, name in enumerate(quantities):
        bins = [0] * BINS
        for line in lines:
            bins[int(line[i]) * BINS // 100] += 1
        expected = count / BINS
        p = upper_tail(sum((n - expected) ** 2 / expected for n in bins), BINS - 1)
        least = min(least, p)
        print(f"  {name:30} {' '.join(f'{n:3}' for n in bins)}   p = {p:.3f}")
    sound = least * len(quantities) >= RARE
    worst = max(line[-2] for line in lines)
    print(f"  smallest p x {len(quantities)} = {least * len(quantities):.3f}, at least {RARE}{'' if sound else '   FAILS'}")
    print(f"  worst R-hat {worst:.3f}, least ESS {min(line[-1] for line in lines):.0f} (of 1,200 draws)")
    return sound


def regression(program, folder, count):
    lines = replicate(program, folder, "regression", count)
    held = [sum(line[3 * j] for line in lines) for j in range(2)]
    least = 39 if count == 25 else math.floor(2 * count * 0.78)
    sound = sum(held) >= least
    print(f"{count} logs of 40 people x 50 decisions: 90 % intervals hold the slope of log alpha {held[0]:.0f}, of 1/beta "
          f"{held[1]:.0f} times; {sum(held):.0f} of {2 * count}, at least {least}{'' if sound else '   FAILS'}")
    for j, (name, truth) in enumerate((("log alpha", 0.5), ("1/beta", -0.25))):
        mean = sum(line[3 * j + 1] for line in lines) / count
        print(f"  slope of {name}: mean of means {mean:.3f}, truth {truth}")
    print(f"  worst R-hat {max(line[-2] for line in lines):.3f}, least ESS {min(line[-1] for line in lines):.0f} "
          "(of 1,050 draws)")
    return sound


# In the order of idm_model_test; a line has one p value per test after the number of failures.
TESTS = ("alike", "trajectories", "steps", "ends", "stays", "returns", "responses", "beliefs", "conditions", "outside",
         "calibration", "extensions", "environment")


def tested(kind, program, folder, count):
    """Lines of a study of the model's tests."""
    lines = replicate(program, folder, kind, count)
    if any(len(line) != 1 + len(TESTS) for line in lines):
        sys.exit(f"{kind}: found {len(lines[0]) - 1} p values per line; expected {len(TESTS)}")
    return lines


def alarms(kind, program, folder, count):
    """Correct models for which a test fails: at most the number that has a probability above .001 at a rate of 1 %."""
    lines = tested(kind, program, folder, count)
    failed = sum(line[0] > 0 for line in lines)
    most, tail = 0, 1 - 0.99 ** count
    while tail > 1e-3:
        most += 1
        tail -= math.comb(count, most) * 0.01 ** most * 0.99 ** (count - most)
    sound = failed <= most
    print(f"{count} right populations ({kind}): {failed} alarms, at most {most}{'' if sound else '   FAILS'}; p <= .05:",
          ", ".join(f"{test} {sum(line[1 + i] <= 0.05 for line in lines)}" for i, test in enumerate(TESTS)
                    if not all(math.isnan(line[1 + i]) for line in lines)))
    return sound


def power(kind, program, folder, count):
    """Wrong models for which a test fails: at least half of them."""
    lines = tested(kind, program, folder, count)
    failed = sum(line[0] > 0 for line in lines)
    sound = 2 * failed >= count
    found = {test: sum(line[1 + i] <= 0.0015 for line in lines) for i, test in enumerate(TESTS)}
    print(f"{count} populations whose slips are not modelled ({kind}): {failed} fail, at least half"
          f"{'' if sound else '   FAILS'}; extensions {found['extensions']}, calibration {found['calibration']} at p <= .0015")
    return sound


STUDIES = {name: (functools.partial(calibration, name), 200) for name in CALIBRATIONS}
STUDIES["regression"] = (regression, 25)
for kind in ("alarms-learners", "alarms-planners"):
    STUDIES[kind] = (functools.partial(alarms, kind), 200)
for kind in ("slips-learners", "slips-planners"):
    STUDIES[kind] = (functools.partial(power, kind), 20)


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    chosen = sys.argv[3:4] or list(STUDIES)
    os.makedirs(folder, exist_ok=True)
    sound = True
    for name in chosen:
        study, count = STUDIES[name]
        sound = study(program, folder, int(sys.argv[4]) if len(sys.argv) > 4 else count) and sound
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
