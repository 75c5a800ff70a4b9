#!/usr/bin/env python3
"""Record the behaviour of the program, to compare two builds on one machine.

usage: record.py take PROGRAM FOLDER
       record.py compare OLD NEW [--words]

`take` runs the commands below in a new FOLDER and stores standard output and error, the exit code and every file that a
command writes. `compare` lists the differences of two such folders: without options, in any byte; with --words, in exit
codes, names of files, keys and numbers of JSON, CSV and YAML, but not in wording. Exit code 1 if something differs.
Times and the path of the folder are ignored. Records of two machines differ in rounding: take both on one.
"""
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

CHAIN = "--chains 2 --draws 60 --warmup 60 --checks none"

# In order: later commands read the output of earlier ones. {chain} is CHAIN. A line that begins with @ adds columns to
# a log; one that begins with = writes a file.
COMMANDS = r"""
help
help fit
help --man
help solve --man
help nothing
list planners --json
list inverses --json
list classes --json
list plots --json
list samplers --json
list agents --json
list parameters --json
list columns --json
list checks --json
list examples --json
list nothing
list parameters --markdown
list columns --markdown
list checks --markdown
list classes --proposition
solve example:diag --json
solve example:diag --plain
solve example:diag --set alpha=0.5 --set beta=1.25 --set eta=75 --path monitor:positive,monitor:negative --json
solve example:diag --set planner=rational --at 0.2,0.8 --json
solve example:tiger --set planner=point-based --gap 0.01 --alpha vectors.csv --json
solve example:tiger --set resolution=20 --json
solve example:maintenance --json
solve example:reversal --json
solve example:clinic --json
solve example:beads --json
= jars.yaml "{name: jars, states: [high, low], actions: [draw, bet_high, bet_low], observations: [high, low]" ", terminal: [bet_high, bet_low], discount: 1, horizon: 8, transition: identity, start: uniform" ", observation: {'*': [[.6, .4], [.4, .6]]}, utility: {draw: -1, bet_high: [10, -30], bet_low: [-30, 10]}}"
solve jars.yaml --json
solve example:maintenance --set planner=soft-q-learning --set budget=2000 --json
solve example:maintenance --set planner=value-iteration-network --set sweeps=5 --json
solve example:diag --set planner=cvar-robust --set risk_level=0.5 --json
solve example:diag --set planner=prototype --json
solve example:diag --set alpha=-1 --json
solve example:diag --set nothing=1
solve example:nothing
solve missing.yaml
simulate example:diag -n 60 --seed 1 -o diag.csv --json
simulate example:diag -n 20 --seed 2 --states --set alpha=0.5 --set beta=1.25 -o states.csv
simulate example:maintenance -n 30 --steps 8 --set alpha=4 --seed 2 -o worn.csv --json
simulate example:tiger -n 20 --steps 10 --set planner=deterministic-optimal --seed 2 -o tiger.csv
simulate example:reversal -n 8 --steps 40 --seed 3 -o reversal.csv
simulate example:clinic -n 20 --steps 15 --seed 4 -o clinic.csv
simulate example:diag --like diag.csv --seed 5 -o like.csv
simulate example:maintenance -n 20 --steps 8 --set planner=rational --seed 2 -o best.csv
@ diag.csv people.csv agent=i%6 group=i%2 age=20+i
@ clinic.csv visits.csv agent=i%5 site=i%2
@ reversal.csv players.csv agent=i%4 drug=i%2 'reward=int(row["observation"] == "win")'
@ worn.csv several.csv 'environment=("calm", "windy")[i % 2]'
= several.yaml "{name: several, states: [good, worn, broken], actions: [run, repair, replace], observations: states, start: good" ", discount: .9, transition: {run: [[.8, .2, 0], [0, .7, .3], [0, 0, 1]], repair: [[1, 0, 0], [.7, .3, 0], [.2, .5, .3]]" ", replace: [[1, 0, 0], [1, 0, 0], [1, 0, 0]]}, utility: {run: [10, 6, 0], repair: [4, 2, -3], replace: -12}" ", agent: {planner: bounded-rational, alpha: .5, beta: inf, eta: 0}, environments: {calm: {start: good}, windy: {start: worn}}}"
@ worn.csv batches.csv batch=1+i%3 score=(i*7%11)/10
simulate example:diag -n 3 --seed 6
simulate example:diag -n -3
simulate example:diag -n 3 -o missing/log.csv
init diag.csv
init worn.csv --json
init missing.csv
lint example:diag diag.csv
lint example:diag diag.csv --json
lint example:diag states.csv --state state --json
lint example:diag worn.csv --json
lint example:diag people.csv --json
lint example:maintenance worn.csv --json
lint example:reversal reversal.csv --json
score example:diag diag.csv --json
score example:diag diag.csv --set alpha=0.5 --trials trials.csv --json
score example:maintenance worn.csv --json
score example:tiger tiger.csv --json
score example:reversal reversal.csv --json
score example:diag diag.csv --where 'trajectory=3' --json
explain example:diag diag.csv --json
explain example:diag diag.csv --trajectory 5
explain example:diag diag.csv -o steps.csv
explain example:maintenance worn.csv --json
learn example:maintenance worn.csv -o learned.yaml --json
learn example:diag diag.csv -o learned-diag.yaml --json
learn example:diag diag.csv --draws 40 --warmup 20 --chains 2 --starts 2 --repeats 1 -o dynamics --json
learn example:diag diag.csv --states 2..3 --folds 2 --starts 2 -o states.yaml --json
fit example:diag diag.csv --free beta,eta {chain} -o run --json
fit example:diag diag.csv --free beta,eta --chains 2 --draws 60 --warmup 60 --checks full -o checked --json
fit example:diag diag.csv --free alpha,beta,eta --sampler nuts {chain} -o nuts --json
fit example:diag diag.csv --free alpha --sampler slice {chain} -o slice --json
fit example:diag diag.csv --free alpha,beta --sampler pcn {chain} -o pcn --json
fit example:diag diag.csv --free alpha,beta --sampler paper {chain} -o paper --json
fit example:diag diag.csv --free alpha,beta,eta --inverse map --checks full -o map --json
fit example:diag diag.csv --free alpha,beta --inverse laplace {chain} -o laplace --json
fit example:diag diag.csv --free beta {chain} --stan -o stan --json
fit example:diag diag.csv --free beta {chain} --log-likelihood decision -o decisions --json
fit dynamics/config.yaml diag.csv --free beta {chain} --dynamics dynamics -o over-dynamics --json
fit dynamics/config.yaml people.csv --free beta {chain} --dynamics dynamics --dynamics-draws 3 -o pooled --json
fit example:diag diag.csv --free prior_weight,evidence_weight {chain} -o weights --json
fit example:diag diag.csv --free lapse,perseverance {chain} -o habits --json
fit example:diag diag.csv --free nothing -o none
fit example:diag diag.csv --free beta -o run
fit example:diag worn.csv --free beta -o wrong
fit example:diag diag.csv --free beta {chain} --overwrite -o run --json
fit example:diag people.csv --free beta {chain} --by agent -o people --json
fit example:diag people.csv --free beta {chain} --by agent --model 'beta ~ group + age' -o regression --json
fit example:reversal players.csv --by agent {chain} -o players --json
fit example:reversal players.csv --set planner=td-learner --free '{inverse_temperature: {scale: log, prior: {normal: [1, 1]}}, learning_rate_gain: {scale: logit, prior: {normal: [0, 1.5]}}, learning_rate_loss: {scale: logit, prior: {normal: [0, 1.5]}}}' --by agent {chain} -o learners --json
fit example:reversal players.csv --each agent {chain} -o each --json
fit example:diag diag.csv --by agent --free beta -o alone
fit example:reversal reversal.csv {chain} -o reversal --json
fit example:maintenance worn.csv --free utility --inverse map --checks none -o utility --json
fit example:maintenance worn.csv --class bc-il --checks none -o bc-il --json
fit example:maintenance worn.csv --class stoc-irl {chain} -o stoc-irl --json
fit example:maintenance worn.csv --class me-irl --checks none -o me-irl --json
fit example:maintenance worn.csv --class det-irl --margin return --checks none -o det-irl --json
fit example:maintenance best.csv --class det-irl --checks none -o det-irl-state --json
fit example:maintenance worn.csv --free alpha --inverse distribution-matching --divergence js --checks none -o matching --json
fit example:maintenance worn.csv --free utility --inverse distribution-matching --divergence kl --checks none -o matched --json
fit example:maintenance worn.csv --free alpha --inverse distribution-matching-bayes {chain} -o generalised --json
fit example:maintenance best.csv --free utility --inverse minimum-perturbation --norm 2 --checks none -o perturbation --json
fit example:maintenance worn.csv --free utility --inverse regularised-margin --lambda 10 --checks none -o margin --json
fit example:maintenance batches.csv --free utility --inverse distance --checks none -o distance --json
fit example:maintenance batches.csv --free utility --inverse policy-inversion --checks none -o inversion --json
fit several.yaml several.csv --free '{utility: {entries: [run.good, run.worn, repair.worn]}}' --inverse multiple-experimentation --checks none -o experiments --json
fit example:tiger tiger.csv --class det-po-irl --epsilon 0.01 --checks none -o det-po-irl --json
fit example:maintenance worn.csv --set planner=decision-network --free network --inverse map --checks none -o network --json
fit example:clinic clinic.csv {chain} -o clinic --json
audit example:clinic visits.csv --by site {chain} -o audit --json
audit example:diag diag.csv --group 'trajectory>30' --free beta {chain} -o groups --json
audit example:diag people.csv --by group --people --free beta {chain} -o nested --json
audit dynamics/config.yaml people.csv --group 'age>50' --free beta --dynamics dynamics {chain} -o audit-joint --json
audit example:diag diag.csv --by nothing --free beta -o no-audit
summary run checked --json
summary run --plain
summary map
summary people --json
summary learners --plain
summary missing
check checked --json
check map --json
check run
check audit
compare run map --json
compare utility perturbation --json
compare example:diag run --json
report checked -o checked.html
report audit -o audit.html
report people -o people.html
report nested -o nested.html
report regression -o regression.html
report map -o map.html
solve run --json
solve run --draw 3 --json
simulate run -n 10 --seed 1 -o again.csv --json
simulate run -n 10 --draw each --seed 1 -o each-draw.csv
score run diag.csv --json
score map diag.csv --trials map-trials.csv --json
explain run diag.csv --json
explain map diag.csv
convert example:diag diag.pomdp
convert example:tiger tiger.yaml --json
convert diag.pomdp back.yaml
convert run run.yaml
convert missing.yaml out.yaml
recover run -n 20 --replications 3 --chains 2 --draws 60 --warmup 60 -o recovered-run --json
recover example:diag -n 20 --replications 3 --free beta --chains 2 --draws 60 --warmup 60 -o recovery --json
sbc example:diag -n 20 --replications 4 --free beta --chains 2 --draws 60 --warmup 60 -o calibration --json
report recovery -o recovery.html
report calibration -o calibration.html
plot policy example:diag -o policy.svg --data policy.csv
plot simplex example:clinic --path visit:none/none -o simplex.svg
plot posterior run -o posterior.svg --data posterior.csv
plot joint checked --quantity inverse_beta --quantity eta -o joint.svg
plot trace checked -o trace.svg
plot rank checked -o rank.svg
plot forest people -o forest.svg --data forest.csv
plot recovery recovery -o recovered.svg
plot sbc calibration -o ranks.svg
plot ppc checked -o ppc.svg
plot profile checked -o profile.svg
plot occupancy example:maintenance -o occupancy.svg
plot calibration checked -o reliability.svg
plot prc checked -o prc.svg
plot surprise run diag.csv --trajectory 5 -o surprise.svg
plot nothing run
explore example:diag -o explore.html
explore run -o explore-run.html
"""


