#!/usr/bin/env python3
"""house.py BUILD [NM]: each floor of the house stands only on those below, and nothing goes in a circle.

Two graphs are drawn. In the first a source uses another where its object needs a symbol, function or
table, that the other's object defines: what the linker sees, whatever the headers say. In the second a
file uses another where it includes it. Neither may have a cycle, and no arrow may point up a floor.

Every source file has its test file: that of src/plan/score.c is tests/plan/score.c.

A header of src/ speaks for one source file, and a file that registers a planner, an inverse planner or a
sampler is named as one of those in it.

Parts of the paper that documents and sources cite by number exist.

A file of src/ is on the floor of its first folder. A public header is on the floor that defines the
functions it declares; one that declares none, on the highest that it includes.
"""
import pathlib
import re
import subprocess
import sys

# From the ground up.
FLOORS = ["base", "setting", "belief", "data", "learn", "infer", "plan", "invert", "io", "report", "cli"]
# What the build makes (the examples as text) uses nothing, and any floor may use it.
GROUND = -1

# Sources whose tests stand elsewhere, and where.
TESTED_ELSEWHERE = {"src/cli/main.c": "every call of the program in tests/command_line.sh"}

# What the paper has: sections with their parts, appendices, and what is numbered in its text.
PAPER = {"Section": ["1", "2", "3", "3.1", "3.2", "3.3", "4", "4.1", "4.2", "4.3", "5", "5.1", "5.2", "5.3", "6"],
         "Appendix": list("ABCDE"), "Table": list("12345"), "Figure": list("1234567"), "Definition": list("1234"),
         "Equation": [str(i) for i in range(1, 26)], "Lemma": list("12"), "Proposition": list("36"), "Theorem": list("45")}

ROOT = pathlib.Path(__file__).resolve().parent.parent


# --- symbols ---------------------------------------------------------------------------------------


def find_objects(build):
    """{source: object} of library and program: sources of src/ by their path, those the build made by their name."""
    objects = {}
    for target in "idm_objects", "idm":
        folder = build / "src" / "CMakeFiles" / (target + ".dir")
        for path in folder.rglob("*.o"):
            source = path.relative_to(folder).with_suffix("").as_posix()
            if "/" not in source:
                objects[source] = path
            elif (ROOT / "src" / source).exists():  # else left over from a source that is gone
                objects["src/" + source] = path
    return objects


def read_symbols(nm, objects):
    """({symbol: sources that define it}, {source: symbols that it needs})."""
    source_of = {str(path): source for source, path in objects.items()}
    lines = subprocess.run([nm, "-A", "-P", "-g", *source_of], check=True, capture_output=True, text=True).stdout
    defined, needed = {}, {source: set() for source in objects}
    for line in lines.splitlines():
        path, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        if kind in "Uwv":
            needed[source_of[path]].add(symbol)
        else:
            defined.setdefault(symbol, set()).add(source_of[path])
    return defined, needed


def draw_uses(defined, needed):
    """{source: {source it uses: a symbol}}."""
    graph = {}
    for source, symbols in needed.items():
        graph[source] = {}
        for symbol in sorted(symbols):
            for other in defined.get(symbol, ()):
                graph[source].setdefault(other, symbol)
    return graph


# --- includes --------------------------------------------------------------------------------------


def draw_includes():
    """{file: {file it includes: the include as written}} over src/ and include/."""
    graph = {}
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("include/**/*.h")]):
        graph[path.relative_to(ROOT).as_posix()] = uses = {}
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', path.read_text(), re.M):
            for folder in path.parent, ROOT / "src", ROOT / "include":
                if (folder / name).is_file():
                    uses[(folder / name).resolve().relative_to(ROOT).as_posix()] = '"%s"' % name
                    break
    return graph


# --- floors ----------------------------------------------------------------------------------------


def floor_of_source(file):
    """Of a file of src/, or one that the build made; None where its folder is no floor."""
    parts = file.split("/")
    if len(parts) == 1:
        return GROUND
    return FLOORS.index(parts[1]) if len(parts) > 2 and parts[1] in FLOORS else None


def declared(header):
    """Functions that a public header declares."""
    return re.findall(r"\bIDM_API\s[^;(]*?(\w+)\s*\(", re.sub(r"(?m)^\s*#.*$", "", (ROOT / header).read_text()))


def find_floors(includes, defined):
    """{file: floor} for all files of src/ and include/."""
    floors = {}

    def find(file):
        if file not in floors:
            floors[file] = GROUND  # a cycle ends here; it is reported as such
            if file.startswith("src/"):
                floors[file] = floor_of_source(file)
            else:
                own = [floor_of_source(source) for name in declared(file) for source in defined.get(name, ())]
                floors[file] = max(own or map(find, includes[file]), default=0)
        return floors[file]

    for file in includes:
        find(file)
    return floors


# --- what is wrong ---------------------------------------------------------------------------------


def upward(graph, floor, verb):
    """Sentences on arrows that point up."""
    for file, uses in sorted(graph.items()):
        for other, why in sorted(uses.items()):
            if floor(file) < floor(other):
                here = "the ground" if floor(file) == GROUND else FLOORS[floor(file)]
                yield f"{file} ({here}) {verb} {other} ({FLOORS[floor(other)]}): {why}"


