"""What users install needs nothing of their C library that glibc 2.17 has not: cmake/old_libc has the functions for it."""

import pathlib
import re
import subprocess

import pytest

OLDEST = (2, 17)


def order(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=["gangrun", "_core", "old_libc_test"])
def compiled(request, gangrun):
    """Each file that is linked for old systems, as the build has left it."""
    build = pathlib.Path(gangrun).parent.parent
    (found,) = {"gangrun": [pathlib.Path(gangrun)], "_core": list(build.glob("python/gangrun/_core*.so")),
                "old_libc_test": [build / "tests/old_libc/old_libc_test"]}[request.param]
    return found


def versions(compiled):
    """Those that it needs of the C library: (2, 17)."""
    shown = order("readelf", "--wide", "--version-info", compiled)
    needs = shown[shown.index("Version needs section"):]
    return {tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([0-9.]+)", needs)}


def test_no_name_is_younger_than_the_oldest_c_library(compiled):
    found = versions(compiled)
    assert found and max(found) <= OLDEST, max(found)


def test_what_was_a_library_of_its_own_is_named(compiled):
    """An old loader looks for threads in libpthread.so.0 only if it is told to."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", order("readelf", "--wide", "--dynamic", compiled))
    assert {"libpthread.so.0", "libdl.so.2", "libc.so.6"} <= set(needed)
    assert needed.index("libpthread.so.0") < needed.index("libc.so.6")


def test_what_an_old_c_library_lacks_does_the_same_as_the_new_one(gangrun):
    program = pathlib.Path(gangrun).parent.parent / "tests/old_libc/old_libc_test"
    said = order(program)
    assert "[  PASSED  ]" in said and "FAILED" not in said
