#!/usr/bin/env python3
"""recipes.py SOURCE [CMAKE [COMPILER]]: apply the recipes of ARCHITECTURE.md exactly, and test the result.

A recipe is a heading `### (a) WHAT: N files` with steps below it, each a comment of one of two forms:

    <!-- new PATH: FILE -->              a file of tests/recipes is copied there
    <!-- PATH WHERE "TEXT" -->           the code block that follows is inserted `before` or `after` the line
                                         that contains the text, or replaces it (`over`)

They are applied in turn to a copy of the sources, which is then built once. No recipe may modify more files than its
heading states.
"""
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
CMAKE = sys.argv[2] if len(sys.argv) > 2 else "cmake"
COMPILER = sys.argv[3:4]
COPIED = ["src", "include", "cmake", "examples", "CMakeLists.txt"]

REVERSAL = """
name: reversal
states: [left_pays, right_pays]
actions: [left, right]
observations: [loss, win]
discount: 0.9
transition: {"*": [[0.9, 0.1], [0.1, 0.9]]}
observation: {left: [[0.2, 0.8], [0.8, 0.2]], right: [[0.8, 0.2], [0.2, 0.8]]}
utility: {left: [1, -1], right: [-1, 1]}
agent: {planner: learner, learning_rate: 0.4, inverse_temperature: 2, decay: 0.1}
"""

OBSERVED = """
name: two rooms
states: [a, b]
actions: [stay, go]
observations: states
discount: 0.9
transition: {stay: [[0.9, 0.1], [0.1, 0.9]], go: [[0.1, 0.9], [0.9, 0.1]]}
utility: {stay: [0, 1], go: [0, 1]}
agent: {planner: boltzmann-exploratory, temperature: 1}
"""

failures = []


def check(what, holds):
    print("ok    " if holds else "FAILED", what)
    if not holds:
        failures.append(what)


# --- the recipes -----------------------------------------------------------------------------------


def read_recipes(text):
    """[(letter, title, files, [(step, code)])]."""
    recipes = []
    for section in re.split(r"(?m)^#+ ", text):
        heading = re.match(r"\((\w)\) (.*): (\d+) files?\n", section)
        if heading:
            steps = re.findall(r"(?m)^<!-- (.*?) -->\n(?:```c\n((?s:.*?))```\n)?", section)
            recipes.append((heading[1], heading[2], int(heading[3]), steps))
    return recipes


def insert(path, where, text, code):
    lines = path.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if text in line]
    if len(at) != 1:
        sys.exit(f"'{text}' is on {len(at)} lines of {path.name}; expected one")
    first, last = {"before": (at[0], at[0]), "after": (at[0] + 1, at[0] + 1), "over": (at[0], at[0] + 1)}[where]
    lines[first:last] = [code]
    path.write_text("".join(lines))


def follow(steps, tree):
    """Apply the steps in the tree; return the modified paths."""
    touched = set()
    for step, code in steps:
        new = re.fullmatch(r"new (\S+): (\S+)", step)
        change = re.fullmatch(r'(\S+) (before|after|over) "(.*)"', step)
        if new:
            target = tree / new[1]
            if target.exists():
                sys.exit(f"{new[1]} is there already")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / new[2], target)
        elif change and code:
            insert(tree / change[1], change[2], change[3], code)
        else:
            sys.exit(f"not a step: {step}")
        touched.add((new or change)[1])
    return touched


def check_routes(text):
    """Reading lists for newcomers: no more files than stated, and each of them exists."""
    section = re.search(r"(?s)## Where to read first\n(.*?)\n## ", text)[1]
    routes = re.findall(r"(?s)^- \*(.*?)\*.*? \((\d+) files\):(.*?)(?=^- |\Z)", section, re.M)
    check("there are seven routes", len(routes) == 7)
    for (title, promised, list_), most in zip(routes, (8, 15, 6, 5, 2, 2, 2)):
        files = re.findall(r"`([\w./]+\.c)`", list_)
        check(f"{title}: {len(files)} files of {most}", len(files) == int(promised) <= most)
        check(f"{title}: each is there", all((SOURCE / file).exists() for file in files))


# --- the program -----------------------------------------------------------------------------------


