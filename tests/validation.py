#!/usr/bin/env python3
"""Parts of `make validate`, without running them: every part has a function and an estimate of at most an hour, results
and exit codes are kept, and studies in two parts continue each other.

    validation.py SOURCE
"""

import contextlib
import importlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("failed:", what)


def parts_have_estimates(script):
    """Rows of the list: name, minutes, and what the part checks."""
    text = script.read_text()
    rows = re.search(r'^parts="\\\n(.*?)"$', text, re.S | re.M)[1].splitlines()
    expect(len(rows) > 30, f"{len(rows)} parts")
    for row in rows:
        name, minutes, what = row.split(None, 2)
        expect(minutes.isdigit() and 1 <= int(minutes) <= 60, f"{name}: about {minutes} minutes; expected at most 60")
        expect(f"\npart_{name}() {{" in text and what, f"{name} has no function or no words")


def results_are_kept(source, folder):
    """In a copy whose studies are stubs: a part that ends with 0 is done, another one has failed, and the list shows
    both."""
    copy = folder / "validation"
    copy.mkdir()
    shutil.copy(source / "validation" / "validate.sh", copy)
    (copy / "people_density.py").write_text("print('held')\n")
    (copy / "engine.py").write_text("import sys\nsys.exit('differs')\n")
    program = folder / "program"
    program.write_text("")

    def run(*words):
        done = subprocess.run(["bash", copy / "validate.sh", "program", "out", *words], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    code, _ = run("density")
    expect(code == 0, f"a part that succeeds ends with {code}")
    code, text = run("engine")
    expect(code == 1 and "failed: engine" in text, f"a part that fails ends with {code}: {text}")
    code, text = run("list")
    expect(code == 0 and re.search(r"^  density +done, \d+ s +about +\d+ min", text, re.M), f"the list lacks density: {text}")
    expect(re.search(r"^  engine +failed, \d+ s", text, re.M), f"the list lacks engine: {text}")
    expect(re.search(r"^  grid +to do", text, re.M), f"the list lacks grid: {text}")
    code, text = run("nothing")
    expect(code == 2 and "found part 'nothing'" in text, f"an unknown part ends with {code}: {text}")


def cohorts_are_shared(source, folder):
    """Cohorts 1 to 2 and 3 to 4 of four: the second call judges all, in either order, and repeats none."""
    sys.path.insert(0, str(source / "validation"))
    joint = importlib.import_module("joint")
    seen = []

    def cohort(_program, _folder, seed):
        seen.append(seed)
        row = [0, -1 if seed != covers_not else 1, 1]
        return {"levels": [row] * 4, "contrasts": [row] * 3, "joint": True, "verdicts": ["identified"] * 4}

    def call(kept, *words):
        sys.argv = ["joint.py", "program", str(kept), "clinic", *map(str, words)]
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            try:
                joint.main()
            except SystemExit as end:
                return end.code, text.getvalue()
        return 0, text.getvalue()

    joint.clinic = cohort
    covers_not = 0
    for first in (1, 3), (3, 1):
        kept = folder / f"joint-{first[0]}"
        seen.clear()
        code, text = call(kept, 4, first[0], first[0] + 1)
        expect(code == 0 and "judged when all" in text and "contain the truth" not in text, f"half of the cohorts: {text}")
        code, text = call(kept, 4, first[1], first[1] + 1)
        expect(code == 0 and "16 of 16 intervals" in text, f"all cohorts: {code}, {text}")
        expect(sorted(seen) == [1, 2, 3, 4], f"cohorts {seen} were run")
    # A killed call leaves the beginning of a line; its cohort is run again.
    with open(kept / "clinic.jsonl", "r+", encoding="utf-8") as file:
        text = file.read()
        file.truncate(len(text) - 20)
    last = json.loads(text.splitlines()[-1])["seed"]
    seen.clear()
    code, text = call(kept, 4, 1, 4)
    expect(code == 0 and seen == [last], f"after a killed call: cohorts {seen}, {text}")
    covers_not = 1
    code, text = call(folder / "joint-wrong", 4)
    expect(code and "FAIL  12 of 16 intervals" in text, f"three cohorts of four cover: {code}, {text}")


def cut_lines_are_dropped(source, folder):
    """A study of populations and one of logs, whose last line is cut: it is repeated, and the others are not."""
    sys.path.insert(0, str(source / "validation"))
    people, alarms = (importlib.import_module(name) for name in ("people", "alarms"))
    program = folder / "study"
    program.write_text('#!/bin/sh\necho "$2" >>"$0.seeds"\necho "$2.5 1"\n')
    program.chmod(0o755)
    expected = [[seed + 0.5, 1] for seed in (1, 2, 3)]
    expect(people.replicate(str(program), str(folder), "kind", 3) == expected, "three replications")
    kept = folder / "kind.txt"
    kept.write_text(kept.read_text()[:-3])
    expect(people.replicate(str(program), str(folder), "kind", 3) == expected, "three replications, one of them cut")
    seeds = (folder / "study.seeds").read_text().split()
    expect(sorted(seeds) == ["1", "2", "3", "3"], f"replications {seeds} were run")
    expect(people.replicate(str(program), str(folder), "kind", 3) == expected, f"lines are {kept.read_text()}")

    seen = []

    def one(seed):
        seen.append(seed)
        return [seed]

    expect(alarms.over_seeds(folder, "logs", 3, one) == [[1], [2], [3]], "three logs")
    kept = folder / "logs.jsonl"
    kept.write_text(kept.read_text()[:-4])
    expect(alarms.over_seeds(folder, "logs", 3, one) == [[1], [2], [3]], "three logs, one of them cut")
    expect(sorted(seen) == [1, 2, 3, 3], f"logs {seen} were run")


def main():
    source = Path(sys.argv[1]).resolve()
    parts_have_estimates(source / "validation" / "validate.sh")
    with tempfile.TemporaryDirectory() as folder:
        results_are_kept(source, Path(folder))
        cohorts_are_shared(source, Path(folder))
        cut_lines_are_dropped(source, Path(folder))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
