#!/usr/bin/env python3
"""Run the commands of a page (README, docs/tutorial, docs/howto), and compare the output shown with the output printed.

documents.py [--write] PROGRAM SOURCE PAGE...   run pages; --write replaces output that is not reproduced
documents.py --list SOURCE PAGE...              commands, blocks that are not run, tolerances, each with its reason
documents.py --words SOURCE                     words per sentence in README and tutorials, lines of README, links
documents.py --self-test                        each kind of error is detected

Blocks. A code block is indented by four spaces, or fenced. A line `$ COMMAND` is a command; a `\\` at its end, or `> ` at
the beginning of the next line, continues it. The lines below it are its output, standard error included. Without such
lines the output is not compared. A line `...` stands for any lines, and `...` in a line for any text. The blocks of a
page run in order in one shell, in an empty folder that contains a copy of examples/. Every command must return 0.
`fit` and `audit` run with `--checks full`, because by default the time taken decides which checks are left out. Standard output is
written line by line, as on a terminal, so that messages of standard error have their place in it.

Directives are HTML comments before a block. Every block without a command needs one of the first three:
  <!-- file: NAME -->          the block is the content of this file
  <!-- text: WHAT -->          the block is no command, such as a formula or a part of a file
  <!-- not run: REASON -->     its commands cannot run in a test
  <!-- copy: PATH -->          copies a file of the repository into the folder
  <!-- exit: N -->             exit code of the last command of the block
  <!-- seconds: N -->          time limit of a command (default 300)
  <!-- within: N %: REASON --> relative tolerance of decimals, and of integers above 100, 10 % at most

Numbers. Integers are equal. Decimals are equal up to one unit in the last digit printed. Solutions, optima and draws of
`metropolis` differ by less between machines (docs on portability); draws of `nuts` differ by more and need `within`.
Times, one decimal and " s" before a comma or a bracket, are not compared. A figure FOLDER/NAME.svg of the page that a
command writes as NAME.svg is compared element by element, with the same rule or to a millionth.
"""
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NUMBER = r"(?<![\w.#])[-+−]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?![\w])"
TIME = re.compile(r"\b\d+\.\d s(?=[,)])")
DIRECTIVE = re.compile(r"<!-- ([a-z ]+): (.*?) *-->$")
LONGEST_SENTENCE = 30
README_LINES = 120
PLACEHOLDER = "OUTPUT"  # as the only output: --write replaces it


class Error(Exception):
    pass


# --- pages ----------------------------------------------------------------------------------------


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.shown, self.begin, self.exit = line, text, [], None, 0


class Block:
    def __init__(self, line, lines, indent, directives):
        self.line, self.lines, self.indent, self.directives = line, lines, indent, directives
        self.commands = []

    def get(self, name, default=None):
        return self.directives.get(name, default)


