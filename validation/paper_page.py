"""The paper's figures, drawn by the program, beside the tables of paper.py: one page, paper.html."""

import html
import os

# The paper's Figure "Bounded Rational Control": six agents after three positive tests.
SIX = [
    ("flexible (α = 0.001)", "alpha=0.001, beta=1000, eta=0.001"),
    ("optimistic (β = 1.25)", "alpha=0.5, beta=1.25, eta=0.001"),
    ("adaptive (η = 0.001)", "alpha=0.5, beta=1000, eta=0.001"),
    ("inflexible (α = 10)", "alpha=10, beta=1000, eta=0.001"),
    ("pessimistic (β = −0.75)", "alpha=0.5, beta=-0.75, eta=0.001"),
    ("non-adaptive (η = 75)", "alpha=0.5, beta=1000, eta=75"),
]
STYLE = """body{font:16px/1.5 sans-serif;max-width:760px;margin:0 auto;padding:24px}
svg{max-width:100%;height:auto}pre{overflow-x:auto;font-size:12px;background:#8882;padding:10px}
figcaption{font-size:14px}:root{color-scheme:light dark}"""


def figures(study, fits):
    """(heading, what it is beside, words of `idm plot`) of every figure."""
    six = [word for title, keys in SIX for word in ("--panel", f"{title}: {keys}")]
    yield ("Bounded rational control (Figure of Section 4.4)", "What each agent does at every belief, and its belief "
           "after 0, 1, 2 and 3 positive tests.",
           ["policy", "example:diag", "--path", ",".join(["monitor:positive"] * 3), *six])
    for agent in ("flexible", "inflexible"):
        yield (f"Learned flexibility: {agent} (Section 5.1)", "Posterior of alpha.",
               ["posterior", fits["alpha", agent, 1].result()["run"]])
    for agent in ("non-adaptive", "optimistic"):
        yield (f"Inverse bounded rational control: {agent} (Section 5.1)", "Joint posterior of 1/beta and eta.",
               ["joint", fits["joint", agent, 1].result()["run"]])
    clinic = os.path.join(study.folder, "clinic.csv")
    study.call("simulate", "example:clinic", "-n", 20, "--steps", 8, "--seed", 1, "-o", clinic)
    yield ("Decision boundaries over three states (Appendix D)", "One patient of example:clinic: the paper's own are not "
           "published.", ["simplex", "example:clinic", clinic, "--trajectory", "1", "--set", "utility.scan=-0.1"])


def write(study, fits, tables):
    """paper.html in the study's folder; `tables` is what paper.py printed."""
    parts = []
    for i, (heading, caption, words) in enumerate(figures(study, fits)):
        path = os.path.join(study.folder, f"figure-{i + 1}.svg")
        study.call("plot", *words, "-o", path, check=True)
        with open(path, encoding="utf-8") as stream:
            drawing = stream.read().replace("figure-", f"figure{i + 1}-")
        parts.append(f"<h2>{html.escape(heading)}</h2>\n<figure>{drawing}"
                     f"<figcaption>{html.escape(caption)}</figcaption></figure>")
    path = os.path.join(study.folder, "paper.html")
    page = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>The paper again</title><style>{STYLE}</style>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n<body><main><h1>The paper again</h1>\n'
            + "\n".join(parts) + f"\n<h2>Our numbers beside the paper's</h2>\n<pre>{html.escape(tables)}</pre></main></body></html>\n")
    with open(path + ".tmp", "w", encoding="utf-8") as stream:
        stream.write(page)
    os.replace(path + ".tmp", path)
    return path
