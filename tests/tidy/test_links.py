"""Links between documents lead to files and headings that are there, and each page of the site is in its table of contents."""

import html
import os
import re

import pytest
import yaml

from house import ROOT, project_files, read, report

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\((?!https?:|mailto:)<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+(?!https?:|mailto:)(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.MULTILINE)
# Of files outside docs/ that are pages of the site.
PAGES = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md", "security.md": "SECURITY.md"}
MADE = {"reference/help.md", "reference/keys.md", "reference/python.md", "decisions/index.md", "protocols/index.md"}


def documents():
    return [path for path in project_files() if path.suffix == ".md"]


def anchors(text):
    """Those that a page has, as they are made from its headings."""
    found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", html.unescape(heading)).lower()
        base = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words).strip())
        name, number = base, 0
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found.add(name)
    return found


def links(text):
    """Where a document sends people, but for what is code and only looks like it."""
    bare = CODE.sub("", FENCE.sub("", text))
    return LINK.findall(bare) + REFERENCE.findall(bare)


def broken(path, text, root=ROOT):
    for link in links(text):
        file, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(path.parent, file)) if file else path.as_posix()
        if not (root / target).exists():
            yield f"{path}: {link}: no such file"
        elif anchor and (not target.endswith(".md") or anchor not in anchors(read(target, root))):
            yield f"{path}: {link}: no such heading"


def test_links_lead_to_files_and_headings():
    offences = [offence for path in documents() for offence in broken(path, read(path))]
    assert not offences, report(offences)


@pytest.mark.parametrize("text, wrong", [
    ("[a](b.md) [b](b.md#two-words) [c](#here) ![d](b.md)\n## Here\n", 0), ("[a](c.md)", 1), ("[a](b.md#three)", 1), ("[a](#there)", 1),
    ("`[a](c.md)`\n```\n[a](c.md)\n```\n", 0), ("[a][x]\n\n[x]: c.md\n", 1), ("[a](https://example.org/c.md)", 0),
])
def test_broken_links_are_found(tmp_path, text, wrong):
    (tmp_path / "b.md").write_text("# B\n\n## `Two` *words*\n\n## Two words\n")
    (tmp_path / "a.md").write_text(text)
    assert len(list(broken(type(documents()[0])("a.md"), text, tmp_path))) == wrong


class Settings(yaml.SafeLoader):
    """mkdocs.yml has tags of MkDocs' own in it."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def listed(contents):
    for entry in contents:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from listed(value) if isinstance(value, list) else [value]


def test_every_document_is_a_page_of_the_site():
    pages = list(listed(yaml.load(read("mkdocs.yml"), Settings)["nav"]))
    own = {path.relative_to("docs").as_posix() for path in documents() if path.parts[0] == "docs"}
    examples = {path.as_posix() for path in documents() if path.parts[0] == "examples"}
    assert len(pages) == len(set(pages))
    assert set(pages) == own | examples | set(PAGES) | MADE
    assert all((ROOT / path).is_file() for path in PAGES.values())
