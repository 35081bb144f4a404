"""What src/hadoop/ says and understands, on the real daemons: a client that submits a master, and that master itself."""

import os
import pathlib
import subprocess

import pytest

from waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 200

CLIENT = {
    "new_application": "ok", "resource_types": "ok", "type.memory-mb": "Mi", "queue": "ok", "queue.default": "root.default",
    "queue.unknown": "not_found", "own_queues": "ok", "node_labels": "ok", "report.unknown": "not_found",
    "submit.too_large": "invalid_argument", "submit": "ok", "submit.again": "ok", "ended": "yes", "state": "6",
    "final_status": "1", "user": "probe", "tags": "a-tag", "host": "master.example:4711",
    "applications.found": "yes", "killed": "yes",
}
MASTER = {
    "credentials": "ok", "secret": "hunter2", "allocate.unregistered": "failed_precondition", "register": "ok",
    "queue": "root.default", "register.again": "ok", "allocate.too_large": "invalid_argument", "start.1": "ok",
    "start.2": "ok", "start.2.again": "failed_precondition", "status.2": "running", "stop.2": "ok", "exit.1": "7",
    "exit.2": "-105", "exit.3": "-100", "finish": "ok",
}


def facts(text):
    return dict(line.split("=", 1) for line in text.splitlines())


def talk(cluster, tmp_path, meanwhile=lambda: None, **variables):
    """Runs the client and, by it, the master; what each of them says must be what was expected."""
    tells_paths = cluster.release >= (3, 4)
    client_says = CLIENT | ({} if tells_paths else {"queue.default": ""})
    master_says = MASTER | ({} if tells_paths else {"queue": "default"})
    probe = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src")).parent / "tests/yarn/yarn_probe"
    result = tmp_path / "result"
    with subprocess.Popen([probe, "client", cluster.conf_dir, result], stdout=subprocess.PIPE, text=True,
                          env=cluster.environment | variables) as process:
        try:
            meanwhile()
            said = process.communicate(timeout=LIMIT_S)[0]
        finally:
            process.kill()
    client = facts(said)
    assert {name: client.get(name) for name in client_says} == client_says, said
    assert client["diagnostics"].endswith("all is well")
    # YARN knows of the master's end before the master has written what it saw.
    wait_until(result.exists, "what the master saw")
    master = facts(result.read_text())
    assert {name: master.get(name) for name in master_says} == master_says, result.read_text()
    assert "hunter2" not in said
    return client, master


def test_client_and_master(hadoop, tmp_path):
    client, master = talk(hadoop, tmp_path)
    assert client["nodes.count"] == "2"
    assert "requested resource type=[memory-mb]" in client["submit.too_large.message"].lower()
    assert "Attempt to relaunch the same container" in master["start.2.again.message"]


@pytest.mark.parametrize("version, protection", [
    ("3.5.0", "integrity"), ("3.5.0", "privacy"), ("3.4.2", "integrity"), ("3.4.2", "privacy"),
])
def test_versions_and_protections(hadoop_cluster, tmp_path, version, protection):
    talk(hadoop_cluster(nodes=1, hadoop_version=version, rpc_protection=protection), tmp_path)


def test_the_other_resource_manager_is_found(hadoop_pair, tmp_path):
    talk(hadoop_pair, tmp_path)
    hadoop_pair.transition("rm", 1 if hadoop_pair.cluster.active("rm") == "rm2" else 2)
    talk(hadoop_pair, tmp_path)
