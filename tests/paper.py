"""paper.py IDM VALIDATION: independent computation of numbers on the page of `make paper`.

Figure 2: values of the six agents by value iteration over 100 beliefs, and their beliefs after positive tests, in plain
Python. Section 5.2: the variance of pooled ratios is that within states plus that between them.
"""

import math
import statistics
import sys
import tempfile

POINTS = 100
MODELS = (0.6, 0.7, 0.8)
DISCOUNT = 0.95
ACTIONS = ("declare_healthy", "declare_diseased", "monitor")


def soft_maximum(values, temperature):
    """temperature * log of the mean of exp(value / temperature), of either sign; and the weights of the values."""
    top = max(v / temperature for v in values)
    weights = [math.exp(v / temperature - top) for v in values]
    total = sum(weights)
    return temperature * (math.log(total / len(values)) + top), [w / total for w in weights]


def at(values, z):
    """Linear interpolation between neighbours."""
    place = z * (POINTS - 1)
    low = min(int(place), POINTS - 2)
    return values[low] + (place - low) * (values[low + 1] - values[low])


def branches(z, action, accuracy):
    """Probability of a negative and a positive test, and the belief in disease after each."""
    prior = z if action == "monitor" else 0.5
    for right in (1 - accuracy, accuracy):
        seen = right * prior + (1 - right) * (1 - prior)
        yield seen, right * prior / seen


def utility(z, action):
    return {"monitor": -1, "declare_healthy": 10 * (1 - z) - 36 * z, "declare_diseased": 10 * z - 36 * (1 - z)}[action]


def solve(alpha, beta, eta):
    """Policies at every point, and the weights of the models while monitoring."""
    grid = [i / (POINTS - 1) for i in range(POINTS)]
    ahead = [[[list(branches(z, u, m)) for m in MODELS] for u in ACTIONS] for z in grid]
    surprise = [[[-eta * sum(p * math.log(p) for p, _ in two) for two in models] for models in actions] for actions in ahead]
    values, policies, weights = [0.0] * POINTS, [], []
    for _ in range(400):
        policies, weights, following = [], [], []
        for i, z in enumerate(grid):
            quality = []
            for k, action in enumerate(ACTIONS):
                outcome = [surprise[i][k][m] + DISCOUNT * sum(p * at(values, after) for p, after in ahead[i][k][m])
                           for m in range(len(MODELS))]
                best, model = soft_maximum(outcome, beta)
                quality.append(utility(z, action) + best)
            value, policy = soft_maximum(quality, alpha)
            policies.append(policy)
            weights.append(model)  # for the last action, monitoring
            following.append(value)
        change = max(abs(a - b) for a, b in zip(values, following))
        values = following
        if change < 1e-7:
            break
    return policies, weights


def follow(weights, steps=3):
    """Beliefs after positive tests, each the mean over the models."""
    beliefs = [0.5]
    for _ in range(steps):
        z = beliefs[-1]
        share = [at([row[m] for row in weights], z) for m in range(len(MODELS))]
        beliefs.append(sum(s * list(branches(z, "monitor", m))[1][1] for s, m in zip(share, MODELS)))
    return beliefs


def crossing(policies):
    gap = [(i / (POINTS - 1), p[1] - p[2]) for i, p in enumerate(policies) if i >= POINTS // 2]
    for (left, low), (right, high) in zip(gap, gap[1:]):
        if low < 0 <= high:
            return left + (right - left) * -low / (high - low)
    return float("nan")


def wrong_agents(study, agents):
    words, data = agents.plot_six(study)
    study.call("plot", *words, "-o", data + ".svg")
    found = agents.read_six(data)
    for title, keys, *_ in agents.SIX:
        policies, weights = solve(keys["alpha"], keys["beta"], keys["eta"])
        beliefs, threshold = found[title]
        pairs = list(zip(beliefs, follow(weights))) + [(threshold, crossing(policies))]
        for ours, other in pairs:
            # A line of the plot has 201 points, so that a jump is located to 1/200.
            if not abs(ours - other) < (0.005 if ours is threshold else 1e-4):
                yield f"{title}: {ours} in the figure, {other} by iteration"


def wrong_spread(ratio):
    columns = {name: [3.0 * (k + 1) + 0.7 * i * i - 11 * (k % 2) - 20 for i in range(9)]
               for k, name in enumerate(entry for pair in ratio.BY_STATE for entry in pair)}
    mean, sd = ratio.pooled(columns)
    parts = [[w / r for w, r in zip(columns[a], columns[b])] for a, b in ratio.BY_STATE]
    means = [statistics.fmean(part) for part in parts]
    spread = statistics.fmean(statistics.pvariance(part) for part in parts) + ((means[0] - means[1]) / 2) ** 2
    if abs(mean - statistics.fmean(means)) > 1e-12 * abs(mean) or abs(sd * sd - spread) > 1e-9 * spread:
        yield f"pooled ratios {mean} ± {sd}, expected {statistics.fmean(means)} ± {math.sqrt(spread)}"


def main():
    program, validation = sys.argv[1:3]
    sys.path.insert(0, validation)
    import paper_agents
    import paper_ratio
    from study import Study

    with tempfile.TemporaryDirectory() as folder:
        faults = [*wrong_agents(Study(program, folder), paper_agents), *wrong_spread(paper_ratio)]
    for fault in faults:
        print(f"FAILED: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
