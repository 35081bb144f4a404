"""What the documents tell people to type exists. Where they send them: test_links."""

import re

from house import ROOT, project_files, read, report

BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)

MAX_README_LINES = 120


def documents():
    return [path for path in project_files() if path.suffix == ".md"]


def commands(text):
    """The command lines of the shell blocks of a document, without prompts and comments."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"(^|\s)#.*", "", line.removeprefix("$ ")).strip()
            if line:
                yield line


def test_make_targets_of_the_documents_exist():
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    used = [(path, target) for path in documents() for line in commands(read(path))
            for target in re.findall(r"\bmake ([a-z]+)", line)]
    assert any(target == "demo" for _, target in used)
    offences = [f"{path}: make {target}" for path, target in used if target not in targets]
    assert not offences, report(offences)


# The pip of Debian 12's own Python refuses: "externally-managed-environment".
def test_packages_are_installed_in_a_virtual_environment():
    offences, found = [], 0
    for path in documents():
        has_environment = False
        for line in commands(read(path)):
            has_environment = has_environment or "-m venv " in line
            found += "pip install" in line
            if "pip install" in line and not has_environment:
                offences.append(f"{path}: {line}: write `python3 -m venv` before it")
    assert found and not offences, report(offences)


def test_programs_and_files_of_the_readme_exist():
    words = [word for line in commands(read("README.md")) for word in line.split()]
    own = [word for word in words if re.match(r"(tools|examples|tests|docs)/", word)]
    offences = [word for word in own if not (ROOT / word).exists()]
    assert not offences, report(offences)


def other_versions(document, source):
    """The versions of journals that the document's table and examples have and the source does not write."""
    written = re.search(r"kJournalVersion = (\d+);", source)[1]
    told = re.findall(r'`version`: (\d+)|"version":(\d+)', document)
    assert len(told) > 1
    return [one or other for one, other in told if (one or other) != written]


def test_the_document_of_the_journal_has_its_version():
    assert other_versions(read("docs/protocols/journal.md"), read("src/journal/record.h")) == []


def test_an_old_version_in_an_example_is_found():
    document = '| `format`, `version`: 3 |\n{"n":0,"version":2}\n'
    assert other_versions(document, "constexpr int kJournalVersion = 3;") == ["2"]


def test_the_readme_is_read_in_two_minutes():
    assert read("README.md").count("\n") <= MAX_README_LINES


def test_every_example_ends_with_the_output_to_expect():
    paths = [path for path in documents() if path.parts[0] == "examples" and path.name == "README.md" and len(path.parts) == 3]
    assert paths
    last = {path: re.findall(r"^## (.*)", read(path), re.MULTILINE)[-1:] for path in paths}
    assert {path: heading for path, heading in last.items() if heading != ["Expected output"]} == {}


def test_the_smallest_example_has_ten_lines():
    paths = [path for path in project_files() if path.parts[:2] == ("examples", "hello") and path.name != "README.md"]
    assert sum(read(path).count("\n") for path in paths) <= 10


def test_the_order_of_the_examples_has_all_of_them():
    folders = {path.parts[1] for path in project_files() if path.parts[0] == "examples" and len(path.parts) > 2}
    listed = re.findall(r"^\|.*?\[([\w-]+)\]\(\1/\)", read("examples/README.md"), re.MULTILINE)
    assert sorted(listed) == sorted(folders) and listed[0] == "hello"


def test_every_decision_is_numbered_once_and_has_its_parts():
    paths = [path for path in documents() if path.as_posix().startswith("docs/decisions/")]
    numbers = [path.name[:4] for path in paths]
    assert paths and len(set(numbers)) == len(numbers)
    offences = [path for path in paths for part in ("## Decision", "## Why", "## Look again when") if part not in read(path)]
    assert not offences, report(offences)
