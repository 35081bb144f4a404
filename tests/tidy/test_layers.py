"""Rooms include only what src/LAYERS allows, and people read the same lines that the checker does."""

import importlib.machinery
import importlib.util
import re

import pytest

from house import ROOT, cpp_files, read, report

LOADER = importlib.machinery.SourceFileLoader("check_layers", str(ROOT / "tools/check_layers"))
check_layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", LOADER))
LOADER.exec_module(check_layers)

LAYERS = "0 base: | fmt\n1 job: base |\n1 net: base | boost\n2 gang: job |\n2 gang/rows: base |\n"
# Sources that use each permission of LAYERS.
USERS = {"base/used.h": "#include <fmt/core.h>\n", "job/used.h": '#include "base/used.h"\n',
         "net/used.h": '#include "base/used.h"\n#include <boost/asio.hpp>\n', "gang/used.h": '#include "job/used.h"\n',
         "gang/rows/used.h": '#include "base/used.h"\n'}


def offences_of(tmp_path, layers, files):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/LAYERS").write_text(layers)
    for name, text in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_layers.check(tmp_path)


def test_every_include_is_allowed():
    offences = check_layers.check(ROOT)
    assert not offences, report(offences)


@pytest.mark.parametrize("name, text", [
    ("job/a.h", '#include "base/x.h"\n#include <vector>\n#include <sys/types.h>\n#include <unistd.h>\n'),
    ("net/a.cc", '#include "net/a.h"\n#include <boost/asio.hpp>\n'),
    ("gang/a_test.cc", '#include <gtest/gtest.h>\n#include "base/x.h"\n'),
])
def test_allowed_includes_pass(tmp_path, name, text):
    assert offences_of(tmp_path, LAYERS, USERS | {name: text}) == []


@pytest.mark.parametrize("name, text, part", [
    ("job/a.h", '#include "net/x.h"\n', "job may not use net"),
    ("base/a.h", '#include "job/x.h"\n', "base may not use job"),
    ("gang/a.h", '# include "gang/rows/x.h"\n', "gang may not use gang/rows"),
    ("gang/a.h", '#include "base/x.h"\n', "gang may not use base"),
    ("gang/a_test.cc", '#include "net/x.h"\n', "gang may not use net"),
    ("job/a.cc", "#include <boost/asio.hpp>\n", "job does not list boost"),
    ("job/a.cc", "#include <gtest/gtest.h>\n", "belongs in tests"),
    ("job/a.cc", "#include <event2/event.h>\n", "does not know"),
    ("job/a.cc", '#include "a.h"\n', "in no room"),
    ("attic/a.cc", "", "in no room of src/LAYERS"),
])
def test_forbidden_includes_are_found(tmp_path, name, text, part):
    offences = offences_of(tmp_path, LAYERS, USERS | {name: text})
    assert len(offences) == 1 and part in offences[0]


@pytest.mark.parametrize("name, text, part", [
    ("gang/used.h", '#include "gang/other.h"\n', "gang lists job"),
    ("gang/rows/used.h", '// #include "base/used.h"\n', "gang/rows lists base"),
    ("net/used.h", '#include "base/used.h"\n', "net lists boost"),
])
def test_a_permission_that_only_a_test_uses_is_found(tmp_path, name, text, part):
    a_test = {"gang/a_test.cc": USERS["gang/used.h"], "gang/rows/test_a.h": USERS["gang/rows/used.h"], "net/b_test.cc": USERS["net/used.h"]}
    offences = offences_of(tmp_path, LAYERS, USERS | a_test | {name: text})
    assert len(offences) == 1 and part in offences[0]


@pytest.mark.parametrize("layers, part", [
    ("0 base: |\n1 job: net |\n1 net: base |\n", "not on a lower level"),
    ("0 base: |\n1 job: attic |\n", "has no line"),
    ("0 base: | fmt\n1 job: base | fmt\n", "listed by base and job"),
    ("0 base: | qt\n", "unknown library qt"),
    ("base uses nothing\n", "not 'level room"),
])
def test_a_wrong_list_is_found(tmp_path, layers, part):
    offences = offences_of(tmp_path, layers, {})
    assert offences and part in offences[0]


