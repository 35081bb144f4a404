"""What the house checks share: the project's files, and C++ without its comments and strings."""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".h", ".cc")


def project_files(root=ROOT):
    """All files of the project as paths from `root`: what git tracks, and new ones that it does not ignore."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True, timeout=60,
    )
    paths = sorted({pathlib.PurePosixPath(name) for name in listing.stdout.split("\0") if name})
    return [path for path in paths if (root / path).is_file()]


def read(path, root=ROOT):
    """A file's text; a file that is not text reads as nothing."""
    content = (root / path).read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


def load_tool(name):
    """A program of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader("tool_" + name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def cpp_files(folder="src"):
    return [path for path in project_files() if path.suffix in CPP and path.parts[0] == folder]


def is_test_code(path):
    return path.parts[0] in ("tests", "fuzz", "bench") or path.stem.endswith("_test") or "test_" in path.stem


NOT_CODE = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def bare_code(text):
    """C++ with comments gone and literals empty; every line keeps its number."""

    def replace(match):
        kept = "\n" * match.group().count("\n")
        return kept if match.group().startswith("/") else '""' + kept

    return NOT_CODE.sub(replace, text)


def report(offences):
    return "\n" + "\n".join(str(offence) for offence in offences)
