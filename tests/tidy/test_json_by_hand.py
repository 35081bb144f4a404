"""JSON is made of described structs; where it is written by hand, a table of ARCHITECTURE.md says why."""

import re

import pytest

from house import ROOT, cpp_files, is_test_code, read, report

DOCUMENT = "docs/ARCHITECTURE.md"
TABLE = re.compile(r"^Some JSON is still written by hand\..*?(?P<rows>^\|.*?)\n\n", re.MULTILINE | re.DOTALL)
# Where the ways of JSON are themselves, also those of a job, which has rows of its own.
WAYS = ("base/", "jobfile/", "job/json_text.cc")
READERS = {"job/cluster_spec_text.cc"}  # written in the table for what they read by hand
BY_HAND = re.compile(
    r"""\bJson\ \w+\ ?=?\ ?(?:\{\{(?:"|k[A-Z])|(?:base::)?Json::(?:object|array)\(\))  # Json json = {{"event"
      | \bJson\{\{"
      | R"\(\{\{"                                                                     # a text of it
      | \bdump_json(?:_indented)?\(\s*\{
      | [(,]\s*\{\{"[a-z_]+",\ (?!Verdict::)                                          # write("status", {{"status"
      | \bJson\ [\w:]+\([^;{}]*\)\ \{(?:(?!\n\}).)*?return\ \{\{"                     # by a function that returns it
    """, re.DOTALL | re.VERBOSE)


def told():
    """The rooms and files of the table's first column."""
    rows = TABLE.search(read(DOCUMENT))["rows"].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def is_in(name, path):
    return path == name or path.startswith(name + "/")


def sources_by_hand():
    for path in cpp_files("src"):
        name = path.relative_to("src").as_posix()
        if path.suffix == ".cc" and not is_test_code(path) and not name.startswith(WAYS) and BY_HAND.search(read(path)):
            yield name


def test_whoever_writes_json_by_hand_says_why():
    offences = [f"src/{name}: give its JSON a described struct (src/base/described.h), or tell why not in {DOCUMENT}"
                for name in sources_by_hand() if not any(is_in(one, name) for one in told())]
    assert not offences, report(offences)


def test_the_table_has_only_what_still_does_so():
    by_hand = list(sources_by_hand())
    for name in READERS:
        assert (ROOT / "src" / name).exists() and name not in by_hand
    offences = [f"{DOCUMENT}: {name} writes no JSON by hand any more"
                for name in told() if name not in READERS and not any(is_in(name, one) for one in by_hand)]
    assert told() and not offences, report(offences)


@pytest.mark.parametrize("text, is_by_hand", [
    ('base::Json json = {{"event", "line"}};', True),
    ("Json json = {{kNumber, 0}};", True),
    ("base::Json list = base::Json::array();", True),
    ('base::dump_json(\n    {{"event", verb_}})', True),
    ('write("status", {{"status", json}});', True),
    ('base::Json record(const Task& of) {\n  int a = 1;\n  return {{"type", a}};\n}', True),
    ("const base::Json json = base::to_json(status);", False),
    ('Variables variables() {\n  return {{"RANK", "1"}};\n}', False),
    ('tell({{"configuration", Verdict::kOk, "fine"}});', False),
    ('.flags = {{"--json", &options->json, "", "Print JSON"}}', False),
])
def test_json_by_hand_is_seen(text, is_by_hand):
    assert bool(BY_HAND.search(text)) == is_by_hand
