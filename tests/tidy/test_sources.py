"""Sources are formatted, headers stand alone, a test lies beside each source, scripts pass shellcheck."""

import concurrent.futures
import fnmatch
import hashlib
import os
import pathlib
import re
import subprocess

import pytest

from house import CPP, ROOT, cpp_files, project_files, read, report

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun"
PARTS = 4  # of the headers, each within the time of one test where nothing is cached
# The least code that a header can be made into: found again, from any checkout, where nothing that it includes has changed.
COMPILE = ["ccache", "g++", "-std=c++20", "-O0", "-g0", "-Wall", "-Wextra", "-Werror", "-Isrc", "-DSPDLOG_FMT_EXTERNAL",
           "-DSPDLOG_HEADER_ONLY", '-DGANGRUN_VERSION="0"']
# As tools/build has it.
CCACHE = {"CCACHE_DIR": str(CACHE / "ccache"), "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", "CCACHE_MAXSIZE": "5G",
          "CCACHE_SLOPPINESS": "time_macros,include_file_mtime,include_file_ctime"}


def run(*command, env=None):
    return subprocess.run(command, cwd=ROOT, env=os.environ | (env or {}), capture_output=True, text=True, timeout=600)


class Formatted:
    """The names of texts that clang-format had nothing to say of, kept from run to run in a file outside the checkout."""

    MOST_BYTES = 4 << 20

    def __init__(self, file):
        self.file = file
        self.common = run("clang-format", "--version").stdout.encode() + (ROOT / ".clang-format").read_bytes()
        few = file.exists() and file.stat().st_size < self.MOST_BYTES
        self.known = set(file.read_text().split()) if few else set()

    def name(self, path):
        return hashlib.sha256(self.common + path.suffix.encode() + b"\0" + path.read_bytes()).hexdigest()

    def add(self, names):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a" if self.known else "w") as out:  # one write of whole lines: others may add theirs
            out.write("".join(f"{name}\n" for name in names))


def unformatted(paths, file=CACHE / "formatted"):
    """Those of the paths that clang-format would change."""
    formatted = Formatted(file)
    names = {path: formatted.name(path) for path in paths}
    unknown = [path for path in paths if names[path] not in formatted.known]
    parts = [part for part in (unknown[number::os.cpu_count()] for number in range(os.cpu_count())) if part]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        done = list(workers.map(lambda part: run("clang-format", "--dry-run", "--Werror", *map(str, part)), parts))
    offences = {pathlib.Path(path) for one in done
                for path in re.findall(r"^(\S+?):\d+:\d+: error", one.stderr, re.MULTILINE)}
    assert bool(offences) == any(one.returncode for one in done), done
    formatted.add(names[path] for path in unknown if path not in offences)
    return sorted(offences)


def test_cpp_is_formatted():
    offences = unformatted([ROOT / path for path in project_files() if path.suffix in CPP])
    assert not offences, "clang-format -i " + " ".join(map(str, offences))


def test_what_is_not_formatted_is_found_each_time(tmp_path):
    (tmp_path / ".clang-format").write_text((ROOT / ".clang-format").read_text())
    good, bad = tmp_path / "good.cc", tmp_path / "bad.cc"
    good.write_text("int a = 1;\n")
    bad.write_text("int  b=1;\n")
    for _ in range(2):
        assert unformatted([good, bad], tmp_path / "cache/formatted") == [bad]
    good.write_text("int  c=1;\n")
    assert unformatted([good, bad], tmp_path / "cache/formatted") == [bad, good]


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


def kept_source(name, text, sources=CACHE / "headers"):
    """A file with this text whose name is the same from run to run: it is part of what ccache looks for."""
    sources.mkdir(parents=True, exist_ok=True)
    source = sources / f"{hashlib.sha256(name.encode()).hexdigest()}.cc"
    if not source.exists() or source.read_text() != text:
        part = source.with_name(f"{source.stem}.{os.getpid()}")
        part.write_text(text)
        part.replace(source)
    return source


def compiled(source, objects):
    return run(*COMPILE, "-I.", "-c", source, "-o", objects / f"{source.stem}.o", env=CCACHE)


def does_not_stand_alone(paths, objects, sources=CACHE / "headers"):
    """[what the compiler says of a file by itself] of the files of which it says something."""

    def compile_alone(path):
        return path, compiled(kept_source(path.as_posix(), f'#include "{path}"\n', sources), objects)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        return [f"{path}:\n{found.stderr[:1500]}" for path, found in workers.map(compile_alone, paths) if found.returncode != 0]


@pytest.mark.parametrize("part", range(PARTS))
def test_headers_without_a_source_stand_alone(tmp_path, part):
    alone = [path for path in cpp_files() if path.suffix == ".h" and not (ROOT / path.with_suffix(".cc")).exists()]
    assert alone
    offences = does_not_stand_alone(alone[part::PARTS], tmp_path)
    assert not offences, report(offences)


def test_fuzz_targets_compile(tmp_path):
    """They are built only where they run; a name that they use may go meanwhile. All at once: they include much the same."""
    targets = [path for path in cpp_files("fuzz") if path.suffix == ".cc"]
    assert targets
    text = "".join(f'#define LLVMFuzzerTestOneInput {path.stem}\n#include "{path}"\n#undef LLVMFuzzerTestOneInput\n' for path in targets)
    found = compiled(kept_source("fuzz", text), tmp_path)
    assert found.returncode == 0, found.stderr[:3000]


@pytest.mark.parametrize("text, fine", [("#include <string>\nstd::string f();\n", True), ("std::string f();\n", False)])
def test_a_header_that_leans_on_others_is_found_each_time(tmp_path, text, fine):
    header = tmp_path / "header.h"
    for line in ("", "int g();\n"):
        header.write_text(f"#pragma once\n{text}{line}")
        for _ in range(2):
            offences = does_not_stand_alone([header], tmp_path, tmp_path)
            assert (offences == []) == fine and all("header.h" in offence for offence in offences)


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
