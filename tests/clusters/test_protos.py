"""Our own .proto files say what the descriptors inside Hadoop's jars say."""

import pathlib
import re
import subprocess

import pytest
from clusters.hadoop.fixtures import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 120
LINE = re.compile(r'\s*(\w+)(?:: (?:"(.*)"|(.*))| (\{))\n')
# What of a field goes over the wire, or decides what is there when nothing came over it.
COMPARED = ("name", "label", "type", "type_name", "default_value")


def parsed(lines):
    """The text form of a message as {field: [value, ...]}, up to its closing brace."""
    found = {}
    for line in lines:
        if line.strip() == "}":
            break
        name, quoted, plain, opens = LINE.fullmatch(line).groups()
        found.setdefault(name, []).append(parsed(lines) if opens else plain if quoted is None else quoted)
    return found


def one(message, name):
    return message.get(name, [None])[0]


def descriptors(path):
    """{full name: descriptor} of all messages and enums in a file of descriptors."""
    with open(path, "rb") as source:
        text = subprocess.run(
            ["protoc", "--decode=google.protobuf.FileDescriptorSet", "google/protobuf/descriptor.proto"],
            stdin=source, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    found = {}

    def add(scope, message, messages):
        for enum in message.get("enum_type", []):
            found[f"{scope}.{one(enum, 'name')}"] = enum
        for nested in message.get(messages, []):
            name = f"{scope}.{one(nested, 'name')}"
            found[name] = nested
            add(name, nested, "nested_type")

    for file in parsed(iter(text.splitlines(True)))["file"]:
        add("." + one(file, "package") if "package" in file else "", file, "message_type")
    return found


def packed(field):
    return one(one(field, "options") or {}, "packed") == "true"


def differences(name, ours, real, is_older=False):
    """What we say of a message or an enum that Hadoop does not, or leave out although Hadoop insists on it."""
    if real is None:
        if not is_older:
            yield f"{name}: Hadoop has no such thing"
        return
    values = {one(value, "name"): one(value, "number") for value in real.get("value", [])}
    for value in ours.get("value", []):
        theirs = values.get(one(value, "name"))
        if theirs != one(value, "number") and not (is_older and theirs is None):
            yield f"{name}: {one(value, 'name')} = {one(value, 'number')}, Hadoop has {theirs}"
    known = {one(field, "number"): field for field in real.get("field", [])}
    declared = {one(field, "number"): field for field in ours.get("field", [])}
    for number, field in declared.items():
        theirs = known.get(number)
        if theirs is None:
            if not is_older:
                yield f"{name}: field {number} ({one(field, 'name')}): Hadoop has none"
            continue
        for what in COMPARED:
            if one(field, what) != one(theirs, what):
                yield f"{name}: field {number}: {what} {one(field, what)}, Hadoop has {one(theirs, what)}"
        if packed(field) != packed(theirs):
            yield f"{name}: field {number}: packed {packed(field)}, Hadoop has {packed(theirs)}"
    for number, field in known.items():
        if one(field, "label") == "LABEL_REQUIRED" and number not in declared:
            yield f"{name}: field {number} ({one(field, 'name')}) is required by Hadoop and not declared"


def compiled(folder, files, out):
    subprocess.run(["protoc", "-I", str(folder), f"--descriptor_set_out={out}", *map(str, files)],
                   check=True, timeout=LIMIT_S)
    return descriptors(out)


@pytest.mark.parametrize("version, is_older", [
    pytest.param("3.5.0", False, marks=pytest.mark.gate), ("3.4.2", True), ("3.3.6", True)])
def test_every_field_that_we_declare_is_hadoops(tmp_path, version, is_older):
    files = sorted((ROOT / "proto/hadoop").glob("*.proto"))
    assert files
    ours = compiled(ROOT, files, tmp_path / "ours")
    subprocess.run([PROGRAM, "protos", tmp_path / "real", "--hadoop-version", version], check=True,
                   stdout=subprocess.DEVNULL, timeout=LIMIT_S)
    real = descriptors(tmp_path / "real/hadoop.desc")
    assert ours and len(real) > 1000
    assert [text for name in ours for text in differences(name, ours[name], real.get(name), is_older)] == []


REAL = """syntax = "proto2"; package p;
enum E { A = 0; B = 2; }
message M { required string a = 1; optional E b = 2 [default = B]; repeated int32 c = 3 [packed = true]; }
"""


@pytest.mark.gate
@pytest.mark.parametrize("body, expected", [
    ("enum E { B = 2; } message M { required string a = 1; optional E b = 2 [default = B]; }", ""),
    ("enum E { A = 1; }", ".p.E: A = 1, Hadoop has 0"),
    ("enum E { C = 3; }", ".p.E: C = 3, Hadoop has None"),
    ("message N { }", ".p.N: Hadoop has no such thing"),
    ("message M { required string a = 1; optional string d = 4; }", ".p.M: field 4 (d): Hadoop has none"),
    ("message M { required string x = 1; }", ".p.M: field 1: name x, Hadoop has a"),
    ("message M { optional string a = 1; }", ".p.M: field 1: label LABEL_OPTIONAL, Hadoop has LABEL_REQUIRED"),
    ("message M { required bytes a = 1; }", ".p.M: field 1: type TYPE_BYTES, Hadoop has TYPE_STRING"),
    ("enum E { B = 2; } message M { required string a = 1; optional E b = 2; }",
     ".p.M: field 2: default_value None, Hadoop has B"),
    ("message M { required string a = 1; repeated int32 c = 3; }", ".p.M: field 3: packed False, Hadoop has True"),
    ("message M { }", ".p.M: field 1 (a) is required by Hadoop and not declared"),
])
def test_each_difference_is_found(tmp_path, body, expected):
    (tmp_path / "real.proto").write_text(REAL)
    (tmp_path / "ours.proto").write_text('syntax = "proto2"; package p; ' + body)
    real = compiled(tmp_path, ["real.proto"], tmp_path / "real")
    ours = compiled(tmp_path, ["ours.proto"], tmp_path / "ours")
    assert "\n".join(text for name in ours for text in differences(name, ours[name], real.get(name))) == expected
