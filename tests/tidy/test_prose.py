"""The documents are plain English: proselint finds nothing in them, and none of the project's own riddles is left, nor in the
comments and messages of the code.

proselint runs in an environment of its own (`tools/install-deps --venv prose`). A phrase that a reader once had to read twice
gets a line in VOCABULARY, with the words to write instead.
"""

import itertools
import json
import pathlib
import re
import string
import subprocess

import pytest

from house import CPP, ROOT, project_files, read, report

MAX_COLUMNS = 100
LINT_LIMIT_S = 120
FENCE = re.compile(r"^\s*```.*?^\s*```[^\n]*", re.MULTILINE | re.DOTALL)

# (what is unclear, what to write instead, a text in which it is found)
VOCABULARY = [
    (r"as whom\b|\bfor whom\b", "the principal, the user", "as whom to come"),
    (r"how surely\b", "the level of the guarantee, the containment", "how surely nothing survives here"),
    (r"what it always was\b", "drop-in replacement for ..., the same command", "what it always was, on YARN"),
    (r"below which nobody can\b", "for reference", "below which nobody can stay"),
    (r"\bin the words of\b", "with the options of, drop-in replacement for", "the same in the words of tf-yarn's script"),
    (r"\bcould not be seen to\b", "could not confirm that", "could not be seen to end"),
    (r"\b(nothing is|not) heard of\b", "no heartbeat from", "Nothing is heard of worker:1"),
    (r"\bmistake in it is answered\b", "mistakes are caught", "A mistake in it is answered before anything starts"),
    (r"\bof (one's|their|its|his) own (affair|accord)\b|\bis the affair of\b|'s affair\b", "say who is responsible", "is the engine's affair"),
    (r"\b(loop|function|loops|functions) of one's own\b", "custom loop, your own function", "by a loop of one's own"),
    (r"\bfor ever\b", "forever, until it is stopped", "serves for ever"),
    (r"\banew\b", "again", "starts anew"),
    (r"\bthat is none\b", "invalid", "an image name that is none"),
    (r"\b(is|are|was|were|be) asked for\b", "is requested", "as soon as the tasks are asked for"),
    (r"\b(is|are) (looked at|looked into)\b", "is checked", "An archive is looked into"),
    (r"\b(to be had|was at hand|were at hand)\b", "available", "were not to be had for these runs"),
    (r"\bwhere (nothing is said|it is not said|the job does not say|it says nothing)\b", "by default, unless it sets", "where it is not said"),
    (r"\bgive(s)? (the terminal|it) back\b|\bgives? back the terminal\b", "returns", "gives the terminal back"),
    (r"\bcome by themselves\b", "connect by themselves", "tasks that come by themselves"),
    (r"\bas (it|they) stands?\b(?! there)", "unchanged", "TensorFlow 2.15 as it stands"),
    (r"\bwhat of (it|them|the|that)\b", "which part of", "what of the types goes into what"),
    (r"\bwhether a cluster is well\b", "check the cluster", "whether a cluster is well, from here"),
    (r"\b(is|are) told by\b", "gets, is reported by", "a task is told by a file"),
]

# Checks of proselint that are wrong here, each with its reason.
IGNORED = {
    "typography": "code and terminals use plain quotes and dots",
    "redundancy.misc.after_the_deadline": "takes 'and etcd' for 'and etc.'",
}


def documents():
    return [path for path in project_files() if path.suffix == ".md"]


def prose(text):
    """A document without code, targets of links and headings; every line keeps its number."""
    names = map("".join, itertools.product(string.ascii_lowercase, repeat=3))

    def lines(match):
        return "\n" * match.group().count("\n")

    text = FENCE.sub(lines, text)
    text = re.sub(r"`[^`]*`", lambda match: f"Code{next(names)}" + lines(match), text)  # none the same: no repeated words
    text = re.sub(r"\]\([^)]*\)", lambda match: "]" + lines(match), text)
    return re.sub(r"^#+ .*", "", text, flags=re.MULTILINE)


def riddles_in(path, text):
    bare = prose(text)
    for pattern, instead, _ in VOCABULARY:
        for match in re.finditer(pattern.replace(" ", r"\s+"), bare, re.IGNORECASE):
            line = bare.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: '{' '.join(match.group().split())}': write {instead}"


def test_no_document_has_a_riddle():
    offences = [offence for path in documents() for offence in riddles_in(path, read(path))]
    assert not offences, report(offences)


def test_the_schema_of_job_files_has_no_riddle():
    """Its descriptions are what an editor shows, and the generated reference."""
    said = re.findall(r'"description": "((?:[^"\\]|\\.)*)"', read("docs/job.schema.json"))
    assert said and [text for text in said if not text.endswith(".")] == []
    offences = list(riddles_in("docs/job.schema.json", "\n\n".join(said)))
    assert not offences, report(offences)


# A comment goes on in the next line behind these, and a text behind its quotes.
NEXT_LINE = re.compile(r'\n[ \t]*(?://|#)|"[ \t]*\n[ \t]*"')
GROUP = re.compile(r"\((?:[^()])*\)\??|\\b")


def rare_words(pattern):
    """Words of which a text that the pattern fits has one. They are looked for first: that is a hundred times faster."""
    branches = re.split(r"\|(?![^(]*\))", pattern)
    return [max(re.split(r"[^a-z' ]", GROUP.sub("|", branch)), key=len) for branch in branches]


RIDDLES = [(rare_words(pattern), re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), instead)
           for pattern, instead, _ in VOCABULARY]