def code_blocks(lines):
    """(first line, last line + 1, indent, fenced) of the code blocks; lines count from 0."""
    found, at = [], 0
    while at < len(lines):
        fence = re.match(r" {0,3}(```+|~~~+)", lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and not lines[end].strip().startswith(fence.group(1)):
                end += 1
            found.append((at + 1, end, len(fence.group(0)) - len(fence.group(1)), True))
            at = end + 1
        elif lines[at].startswith("    ") and lines[at].strip() and (at == 0 or not lines[at - 1].strip()
                                                                  or lines[at - 1].strip().endswith("-->")):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            found.append((at, end, 4, False))
            at = end
        else:
            at += 1
    return found


NEEDS_VALUE = {"file", "text", "not run", "copy", "exit", "seconds", "within"}


def read_directives(page, lines, begin):
    """Directives in the comment lines above line `begin`."""
    directives, at = {}, begin - 1
    while at >= 0 and (not lines[at].strip() or lines[at].startswith("<!--")):
        match = DIRECTIVE.match(lines[at].strip())
        if match:
            name, value = match.groups()
            if name not in NEEDS_VALUE:
                raise Error(f"{page}:{at + 1}: unknown directive '{name}'")
            if not value:
                raise Error(f"{page}:{at + 1}: directive '{name}' is empty; a block that is not run needs a reason")
            if name == "copy":
                value = directives.get(name, []) + [value]
            directives[name] = value
        at -= 1
    return directives


def split_commands(page, block):
    """Divide the lines of a block into commands and their output."""
    at, lines = 0, block.lines
    while at < len(lines):
        line = lines[at]
        if not line.startswith("$ "):
            command = block.commands[-1]
            command.begin = at if command.begin is None else command.begin
            command.shown.append(line)
            at += 1
            continue
        text = [line[2:]]
        at += 1
        while at < len(lines) and (text[-1].endswith("\\") or lines[at].startswith("> ")):
            text.append(lines[at][2:] if lines[at].startswith("> ") else lines[at])
            at += 1
        block.commands.append(Command(block.line + at - len(text), "\n".join(text)))
    block.commands[-1].exit = int(block.get("exit", 0))


def read_block(page, lines, begin, end, indent, fenced):
    directives = read_directives(page, lines, begin - fenced)
    block = Block(begin + 1, [line[indent:].rstrip() for line in lines[begin:end]], indent, directives)
    place = f"{page}:{block.line}"
    kinds = [kind for kind in ("file", "text", "not run") if kind in directives]
    if len(kinds) > 1:
        raise Error(f"{place}: directives {' and '.join(kinds)} exclude each other")
    if not kinds:
        if not block.lines or not block.lines[0].startswith("$ "):
            raise Error(f"{place}: a code block without a command needs <!-- file: -->, <!-- text: --> or <!-- not run: -->")
        split_commands(page, block)
    if "text" in kinds and any(re.match(r"(\$ |idm |make |\S*/idm )", line) for line in block.lines):
        raise Error(f"{place}: a block of text contains a command")
    if "within" in directives:
        read_tolerance(place, directives["within"])
    return block


def read_tolerance(place, text):
    match = re.match(r"([\d.]+) %: (.+)", text)
    if not match or not 0 < float(match.group(1)) <= 10:
        raise Error(f"{place}: within: expected a percentage up to 10 and a reason, as in 'within: 5 %: draws of nuts'")
    return float(match.group(1)) / 100


def read_page(page, text):
    lines = text.split("\n")
    spans = code_blocks(lines)
    blocks = [read_block(page, lines, *span) for span in spans]
    check_directives_used(page, lines, spans)
    return blocks


def check_directives_used(page, lines, spans):
    begins = {begin - fenced for begin, _, _, fenced in spans}
    inside = {n for begin, end, _, _ in spans for n in range(begin, end)}
    for at, line in enumerate(lines):
        match = DIRECTIVE.match(line.strip())
        if at in inside or not match:
            continue
        if match.group(1) not in NEEDS_VALUE:
            raise Error(f"{page}:{at + 1}: unknown directive '{match.group(1)}'")
        below = at + 1
        while below < len(lines) and (not lines[below].strip() or lines[below].startswith("<!--")):
            below += 1
        if below not in begins:
            raise Error(f"{page}:{at + 1}: no code block follows this directive")


# --- comparison -----------------------------------------------------------------------------------


def unit(number):
    """One unit in the last digit of a printed number."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def is_integer(number):
    return re.fullmatch(r"[-+−]?\d+", number) is not None


def numbers_agree(shown, found, tolerance):
    a, b = (float(n.replace("−", "-")) for n in (shown, found))
    if tolerance and not (is_integer(shown) and abs(a) <= 100):
        return abs(a - b) <= tolerance * max(abs(a), abs(b)) + unit(shown)
    if is_integer(shown) and is_integer(found):
        return a == b
    return abs(a - b) <= 1.000001 * min(unit(shown), unit(found))


def normal(line):
    return TIME.sub("(time) s", " ".join(line.split()))


def pattern(shown):
    """A regular expression of a shown line, with a group per number."""
    expression = ""
    for i, part in enumerate(normal(shown).split("...")):
        expression += ".*?" if i else ""
        at = 0
        for match in re.finditer(NUMBER, part):
            expression += re.escape(part[at:match.start()]) + f"({NUMBER})"
            at = match.end()
        expression += re.escape(part[at:])
    return re.compile(expression)


def same_words(shown, found):
    """The pairs of numbers of two lines that agree in everything else, or None."""
    match = pattern(shown).fullmatch(normal(found))
    if not match:
        return None
    numbers = [n for part in normal(shown).split("...") for n in re.findall(NUMBER, part)]
    return list(zip(numbers, match.groups()))


def lines_agree(shown, found, tolerance):
    if shown == found:
        return True
    pairs = same_words(shown, found)
    return pairs is not None and all(numbers_agree(a, b, tolerance) for a, b in pairs)


def segments(shown):
    """Runs of lines between lines `...`: (index of the first line, lines)."""
    runs, begin = [], 0
    for i, line in enumerate([*shown, "..."]):
        if line.strip() == "...":
            runs.append((begin, shown[begin:i]))
            begin = i + 1
    return runs


def place_segment(lines, found, begin, last, tolerance):
    """Index in `found` where a segment fits best, and whether all of its lines agree there."""
    highest = len(found) - len(lines)
    starts = [highest] if last else range(begin, highest + 1)
    best, most = None, -1
    for start in starts:
        if start < begin:
            continue
        window = found[start:start + len(lines)]
        if all(map(lambda a, b: lines_agree(a, b, tolerance), lines, window)):
            return start, True
        alike = sum(same_words(a, b) is not None for a, b in zip(lines, window))
        if alike > most:
            best, most = start, alike
    return best, False


def align(shown, found, tolerance):
    """For every shown line the index of its line in `found`, `...` for a line of dots, or None; and lines left over."""
    runs = segments(shown)
    if len(runs) == 1:
        pairs = [i if i < len(found) else None for i in range(len(shown))]
        return pairs, list(range(len(shown), len(found)))
    pairs, at = ["..."] * len(shown), 0
    for n, (begin, lines) in enumerate(runs):
        if not lines:
            continue
        if n == 0:
            start = 0
        else:
            start, _ = place_segment(lines, found, at, n == len(runs) - 1, tolerance)
        for i in range(len(lines)):
            inside = start is not None and start + i < len(found)
            pairs[begin + i] = start + i if inside else None
        at = start + len(lines) if start is not None else at
    return pairs, []


def trim(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def compare(page, block, command, found):
    """Sentences on the differences between the shown and the printed output."""
    tolerance = read_tolerance(page, block.get("within")) if block.get("within") else 0
    skipped = next((i for i, line in enumerate(command.shown) if line), 0)
    shown, found = trim(command.shown), trim(found)
    pairs, extra = align(shown, found, tolerance)
    differences = []
    for i, pair in enumerate(pairs):
        if pair == "...":
            continue
        line = block.line + command.begin + skipped + i
        printed = "(no line)" if pair is None else found[pair]
        if pair is None or not lines_agree(shown[i], printed, tolerance):
            differences.append(f"{page}:{line}: expected: {shown[i]}\n{' ' * len(f'{page}:{line}: ')}found:    {printed}")
    for index in extra:
        differences.append(f"{page}:{command.line}: a printed line is not shown: {found[index]}")
    return differences


# --- execution ------------------------------------------------------------------------------------

WRAPPER = """#!/bin/sh
case " $* " in
*" --checks "*) ;;
" fit "* | " audit "*)
  command=$1
  shift
  set -- "$command" --checks full "$@"
  ;;