def shortest_cycle(graph, start):
    """The shortest way from a file back to it, as a list that begins with it; None where there is none."""
    before, row = {}, [start]
    while row:
        following = []
        for file in row:
            for other in sorted(graph.get(file, ())):
                if other == start:
                    way = [file]
                    while way[-1] != start:
                        way.append(before[way[-1]])
                    return way[::-1]
                if other not in before:
                    before[other] = file
                    following.append(other)
        row = following
    return None


def cycles(graph, verb):
    """Sentences on cycles: of every file that is on one, the shortest through it, each told once."""
    seen = set()
    for file in sorted(graph):
        way = shortest_cycle(graph, file)
        if way and frozenset(way) not in seen:
            seen.add(frozenset(way))
            text = way[0]
            for here, there in zip(way, way[1:] + way[:1]):
                text += f"\n    {verb} {there}: {graph[here][there]}"
            yield "a circle: " + text


def incomplete_json():
    """Sentences on JSON that may lack a piece: what jansson could not allocate must be noticed, as src/io/json.c does."""
    for file in sorted(ROOT.glob("src/**/*.c")):
        if file.relative_to(ROOT).as_posix() == "src/io/json.c":
            continue
        for call in ("json_object_set", "json_array_append", "json_dump", "json_pack"):
            if re.search(rf"(?<!idm_)\b{call}", file.read_text()):
                yield f"{file.relative_to(ROOT)} calls {call}: use io/json.h"


def strip(text):
    """Without comments, directives, and bodies of functions and types."""
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    text = re.sub(r"(?m)^[ \t]*#(?:.*\\\n)*.*$", "", text)
    return re.sub(r"(?ms)^\{.*?^\}|\{[^{}]*\}", "{}", text)


def spokesmen(includes, defined):
    """Sentences on headers of src/ that declare what several sources define."""
    for file in sorted(includes):
        if file.startswith("src/") and file.endswith(".h"):
            names = re.findall(r"\b(\w+)\s*(?:\([^;{}]*\)|\[\w*\])?\s*;", strip((ROOT / file).read_text()))
            sources = {source for name in names for source in defined.get(name, ())}
            if len(sources) > 1:
                yield f"{file} speaks for {', '.join(sorted(sources))}"


def misnamed():
    """Sentences on files that are not named as what they register."""
    for file in sorted(ROOT.glob("src/**/*.c")):
        entries = re.findall(r'(?m)^const idm_(?:planner|inverse|sampler) \w+ = \{\n\s*\.name = "([\w-]+)"', file.read_text())
        if entries and file.stem not in [name.replace("-", "_") for name in entries]:
            yield f"{file.relative_to(ROOT)} registers {', '.join(entries)}"


def untested():
    """Sentences on sources without a test file. What a command does is tested by calling it (CONTRIBUTING.md)."""
    calls = (ROOT / "tests/command_line.sh").read_text()
    for file in sorted(ROOT.glob("src/**/*.c")):
        source = file.relative_to(ROOT).as_posix()
        command = re.fullmatch(r"src/cli/cmd_(\w+)\.c", source)
        if command and not re.search(rf"\bsucceeds {command[1]}\b", calls):
            yield f"{source}: tests/command_line.sh never calls {command[1]}"
        test = "tests" + source.removeprefix("src")
        if not command and source not in TESTED_ELSEWHERE and not (ROOT / test).exists():
            yield f"{source} has no test file: expected {test}"


def miscited():
    """Citations such as "Sections 5.1 and 5.2" of parts that the paper does not have."""
    word = "|".join(PAPER).replace("Appendix", "Appendix|Appendice")
    cited = re.compile(rf"\b({word})s? ((?:[0-9]+(?:\.[0-9]+)?|[A-Z])\b(?:(?:, | and | to )(?:[0-9]+(?:\.[0-9]+)?|[A-Z])\b)*)")
    files = [path for pattern in ("*.md", "docs/*.md", "src/**/*.[ch]", "include/**/*.h", "tests/**/*.[ch]", "tests/*.py",
                                  "validation/*.py", "examples/**/*.md", "examples/**/*.yaml", "bench/*.py", "bench/*.sh")
             for path in ROOT.glob(pattern)]
    for path in sorted(files):
        for kind, parts in cited.findall(path.read_text(encoding="utf-8", errors="replace")):
            known = PAPER[kind.replace("Appendice", "Appendix")]
            for part in re.split(", | and | to ", parts):
                if part not in known:
                    yield f"{path.relative_to(ROOT)}: the paper has no {kind} {part}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    nm = sys.argv[2] if len(sys.argv) > 2 else "nm"
    objects, includes = find_objects(build), draw_includes()
    strange = [file for file in includes if file.startswith("src/") and floor_of_source(file) is None]
    missing = [file for file in includes if file.endswith(".c") and file not in objects]
    failures = [f"{file} is on no floor" for file in strange]
    failures += [f"{file} has no object in {build}: build first" for file in missing]
    failures += [*incomplete_json(), *misnamed(), *untested(), *miscited()]
    if not failures:
        defined, needed = read_symbols(nm, objects)
        uses, floors = draw_uses(defined, needed), find_floors(includes, defined)
        failures += cycles(uses, "uses")
        failures += upward(uses, floor_of_source, "uses")
        failures += spokesmen(includes, defined)
        failures += cycles(includes, "includes")
        failures += upward(includes, floors.get, "includes")
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(objects)} objects, {len(includes)} files, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
