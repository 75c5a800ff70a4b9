#!/usr/bin/env python3
"""Run folders of unknown origin: every name that the program creates in a folder, with an unexpected kind of file, for
every command that takes a folder.

    folders.py PROGRAM SOURCE [--all]

Names come from src/io/run/folder.h. Each is placed in a copy of a run, an audit, a set of learnt dynamics or a study,
as a link to a file, a link to a folder, a dangling link, a pipe, a folder, a socket and a hard link of a file outside.
A command must then end with exit code 3, or as it does without the attack, within seconds. Nothing outside the folder
may change, and a command that only reads may not change the folder either. A hard link is a regular file: for hard
links exit code 2 is also allowed, if the folder of a new run is not empty.

Temporary names, names in subfolders, sockets and hard links are tested with the commands that meet them first; --all
tests all combinations.
"""
import collections
import concurrent.futures
import hashlib
import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

SECONDS = 30
KINDS = ("link to a file", "link to a folder", "dangling link", "pipe", "folder", "socket", "second name")
FIT = "--set resolution=9 --free alpha --draws 50 --warmup 50 --chains 1 --threads 1 --log-likelihood none".split()
STUDY = "--set resolution=9 --free alpha --replications 1 -n 3 --draws 50 --warmup 50 --chains 1 --threads 1".split()
LEARN = "--draws 20 --warmup 10 --chains 1 --threads 1".split()
AUDIT = "--by agent --free alpha --draws 50 --warmup 50 --chains 1 --threads 1".split()

PAGE = ("report.html", "report.html.1-0.tmp")  # the page, and its temporary file of a killed process

Command = collections.namedtuple("Command", "name base words reads also", defaults=(True, ()))
# The folder is RUN, another run OTHER, the problem P, its log D; `also` are names that the command may change.
COMMANDS = [
    Command("summary", "run", "summary RUN"),
    Command("check", "run", "check RUN"),
    Command("score", "run", "score RUN D"),
    Command("solve", "run", "solve RUN"),
    Command("simulate", "run", "simulate RUN -n 2 -o OUT/log.csv"),
    Command("explain", "run", "explain RUN D"),
    Command("compare", "run", "compare RUN OTHER"),
    Command("plot", "run", "plot trace RUN -o OUT/trace.svg"),
    Command("explore", "run", "explore RUN -o OUT/page.html"),
    Command("fit again", "run", ["fit", "RUN/config.yaml", *FIT, "-o", "OUT/again"]),
    Command("report", "run", "report RUN", True, PAGE),
    Command("summary of an audit", "audit", "summary RUN"),
    Command("report of a study", "study", "report RUN", True, PAGE),
    Command("plot of a study", "study", "plot recovery RUN -o OUT/recovery.svg"),
    Command("fit over dynamics", "dynamics", ["fit", "P", "D", *FIT, "--dynamics", "RUN", "--dynamics-draws", "2", "-o", "OUT/over"]),
    Command("recover from a run", "run", ["recover", "RUN", *STUDY[4:], "-o", "OUT/study"]),
    Command("fit", "empty", ["fit", "P", "D", *FIT, "-o", "RUN"], False),
    Command("fit --stan", "empty", ["fit", "P", "D", *FIT, "--stan", "-o", "RUN"], False),
    Command("fit --overwrite", "run", ["fit", "P", "D", *FIT, "--overwrite", "-o", "RUN"], False),
    Command("fit --resume", "stopped", ["fit", "--resume", "-o", "RUN"], False),
    Command("fit --resume, complete", "run", ["fit", "--resume", "-o", "RUN"], False),
    Command("audit --resume", "stopped audit", ["audit", "--resume", "-o", "RUN"], False),
    Command("learn --resume", "stopped dynamics", ["learn", "P", "D", *LEARN, "--resume", "-o", "RUN"], False),
    Command("audit --overwrite", "audit", ["audit", "P", "D", *AUDIT, "--overwrite", "-o", "RUN"], False),
    Command("learn --overwrite", "dynamics", ["learn", "P", "D", *LEARN, "--overwrite", "-o", "RUN"], False),
    Command("recover -o", "empty", ["recover", "P", *STUDY, "-o", "RUN"], False),
    Command("sbc -o", "study", ["sbc", "P", *STUDY, "-o", "RUN"], False),
    # Output with the name of a file of the folder that is read.
    Command("report -o", "run", "report RUN -o RUN/NAME", False),
    Command("plot --data", "run", "plot trace RUN -o OUT/trace.svg --data RUN/NAME", False),
    Command("simulate -o", "run", "simulate RUN -n 2 -o RUN/NAME", False),
]