esac
exec stdbuf -oL '{program}' "$@"
"""


class Shell:
    """One bash that runs commands in a folder."""

    def __init__(self, folder, program):
        binaries = Path(tempfile.mkdtemp(prefix="documents-bin-"))
        self.binaries, self.folder = binaries, folder
        if program:
            (binaries / "idm").write_text(WRAPPER.format(program=os.path.abspath(program)), encoding="utf-8")
            (binaries / "idm").chmod(0o755)
        environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
        self.bash = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=folder, env=environment, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, text, seconds):
        """Output and exit code of a command; the exit code is None after the time limit."""
        (self.binaries / "command").write_text(text + "\n", encoding="utf-8")
        end = f"\x1eend {time.monotonic_ns()} "
        self.bash.stdin.write(f". '{self.binaries}/command' </dev/null\nprintf '\\n{end}%d\\n' $?\n".encode())
        self.bash.stdin.flush()
        output, limit = b"", time.monotonic() + seconds
        while not re.search(re.escape(end).encode() + rb"\d+\n$", output):
            ready, _, _ = select.select([self.bash.stdout], [], [], max(0, limit - time.monotonic()))
            chunk = os.read(self.bash.stdout.fileno(), 65536) if ready else b""
            if not chunk:
                return output.decode("utf-8", "replace").split("\n"), None
            output += chunk
        printed, _, code = output.decode("utf-8", "replace").rpartition("\n" + end)
        return printed.split("\n"), int(code)

    def close(self):
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.bash.wait()
        shutil.rmtree(self.binaries)


def prepare(source, folder, block):
    for path in block.get("copy", []):
        target = folder / Path(path).name
        shutil.copy(source / path, target)
    if block.get("file"):
        target = folder / block.get("file")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(block.lines) + "\n", encoding="utf-8")


def run_command(page, block, command, shell):
    """(output, sentences on what failed)."""
    seconds = int(block.get("seconds", 300))
    found, code = shell.run(command.text, seconds)
    place = f"{page}:{command.line}"
    if code is None:
        raise Error(f"{place}: no result within {seconds} s: {command.text}")
    failures = []
    if code != command.exit:
        last = "\n".join(f"    {line}" for line in trim(found)[-5:])
        failures.append(f"{place}: exit code {code}, expected {command.exit}: {command.text}\n{last}")
    if trim(command.shown):
        failures += compare(page, block, command, found)
    return found, failures


def figures(page, text, folder):
    """Paths, relative to the page, of linked figures that the commands wrote."""
    links = re.findall(r"\]\(([^)]+\.svg)\)", text)
    return [link for link in dict.fromkeys(links) if (folder / Path(link).name).is_file()]


def marks_agree(shown, found):
    """Figures contain numbers of 17 digits, of which machines reproduce 8: a millionth is less than a pixel."""
    pairs = same_words(shown, found)
    near = lambda a, b: numbers_agree(a, b, 0) or not is_integer(a) and abs(float(a) - float(b)) <= 1e-6 * abs(float(a))
    return pairs is not None and all(near(a, b) for a, b in pairs)


def compare_figure(page, shown, found):
    parts = [re.findall(r"[^<>\n]+", svg) for svg in (shown, found)]
    if len(parts[0]) != len(parts[1]):
        return [f"{page}: the figure has {len(parts[1])} elements, expected {len(parts[0])}"]
    for a, b in zip(*parts):
        if not (lines_agree(a, b, 0) or marks_agree(a, b)):
            return [f"{page}: figure: expected: {a[:200]}\n{' ' * len(page)}  figure: found:    {b[:200]}"]
    return []


def check_figures(page, path, text, folder, write):
    failures = []
    for link in figures(page, text, folder):
        kept, made = path.parent / link, folder / Path(link).name
        differ = not kept.is_file() or compare_figure(f"{page} ({link})", kept.read_text(encoding="utf-8"), made.read_text(encoding="utf-8"))
        if differ and write:
            shutil.copy(made, kept)
        elif differ:
            failures += differ if isinstance(differ, list) else [f"{page}: {link} does not exist"]
    return failures


def run_page(program, source, path, write=False):
    """Sentences on what failed, after a line with the counts."""
    page, text = name_of(source, path), path.read_text(encoding="utf-8")
    blocks = read_page(page, text)
    folder = Path(tempfile.mkdtemp(prefix="documents-"))
    if (source / "examples").is_dir():
        shutil.copytree(source / "examples", folder / "examples")
    shell, failures, outputs = Shell(folder, program), [], []
    try:
        for block in blocks:
            prepare(source, folder, block)
            for command in block.commands:
                begun = time.monotonic()
                found, failed = run_command(page, block, command, shell)
                failures += failed
                outputs.append((block, command, found))
                print(f"{page}:{command.line}: {time.monotonic() - begun:5.1f} s  {command.text.split(chr(10))[0][:90]}", flush=True)
        failures += check_figures(page, path, text, folder, write)
    finally:
        shell.close()
        shutil.rmtree(folder)
    print(count(page, blocks))
    if write:
        failures = rewrite(page, path, text, outputs)
    return failures


def count(page, blocks):
    commands = [c for b in blocks for c in b.commands]
    compared = sum(bool(trim(c.shown)) for c in commands)
    left = sum("not run" in b.directives for b in blocks)
    return f"{page}: {len(commands)} commands, {compared} with output that is compared; {left} blocks are not run"


def name_of(source, path):
    return os.path.relpath(path, source)


# --- rewriting ------------------------------------------------------------------------------------


def rewritten_line(shown, found, tolerance):
    """The shown line with the printed numbers; a line that agrees is unchanged. None if words differ."""
    if lines_agree(shown, found, tolerance):
        return shown
    pairs = same_words(shown, found)
    if pairs is None:
        return None
    if "..." not in shown:
        return found
    replacements = iter(pairs)
    return "...".join(re.sub(NUMBER, lambda _: next(replacements)[1], part) for part in shown.split("..."))


def rewritten(block, command, found):
    """New output of a command, or None if dots cannot be placed."""
    shown, found = trim(command.shown), trim(found)
    if "..." not in [line.strip() for line in shown]:
        if shown == [PLACEHOLDER] or len(shown) != len(found):
            return found
        lines = [rewritten_line(a, b, 0) for a, b in zip(shown, found)]
        return [b if a is None else a for a, b in zip(lines, found)]
    pairs, _ = align(shown, found, 0)
    lines = [a if p == "..." else None if p is None else rewritten_line(a, found[p], 0) for a, p in zip(shown, pairs)]
    return None if None in lines else lines


def rewrite(page, path, text, outputs):
    lines, failures = text.split("\n"), []
    for block, command, found in reversed(outputs):
        if not trim(command.shown) or (block.get("within") and not compare(page, block, command, found)):
            continue
        new = rewritten(block, command, found)
        if new is None:
            printed = "\n".join(f"    {line}" for line in trim(found))
            failures.append(f"{page}:{command.line}: `...` cannot be placed; printed:\n{printed}")
            continue
        begin = block.line - 1 + command.begin
        lines[begin:begin + len(command.shown)] = [(" " * block.indent + line).rstrip() for line in new]
        if command.shown and not command.shown[-1] and command is not block.commands[-1]:
            lines.insert(begin + len(new), "")
    path.write_text("\n".join(lines), encoding="utf-8")
    return failures


# --- words and links ------------------------------------------------------------------------------


def prose(text):
    """(line, text) of paragraphs, items, headings and cells, without code and comments."""
    lines = text.split("\n")
    for begin, end, _, fenced in code_blocks(lines):
        lines[begin - fenced:end + fenced] = [""] * (end - begin + 2 * fenced)
    kept = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), "\n".join(lines), flags=re.DOTALL)
    parts, open_part = [], False
    for number, line in enumerate(kept.split("\n"), 1):
        line = line.strip().lstrip(">").strip()
        if line.startswith("|"):
            parts += [(number, cell) for cell in line.strip("|").split("|")]
            open_part = False
        elif not line or line.startswith("#"):
            parts.append((number, line.lstrip("# ")))
            open_part = False
        elif open_part and not re.match(r"([-*]|\d+\.) ", line):
            parts[-1] = (parts[-1][0], parts[-1][1] + " " + line)
        else:
            parts.append((number, line))
            open_part = True
    return parts


def sentences(part):
    part = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", part)
    part = re.sub(r"`[^`]*`", lambda m: m.group(0).replace(".", "·").replace("?", "·").replace("!", "·"), part)
    return re.split(r"(?<=[.!?])[)*_\"”]*\s+(?=[\"“(*_`\[]*[A-ZÄ-Ü0-9α-ω`])", part)


def long_sentences(page, text):
    for line, part in prose(text):
        for sentence in sentences(part):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            if len(words) > LONGEST_SENTENCE:
                yield f"{page}:{line}: a sentence of {len(words)} words: {sentence.strip()[:100]}..."


def dead_links(source, path, text):
    page = name_of(source, path)
    for line, part in prose(text):
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", part):
            if not re.match(r"[a-z]+:", link) and not (path.parent / link).exists():
                yield f"{page}:{line}: the link {link} leads nowhere"


def check_words(source):
    read = lambda path: path.read_text(encoding="utf-8")
    lessons = [source / "README.md", *sorted(source.glob("docs/tutorial/*.md"))]
    failures = [f for path in lessons for f in long_sentences(name_of(source, path), read(path))]
    length = read(source / "README.md").count("\n")
    if length > README_LINES:
        failures.append(f"README.md: {length} lines, at most {README_LINES}")
    pages = [*source.glob("*.md"), *source.glob("docs/**/*.md"), *source.glob("examples/**/*.md")]
    failures += [f for path in sorted(pages) for f in dead_links(source, path, read(path))]
    print(f"sentences of {len(lessons)} pages (at most {LONGEST_SENTENCE} words), links of {len(pages)} pages")
    return failures


def list_blocks(source, path):
    page = name_of(source, path)
    blocks = read_page(page, path.read_text(encoding="utf-8"))
    for block in blocks:
        for kind in ("not run", "within", "text", "seconds", "exit"):
            if kind in block.directives:
                print(f"{page}:{block.line}: {kind}: {block.get(kind)}")
    print(count(page, blocks))


# --- self-test ------------------------------------------------------------------------------------

GOOD = """A page.

    $ echo "a 0.25 (1.5 s, x)"; echo b 7
    a 0.25 (9.9 s, x)
    b 7
