"""HDFS as the room hadoop reaches it, against real NameNodes and DataNodes: only these say what WebHDFS really answers."""

import dataclasses
import getpass
import json
import os
import pathlib
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
LIMIT_S = 120
SHELL = "org.apache.hadoop.yarn.applications.distributedshell.Client"
SCRIPT = "{ echo hello from $CONTAINER_ID; echo to stderr >&2; seq 1 20000; }"


@dataclasses.dataclass(frozen=True)
class Done:
    status: int
    output: bytes
    error: str

    @property
    def lines(self):
        return [json.loads(line) for line in self.output.decode().splitlines()]

    @property
    def value(self):
        assert self.status == 0, self.error
        return self.lines[-1]


class Probe:
    """Commands of hdfs_probe, as one user of one cluster."""

    def __init__(self, cluster, user):
        self.cluster, self.user = cluster, user
        self.program = PROGRAMS.parent / "tests/yarn/hdfs_probe"

    def __call__(self, *words):
        done = subprocess.run([self.program, self.cluster.conf_dir, self.user, *map(str, words)],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def well(self, *words):
        done = self(*words)
        assert done.status == 0, f"{words}: {done.error}"
        return done

    def refused(self, code, *words):
        done = self(*words)
        assert done.status == 1 and done.error.startswith(code + ": "), f"{words}: {done}"
        return done.error


@pytest.fixture
def probe(hadoop):
    return Probe(hadoop, getpass.getuser())


@pytest.fixture
def place(probe):
    """A folder in HDFS of this test's own."""
    path = f"/tmp/web-hdfs-{time.time_ns()}"
    probe.well("folders", path, "755")
    yield path
    probe.well("remove", path)


def local(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_a_file_goes_and_comes_back(probe, place, tmp_path):
    content = os.urandom(3_000_000)
    path = f"{place}/a b/ä#?%+.bin"
    sent = probe.well("put", local(tmp_path, "f", content), path, "640").output.split()
    assert sent and int(sent[-1]) == len(content)
    status = probe("status", path).value
    assert (status["length"], status["permission"], status["folder"]) == (len(content), "640", False)
    assert probe.well("get", path).output == content
    assert probe.well("range", path, 1_000_000, 1000).output == content[1_000_000:1_001_000]
    assert probe.well("range", path, len(content) - 5, 1000).output == content[-5:]


def test_folders_names_modes_and_times(probe, place, tmp_path):
    probe.well("folders", f"{place}/f", "700")
    probe.well("put", local(tmp_path, "f", b""), f"{place}/f/empty", "600")
    probe.well("time", f"{place}/f/empty", 1234567890123)
    file, = probe.well("list", f"{place}/f").lines
    assert (file["name"], file["length"], file["permission"], file["time"]) == ("empty", 0, "600", 1234567890123)
    assert probe("status", f"{place}/f").value["permission"] == "700"
    probe.well("rename", f"{place}/f/empty", f"{place}/f/other")
    assert [item["name"] for item in probe.well("list", f"{place}/f").lines] == ["other"]
    assert probe("remove", f"{place}/f/other").value is True
    assert probe("remove", f"{place}/f/other").value is False
    assert probe.well("home").output.decode().strip() == f"/user/{getpass.getuser()}"


def test_every_refusal_has_its_code(probe, place, tmp_path, hadoop):
    file = local(tmp_path, "f", b"x")
    probe.well("put", file, f"{place}/there", "600")
    probe.well("put", file, f"{place}/too", "600")
    assert f"{place}/none" in probe.refused("not_found", "status", f"{place}/none")
    probe.refused("not_found", "get", f"{place}/none")
    probe.refused("not_found", "rename", f"{place}/none", f"{place}/x")
    probe.refused("already_exists", "put", file, f"{place}/there", "600")
    probe.refused("already_exists", "rename", f"{place}/too", f"{place}/there")
    stranger = Probe(hadoop, "stranger")
    error = stranger.refused("permission_denied", "get", f"{place}/there")
    assert "user=stranger" in error and "\n" not in error.strip() and "\tat " not in error
    stranger.refused("permission_denied", "put", file, f"{place}/mine", "600")
    probe.refused("failed_precondition", "token", "yarn", "127.0.0.1:1")  # there are none without Kerberos


def test_a_full_quota_and_safe_mode_are_told_apart(probe, place, tmp_path, hadoop):
    file = local(tmp_path, "f", b"x")
    assert hadoop.run("hdfs", "dfsadmin", "-setQuota", "2", place).returncode == 0
    probe.well("put", file, f"{place}/one", "600")
    assert "quota" in probe.refused("resource_exhausted", "put", file, f"{place}/two", "600")
    assert hadoop.run("hdfs", "dfsadmin", "-clrQuota", place).returncode == 0
    assert hadoop.run("hdfs", "dfsadmin", "-safemode", "enter").returncode == 0
    try:
        assert "safe mode" in probe.refused("unavailable", "put", file, f"{place}/three", "600")
    finally:
        assert hadoop.run("hdfs", "dfsadmin", "-safemode", "leave").returncode == 0


def test_contents_are_uploaded_once(probe, place, tmp_path):
    file = local(tmp_path, "code.tar.gz", os.urandom(1_000_000))
    first = probe("ensure", file, f"{place}/cache", "private").value
    again = probe("ensure", file, f"{place}/cache", "private").value
    assert first["uploaded"] and not again["uploaded"]
    assert {**first, "uploaded": 0, "seconds": 0} == {**again, "uploaded": 0, "seconds": 0}
    status = probe("status", first["path"]).value
    assert (status["permission"], status["length"]) == ("600", first["size"])
    assert status["time"] == first["timestamp"], "the localiser compares it to the millisecond"
    assert probe("clean", f"{place}/cache", 3600).value == 0
    assert probe("clean", f"{place}/cache", -10).value == 1
    assert probe("ensure", file, f"{place}/cache", "private").value["uploaded"]


def test_many_who_upload_the_same_all_find_it(probe, place, tmp_path):
    file = local(tmp_path, "same", os.urandom(500_000))
    words = [probe.program, probe.cluster.conf_dir, probe.user, "ensure", file, f"{place}/cache", "private"]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    found = []
    for process in running:
        output, error = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, error.decode()
        found.append(json.loads(output))
    assert len({(item["path"], item["timestamp"], item["size"]) for item in found}) == 1
    folder = pathlib.PurePosixPath(found[0]["path"]).parent
    assert sorted(item["name"] for item in probe.well("list", folder).lines) == [".used", "same"]


def test_public_contents_need_an_open_way(probe, place, tmp_path):
    file = local(tmp_path, "agent", b"program")
    found = probe("ensure", file, f"{place}/public", "public").value
    assert probe("status", found["path"]).value["permission"] == "644"
    probe.well("folders", f"{place}/closed", "700")
    assert f"{place}/closed may not be entered" in probe.refused(
        "failed_precondition", "ensure", file, f"{place}/closed/cache", "public")


def shell_application(cluster):
    """Runs a small application to its end, and returns its id."""
    jar = cluster.exports["DSHELL_JAR"]
    known = {found["id"] for found in cluster.applications()}
    done = cluster.run("yarn", "jar", jar, SHELL, "-jar", jar, "-num_containers", "2", "-container_memory", "64",
                       "-master_memory", "256", "-shell_command", SCRIPT)
    assert done.returncode == 0, done.stderr
    return next(found["id"] for found in cluster.applications() if found["id"] not in known)


@pytest.mark.parametrize("compression", ["none", "gz"])
def test_aggregated_logs_are_what_yarn_prints(hadoop, hadoop_cluster, compression):
    """A real node's file: only YARN itself writes it."""
    cluster = hadoop if compression == "none" else hadoop_cluster(
        nodes=1, set="yarn.nodemanager.log-aggregation.compression-type=gz")
    identifier = shell_application(cluster)
    expected = cluster.aggregated_logs(identifier)
    found = {}
    for log in Probe(cluster, getpass.getuser()).well("logs", identifier).lines:
        found.setdefault(log["container"], {})[log["file"]] = log["text"]
    assert {name: sorted(files) for name, files in found.items()} == {
        name: sorted(files) for name, files in expected.items()}
    for container, files in expected.items():
        for name, text in files.items():
            assert found[container][name].rstrip("\n") == text.rstrip("\n"), f"{container} {name}"
    assert sum(files.get("stdout", "").endswith("\n20000\n") for files in found.values()) == 2


def test_logs_that_are_not_there_are_said(probe):
    assert "/tmp/logs/" in probe.refused("not_found", "logs", "application_1_0001")


def test_the_active_name_node_of_a_pair_is_found(hadoop_cluster, tmp_path):
    """Takes a real pair: a standby's answer is its own."""
    cluster = hadoop_cluster(ha=True, nodes=1)
    probe = Probe(cluster, getpass.getuser())
    assert len(probe("where").value["addresses"]) == 2
    file = local(tmp_path, "f", b"content")
    probe.well("put", file, "/tmp/ha", "600")
    cluster.transition("nn", 2)
    assert probe.well("get", "/tmp/ha").output == b"content"
    cluster.transition("nn", 1)
    cluster.kill("nn", 2)
    assert probe.well("get", "/tmp/ha").output == b"content"


def test_nobody_there_is_unavailable(hadoop_cluster, tmp_path):
    cluster = hadoop_cluster(nodes=1)
    probe = Probe(cluster, getpass.getuser())
    file = local(tmp_path, "f", b"content")
    cluster.kill("dn", 1)
    error = probe.refused("unavailable", "put", file, "/tmp/f", "600")
    assert "/webhdfs/v1/tmp/f" in error
    cluster.kill("nn")
    # What is killed lets go of its port a moment later.
    cluster.wait_until(lambda: "connect" in probe.refused("unavailable", "status", "/tmp"), "a port that nobody listens at")