def has_words(path):
    """Sources whose comments and messages are read; the tests in Python say what they try in their own words."""
    return path.suffix in CPP or (path.suffix == ".py" and path.parts[0] != "tests")


def riddles_of_code(path, text):
    bare = NEXT_LINE.sub(lambda match: "\n" + " " * (len(match.group()) - 1), text)
    words = " ".join(bare.lower().split())
    for rare, pattern, instead in RIDDLES:
        if any(word in words for word in rare):
            for match in pattern.finditer(bare):
                line = bare.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: '{' '.join(match.group().split())}': write {instead}"


def test_no_comment_and_no_message_has_a_riddle():
    offences = [offence for path in project_files() if has_words(path)
                and path != pathlib.PurePosixPath("tests/tidy/test_prose.py") for offence in riddles_of_code(path, read(path))]
    assert not offences, report(offences)


# A comment has a subject: "The size of a row", and not "What a row takes", nor "By which a row is known".
BEHIND = (r"|(?:About|Above|After|Against|As|At|Before|Behind|Below|Beside|Beyond|By|For|From|In|Into|On|Over|To|Under|With)"
          r" (?:what|where|which|who|whom|whose)\b)")
BARE = re.compile(r"\s*(//|#) (?:(?:What|Of|Where|Who|Whose|Whom|That)\b" + BEHIND)
# A docstring may say by "What" and "Where" which value it gives.
BARE_DOCSTRING = re.compile(r'\s*("""|\'\'\')(?:(?:Of|Whose|Whom|That)\b' + BEHIND)


def bare_comments(text):
    """The numbers of the lines in which a comment begins with a bare What, Of, Where or Who, or with "By which" and the like."""
    lines = text.splitlines()
    return [number for number, (before, line) in enumerate(itertools.pairwise(["", *lines]), 1)
            if (bare := BARE.match(line) or BARE_DOCSTRING.match(line)) and not before.lstrip().startswith(bare[1])]


def test_comments_have_a_subject():
    offences = [f"{path}:{line}: begins with a bare What, Of, Where or Who" for path in project_files()
                if path.suffix in CPP or (path.suffix == ".py" and path.parts[:2] == ("python", "gangrun"))
                for line in bare_comments(read(path))]
    assert not offences, report(offences)


@pytest.mark.parametrize("text, lines", [
    ("// What it is.\n// Of it.\nint a;  // what\n  // Of b.\n// The size.\nint c;\n// Whose it is.\n", [1, 4, 7]),
    ("// By which it is known.\n#include <a>\n// At what it is.\nint a;\n// By that which is known.\n", [1, 3]),
    ('def a():\n    """Of it."""\ndef b():\n    """What it is."""\ndef c():\n    """By which it is."""\n', [2, 6]),
    ("# What it is.\n# Of it.\nA = 1  # what\n    # For whom it is.\nB = 1\n# The size.\n", [1, 4]),
])
def test_a_comment_without_a_subject_is_found(text, lines):
    assert bare_comments(text) == lines


@pytest.mark.parametrize("pattern, instead, sample", VOCABULARY, ids=lambda value: value[:30])
def test_each_riddle_is_found_in_code(pattern, instead, sample):
    first, last = sample.rsplit(" ", 1) if " " in sample else ("One", sample)
    for code in (f"int a;\n// {first}\n  // {last}\n", f"a = 1\n# {first}\n# {last}\n", f'int a;\nsay("{first} "\n    "{last}");\n'):
        assert [offence.split(": ")[0] for offence in riddles_of_code("a.cc", code)][:1] in (["a.cc:2"], ["a.cc:3"])


@pytest.mark.parametrize("pattern, instead, sample", VOCABULARY, ids=lambda value: value[:30])
def test_each_riddle_is_found(pattern, instead, sample):
    assert instead and re.search(pattern.replace(" ", r"\s+"), sample, re.IGNORECASE)
    assert list(riddles_in("a.md", f"One line.\n\n{sample}\n"))[0].startswith("a.md:3: ")
    assert not list(riddles_in("a.md", f"```\n{sample}\n```\n`{sample}`\n"))


def test_proselint_finds_nothing(tmp_path):
    venv = subprocess.run([ROOT / "tools/install-deps", "--venv", "prose"], check=True, capture_output=True, text=True).stdout
    files = {}
    for path in documents():
        copy = tmp_path / path.as_posix().replace("/", "__")
        copy.write_text(prose(read(path)))
        files[copy.as_uri()] = path
    done = subprocess.run([f"{venv.strip()}/bin/proselint", "check", "--output-format", "json", *sorted(tmp_path.iterdir())],
                          capture_output=True, text=True, timeout=LINT_LIMIT_S)
    assert done.stdout, done.stderr
    offences = [f"{files[uri]}:{found['pos'][0]}: {found['message']} ({found['check_path']})"
                for uri, result in json.loads(done.stdout)["result"].items() for found in result["diagnostics"]
                if not found["check_path"].startswith(tuple(IGNORED))]
    assert not offences, report(offences)


def test_lines_of_documents_wrap():
    """Tables and code may be longer, and so may a line that has nothing to wrap at."""
    offences = []
    for path in documents():
        bare = FENCE.sub(lambda match: "\n" * match.group().count("\n"), read(path))
        offences += [f"{path}:{number}: {len(line)} columns" for number, line in enumerate(bare.splitlines(), 1)
                     if len(line) > MAX_COLUMNS and not line.startswith(("|", "    ", "#")) and " " in line.strip()[MAX_COLUMNS // 2:]]
    assert not offences, report(offences)
