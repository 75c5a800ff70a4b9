#!/usr/bin/env python3
"""One loss of a recurrent network with its gradient in PyTorch: the peer of `recurrent`.

Usage: peer_torch.py DATA.csv [--repeat N]

DATA.csv has the columns trajectory, action, observation; an observation may be empty on a trajectory's last row. The
inputs of the network are indicators of the last action and the last observation. It has an LSTM with 64 units, a tanh
layer with 64 units and a softmax over the actions. Sequences are padded to the longest one and evaluated in one batch,
on one thread. Prints one JSON object: seconds of processor time and of wall-clock time by precision (the median of N
losses with gradients, after one warm-up), numbers (parameters of the network), torch (version).
"""

import argparse
import csv
import json
import statistics
import time

import torch


def read(path):
    trajectories, actions, seen = {}, set(), set()
    for row in csv.DictReader(open(path, newline="")):
        trajectories.setdefault(row["trajectory"], []).append((row["action"], row["observation"]))
        actions.add(row["action"])
        seen.add(row["observation"])
    return list(trajectories.values()), sorted(actions), sorted(seen - {""})


class Network(torch.nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.memory = torch.nn.LSTM(inputs, 64, batch_first=True)
        self.layer = torch.nn.Linear(64, 64)
        self.scores = torch.nn.Linear(64, actions)

    def forward(self, x):
        return self.scores(torch.tanh(self.layer(self.memory(x)[0])))


def measure(data, actions, seen, precision, repeat):
    torch.manual_seed(1)
    longest = max(map(len, data))
    x = torch.zeros(len(data), longest, len(actions) + len(seen), dtype=precision)
    taken = torch.full((len(data), longest), -100)
    for i, rows in enumerate(data):
        for t, (action, observation) in enumerate(rows):
            taken[i, t] = actions.index(action)
            if t + 1 < len(rows):
                x[i, t + 1, actions.index(action)] = 1
                if observation:
                    x[i, t + 1, len(actions) + seen.index(observation)] = 1
    network = Network(x.shape[2], len(actions)).to(precision)
    seconds, walls = [], []
    for _ in range(repeat + 1):
        begun, started = time.process_time(), time.perf_counter()
        network.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x).flatten(0, 1), taken.flatten(), reduction="sum")
        loss.backward()
        seconds.append(time.process_time() - begun)
        walls.append(time.perf_counter() - started)
    return statistics.median(seconds[1:]), statistics.median(walls[1:]), sum(p.numel() for p in network.parameters())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--repeat", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data, actions, seen = read(arguments.data)
    answer = {"torch": torch.__version__}
    for name, precision in (("double", torch.float64), ("single", torch.float32)):
        answer[name], answer[f"{name}_wall"], answer["numbers"] = measure(data, actions, seen, precision, arguments.repeat)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
