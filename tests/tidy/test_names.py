"""A public name has a use in the product: what only tests use goes to a test's header, or away.

Names are compared as words, so one that another thing has too is not found. Values of enumerations are not looked at: many are
those of someone else's protocol.
"""

import ast
import collections
import json
import pathlib
import re

import pytest

from house import ROOT, bare_code, is_test_code, load_tool, project_files, read, report

# What only tests use and stays where it is, each with its reason.
ALLOWED = {
    "all_reasons": "tests walk them, to find one that has no words",
    "parse_journal": "the reader without a disk, for the simulation",
    "tunnel_count": "nothing else shows that a tunnel has ended",
    "beast_close_socket": "Beast looks for it",
    "async_teardown": "Beast looks for it",
}
WORD = re.compile(r"[A-Za-z_]\w*")
SCOPE = re.compile(r"^(inline\s+)?(namespace|extern)\b|^(template\s*<.*>\s*)?(class|struct|union|enum)\b", re.DOTALL)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
ACCESS = ("public", "private", "protected")

# How a statement outside of functions begins, and the name that it declares.
FUNCTION = re.compile(r"[\w:<>,*&\s.()]*?[\w>*&]\s*(?<!\w)((?:\w+::)*)([a-z_]\w*)\s*\(")
CONSTRUCTOR = re.compile(r"(?:explicit |constexpr )*(?:([A-Z]\w*)::)?~?([A-Z]\w*)\s*\(")
CONSTANT = re.compile(r"(?:inline |static |extern )*(?:constexpr|const)\s[\w:<>,*&\s]*?[\s*&](k[A-Z]\w*)\s*(?:\[\w*\]\s*)?(?:=|$)")
TYPE = re.compile(r"(?:struct|class|enum class|enum|using)\s+([A-Z]\w*)\b")
TEMPLATE = re.compile(r"^template\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>\s*")


def statements(code):
    """The statements of bare code that stand in namespaces and classes, functions without their bodies."""
    code = DIRECTIVE.sub("", code)
    start, depth = 0, 0
    for match in re.finditer("[{};:]", code):
        position, char = match.start(), match.group()
        if depth:
            depth += (char == "{") - (char == "}")
            start = position + 1
        elif char == "{":
            head = ATTRIBUTE.sub("", code[start:position]).strip()
            yield head
            if SCOPE.search(head) and "(" not in head.split(":")[0]:
                start = position + 1
            else:
                depth = 1
        elif char in ";}":
            yield ATTRIBUTE.sub("", code[start:position]).strip()
            start = position + 1
        elif code[start:position].strip() in ACCESS:
            start = position + 1


def declared(code):
    """The names that bare code declares outside of functions, once for each time that it does. A function's definition has its
    class's name, which is no use of it."""
    for statement in statements(code):
        statement = TEMPLATE.sub("", statement)
        for kind in (CONSTRUCTOR, FUNCTION, CONSTANT, TYPE):
            match = kind.match(statement)
            if match and "=" not in match.group()[:-1] and not re.match(r"(return|else|using namespace)\b", statement):
                yield from WORD.findall(" ".join(part for part in match.groups() if part))
                break


def unused_in_cpp(product):
    """{name: the header that declares it} of the names that no product source uses, of {path: text}."""
    words, declarations, headers = collections.Counter(), collections.Counter(), {}
    for path, text in product.items():
        code = bare_code(text)
        words.update(WORD.findall(code))
        for name in declared(code):
            declarations[name] += 1
            if path.suffix == ".h":
                headers[name] = path
    return {name: path for name, path in headers.items() if words[name] <= declarations[name]}


def product_sources():
    included = {path.relative_to(ROOT) for path in load_tool("coverage").product_files(ROOT / "src")}
    return {path: read(path) for path in project_files()
            if path in included or (path.parts[:2] == ("python", "core") and path.suffix in (".h", ".cc") and not is_test_code(path))}


def test_every_name_of_a_header_has_a_use_in_the_product():
    found = unused_in_cpp(product_sources())
    offences = [f"{path}: only tests use {name}, or nobody" for name, path in found.items() if name not in ALLOWED]
    assert not offences, report(offences)
    assert [name for name in ALLOWED if name not in found] == []


HEADER = """#pragma once
namespace gangrun::job {
inline constexpr int kMost = 3;
struct Row {
  int cell = 0;
};
class Table {
 public:
  explicit Table(int size);
  Table();
  [[nodiscard]] bool has_rows() const { return size_ > 0; }
  int width() const;

 private:
  int size_{0};
};
// Nobody calls tidy_up(), nor {others}.
template <typename T>
std::vector<std::pair<int, T>> tidy_up(const Table& table, int most = kMost);
}
"""
SOURCE = """#include "job/a.h"
namespace gangrun::job {
Table::Table(int size) : size_{size} {}
Table::Table() : size_{0}, other_{0} {}
int Table::width() const { return 3; }
int main() {
  Row row;
  Table table(row.cell);
  return tidy_up<int>(table) ? table.width() : table.has_rows();
}
}
"""


