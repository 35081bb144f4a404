"""Lists of arguments in docstrings, written as two columns, are shown as tables."""

import re

import griffe

ROW = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) {2,}(?P<meaning>\S.*)")


def as_table(paragraph):
    """The paragraph as a table of Markdown, or as it is."""
    rows = []
    for line in paragraph.splitlines():
        if row := ROW.fullmatch(line):
            rows.append([row["names"], row["meaning"]])
        elif rows and line.startswith("   "):
            rows[-1][1] += f" {line.strip()}"
        else:
            return paragraph
    names = (", ".join(f"`{name}`" for name in row[0].split(", ")) for row in rows)
    lines = ("| {} | {} |".format(name, row[1].replace("|", r"\|")) for name, row in zip(names, rows))
    return "\n".join(["| argument | meaning |", "|---|---|", *lines])


class Columns(griffe.Extension):
    def on_object(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = "\n\n".join(map(as_table, obj.docstring.value.split("\n\n")))
