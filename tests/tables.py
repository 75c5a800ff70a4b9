#!/usr/bin/env python3
"""tables.py IDM: writes the tables that the program IDM prints into the pages of docs/.

A table is between the lines `<!-- idm COMMAND --markdown -->` and `<!-- end -->`. tests/command_line.sh compares them.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"(<!-- idm ([a-z ]+ --markdown) -->\n).*?(<!-- end -->)", re.S)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()

    def print_table(match):
        command = [program, *match.group(2).split()]
        table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return match.group(1) + table + match.group(3)

    for page in sorted(ROOT.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        new = TABLE.sub(print_table, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