def commands():
    """Words of each command; the first is "@" or "=" if the line is not a command."""
    return [shlex.split(line.replace("{chain}", CHAIN)) for line in COMMANDS.strip().splitlines()]


def add_columns(place, source, target, *columns):
    """NAME=EXPRESSION each, in terms of the row and the index i of its trajectory. An existing column is replaced."""
    with open(place / source, newline="") as file:
        rows = list(csv.DictReader(file))
    number = {}
    for row in rows:
        i = number.setdefault(row["trajectory"], len(number))
        for name, expression in (column.split("=", 1) for column in columns):
            row[name] = eval(expression, {"__builtins__": {"int": int}}, {"i": i, "row": row})
    rows.sort(key=lambda row: (int(row["agent"]), int(row["trajectory"]), int(row["step"])))
    with open(place / target, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def snapshot(place):
    """{path: (size, modification time)} of all files."""
    return {path.relative_to(place).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in place.rglob("*") if path.is_file()}


def take(program, folder):
    place = folder / "place"
    shutil.rmtree(folder, ignore_errors=True)
    place.mkdir(parents=True)
    (folder / "idm").symlink_to(program)
    environment = dict(os.environ, COLUMNS="100", LC_ALL="C", SOURCE_DATE_EPOCH="0")
    environment.pop("IDM_LEVEL", None)
    before, taken = {}, 0
    with open(folder / "record.jsonl", "w") as record:
        for words in commands():
            if words[0] in "@=":
                if words[0] == "@":
                    add_columns(place, *words[1:])
                else:
                    (place / words[1]).write_text("\n".join(words[2:]) + "\n")
                before = snapshot(place)
                continue
            done = subprocess.run(["../idm", *words], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=600)
            after = snapshot(place)
            written = sorted(path for path, state in after.items() if before.get(path) != state)
            gone = sorted(set(before) - set(after))
            before = after
            files = {}
            for path in written:
                content = repeatable((place / path).read_bytes(), place)
                files[path] = hashlib.sha256(content).hexdigest()
                kept = folder / "files" / ("%03d" % taken) / path
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(content)
            record.write(json.dumps({"command": words, "code": done.returncode,
                                     "out": repeatable(done.stdout, place).decode(errors="replace"),
                                     "error": repeatable(done.stderr, place).decode(errors="replace"),
                                     "files": files, "gone": gone}) + "\n")
            record.flush()
            taken += 1


def list_of(folder):
    with open(folder / "record.jsonl") as record:
        return [json.loads(line) for line in record]


TIMES = re.compile(rb'("(?:seconds|elapsed)[a-z_]*": *)[0-9.e+-]+|\b[0-9.]+ s\b')


def repeatable(content, place):
    """Content without times and the name of the folder."""
    return TIMES.sub(lambda m: (m.group(1) or b"") + b"TIME", content).replace(bytes(place.resolve()), b"PLACE")


# --- comparison of two records ---------------------------------------------------------------


def numbers_of(text):
    """Content without words: keys and numbers of JSON; for other files, the numbers in order."""
    try:
        return shape(json.loads(text))
    except ValueError:
        pass
    return re.findall(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", text)


def shape(value):
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return len(value)
        return [shape(item) for item in value]
    return "word" if isinstance(value, str) else value


def table_of(text):
    return [row for row in csv.reader(io.StringIO(text))]


def same_text(a, b, kind, words):
    if a == b:
        return True
    if not words:
        return False
    if kind == "csv":
        return table_of(a) == table_of(b)
    return numbers_of(a) == numbers_of(b)


def same_file(a, b, path, words):
    one, two = a.read_bytes(), b.read_bytes()
    if one == two:
        return True
    kind = path.rsplit(".", 1)[-1]
    if not words or kind in ("nc", "png", "pdf"):
        return False
    return same_text(one.decode(errors="replace"), two.decode(errors="replace"), kind, words)


def compare(old, new, words):
    a, b = list_of(old), list_of(new)
    differences = 0

    def report(i, what):
        nonlocal differences
        differences += 1
        print("%03d idm %s: %s" % (i, shlex.join(a[i]["command"]), what))

    for i in range(min(len(a), len(b))):
        one, two = a[i], b[i]
        if one["command"] != two["command"]:
            report(i, "the new record has `%s` here" % shlex.join(two["command"]))
            continue
        if one["code"] != two["code"]:
            report(i, "exit code %d, was %d" % (two["code"], one["code"]))
        is_json = "--json" in one["command"]
        # Tables and messages on a terminal count as wording; standard output with --json is compared by keys and
        # numbers.
        if not same_text(one["out"], two["out"], "json" if is_json else "text", words) and (is_json or not words):
            report(i, "standard output differs")
        if one["error"] != two["error"] and not words:
            report(i, "standard error differs")
        if sorted(one["files"]) != sorted(two["files"]) or one["gone"] != two["gone"]:
            report(i, "other files: %s" % sorted(set(one["files"]) ^ set(two["files"])))
        for path in sorted(set(one["files"]) & set(two["files"])):
            if one["files"][path] != two["files"][path] and not same_file(
                    old / "files" / ("%03d" % i) / path, new / "files" / ("%03d" % i) / path, path, words):
                report(i, "%s differs" % path)
    if len(a) != len(b):
        print("%d commands, were %d" % (len(b), len(a)))
        differences += 1
    print("%d commands, %d differences" % (len(a), differences))
    return differences


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "take":
        take(os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif len(sys.argv) in (4, 5) and sys.argv[1] == "compare" and sys.argv[4:] in ([], ["--words"]):
        sys.exit(compare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), len(sys.argv) == 5) > 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