def read_names(source):
    """Names of files and of subfolders, from the list in the source."""
    with open(os.path.join(source, "src/io/run/folder.h"), encoding="utf-8") as header:
        found = re.findall(r'#define IDM_(FILE|FOLDER)_\w+\s+"([^"]+)"', header.read())
    files = [name.replace("%zu", "1") for kind, name in found if kind == "FILE"]
    folders = [name for kind, name in found if kind == "FOLDER"]
    assert len(files) >= 8 and len(folders) >= 2, "the list in folder.h is not found"
    return files, folders


def snapshot(root, without=()):
    """Contents of a folder: kinds, modes, modification times and contents; links are not followed."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            key = os.path.relpath(path, root)
            if key in without:
                continue
            info = os.lstat(path)
            content = ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as stream:
                    content = hashlib.sha256(stream.read()).hexdigest()
            elif os.path.islink(path):
                content = os.readlink(path)
            changed = None if os.path.isdir(path) and not os.path.islink(path) else info.st_mtime_ns
            found[key] = (info.st_mode, changed, content)
    return found


class Stage:
    """A program, the original folders of attacks, and a folder outside that must not change."""

    def __init__(self, program, source, root):
        self.program, self.root = os.path.abspath(program), root
        self.files, self.folders = read_names(source)
        self.base = os.path.join(root, "base")
        os.mkdir(self.base)
        self.make_bases()

    def call(self, words, where):
        return subprocess.run([self.program, *words], cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)

    def make(self, *words):
        done = self.call(words, self.base)
        assert done.returncode == 0, f"idm {' '.join(words)}: {done.stderr.decode()}"

    def make_bases(self):
        self.make("simulate", "example:diag", "-n", "6", "--seed", "1", "-o", "d.csv")
        with open(os.path.join(self.base, "d.csv"), encoding="utf-8") as stream:
            rows = stream.read().splitlines()
        rows[1:] = [re.sub(r"^1,([456],)", r"2,\1", row) for row in rows[1:]]  # two agents, for the audit
        with open(os.path.join(self.base, "d.csv"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(rows) + "\n")
        self.make("convert", "example:diag", "p.yaml")
        fit = ["fit", "p.yaml", "d.csv", *FIT]
        self.make(*fit, "--stan", "-o", "run")
        self.make(*fit, "--seed", "2", "-o", "other")
        self.make("audit", "p.yaml", "d.csv", *AUDIT, "-o", "audit")
        self.make("learn", "p.yaml", "d.csv", *LEARN, "-o", "dynamics")
        self.make("recover", "p.yaml", *STUDY, "-o", "study")
        for made in ("run", "audit", "dynamics", "study", "other"):
            strange = set(os.listdir(os.path.join(self.base, made))) - set(self.files)
            assert not strange, f"{made}: names that folder.h does not list: {strange}"
        os.mkdir(os.path.join(self.base, "empty"))
        for whole, stopped in (("run", "stopped"), ("audit", "stopped audit"), ("dynamics", "stopped dynamics")):
            shutil.copytree(os.path.join(self.base, whole), os.path.join(self.base, stopped))
            for name in ("summary.json", "report.html", "run.nc"):
                if os.path.exists(os.path.join(self.base, stopped, name)):
                    os.remove(os.path.join(self.base, stopped, name))

    def canary(self):
        """A folder outside for the calling thread: a run with a file of every name."""
        path = os.path.join(self.root, f"canary-{threading.get_ident()}")
        if os.path.exists(path):
            return path
        shutil.copytree(os.path.join(self.base, "other"), path)
        for name in set(self.files) - set(os.listdir(path)):
            with open(os.path.join(path, name), "w", encoding="utf-8") as stream:
                stream.write("precious\n")
        return path

    def names(self):
        """Every attacked name."""
        for name in self.files + self.folders:
            yield name
        for folder, name in itertools.product(self.folders, self.files):
            yield f"{folder}/{name}"
        for name in self.files:
            yield f"{name}.1-0.tmp"


class Attack:
    """One name of one kind, in a separate folder next to the one that must not change."""

    def __init__(self, stage, command, name, kind, number):
        self.stage, self.command, self.name, self.kind = stage, command, name, kind
        self.box = os.path.join(stage.root, f"box-{number}")
        self.run = os.path.join(self.box, "run")
        self.canary = None  # created once per thread
        self.out = os.path.join(self.box, "out")

    def prepare(self):
        base = self.stage.base
        os.makedirs(self.out)
        shutil.copytree(os.path.join(base, self.command.base), self.run)
        self.canary = self.stage.canary()
        if self.name:
            self.put()

    def put(self):
        folder, name = os.path.split(self.name)
        path = os.path.join(self.run, self.name)
        if folder:
            # A complete run is there, except this file.
            os.makedirs(os.path.join(self.run, folder), exist_ok=True)
            for part in ("config.yaml", "run.nc", "summary.json"):
                shutil.copy(os.path.join(self.stage.base, "other", part), os.path.join(self.run, folder))
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.remove(path)
        plain = name[: -len(".1-0.tmp")] if name.endswith(".1-0.tmp") else name
        target = os.path.join(self.canary, plain if plain in self.stage.files else "config.yaml")
        if self.kind == "link to a file":
            os.symlink(target, path)
        elif self.kind == "link to a folder":
            os.symlink(self.canary, path)
        elif self.kind == "dangling link":
            os.symlink(os.path.join(self.canary, "nothing"), path)
        elif self.kind == "pipe":
            os.mkfifo(path)
        elif self.kind == "folder":
            os.mkdir(path)
        elif self.kind == "second name":
            os.link(target, path)
        else:
            with socket.socket(socket.AF_UNIX) as server:
                here = os.open(os.path.dirname(path), os.O_RDONLY)
                try:
                    server.bind(f"/proc/self/fd/{here}/{name}")
                finally:
                    os.close(here)

    def words(self):
        given = self.command.words
        base = self.stage.base
        places = {"RUN": self.run, "OTHER": os.path.join(base, "other"), "P": os.path.join(base, "p.yaml"),
                  "D": os.path.join(base, "d.csv")}
        for word in given.split() if isinstance(given, str) else given:
            if word in places:
                yield places[word]
            else:
                yield (word.replace("RUN/NAME", os.path.join(self.run, self.name or "nothing"))
                       .replace("RUN/", self.run + "/").replace("OUT/", self.out + "/"))

    def execute(self):
        """The exit code, and the fault."""
        wrong = []
        self.prepare()
        outside = snapshot(self.canary)
        inside = snapshot(self.run, self.command.also) if self.command.reads else None
        code, said = None, ""
        try:
            done = self.stage.call(list(self.words()), self.box)
            code, said = done.returncode, done.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            wrong.append("blocks")
        if snapshot(self.canary) != outside:
            wrong.append("ESCAPE: something outside the folder changed")
            shutil.rmtree(self.canary)
        if inside is not None and snapshot(self.run, self.command.also) != inside:
            wrong.append("a command that reads changed the folder")
        shutil.rmtree(self.box)
        return code, wrong, said


def is_first(command, name, kind, number):
    """Whether an attack is tested without --all: for commands that read, which open folders in the same way, one in
    three.
    """
    if command.reads and command.name != "summary" and number % 3:
        return False
    if name.endswith(".tmp"):
        return command.name in ("fit", "fit --overwrite", "recover -o")
    if "/" in name:
        return command.name in ("summary", "report", "fit --overwrite", "fit --resume, complete")
    if kind in ("socket", "second name"):
        return command.name in ("summary", "report", "fit", "fit --overwrite", "fit --resume", "sbc -o")
    return True


def main():
    program, source = sys.argv[1:3]
    whole = "--all" in sys.argv[3:]
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        stage = Stage(program, source, root)
        names = list(stage.names())
        usual = {command.name: Attack(stage, command, None, None, "usual").execute()[0] for command in COMMANDS}
        attacks = [Attack(stage, command, name, kind, number) for number, (command, name, kind) in
                   enumerate(itertools.product(COMMANDS, names, KINDS)) if whole or is_first(command, name, kind, number)]
        failed, escapes, codes = 0, 0, collections.Counter()
        for attack, (code, wrong, said) in zip(attacks, pool.map(Attack.execute, attacks)):
            allowed = {3, usual[attack.command.name]} | ({2} if attack.kind == "second name" else set())
            codes[code] += 1
            if code is not None and code not in allowed:
                wrong.append(f"exit code {code}, expected one of {sorted(allowed)}: {said[:200]}")
            escapes += any("ESCAPE" in one for one in wrong)
            if wrong:
                failed += 1
                print(f"FAILED: {attack.command.name}, {attack.name}, {attack.kind}: {'; '.join(wrong)}", flush=True)
    print(f"{len(names)} names x {len(KINDS)} kinds x {len(COMMANDS)} commands: {len(attacks)} attacks"
          f"{'' if whole else ' (--all: the whole product)'}; exit codes {dict(codes)}; {failed} failed, {escapes} escapes")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
