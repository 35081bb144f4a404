"""Which file of the checkout is which page of the site, and links of one to another."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages from outside docs/: where they are on the site, and in the checkout. Those of docs/ keep their paths.
PAGES = {
    "contributing.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    **{path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("examples/**/*.md"))
       if "out" not in path.relative_to(ROOT).parts},
}
LINK = re.compile(r"(?P<text>(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>(?!https?:|mailto:|#)[^()\s]+)\)")


def attached():
    """Files that pages link to and that readers may want: those of the examples, not their pages."""
    return [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("examples/*/*"))
            if path.is_file() and path.suffix in (".py", ".yaml", ".sh", ".csv", ".cc", ".example")]


def checkout_path(uri):
    """The file of the checkout that a page was made from."""
    return PAGES.get(uri, f"docs/{uri}")


def site_uri(path):
    """Where a file of the checkout is on the site, or None."""
    for uri, source in PAGES.items():
        if path == source or path == str(pathlib.PurePosixPath(source).parent) and source.endswith("/README.md"):
            return uri
    if path.startswith("docs/") and (ROOT / path).exists():
        return path.removeprefix("docs/") + "/index.md" * (ROOT / path).is_dir()
    return path if path in attached() else "index.md" if path == "README.md" else None


def title(path):
    """The first heading of a file of the checkout."""
    return re.search(r"^# (.*)$", (ROOT / path).read_text(), re.MULTILINE)[1]


def rewritten(text, uri):
    """The Markdown of a page with links that work on the site. What is only in the source is named, without a link."""
    folder = os.path.dirname(checkout_path(uri))

    def replace(match):
        target, mark, anchor = match["target"].partition("#")
        path = os.path.normpath(os.path.join(folder, target))
        page = site_uri(path)
        if page:
            # Readers of the site do not know the files.
            words = f"[{title(path)}]" if match["text"].endswith(".md]") and path.endswith(".md") else match["text"]
            return f"{words}({os.path.relpath(page, os.path.dirname(uri) or '.')}{mark}{anchor})"
        if path.startswith("docs") or not (ROOT / path).exists():
            return match.group()  # MkDocs refuses it
        words = match["text"][1:-1]
        return words if path in words else f"{words} (`{path}` in the source)"

    return LINK.sub(replace, text)
