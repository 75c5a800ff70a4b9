#!/usr/bin/env python3
"""filter.py HEADER: the header with its comments as Doxygen reads them (INPUT_FILTER of docs/api/Doxyfile).

A comment that precedes a declaration documents it, and every declaration that follows without a blank line or another
comment. A comment after a field documents the field. Banners of sections document nothing.
"""

import re
import sys

TOKEN = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/")
SPECIAL = re.compile(r"[\\@#<>&$%\"]")


def escaped(text):
    """The text of a comment without commands: what Doxygen takes for one is escaped."""
    return SPECIAL.sub(lambda match: "\\" + match[0], text)


def is_banner(text):
    return text.startswith((" --- ", " === "))


def documented(source):
    """The source with comments of Doxygen; the first comment is that of the file."""
    out, end, first = [], 0, True
    for match in TOKEN.finditer(source):
        out.append(source[end : match.start()])
        end = match.end()
        line = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
        if is_banner(match[1]) or line.lstrip().startswith("#"):
            continue
        mark = "/** @file\n *" if first else "/**<" if line.strip() else "/**"
        out.append(mark + escaped(match[1]) + "*/")
        first = False
    return "".join(out) + source[end:]


def shared(source):
    """Declarations that follow a documented one directly get its comment, too."""
    blocks = re.split(r"(\n[ \t]*\n)", source)
    for i, block in enumerate(blocks):
        parts = re.split(r"(?m)^(?=/\*\*|IDM_API )", block)
        comment, used = "", False
        for j, part in enumerate(parts):
            if part.startswith("/**"):
                comment, used = part[: part.index("*/") + 2] + "\n", False
                if part[len(comment) :].strip():
                    comment = ""
            elif part.startswith("IDM_API ") and comment:
                parts[j] = comment + part if used else part
                used = True
        blocks[i] = "".join(parts)
    return "".join(blocks)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(shared(documented(header.read())))
