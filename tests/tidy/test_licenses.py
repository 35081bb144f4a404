"""What is linked into the programs is in licenses/, with the text of its license."""

import sys

from house import ROOT, read

sys.path.insert(0, str(ROOT / "tools"))
from packing import components  # noqa: E402: after the path above

# A library's name in src/LAYERS, and in licenses/components.txt.
NAMES = {
    "boost": "Boost", "openssl": "OpenSSL", "zlib": "zlib", "fmt": "fmt", "spdlog": "spdlog", "nlohmann": "JSON for Modern C++",
    "tl": "tl::expected", "yaml-cpp": "yaml-cpp", "protobuf": "protobuf", "pugixml": "pugixml",
    "CLI": "CLI11",
}


def test_every_library_of_a_room_is_listed():
    rooms = [line for line in read("src/LAYERS").splitlines() if line[:1].isdigit()]
    libraries = {name for line in rooms for name in line.partition("|")[2].split()}
    assert libraries == set(NAMES)
    assert set(NAMES.values()) < {one["Name"] for one in components.read(ROOT)}


def test_every_component_is_complete_and_its_license_has_its_text():
    for one in components.read(ROOT):
        assert set(one) in ({"Name", origin, "License", "In", "Copyright"} for origin in ("Package", "Python")), one
        for text in components.texts_of(one["License"]):
            assert len(read(text)) > 500, text


def test_no_text_is_there_for_nothing():
    used = {text for one in components.read(ROOT) for text in components.texts_of(one["License"])}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "licenses").glob("*.txt")}
    assert there == (used - {"LICENSE"}) | {"licenses/components.txt"}