@pytest.mark.parametrize("gone, found", [
    ("", {}),
    ("tidy_up<int>(table) ? ", {"tidy_up"}),
    (".width()", {"width"}),
    ("table.has_rows()", {"has_rows"}),
    ("  Row row;\n", {"Row"}),
    ("  Table table(row.cell);\n", set()),
    ("return tidy_up<int>(table) ? table.width() : table.has_rows();", {"tidy_up", "width", "has_rows"}),
])
def test_a_name_that_nobody_uses_is_found(gone, found):
    assert gone in SOURCE
    product = {ROOT / "src/job/a.h": HEADER, ROOT / "src/job/a.cc": SOURCE.replace(gone, "")}
    assert set(unused_in_cpp(product)) == set(found)


def test_constants_and_types_that_nobody_uses_are_found():
    header = "const int kOne = 1;\ninline constexpr std::string_view kTwo[] = {};\nclass A;\nclass B { B(); };\nusing C = int;\n"
    assert set(unused_in_cpp({ROOT / "a.h": header})) == {"kOne", "kTwo", "A", "B", "C"}


# The names of libraries whose place they take: their users use them.
STAND_INS = ("skein", "tf_yarn", "tensorflowonspark", "cluster_pack")
ALLOWED_IN_PYTHON = {"load_stream": "pyspark calls it"}
FOR_PEOPLE = (".md", ".ipynb", ".toml")
CODE = re.compile(r"^ *```.*?^ *```|`[^`]*`", re.MULTILINE | re.DOTALL)


def names_defined(tree):
    """The public functions, classes, methods and constants. Where a class has bases that are not ours its methods may be theirs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if not node.name.startswith("_") and not node.decorator_list:
                yield node.name
            if isinstance(node, ast.ClassDef) and not node.bases:
                yield from names_defined(node)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name) and not target.id.startswith("_"))


def names_used(tree):
    """Words of texts count too: names are looked up by them, and code is written in them. Those of docstrings do not."""
    told = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield from WORD.findall(node.value)


def names_told(path, text):
    """The words of a document's code; an example in Python is code, but for its comments."""
    if path.suffix == ".py":
        return set(names_used(ast.parse(text)))
    if path.suffix == ".md":
        text = "\n".join(CODE.findall(text))
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    return set(WORD.findall(text))


def unused_in_python(package, documents=None):
    """{name: the file that defines it} of the public names that neither the package uses nor a document tells, of {path: text}."""
    trees = {path: ast.parse(text) for path, text in package.items()}
    used = set().union(*map(names_used, trees.values()), *(names_told(*document) for document in (documents or {}).items()))
    return {name: path for path, tree in trees.items() if not set(path.parts) & set(STAND_INS)
            for name in names_defined(tree) if name not in used}


def test_every_name_of_the_package_has_a_use():
    files = project_files()
    package = {path: read(path) for path in files if path.parts[:2] == ("python", "gangrun") and path.suffix == ".py"}
    told = {path: read(path) for path in files if path.suffix in FOR_PEOPLE or path.parts[0] == "examples"}
    found = unused_in_python(package, told)
    offences = [f"{path}: only tests use {name}, or nobody" for name, path in found.items() if name not in ALLOWED_IN_PYTHON]
    assert package and not offences, report(offences)
    assert [name for name in ALLOWED_IN_PYTHON if name not in found] == []


A, B = pathlib.PurePosixPath("a.py"), pathlib.PurePosixPath("b.py")


@pytest.mark.parametrize("use, found", [
    ("print(count(), ROWS, Table().rows())", {}),
    ("print(ROWS, Table().rows())", {"count"}),
    ("print(count(), Table().rows())", {"ROWS"}),
    ("print(count(), ROWS, Table())", {"rows"}),
    ("getattr(a, 'count')(ROWS).rows", {"Table"}),
])
def test_a_name_of_python_that_nobody_uses_is_found(use, found):
    text = '''"""Has count and rows."""\nROWS = 3\ndef count():\n    "count"\nclass Table:\n    def rows(self): pass\n'''
    assert set(unused_in_python({A: text, B: f"import a\n{use}\n"})) == set(found)
    for told in ("`count`, `ROWS`, `Table.rows`", "Thus:\n\n  ```python\n  ROWS, count(), Table().rows\n  ```\n"):
        assert not unused_in_python({A: text, B: use}, {pathlib.PurePosixPath("a.md"): told})


@pytest.mark.parametrize("name, text, names", [
    ("a.md", "To count is no use.", set()),
    ("a.md", "The `Table`'s rows, [count](count.md):\n```\nROWS\n```\n", {"Table", "ROWS"}),
    ("a.py", '"""Counts."""\nprint(ROWS)  # and Table\n', {"print", "ROWS"}),
    ("a.yaml", "run: count", {"run", "count"}),
    ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["Table"]}, {"cell_type": "code", "source": ["a =", "ROWS"]}]}', {"a", "ROWS"}),
])
def test_documents_tell_names_by_their_code(name, text, names):
    assert names_told(pathlib.PurePosixPath(name), text) == names
