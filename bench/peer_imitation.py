#!/usr/bin/env python3
"""Maximum causal entropy IRL of the `imitation` project: the peer of `regularised-margin`.

Usage: peer_imitation.py FREQUENCIES [--limit N] [--eps X]

The problem is the grid of bench.c: 20 by 20 cells, slips to each other side with probability 0.1, 40 steps, discount
0.95, start in the first cell. FREQUENCIES contains the demonstrator's policy, one line per cell. The reward, one number
per cell, is fitted so that the expected occupancy matches that of this policy. The program stops when the occupancies
differ by at most X times the discounted length of an episode, or after N updates. It uses one thread. It prints one
JSON object: seconds (processor time), wall, updates, slope (the largest difference of occupancies that sum to 1),
imitation (version).
"""

import argparse
import importlib.metadata
import json
import time

import numpy as np
import torch
from imitation.algorithms import mce_irl
from imitation.rewards import reward_nets
from seals import base_envs

SIDE, STEPS, DISCOUNT = 20, 40, 0.95


def transitions():
    cells = SIDE * SIDE
    tau = np.zeros((cells, 4, cells))
    for cell in range(cells):
        row, column = divmod(cell, SIDE)
        to = [
            max(row - 1, 0) * SIDE + column,
            min(row + 1, SIDE - 1) * SIDE + column,
            row * SIDE + max(column - 1, 0),
            row * SIDE + min(column + 1, SIDE - 1),
        ]
        for move in range(4):
            for slip in range(4):
                tau[cell, move, to[slip]] += 0.7 if slip == move else 0.1
    return tau


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("frequencies")
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--eps", type=float, default=1e-5)
    parser.add_argument("--rate", type=float, default=1e-2)
    words = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    cells = SIDE * SIDE
    start = np.zeros(cells)
    start[0] = 1
    env = base_envs.TabularModelPOMDP(
        transition_matrix=transitions(),
        observation_matrix=np.eye(cells, dtype=np.float32),
        reward_matrix=np.zeros(cells),
        horizon=STEPS,
        initial_state_dist=start,
    )
    policy = np.broadcast_to(np.loadtxt(words.frequencies), (STEPS, cells, 4))
    _, target = mce_irl.mce_occupancy_measures(env, pi=policy, discount=DISCOUNT)
    reward = reward_nets.BasicRewardNet(
        env.observation_space,
        env.action_space,
        use_action=False,
        use_next_state=False,
        use_done=False,
        hid_sizes=[],
    )
    eps = words.eps * target.sum()
    learner = mce_irl.MCEIRL(
        target,
        env,
        reward,
        optimizer_kwargs={"lr": words.rate},
        discount=DISCOUNT,
        linf_eps=eps,
        grad_l2_eps=0,
        log_interval=None,
        rng=np.random.default_rng(1),
    )
    updates, reached = 0, np.inf
    begun, started = time.process_time(), time.perf_counter()
    while updates < words.limit and reached > eps:
        reached = np.abs(learner.train(max_iter=20) - target).max()
        updates += 20
    print(
        json.dumps(
            {
                "seconds": time.process_time() - begun,
                "wall": time.perf_counter() - started,
                "updates": updates,
                "slope": reached / target.sum(),
                "imitation": importlib.metadata.version("imitation"),
            }
        )
    )


if __name__ == "__main__":
    main()
