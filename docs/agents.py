#!/usr/bin/env python3
"""Draw docs/agents.svg: decision policies and belief paths of six DIAG agents, as the program solves them.

usage: docs/agents.py build/idm > docs/agents.svg
"""
import json
import subprocess
import sys

PANELS = [
    ("flexible (α = 0.001)", "alpha=0.001", "beta=1000", "eta=0.001"),
    ("optimistic (β = 1.25)", "alpha=0.5", "beta=1.25", "eta=0.001"),
    ("adaptive (η = 0.001)", "alpha=0.5", "beta=1000", "eta=0.001"),
    ("inflexible (α = 10)", "alpha=10", "beta=1000", "eta=0.001"),
    ("pessimistic (β = −0.75)", "alpha=0.5", "beta=-0.75", "eta=0.001"),
    ("non-adaptive (η = 75)", "alpha=0.5", "beta=1000", "eta=75"),
]
ACTIONS = {"declare_healthy": "#2f6fb0", "monitor": "#8a8a8a", "declare_diseased": "#b5342c"}
WIDTH, HEIGHT, LEFT, TOP, GAP_X, GAP_Y = 240, 120, 46, 64, 36, 66


def solve(program, settings, *arguments):
    call = [program, "solve", "example:diag", "--json", *arguments]
    for setting in settings:
        call += ["--set", setting]
    return json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def panel(program, x, y, title, settings, out):
    grid = [i / 200 for i in range(201)]
    policy = solve(program, settings, *[w for p in grid for w in ("--at", f"{1 - p},{p}")])["policy"]
    path = solve(program, settings, "--path", ",".join(["monitor:positive"] * 3))["at"]
    out.append(f'<text x="{x}" y="{y - 10}" class="title">{title}</text>')
    out.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" class="frame"/>')
    for action, colour in ACTIONS.items():
        line = " ".join(f"{x + WIDTH * p:.1f},{y + HEIGHT * (1 - q):.1f}" for p, q in zip(grid, policy[action]))
        out.append(f'<polyline points="{line}" stroke="{colour}"/>')
    for t, z in enumerate(path):
        px, py = x + WIDTH * z[1], y + HEIGHT
        out.append(f'<path d="M{px:.1f} {py - 1} l-4.5 9 h9 z" class="mark"/>')
        out.append(f'<text x="{px:.1f}" y="{py + 19}" class="small" text-anchor="middle">{t}</text>')
    for tick in (0, 1):
        out.append(f'<text x="{x - 6}" y="{y + HEIGHT * (1 - tick) + 4}" class="small" text-anchor="end">{tick}</text>')


def main():
    program = sys.argv[1]
    width = LEFT + 3 * WIDTH + 2 * GAP_X + 20
    height = TOP + 2 * HEIGHT + GAP_Y + 62
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        "<style>text{font:13px sans-serif;fill:#222}.title{font-weight:bold}.small{font-size:11px}"
        ".frame{fill:none;stroke:#bbb}polyline{fill:none;stroke-width:2.2;stroke-linejoin:round}"
        ".mark{fill:#b5342c}</style>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    at = LEFT
    for action, colour in ACTIONS.items():
        out.append(f'<line x1="{at}" y1="22" x2="{at + 24}" y2="22" stroke="{colour}" stroke-width="3"/>')
        name = action.replace("_", " ")
        out.append(f'<text x="{at + 30}" y="26">{name}</text>')
        at += 60 + 7.2 * len(name)
    out.append(f'<path d="M{at} 17 l-4.5 9 h9 z" class="mark"/>')
    out.append(f'<text x="{at + 12}" y="26">belief after 0, 1, 2, 3 positive tests</text>')
    for i, (title, *settings) in enumerate(PANELS):
        x = LEFT + (i % 3) * (WIDTH + GAP_X)
        y = TOP + (i // 3) * (HEIGHT + GAP_Y)
        panel(program, x, y, title, settings, out)
    out.append(
        f'<text x="{LEFT + 1.5 * WIDTH + GAP_X}" y="{height - 12}" text-anchor="middle">'
        "belief that the patient is diseased (horizontal), probability of each action (vertical)</text>"
    )
    out.append("</svg>")
    print("\n".join(out))


main()