def test_who_stands_alone_may_have_a_library_of_others():
    rooms, offences = check_layers.read_layers("0 base: |\n0 loader: | zlib\n1 net: base | zlib\n")
    assert offences == [] and rooms["loader"].libraries == rooms["net"].libraries == ["zlib"]
    _, offences = check_layers.read_layers("0 base: |\n0 loader: | zlib\n1 net: base loader | zlib\n")
    assert offences == ["src/LAYERS: zlib is listed by loader and net"]


def test_architecture_shows_the_same_lines():
    lines = [line for line in read("src/LAYERS").splitlines() if line and not line.startswith("#")]
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", read("docs/ARCHITECTURE.md"), re.MULTILINE | re.DOTALL)
    assert "\n".join(lines) + "\n" in blocks, "docs/ARCHITECTURE.md has no block with exactly the lines of src/LAYERS"


def test_clang_tidy_looks_at_the_headers_of_all_rooms():
    named = re.search(r"^HeaderFilterRegex: '/src/\(([a-z|]+)\)/'$", read(".clang-tidy"), re.MULTILINE)
    assert named, ".clang-tidy has no HeaderFilterRegex of the rooms"
    rooms = re.findall(r"^\d+ ([a-z]+)(?:/[a-z]+)?:", read("src/LAYERS"), re.MULTILINE)
    assert named[1].split("|") == sorted(set(rooms))


# What a room that only decides must not touch: it gets time and facts as values.
IMPURE = re.compile(
    r'#include\s*(<(thread|mutex|condition_variable|future|fstream|iostream|random|unistd\.h|sys/[^>]+|fcntl\.h'
    r'|signal\.h|csignal|filesystem)>|"base/(files|unique_fd|log)\.h")|\b(steady|system)_clock::now\b|\bgetenv\b')


def test_rooms_that_only_decide_are_pure():
    offences = [
        f"{path}: {match.group()}"
        for path in cpp_files() if path.parts[1] in ("gang", "frameworks") and "_test" not in path.stem
        for match in IMPURE.finditer(read(path))
    ]
    assert not offences, report(offences)


@pytest.mark.parametrize("line", ["#include <thread>", '#include "base/files.h"', "auto t = std::chrono::steady_clock::now();"])
def test_impure_lines_are_found(line):
    assert IMPURE.search(line)


OPENED = re.compile(r"^namespace (gangrun[\w:]*) \{\n(?!(?:(?:struct|class) \w+;\n)+\})", re.MULTILINE)
# How values of any room stand in JSON, and what the choices of an enum are: templates of these two.
OF_ALL_ROOMS = ("gangrun::base", "gangrun::job")


def foreign_namespaces(room, text):
    own = "gangrun::" + room.replace("/", "::")
    return [name for name in OPENED.findall(text)
            if name != own and not name.startswith(own + "::") and name not in OF_ALL_ROOMS]


def test_the_namespace_of_a_room_is_its_name():
    offences = [f"{path}: namespace {name}" for path in cpp_files("src")
                if not path.stem.endswith(("_test", "_main"))
                for name in foreign_namespaces(path.parent.as_posix().removeprefix("src/"), read(path))]
    assert not offences, report(offences)


@pytest.mark.parametrize("text, foreign", [
    ("namespace gangrun::ssh::node {\n\n", []),
    ("namespace gangrun::ssh::node::test {\n\n", []),
    ("namespace gangrun::ssh {\n\n", ["gangrun::ssh"]),
    ("namespace gangrun::ssh {\nclass Later;\n}\n", []),
    ("namespace gangrun::base {\n\ntemplate <>\n", []),
])
def test_foreign_namespaces_are_seen(text, foreign):
    assert foreign_namespaces("ssh/node", text) == foreign