def build(tree, new):
    log = tree / "log"
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DBUILD_TESTING=OFF", "-DIDM_BENCH=OFF",
               "-DIDM_EXPLORER=OFF", "-DIDM_WERROR=OFF"]  # without optimisation, gcc warns of truncation that does not occur
    options += [f"-DCMAKE_C_COMPILER={name}" for name in COMPILER]
    commands = [[CMAKE, "-S", tree, "-B", tree / "build", *options],
                [CMAKE, "--build", tree / "build", "-j", "2", "--target", "idm"]]
    for command in commands:
        with log.open("w") as out:
            if subprocess.run(command, stdout=out, stderr=out).returncode:
                sys.exit(f"{log.read_text()}\nFAILED: the tree with the recipes in it does not build")
    warned = [path for path in new if f"{path}:" in log.read_text()]
    check(f"the compiler has nothing to say on {len(new)} new files", not warned)


class Program:
    def __init__(self, tree):
        self.tree, self.path = tree, tree / "build" / "idm"

    def run(self, *words):
        return subprocess.run([self.path, *words], cwd=self.tree, capture_output=True, text=True)

    def json(self, *words):
        """Output of the program; {} if it fails, which is reported."""
        done = self.run(*words, "--json")
        if done.returncode:
            print(done.stderr.strip())
        return {} if done.returncode else json.loads(done.stdout)

    def fit(self, log, run, *words):
        done = self.run("fit", "reversal.yaml", log, "-o", run, "--warmup", "60", "--draws", "60", "--chains", "2", *words)
        self.notes = done.stderr
        summary = self.tree / run / "summary.json"
        return json.loads(summary.read_text()) if done.returncode in (0, 1) and summary.exists() else {"posterior": {}}


def names(program, what):
    return [entry["name"] for entry in program.json("list", what).get(what, [])]


def check_planner(program):
    check("(a) `idm list planners` names it", "learner" in names(program, "planners"))
    path = program.json("solve", "reversal.yaml", "--path", "left:win")
    check("(a) solve: it has learnt nothing yet", path.get("policy", {}).get("left", [0])[0] == 0.5)
    program.run("simulate", "reversal.yaml", "-n", "8", "--steps", "40", "--seed", "3", "-o", "log.csv")
    score = program.json("score", "reversal.yaml", "log.csv")
    check("(a) simulate and score: it decides better than chance", score.get("log_likelihood", -1e9) > 320 * -0.693)
    found = program.fit("log.csv", "learnt", "--free", "learning_rate")
    check("(a) fit infers its own parameter", list(found["posterior"]) == ["learning_rate"])


def check_parameter(program):
    scores = [program.json("score", "reversal.yaml", "log.csv", "--set", f"decay={decay}").get("log_likelihood")
              for decay in ("0", "0.1", "0.8")]
    check("(b) --set: the score depends on it", None not in scores and len(set(scores)) == 3)
    refused = program.run("solve", "reversal.yaml", "--set", "decay=2")
    check("(b) a value out of its range is refused", refused.returncode == 2 and "[0, 1]" in refused.stderr)
    found = program.fit("log.csv", "decayed", "--free", "learning_rate,decay")
    check("(b) fit infers it", list(found["posterior"]) == ["learning_rate", "decay"])
    check("(b) `idm list parameters` names it", "decay" in names(program, "parameters"))


def add_column(source, target, header, value):
    with source.open() as rows, target.open("w", newline="") as out:
        rows, out = csv.reader(rows), csv.writer(out, lineterminator="\n")
        out.writerow(next(rows) + [header])
        for i, row in enumerate(rows):
            out.writerow(row + [value(i)])


def check_column(program):
    tree = program.tree
    (tree / "sure.yaml").write_text(REVERSAL + "data: {confidence: sure}\n")
    add_column(tree / "log.csv", tree / "sure.csv", "sure", lambda i: 0.25 * (i % 4))
    add_column(tree / "log.csv", tree / "unsure.csv", "sure", lambda i: -1 if i == 5 else 0.5)
    check("(c) `idm list columns` names it", "confidence" in names(program, "columns"))
    refused = program.run("score", "sure.yaml", "unsure.csv")
    check("(c) a cell out of its range is refused with its place",
          refused.returncode == 3 and "unsure.csv:7:" in refused.stderr and "'-1' for the confidence" in refused.stderr)
    carry = tree / "carry"
    link = [*(COMPILER or ["cc"]), SOURCE / "tests/recipes/carry.c", "-I", tree / "include", "-o", carry,
            tree / "build/src/libidm.a", "-lyaml", "-ljansson", "-lnetcdf", "-lmd", "-lz", "-lpthread", "-lm"]
    subprocess.run(link, check=True)
    subprocess.run([carry, "sure.yaml", "sure.csv", "again.csv"], cwd=tree, check=True)
    with (tree / "again.csv").open() as again:
        read = [float(row["sure"]) for row in csv.DictReader(again)]
    check("(c) it is read, carried and written", read == [0.25 * (i % 4) for i in range(320)])


