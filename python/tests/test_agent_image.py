"""The image that brings agents into pods: an archive as the OCI image specification has it, the same bytes each time."""

import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile

import pytest

from conftest import ROOT

sys.path.append(str(ROOT / "tools"))
from packing import image  # noqa: E402: after the path above

DATE = 1_780_000_000


def program(machine=62):
    """The beginning of an ELF file for this processor."""
    return b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little") + b" and more" * 1000


def made(folder, content, **options):
    (folder / "agent").write_bytes(content)
    words = {"reference": "localhost/gangrun-agent:1.2", "version": "1.2", "date": DATE} | options
    image.write(folder / "a.tar", folder / "agent", ROOT, **words)
    return folder / "a.tar"


def read(archive, name):
    return archive.extractfile(name).read()


def blob(archive, descriptor, kind):
    """What a descriptor names, which has to have its digest and size."""
    algorithm, _, digest = descriptor["digest"].partition(":")
    content = read(archive, f"blobs/{algorithm}/{digest}")
    assert (algorithm, hashlib.sha256(content).hexdigest(), len(content)) == ("sha256", digest, descriptor["size"])
    assert descriptor["mediaType"] == f"application/vnd.oci.image.{kind}"
    return content


@pytest.fixture
def archive(tmp_path):
    with tarfile.open(made(tmp_path, program())) as found:
        yield found


@pytest.fixture
def parts(archive):
    """(entry of the index, configuration, bytes of the layer), by the descriptors that lead there."""
    index = json.loads(read(archive, "index.json"))
    assert (index["schemaVersion"], index["mediaType"]) == (2, "application/vnd.oci.image.index.v1+json")
    (entry,) = index["manifests"]
    manifest = json.loads(blob(archive, entry, "manifest.v1+json"))
    assert (manifest["schemaVersion"], manifest["mediaType"]) == (2, "application/vnd.oci.image.manifest.v1+json")
    (layer,) = manifest["layers"]
    return entry, json.loads(blob(archive, manifest["config"], "config.v1+json")), blob(archive, layer, "layer.v1.tar+gzip")


def test_it_is_an_image_layout_with_nothing_else_in_it(archive, parts):
    assert json.loads(read(archive, "oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    names = archive.getnames()
    assert len(names) == len(set(names)) == 5 and names[:2] == ["oci-layout", "index.json"]


def test_its_one_layer_has_the_agent_for_every_user(parts):
    _, config, layer = parts
    files = gzip.decompress(layer)
    assert config["rootfs"] == {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(files).hexdigest()]}
    with tarfile.open(fileobj=io.BytesIO(files)) as found:
        agent = found.getmember("gangrun-agent")
        assert (agent.mode, agent.uid, agent.gid, agent.mtime) == (0o555, 0, 0, DATE)
        assert found.extractfile(agent).read() == program()
        assert {"licenses/components.txt", "licenses/MIT.txt", "licenses/Apache-2.0.txt"} <= set(found.getnames())


def test_a_pod_can_see_that_its_user_is_not_root(parts):
    _, config, _ = parts
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/gangrun-agent"]
    assert config["created"] == "2026-05-28T20:26:40Z" and len(config["history"]) == 1


def test_tools_know_its_name_and_processor(parts):
    entry, config, _ = parts
    assert set(entry["annotations"].values()) == {"localhost/gangrun-agent:1.2"}
    assert entry["platform"] == {"architecture": "amd64", "os": "linux"} == {key: config[key] for key in ("architecture", "os")}


def test_the_processor_is_that_of_the_agent(tmp_path):
    assert image.architecture(program(183)) == "arm64"
    for wrong in (b"", b"#!/bin/sh\n" * 10, program(8)):
        with pytest.raises(SystemExit, match="gangrun-agent is no program for amd64 or arm64"):
            made(tmp_path, wrong)


def test_the_same_program_makes_the_same_bytes(tmp_path):
    once = made(tmp_path, program()).read_bytes()
    assert made(tmp_path, program()).read_bytes() == once
    assert made(tmp_path, program() + b"x").read_bytes() != once


def test_it_is_made_by_a_command(tmp_path):
    (tmp_path / "agent").write_bytes(program())
    subprocess.run([ROOT / "tools/agent_image", "--agent", tmp_path / "agent", "--name", "localhost/a:3", tmp_path / "b.tar"], check=True,
                   timeout=60, env={"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": str(DATE)})
    version = (ROOT / "CMakeLists.txt").read_text().split("VERSION ", 2)[2].split()[0]
    assert pathlib.Path(tmp_path / "b.tar").read_bytes() == made(tmp_path, program(), reference="localhost/a:3", version=version).read_bytes()
