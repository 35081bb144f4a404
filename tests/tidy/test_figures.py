"""The numbers of the README and of docs/benchmarks.md are those that the benchmarks have written to bench/figures."""

import re

from house import ROOT, load_tool

SPEED_ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<ours>[\d.,]+) \S+ \| `?(?P<peer>[^`:|]+)`?: (?P<theirs>[\d.,]+) ", re.MULTILINE)
# {what a row of the README says: (figure, group, peer)}
README = {
    "start 32 tasks on one machine and end them": ("gang_start", "32 tasks", "torchrun"),
    "start 8 containers on YARN": ("yarn_start", "8 containers", "skein"),
    "feed rows of 784 floats from Spark": ("spark_feed", "784 floats + label", "TensorFlowOnSpark"),
}


plots = load_tool("plots")


def test_the_page_has_the_tables_of_all_figures():
    figures = plots.read_figures()
    page = plots.PAGE.read_text()
    assert set(re.findall(r"<!-- figure (\w+) -->", page)) == set(figures)
    assert page == plots.with_tables(page, figures), "tools/plots writes them"


def test_the_readme_has_the_figures():
    figures = plots.read_figures()
    rows = {row["what"]: row for row in SPEED_ROW.finditer((ROOT / "README.md").read_text())}
    assert set(rows) == set(README)
    for what, (name, group, peer) in README.items():
        bars = figures[name]["groups"][group]
        row = rows[what]
        assert (row["ours"], row["theirs"]) == (plots.text_of(bars["gangrun"]), plots.text_of(bars[peer])), what
