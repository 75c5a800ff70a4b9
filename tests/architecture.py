#!/usr/bin/env python3
"""architecture.py BUILD [NM]: layers and modules of src/.

A layer is a folder of src/; a module is a folder with sources. A layer uses only itself and the layers below, and there
are no cycles. Two graphs are checked. In the first, a source uses another if its object needs a symbol that the object
of the other defines, as the linker sees it. In the second, a file uses another if it includes it.

Core headers (include/idm) declare opaque types, which every layer may use. A header of include/idm/extension is in the layer that defines the functions it declares; one without functions, in the highest layer that
it includes.

Every source has a test file: that of src/plan/score.c is tests/plan/score.c. A source with several parts may have one
per part instead.

A header of src/ declares functions of its own module. A function that only its own file uses is static, unless tests call
it; a header that only one source includes is part of that source, unless tests include it. A file that registers a planner, an inverse planner or a sampler
is named after one of them.

Parts of the paper that documents and sources cite by number must exist. So must pages, sections and sources that they
link to or cite.
"""
import pathlib
import re
import subprocess
import sys

# From the lowest to the highest.
LAYERS = ["base", "setting", "belief", "data", "learn", "infer", "plan", "invert", "io", "study", "report", "cli"]
# Generated sources (the examples as text) use nothing, and any layer may use them.
GENERATED = -1

# Sources whose tests are elsewhere, and where.
TESTED_ELSEWHERE = {"src/cli/main.c": "every call of the program in tests/command_line.sh"}

# Contents of the paper: sections with their parts, appendices, and numbered items.
PAPER = {"Section": ["1", "2", "3", "3.1", "3.2", "3.3", "4", "4.1", "4.2", "4.3", "5", "5.1", "5.2", "5.3", "6"],
         "Appendix": list("ABCDE"), "Table": list("12345"), "Figure": list("1234567"), "Definition": list("1234"),
         "Equation": [str(i) for i in range(1, 26)], "Lemma": list("12"), "Proposition": list("36"), "Theorem": list("45")}

ROOT = pathlib.Path(__file__).resolve().parent.parent


# --- symbols ---------------------------------------------------------------------------------------


def find_objects(build):
    """{source: object} of library and program: sources of src/ by path, generated ones by name."""
    objects = {}
    for target in "idm_objects", "idm":
        folder = build / "src" / "CMakeFiles" / (target + ".dir")
        for path in folder.rglob("*.o"):
            source = path.relative_to(folder).with_suffix("").as_posix()
            if "/" not in source:
                objects[source] = path
            elif (ROOT / "src" / source).exists():  # otherwise left over from a deleted source
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


# --- layers ----------------------------------------------------------------------------------------


def layer_of_source(file):
    """Layer of a file of src/, or of a generated one; None if its folder is not a layer."""
    parts = file.split("/")
    if len(parts) == 1:
        return GENERATED
    return LAYERS.index(parts[1]) if len(parts) > 2 and parts[1] in LAYERS else None


def declared(header):
    """Functions that a public header declares."""
    return re.findall(r"\bIDM_API\s[^;(]*?(\w+)\s*\(", re.sub(r"(?m)^\s*#.*$", "", (ROOT / header).read_text()))


def find_layers(includes, defined):
    """{file: layer} for all files of src/ and include/."""
    layers = {}

    def find(file):
        if file not in layers:
            layers[file] = GENERATED  # A cycle ends here; it is reported as such.
            if file.startswith("src/"):
                layers[file] = layer_of_source(file)
            elif file.startswith("include/idm/") and file.count("/") == 2:
                layers[file] = 0  # The core declares opaque types alone: every layer may use it.
            else:
                own = [layer_of_source(source) for name in declared(file) for source in defined.get(name, ())]
                layers[file] = max(own or map(find, includes[file]), default=0)
        return layers[file]

    for file in includes:
        find(file)
    return layers


# --- what is wrong ---------------------------------------------------------------------------------


def upward(graph, layer, verb):
    """Messages about uses of a higher layer."""
    for file, uses in sorted(graph.items()):
        for other, why in sorted(uses.items()):
            if layer(file) < layer(other):
                here = "generated" if layer(file) == GENERATED else LAYERS[layer(file)]
                yield f"{file} ({here}) {verb} {other} ({LAYERS[layer(other)]}): {why}"


