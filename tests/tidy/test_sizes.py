"""A function fits a screen, a file a sitting."""

import ast
import re

from house import CPP, bare_code, project_files, read, report

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70

SCOPE = re.compile(r"^(inline\s+)?(namespace|extern)\b|^(template\s*<.*>\s*)?(class|struct|union|enum)\b", re.DOTALL)


def cpp_functions(text):
    """Yields (line, name, lines) of the functions that stand in namespaces and classes."""
    code = bare_code(text)
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: "\n" * m.group().count("\n"), code, flags=re.MULTILINE)
    start, inside, depth, opened = 0, None, 0, []
    for match in re.finditer("[{};:]", code):
        position, char = match.start(), match.group()
        if inside is not None:
            depth += (char == "{") - (char == "}")
            # A brace or a comma after a closing brace: it was a member's initializer, the body is to come.
            if char == "}" and depth == 0 and code[position + 1:].lstrip()[:1] not in ("{", ","):
                name, begin = inside
                if name:
                    yield code.count("\n", 0, begin) + 1, name, code.count("\n", begin, position) + 1
                inside, start = None, position + 1
        elif char == "{":
            head = code[start:position].strip()
            if SCOPE.search(re.sub(r"\[\[.*?\]\]", "", head).strip()) and "(" not in head.split("{")[0].split(":")[0]:
                opened.append(char)
                start = position + 1
            else:
                begin = start + len(code[start:position]) - len(code[start:position].lstrip())
                called = re.search(r"([\w:~]+|operator\W+)\s*\(", head)
                inside, depth = (called.group(1) if called and not head.endswith("=") else "", begin), 1
        elif char in ";}" or (char == ":" and code[start:position].strip() in ("public", "private", "protected")):
            start = position + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


def is_python(path, text):
    return path.suffix == ".py" or text.startswith("#!/usr/bin/env python3")


def functions(path, text):
    if path.suffix in CPP:
        return cpp_functions(text)
    return python_functions(text) if is_python(path, text) else ()


def test_functions_fit_a_screen():
    offences = [
        f"{path}:{line}: {name} has {lines} lines, {MAX_FUNCTION_LINES} are allowed"
        for path in project_files()
        for line, name, lines in functions(path, read(path)) if lines > MAX_FUNCTION_LINES
    ]
    assert not offences, report(offences)


def test_files_fit_a_sitting():
    offences = []
    for path in project_files():
        text = read(path)
        if path.suffix in CPP + (".py", ".sh", ".js", ".css") or text.startswith("#!"):
            lines = text.count("\n")
            if lines > MAX_FILE_LINES:
                offences.append(f"{path}: {lines} lines, {MAX_FILE_LINES} are allowed")
    assert not offences, report(offences)


SAMPLE = """#pragma once
#define X(a) \\
  do { a; } while (false)
namespace a::b {
struct S : public T {
  int f() const { return g({1, 2}); }
  S() : x_(1),
        y_{2} {
    if (a) { b(); }
  }
};
constexpr int kTable[] = {
  1,
};
template <typename T>
Result<T> long_one(const T& t) {
  auto l = [&] {
    return "}";
  };
  // }
  return l();
}
}  // namespace
TEST(Suite, Name) {
  EXPECT_TRUE(x);
}
"""


def test_functions_are_measured():
    found = {name: lines for _, name, lines in cpp_functions(SAMPLE)}
    assert found == {"f": 1, "S": 4, "long_one": 8, "TEST": 3}
