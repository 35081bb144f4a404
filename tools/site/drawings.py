"""Drawings from text: a block of code in the language of Graphviz becomes an SVG that takes the page's colours."""

import html
import re
import subprocess

BLOCK = re.compile(r"^```dot title=\"(?P<title>[^\"]+)\"\n(?P<source>.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT_S = 60
DEFAULTS = ("-Nfontname=Helvetica,Arial,sans-serif", "-Nfontsize=13", "-Nshape=box", "-Nstyle=rounded", "-Nmargin=0.18,0.09",
            "-Efontname=Helvetica,Arial,sans-serif", "-Efontsize=11.5", "-Earrowsize=0.7",
            "-Gfontname=Helvetica,Arial,sans-serif", "-Gfontsize=13", "-Gbgcolor=transparent")


def svg(source):
    done = subprocess.run(["dot", "-Tsvg", *DEFAULTS], input=source, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode or done.stderr:
        raise SystemExit(f"dot: {done.stderr}\n{source}")
    # From the element itself on, without what the browser would show as a hint. Colours are those of the style sheet.
    text = re.sub(r"<title>.*?</title>|<!--.*?-->", "", done.stdout[done.stdout.index("<svg"):], flags=re.DOTALL)
    text = re.sub(r' (stroke|fill|font-family|font-size)="(black|none|white|transparent|lightgrey|[A-Z][\w, -]*sans-serif)"', "", text)
    text = re.sub(r'<svg width="(\d+)pt" height="\d+pt"', lambda match: f'<svg style="width:{int(match[1]) * 4 // 3}px"', text, count=1)
    return re.sub(r"\n\s*", "\n", text).strip()


def drawn(markdown):
    """The Markdown of a page with its drawings."""
    def replace(match):
        title = html.escape(match["title"], quote=True)
        drawing = svg(match["source"]).replace("<svg", f'<svg role="img" aria-label="{title}"', 1)
        return f'<figure class="drawing">\n{drawing}\n<figcaption>{title}</figcaption>\n</figure>'

    return BLOCK.sub(replace, markdown)