def shortest_cycle(graph, start):
    """Shortest path from a file back to it, as a list that begins with it; None if there is none."""
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
    """Messages about cycles: for every file on a cycle, the shortest one through it, each reported once."""
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
    """Messages about JSON that may be incomplete: failed allocations of jansson must be detected, as in src/io/json.c."""
    for file in sorted(ROOT.glob("src/**/*.c")):
        if file.relative_to(ROOT).as_posix() == "src/io/json.c":
            continue
        for call in ("json_object_set", "json_array_append", "json_dump", "json_pack"):
            if re.search(rf"(?<!idm_)\b{call}", file.read_text()):
                yield f"{file.relative_to(ROOT)} calls {call}: use io/json.h"


def strip(text):
    """Remove comments, directives, and bodies of functions and types."""
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    text = re.sub(r"(?m)^[ \t]*#(?:.*\\\n)*.*$", "", text)
    return re.sub(r"(?ms)^\{.*?^\}|\{[^{}]*\}", "{}", text)


def foreign(includes, defined):
    """Messages about headers of src/ that declare functions of another folder; a layer's own may declare those of its modules."""
    for file in sorted(includes):
        if file.startswith("src/") and file.endswith(".h"):
            names = re.findall(r"\b(\w+)\s*(?:\([^;{}]*\)|\[\w*\])?\s*;", strip((ROOT / file).read_text()))
            sources = {source for name in names for source in defined.get(name, ()) if "/" in source}
            folder = file.rpartition("/")[0]
            for source in sorted(sources):
                own = source.startswith(folder + "/") if folder.count("/") == 1 else source.rpartition("/")[0] == folder
                if not own:
                    yield f"{file} declares what {source} defines"


def read_tests():
    """Text of everything outside src/ that calls the library: tests, benchmarks and examples."""
    folders = "tests", "bench", "fuzz", "validation", "examples"
    return "\n".join(path.read_text() for folder in folders for path in sorted(ROOT.glob(f"{folder}/**/*.[ch]")))


def needlessly_shared(includes, defined, needed):
    """Messages about functions and headers of src/ that have one user: the functions of a plug-in are in include/."""
    tests = read_tests()
    called = set(re.findall(r"\w+", tests))
    public = set(re.findall(r"\w+", "\n".join(path.read_text() for path in ROOT.glob("include/**/*.h"))))
    elsewhere = set().union(*needed.values())
    for name, sources in sorted(defined.items()):
        source = min(sources)
        if "/" in source and name not in elsewhere | called | public | {"main"}:
            yield f"{source}: only this file uses {name}; make it static"
    for header in sorted(file for file in includes if file.startswith("src/") and file.endswith(".h")):
        users = [file for file in includes if header in includes[file]]
        if len(users) < 2 and f'"{header.removeprefix("src/")}"' not in tests:
            yield f"{header}: used by {', '.join(users) or 'no file'} alone; move its contents there"


def misnamed():
    """Messages about files that are not named after what they register."""
    for file in sorted(ROOT.glob("src/**/*.c")):
        entries = re.findall(r'(?m)^const idm_(?:planner|inverse|sampler) \w+ = \{\n\s*\.name = "([\w-]+)"', file.read_text())
        if entries and file.stem not in [name.replace("-", "_") for name in entries]:
            yield f"{file.relative_to(ROOT)} registers {', '.join(entries)}"


def untested():
    """Messages about sources without a test file. A command is tested by calling it (CONTRIBUTING.md)."""
    calls = (ROOT / "tests/command_line.sh").read_text()
    for file in sorted(ROOT.glob("src/**/*.c")):
        source = file.relative_to(ROOT).as_posix()
        command = re.fullmatch(r"src/cli/cmd_(\w+)\.c", source)
        if command and not re.search(rf"\bsucceeds {command[1]}\b", calls):
            yield f"{source}: tests/command_line.sh never calls {command[1]}"
        test = ROOT / ("tests" + source.removeprefix("src"))
        if not command and source not in TESTED_ELSEWHERE and not test.exists():
            parts = re.findall(r"/\* === (.+?) =+ \*/", file.read_text())
            for part in parts or [file.stem]:
                own = test.with_name(part.replace(" ", "_") + ".c")
                if not own.exists():
                    yield f"{source} has no test file of {part}: expected {own.relative_to(ROOT)}"


