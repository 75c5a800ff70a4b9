"""adni.py IDM EXAMPLE: `idm lint` on synthetic cohorts reports the counts in the record of their generator.

Every number in the part `lint` of the record must occur in the output under the same keys, for every variant and, for
two seeds, also in a table compressed by gzip. Counts that the record cannot contain are checked here: they must add up.
The models in authors.yaml must follow from its dynamics by the authors' rule.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def differences(expected, found, path="lint"):
    """Differences between the output and the record."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key) if isinstance(found, dict) else None, f"{path}.{key}")
    elif isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            yield f"{path}: {expected} in the record, {found} found"
            return
        for number, value in enumerate(expected):
            yield from differences(value, found[number], f"{path}[{number}]")
    elif isinstance(expected, float):
        if not isinstance(found, (int, float)) or abs(found - expected) > 1e-9 * max(1, abs(expected)):
            yield f"{path}: {expected} in the record, {found} found"
    elif found != expected:
        yield f"{path}: {expected} in the record, {found} found"


def missing_sum(answer):
    """Counts that do not add up."""
    for what in "rows", "trajectories", "agents":
        total = answer["kept"][what] + sum(reason[what] for reason in answer["dropped"])
        if total != answer["read"][what]:
            yield f"{what}: {total} are accounted for, {answer['read'][what]} were read"
    for what in "actions", "observations":
        missed = answer["missed"] if what == "actions" else 0
        if sum(answer[what].values()) + answer["missing"][what[:-1]] + missed != answer["kept"]["rows"]:
            yield f"{what} are not as many as rows that are kept"


def lint(program, problem, table):
    done = subprocess.run([program, "lint", problem, table, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"lint {table} failed: {done.stderr}")
    return json.loads(done.stdout)


def wrong_models(problem):
    """Rows of the two models in authors.yaml that are not (1 - share) of the dynamics and share uniform, plus 0.001."""
    lists = [[float(x) for x in found.split(",")] for found in re.findall(r"\[([0-9., ]+)\]", problem)]
    rows = [row for row in lists if len(row) in (3, 12)][1:]  # the start is not a row of a model
    if len(rows) != 27:
        yield f"{len(rows)} rows"
        return
    for place, row in enumerate(rows[9:]):
        given, share = rows[place % 9], 0.5 * (place >= 9)
        possible = [p > 0 for p in given] if len(given) == 12 else [True] * 3
        raised = [(1 - share) * p + share * can / sum(possible) + 0.001 for p, can in zip(given, possible)]
        if max(abs(x - y / sum(raised)) for x, y in zip(row, raised)) > 1e-9:
            yield f"row {place + 1}: {row}"


def main():
    program, example = sys.argv[1], Path(sys.argv[2])
    failures = 0
    for fault in wrong_models((example / "authors.yaml").read_text(encoding="utf-8")):
        print(f"FAILED: authors.yaml: {fault}")
        failures += 1
    with tempfile.TemporaryDirectory() as folder:
        for variant, seed in ("optimism", 1), ("none", 2), ("dynamics", 3):
            subprocess.run([sys.executable, example / "cohort.py", folder, "--variant", variant, "--seed", str(seed),
                            "--idm", program], check=True)
            table = Path(folder, "cohort.csv")
            record = json.loads(Path(folder, "record.json").read_text(encoding="utf-8"))
            packed = Path(folder, "cohort.csv.gz")
            packed.write_bytes(gzip.compress(table.read_bytes()))
            for path in table, packed:
                answer = lint(program, example / "adni.yaml", path)
                for fault in [*differences(record["lint"], answer), *missing_sum(answer)]:
                    print(f"FAILED: {variant} {path.name}: {fault}")
                    failures += 1
            if not 0.3 <= record["lint"]["actions"]["mri"] / record["lint"]["kept"]["rows"] <= 0.7:
                print(f"FAILED: {variant}: an MRI at {record['lint']['actions']['mri']} visits")
                failures += 1
    print("adni:", failures, "failures")
    return failures > 0


sys.exit(main())
