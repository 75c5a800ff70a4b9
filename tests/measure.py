#!/usr/bin/env python3
"""Size and words of the sources at one or several revisions.

python3 tests/measure.py REVISION...   (`.` is the working tree)

Words are counted in comments of C sources, in string literals that contain a sentence, in documents, and in subjects of
the last 100 commits. A function begins at a brace in the first column and ends at one, without blank lines. The count
is a hint: a sentence may pass and still be unclear.
"""
import re
import subprocess
import sys

PERSONIFYING = (
    "whoever somebody someone nobody everybody stand stands stood told tell tells say says said "
    "speak speaks ask asks asked want wants wish wishes know knows think thinks worth heed heeds "
    "beside wherever"
).split()
WORD = re.compile(r"[A-Za-z][a-z'-]*")
COUNTED = re.compile(rf"\b({'|'.join(PERSONIFYING)})\b", re.IGNORECASE)
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
LITERALS = re.compile(r'"((?:\\.|[^"\\\n])*)"')
DECLARED = re.compile(r"^IDM_API\b[^;{]*?\b(idm_\w+)\(", re.MULTILINE)
TYPE = re.compile(r"^(?:}\s*(idm_\w+);|typedef (?:struct|enum|union) \w+ (idm_\w+);|typedef [^{;]*?\(\*(idm_\w+)\))", re.MULTILINE)


def git(*command):
    return subprocess.run(["git", *command], check=True, capture_output=True).stdout


def read_tree(revision):
    """{path: text} of sources and documents."""
    wanted = re.compile(r"^(src/.*\.[ch]|include/.*\.h|docs/.*\.md|[A-Z]+\.md|examples/.*\.md)$")
    if revision == ".":
        names = [n for n in git("ls-files").decode().split("\n") if wanted.match(n)]
        return {n: open(n, encoding="utf-8").read() for n in names}
    names = git("ls-tree", "-r", "--name-only", revision).decode().split("\n")
    names = [n for n in names if wanted.match(n)]
    batch = subprocess.run(["git", "cat-file", "--batch"], check=True, capture_output=True,
                           input="".join(f"{revision}:{n}\n" for n in names).encode()).stdout
    tree, at = {}, 0
    for name in names:
        end = batch.index(b"\n", at)
        size = int(batch[at:end].split()[2])
        tree[name] = batch[end + 1:end + 1 + size].decode("utf-8")
        at = end + size + 2
    return tree


def function_lengths(text):
    lengths, begin, blank = [], None, 0
    for number, line in enumerate(text.split("\n")):
        if line == "{":
            begin, blank = number, 0
        elif line == "}" and begin is not None:
            lengths.append(number - begin + 1 - blank)
            begin = None
        elif begin is not None and not line.strip():
            blank += 1
    return lengths


def rate(texts):
    words = counted = 0
    for text in texts:
        words += len(WORD.findall(text))
        counted += len(COUNTED.findall(text))
    return 1000 * counted / words if words else 0


def comments(text):
    return [c for c in COMMENT.findall(text) if c.startswith("/*")]


def messages(text):
    """String literals of three words or more; adjacent ones are joined."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    code = re.sub(r'"\s*\n\s*"', "", code)
    return [m for m in LITERALS.findall(code) if len(WORD.findall(m)) >= 3 and " " in m]


def measure(revision):
    tree = read_tree(revision)
    sources = {n: t for n, t in tree.items() if n.startswith("src/")}
    public = {n: t for n, t in tree.items() if n.startswith("include/")}
    code = list(sources.values()) + list(public.values())
    lengths = sorted(k for t in sources.values() for k in function_lengths(t))
    head = "HEAD" if revision == "." else revision
    subjects = git("log", "-100", "--format=%s", head).decode().split("\n")
    return {
        "C sources in src": sum(n.endswith(".c") for n in sources),
        "internal headers": sum(n.endswith(".h") for n in sources),
        "lines of src": sum(t.count("\n") for t in sources.values()),
        "lines of include": sum(t.count("\n") for t in public.values()),
        "public functions": len({f for t in public.values() for f in DECLARED.findall(t)}),
        "public types": len({n for t in public.values() for m in TYPE.findall(t) for n in m if n}),
        "functions": len(lengths),
        "function length, median": lengths[len(lengths) // 2],
        "function length, 95 %": lengths[int(0.95 * len(lengths))],
        "functions over 100 lines": sum(k > 100 for k in lengths),
        "personifying words per 1,000: comments": rate(c for t in code for c in comments(t)),
        "  messages": rate(m for t in code for m in messages(t)),
        "  documents": rate(t for n, t in tree.items() if n.endswith(".md")),
        "  commit subjects": rate(subjects),
    }


def main():
    revisions = sys.argv[1:] or ["."]
    table = [measure(r) for r in revisions]
    print(f"{'':40}" + "".join(f"{r:>12}" for r in revisions))
    for key in table[0]:
        cells = "".join(f"{t[key]:12.1f}" if isinstance(t[key], float) else f"{t[key]:12}" for t in table)
        print(f"{key:40}{cells}")


if __name__ == "__main__":
    main()