def miscited():
    """Citations such as "Sections 5.1 and 5.2" of parts that do not exist in the paper."""
    word = "|".join(PAPER).replace("Appendix", "Appendix|Appendice")
    cited = re.compile(rf"\b({word})s? ((?:[0-9]+(?:\.[0-9]+)?|[A-Z])\b(?:(?:, | and | to )(?:[0-9]+(?:\.[0-9]+)?|[A-Z])\b)*)")
    files = [path for pattern in ("*.md", "docs/**/*.md", "src/**/*.[ch]", "include/**/*.h", "tests/**/*.[ch]", "tests/*.py",
                                  "validation/*.py", "examples/**/*.md", "examples/**/*.yaml", "bench/*.py", "bench/*.sh")
             for path in ROOT.glob(pattern)]
    for path in sorted(files):
        for kind, parts in cited.findall(path.read_text(encoding="utf-8", errors="replace")):
            known = PAPER[kind.replace("Appendice", "Appendix")]
            for part in re.split(", | and | to ", parts):
                if part not in known:
                    yield f"{path.relative_to(ROOT)}: the paper has no {kind} {part}"


def read_text(pattern):
    """Path and text of each file of the tree that matches the pattern, without build folders."""
    for path in sorted(ROOT.glob(pattern)):
        if path.is_file() and not path.relative_to(ROOT).parts[0].startswith(("build", ".")):
            yield path, path.read_text(encoding="utf-8", errors="replace")


def find_anchors(text):
    """Anchors of the headings of a page in Markdown."""
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_sections(page, words):
    """Numbers of sections, as in "control.md, 7 and 8", that a page does not have."""
    known = re.findall(r"^## (\d+) ", page.read_text(encoding="utf-8"), re.M)
    return [section for section in re.findall(r"\d+", words) if section not in known]


def broken_links():
    """Relative links in Markdown to a file, section or heading that does not exist."""
    for path, text in read_text("**/*.md"):
        for words, target in re.findall(r"([^\[\]]*)\]\(([^()\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            page = path.parent / name if name else path
            if not page.exists():
                yield f"{path.relative_to(ROOT)} links to {target}, which does not exist"
            elif anchor and anchor not in find_anchors(page.read_text(encoding="utf-8")):
                yield f"{path.relative_to(ROOT)} links to {target}, and the page has no such heading"
            elif re.search(r"\.md,\s", words) and missing_sections(page, words.partition(".md,")[2]):
                yield f"{path.relative_to(ROOT)} links to {words!r}, and the page has no such section"


def broken_citations():
    """Citations of pages, sections ("docs/method/control.md, 8") and sources that do not exist."""
    cited = re.compile(r"(?<![\w/.])(docs/[a-z][\w/.-]*\.[a-z]+)(?:,(?:\s+\*)?\s+(\d+(?:(?:, | and | to )\d+)*))?")
    for suffix in ("md", "c", "h", "in", "py", "sh", "yaml", "txt", "cmake"):
        for path, text in read_text(f"**/*.{suffix}"):
            for page, sections in cited.findall(text):
                file = ROOT / page
                if not file.exists():
                    yield f"{path.relative_to(ROOT)} cites {page}, which does not exist"
                    continue
                for section in missing_sections(file, sections):
                    yield f"{path.relative_to(ROOT)} cites {page}, {section}, and the page has no such section"
    for path, text in read_text("docs/**/*.md"):
        for source in re.findall(r"(?<![\w/.])((?:src|include|tests|validation|examples|bench)/[\w/.-]+\.[a-z]+)", text):
            if not (ROOT / source).exists():
                yield f"{path.relative_to(ROOT)} cites {source}, which does not exist"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    nm = sys.argv[2] if len(sys.argv) > 2 else "nm"
    objects, includes = find_objects(build), draw_includes()
    strange = [file for file in includes if file.startswith("src/") and layer_of_source(file) is None]
    missing = [file for file in includes if file.endswith(".c") and file not in objects]
    failures = [f"{file} is in no layer" for file in strange]
    failures += [f"{file} has no object in {build}: build first" for file in missing]
    failures += [*incomplete_json(), *misnamed(), *untested(), *miscited(), *broken_links(), *broken_citations()]
    if not failures:
        defined, needed = read_symbols(nm, objects)
        uses, layers = draw_uses(defined, needed), find_layers(includes, defined)
        failures += cycles(uses, "uses")
        failures += upward(uses, layer_of_source, "uses")
        failures += foreign(includes, defined)
        failures += needlessly_shared(includes, defined, needed)
        failures += cycles(includes, "includes")
        failures += upward(includes, layers.get, "includes")
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(objects)} objects, {len(includes)} files, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