"""
CASES = [  # name, page, words of the error (None: no error)
    ("a page that is right", GOOD, None),
    ("one unit in the last digit", GOOD.replace("a 0.25 (9", "a 0.26 (9"), None),
    ("a changed digit", GOOD.replace("a 0.25 (9", "a 0.27 (9"), "expected: a 0.27"),
    ("a changed sign", GOOD.replace("a 0.25 (9", "a -0.25 (9"), "expected: a -0.25"),
    ("a changed integer", GOOD.replace("    b 7", "    b 8"), "p.md:5: expected: b 8"),
    ("a changed word", GOOD.replace("    b 7", "    c 7"), "p.md:5: expected: c 7"),
    ("a time that is a word", GOOD.replace("9.9 s,", "n s,"), "expected: a 0.25 (n s"),
    ("a shown line that is not printed", GOOD + "    c\n", "p.md:6: expected: c"),
    ("a printed line that is not shown", GOOD.replace("    b 7\n", ""), "not shown: b 7"),
    ("dots for a line", GOOD.replace("    b 7", "    ..."), None),
    ("dots for no line", GOOD + "    ...\n", None),
    ("dots before a wrong line", GOOD.replace("    a 0.25 (9.9 s, x)\n    b 7", "    ...\n    b 8"), "p.md:5: expected: b 8"),
    ("dots in a line", GOOD.replace("0.25 (9.9 s, x)", "..."), None),
    ("dots in a line with a wrong number", GOOD.replace("a 0.25 (9", "... 0.29 (9"), "expected: ... 0.29"),
    ("a failing command", "    $ false\n", "exit code 1, expected 0"),
    ("a failing command with right output", "    $ echo a; false\n    a\n", "exit code 1, expected 0"),
    ("a failing command whose code is shown", "<!-- exit: 3 -->\n    $ (exit 3)\n", None),
    ("another exit code than shown", "<!-- exit: 3 -->\n    $ (exit 4)\n", "exit code 4, expected 3"),
    ("a command without output fails", "    $ true\n    $ ls nowhere\n", "p.md:2: exit code 2"),
    ("standard error", "    $ echo a >&2\n    b\n", "expected: b"),
    ("an unlisted block", "    make test\n", "needs <!--"),
    ("an unlisted fenced block", "```\nidm solve x\n```\n", "needs <!--"),
    ("a fenced block with commands", "```\n$ echo a\nb\n```\n", "p.md:3: expected: b"),
    ("a command in a block of text", "<!-- text: formula -->\n    idm solve x\n", "contains a command"),
    ("a block that is not run", "<!-- not run: installs packages -->\n\n    make demo\n", None),
    ("a block that is not run, without reason", "<!-- not run: -->\n\n    make demo\n", "needs a reason"),
    ("an unknown directive", "<!-- ignore: this -->\n\n    $ true\n", "unknown directive 'ignore'"),
    ("a directive without a block", "<!-- exit: 3 -->\n\ntext\n", "no code block follows"),
    ("a file", "<!-- file: f/x -->\n    a 1\n\n<!-- copy: p.md -->\n\n    $ cat f/x; wc -l <p.md\n    a 1\n    8\n", None),
    ("a state that is kept", "    $ f() { echo $1; }; x=1\n\n    $ f $x\n    1\n", None),
    ("a command of several lines", "    $ echo a \\\n          b\n    a b\n    $ cat <<E\n    > c\n    > E\n    c\n", None),
    ("a tolerance", "<!-- within: 5 %: draws -->\n    $ echo 1.00 200 7\n    1.04 205 7\n", None),
    ("a number outside its tolerance", "<!-- within: 5 %: draws -->\n    $ echo 1.00\n    1.08\n", "expected: 1.08"),
    ("a count within a tolerance", "<!-- within: 5 %: draws -->\n    $ echo 60\n    61\n", "expected: 61"),
    ("a tolerance without reason", "<!-- within: 5 % -->\n    $ echo 1.00\n    1.04\n", "expected a percentage"),
    ("a tolerance that is too wide", "<!-- within: 50 %: draws -->\n    $ echo 1.00\n    1.04\n", "expected a percentage"),
    ("a command that does not end", "<!-- seconds: 1 -->\n    $ sleep 60\n", "no result within 1 s"),
    ("a figure", "![f](f.svg)\n\n    $ echo '<a x=\"1.25\"/>' >f.svg\n", None),
    ("a figure with another last digit", "![f](f.svg)\n\n    $ echo '<a x=\"1.2500000001\"/>' >f.svg\n", None),
    ("a figure with a changed colour", "![f](f.svg)\n\n    $ echo '<a x=\"1.25\" c=\"#1e9901\"/>' >f.svg\n", "figure: expected"),
    ("a changed figure", "![f](f.svg)\n\n    $ echo '<a x=\"1.35\"/>' >f.svg\n", "figure: expected"),
]
WRITTEN = [  # page, page after --write
    ("    $ echo a 0.25; echo b\n    OUTPUT\n", "    $ echo a 0.25; echo b\n    a 0.25\n    b\n"),
    (GOOD.replace("    b 7", "    b 8"), GOOD),
    ("    $ echo a 0.25; echo b; echo c 3\n    a 0.35\n    ...\n    ... 4\n", "    $ echo a 0.25; echo b; echo c 3\n    a 0.25\n    ...\n    ... 3\n"),
    ("    $ echo a\n    b\n\n    $ echo c\n    d\n\nText.\n", "    $ echo a\n    a\n\n    $ echo c\n    c\n\nText.\n"),
]


def run_text(text, write=False):
    """Failures of a page with this text, and the text afterwards."""
    source = Path(tempfile.mkdtemp(prefix="documents-source-"))
    try:
        (source / "p.md").write_text(text, encoding="utf-8")
        (source / "f.svg").write_text('<a x="1.25"/>\n', encoding="utf-8")
        try:
            failures = run_page(None, source, source / "p.md", write)
        except Error as error:
            failures = [str(error)]
        return failures, (source / "p.md").read_text(encoding="utf-8")
    finally:
        shutil.rmtree(source)


def self_test():
    failures = []
    for name, text, words in CASES:
        found, _ = run_text(text)
        if (words is None) != (not found) or (words and words not in "\n".join(found)):
            failures.append(f"self-test: {name}: expected {words or 'no error'}; found {found or 'no error'}")
    for before, after in WRITTEN:
        found, text = run_text(before, write=True)
        if found or text != after:
            failures.append(f"self-test: --write of {before!r} is {text!r}; {found}")
    thirty = " ".join(["word"] * 30) + ". Next."
    if list(long_sentences("p", thirty)) or not list(long_sentences("p", "A " + thirty)):
        failures.append("self-test: sentences of 30 and 31 words are not separated")
    if not list(dead_links(Path("/"), Path("/p.md"), "[a](nowhere.md)")):
        failures.append("self-test: a dead link is not detected")
    print(f"{len(CASES)} pages and {len(WRITTEN)} rewritten pages")
    return failures


# --- command line ---------------------------------------------------------------------------------


def main(arguments):
    options = [a for a in arguments if a.startswith("--")]
    names = [a for a in arguments if not a.startswith("--")]
    paths = lambda pages: [Path(p).resolve() for p in pages]
    failures = []
    if "--self-test" in options:
        failures = self_test()
    elif "--words" in options:
        failures = check_words(Path(names[0]).resolve())
    elif "--list" in options:
        for path in paths(names[1:]):
            list_blocks(Path(names[0]).resolve(), path)
    elif len(names) >= 3:
        for path in paths(names[2:]):
            failures += run_page(names[0], Path(names[1]).resolve(), path, "--write" in options)
    else:
        sys.exit(__doc__)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Error as error:
        sys.exit(str(error))
