"""One page of text and figures, paper.html: each part is the output of a function, below the figures of `idm plot`."""

import contextlib
import html
import io
import os
import sys

STYLE = """body{font:16px/1.5 sans-serif;max-width:1000px;margin:0 auto;padding:24px}
svg{max-width:100%;height:auto}pre{white-space:pre-wrap;font-size:12px;background:#8882;padding:10px}
.row{display:flex;flex-wrap:wrap;gap:8px}.row figure{margin:0;flex:1 1 300px}
figcaption{font-size:14px}:root{color-scheme:light dark}"""


class Both(io.StringIO):
    """Store the output, and print it."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def write(self, text):
        self.out.write(text)
        self.out.flush()
        return super().write(text)


class Page:
    def __init__(self, study, title):
        self.study, self.parts, self.figures = study, [], 0
        print(f"# {title}")
        self.parts.append(f"<p>{html.escape(title)}</p>")

    def draw(self, caption, words):
        """A figure with ids that are unique on the page."""
        self.figures += 1
        path = os.path.join(self.study.folder, f"figure-{self.figures}.svg")
        self.study.call("plot", *words, "-o", path)
        with open(path, encoding="utf-8") as stream:
            drawing = stream.read().replace("figure-", f"figure{self.figures}-")
        return f"<figure>{drawing}<figcaption>{html.escape(caption)}</figcaption></figure>"

    def add(self, heading, function, *arguments, figures=()):
        """Add a part: the output of the function, and (caption, arguments of `idm plot`) of its figures."""
        print(f"\n## {heading}\n")
        text = Both(sys.stdout)
        with contextlib.redirect_stdout(text):
            function(*arguments)
        drawings = "\n".join(self.draw(*figure) for figure in figures)
        self.parts.append(f'<h2>{html.escape(heading)}</h2>\n<div class="row">{drawings}</div>\n'
                          f'<pre>{html.escape(text.getvalue())}</pre>')

    def write(self, path):
        page = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>The paper again</title>'
                f'<style>{STYLE}</style><meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
                "<body><main><h1>The paper again</h1>\n" + "\n".join(self.parts) + "\n</main></body></html>\n")
        with open(path + ".tmp", "w", encoding="utf-8") as stream:
            stream.write(page)
        os.replace(path + ".tmp", path)
        return path