def check_inverse(program):
    tree = program.tree
    add_column(tree / "log.csv", tree / "confident.csv", "confidence", lambda i: 0.25 * (i % 4))
    check("(d) `idm list inverses` names it", "stay" in names(program, "inverses"))
    found = program.fit("confident.csv", "stayed", "--free", "learning_rate", "--inverse", "stay")
    check("(d) fit --inverse stay: the file's own number", abs(found["posterior"].get("learning_rate", {}).get("mean", 0) - 0.4) < 1e-9)
    check("(d) it reads the column of (c)", "mean confidence 0.375" in program.notes)
    program.fit("log.csv", "refused", "--free", "learning_rate", "--inverse", "stay")
    check("(d) without the column fit names it", "no column for the confidence" in program.notes)


def check_sampler(program):
    found = program.fit("log.csv", "walked", "--free", "learning_rate", "--sampler", "walk")
    check("(e) fit --sampler walk draws with it", found.get("sampler") == "walk" and "learning_rate" in found["posterior"])


def check_check(program):
    listed = [row for row in program.json("list", "checks").get("checks", []) if row["name"] == "acceptance"]
    check("(f) `idm list checks` names it", [row["threshold"] for row in listed] == [0.1])
    found = program.fit("log.csv", "checked", "--free", "learning_rate")
    results = [row for row in found.get("checks", []) if row["name"] == "acceptance"]
    check("(f) fit runs it, and summary.json has what it found",
          len(results) == 1 and results[0]["outcome"] in ("passed", "remark") and 0 < results[0]["value"] <= 1)
    printed = program.run("check", "checked").stdout
    check("(f) `idm check` prints it", any(line.startswith("acceptance ") for line in printed.splitlines()))


def check_plot(program):
    check("(g) `idm list plots` names it", "running" in names(program, "plots"))
    drawn = program.run("plot", "running", "checked", "-o", "running.svg")
    check("(g) plot draws it", drawn.returncode == 0 and "<svg" in (program.tree / "running.svg").read_text())


def check_command(program):
    counted = program.run("count", "reversal.yaml", "log.csv")
    check("(h) it runs", counted.stdout == "8 trajectories, 320 steps\n")
    check("(h) `idm help` has it", "Count trajectories" in program.run("help", "count").stdout)


def check_class(program):
    listed = [row for row in program.json("list", "classes").get("classes", []) if row["name"] == "scaled-irl"]
    check("(i) `idm list classes` names it", len(listed) == 1)
    (program.tree / "grid.yaml").write_text(OBSERVED)
    program.run("simulate", "grid.yaml", "-n", "40", "--steps", "10", "--seed", "2", "-o", "grid.csv")
    done = program.run("fit", "grid.yaml", "grid.csv", "--class", "scaled-irl", "-o", "scaled")
    check("(i) fit --class fits it", done.returncode == 0 and (program.tree / "scaled" / "summary.json").exists())


def check_section(program):
    for states, code in ((2, 0), (3, 3)):
        (program.tree / "expect.yaml").write_text(REVERSAL + f"expect: {{states: {states}}}\n")
        done = program.run("solve", "expect.yaml", "--path", "left:win")
        check(f"(j) {states} states are {'refused' if code else 'accepted'}", done.returncode == code)
    check("(j) the message has the place", "expect.yaml:11:" in done.stderr and "expect.states is 3" in done.stderr)


def main():
    text = (SOURCE / "ARCHITECTURE.md").read_text()
    check_routes(text)
    recipes = read_recipes(text)
    check("there are ten recipes", [recipe[0] for recipe in recipes] == list("abcdefghij"))
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (SOURCE / name).is_dir() else shutil.copy
            copy(SOURCE / name, tree / name)
        new = set()
        for letter, title, files, steps in recipes:
            touched = follow(steps, tree)
            new |= {path for path in touched if not (SOURCE / path).exists()}
            check(f"({letter}) {title}: {len(touched)} files of {files}", 0 < len(touched) <= files)
        build(tree, new)
        (tree / "reversal.yaml").write_text(REVERSAL)
        program = Program(tree)
        for part in (check_planner, check_parameter, check_column, check_inverse, check_sampler, check_check, check_plot,
                     check_command, check_class, check_section):
            part(program)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
