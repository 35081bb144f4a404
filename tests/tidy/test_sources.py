"""Sources are formatted, headers stand alone, a test lies beside each source, scripts pass shellcheck."""

import concurrent.futures
import fnmatch
import os
import re
import subprocess

from house import CPP, ROOT, cpp_files, project_files, read, report

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COMPILE = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Isrc", "-DSPDLOG_FMT_EXTERNAL",
           "-DSPDLOG_HEADER_ONLY", '-DGANGRUN_VERSION="0"']


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_cpp_is_formatted():
    files = [str(path) for path in project_files() if path.suffix in CPP]
    found = run("clang-format", "--dry-run", "--Werror", *files)
    unformatted = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", found.stderr, re.MULTILINE)))
    assert found.returncode == 0, "clang-format -i " + " ".join(unformatted)


def test_headers_say_pragma_once():
    offences = [path for path in cpp_files() if path.suffix == ".h" and not read(path).startswith("#pragma once\n")]
    assert not offences, report(offences)


def test_own_header_comes_first():
    """So the build itself compiles each header alone, at no cost."""
    offences = []
    for path in cpp_files():
        own = path.with_suffix(".h")
        if path.suffix == ".cc" and (ROOT / own).exists():
            first = INCLUDE.search(read(path))
            if not first or "src/" + first.group(1) != own.as_posix():
                offences.append(f"{path}: the first include must be its own header")
            elif re.search(r"^#include <", read(path)[:first.start()], re.MULTILINE):
                offences.append(f"{path}: its own header must come before all others")
    assert not offences, report(offences)


def test_headers_without_a_source_stand_alone():
    alone = [path for path in cpp_files() if path.suffix == ".h" and not (ROOT / path.with_suffix(".cc")).exists()]
    assert alone

    def compile_alone(path):
        return path, run(*COMPILE, "-Wno-pragma-once-outside-header", "-x", "c++", "-include", str(path), "/dev/null")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        offences = [f"{path}:\n{found.stderr[:1500]}" for path, found in workers.map(compile_alone, alone)
                    if found.returncode != 0]
    assert not offences, report(offences)


def untested():
    """{pattern: reason} of tests/tidy/untested.txt."""
    lines = [line for line in read("tests/tidy/untested.txt").splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def sources_without_a_test():
    """Sources with neither x_test.cc beside them nor another test of the room that includes their header."""
    included = {(path.parent, name) for path in cpp_files() if path.stem.endswith("_test")
                for name in INCLUDE.findall(read(path))}
    for path in cpp_files():
        if path.suffix != ".cc" or path.stem.endswith(("_test", "_main")):
            continue
        header = path.with_suffix(".h").relative_to("src").as_posix()
        if not (ROOT / path.with_name(path.stem + "_test.cc")).exists() and (path.parent, header) not in included:
            yield path.as_posix()


def test_every_source_has_a_test_or_a_reason():
    patterns = list(untested())
    offences = [f"{source}: no test beside it, and no reason in tests/tidy/untested.txt"
                for source in sources_without_a_test()
                if not any(fnmatch.fnmatch(source, pattern) for pattern in patterns)]
    assert not offences, report(offences)


def test_reasons_for_no_test_are_still_needed():
    without = list(sources_without_a_test())
    offences = [f"untested.txt: no source fits {pattern} any more"
                for pattern in untested() if not fnmatch.filter(without, pattern)]
    assert not offences, report(offences)


def test_shell_scripts_pass_shellcheck():
    scripts = [str(path) for path in project_files()
               if path.suffix == ".sh" or re.match(r"#!.*\b(ba)?sh\b", read(path)[:80])]
    assert "tools/install-deps" in scripts
    found = run("shellcheck", *scripts)
    assert found.returncode == 0, found.stdout
