"""Ctrl-C before anything of the job has been started, while gangrun waits for somebody: it ends at once."""

import contextlib
import json
import os
import signal
import subprocess

import pytest

from living import processes_with
from silent import SilentServer
from waiting import wait_until

WAIT_S = 60


@pytest.fixture
def server():
    made = SilentServer()
    with made.listening:
        yield made


@pytest.fixture
def start(gangrun, home, tmp_path):
    """start(url, user, ...) runs a job with the API server and the user of a kubeconfig, until the end of the test."""
    with contextlib.ExitStack() as ends:
        def run(url, user, *flags):
            job = tmp_path / "job.yaml"
            job.write_text("tasks: {worker: {instances: 1}}\nkubernetes: {master: {service_account: leader}}\n")
            path = tmp_path / "kubeconfig"
            path.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "k", "cluster": {"server": url}}], "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}))
            process = subprocess.Popen(
                [gangrun, "run", job, "--on", "kubernetes", "--kubeconfig", path, "--image", "busybox", *flags, "--", "true"],
                env=os.environ | {"GANGRUN_HOME": str(home)}, cwd=tmp_path, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            ends.callback(process.communicate, timeout=WAIT_S)
            ends.callback(process.kill)
            return process

        yield run


@pytest.mark.parametrize("flags, words", [
    ([], "Ctrl-C: nothing of the job has been started"),
    (["--detach"], "Ctrl-C: the job is not started"),
], ids=["attached", "detached"])
def test_an_api_server_that_is_silent_is_waited_for_no_longer(start, server, home, flags, words):
    process = start(f"http://{server.place}", {}, *flags)
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (130, f"gangrun: {words}\n")
    assert not list(home.glob("jobs/*"))


def test_a_credential_plugin_that_hangs_is_ended(start, server, home, tmp_path):
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
              "args": ["-c", "echo $$ >begun.new && mv begun.new begun && exec tail -f /dev/null"],
              "env": [{"name": "PLUGIN_OF", "value": str(tmp_path)}]}
    process = start(f"https://{server.place}", {"exec": plugin})
    wait_until((tmp_path / "begun").exists, "the plugin to run")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (130, "gangrun: Ctrl-C: nothing of the job has been started\n")
    assert not processes_with(f"PLUGIN_OF={tmp_path}")
