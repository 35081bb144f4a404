"""Commands that ask somebody who never answers: they end when they are told to, and say what they do not know."""

import contextlib
import json
import os
import signal
import subprocess

import pytest

from silent import SilentApiServer, SilentServer

WAIT_S = 60

APPLICATION = "application_1700000000000_0001"

HADOOP = """<configuration>
  <property><name>fs.defaultFS</name><value>webhdfs://{place}</value></property>
  <property><name>yarn.resourcemanager.address</name><value>{place}</value></property>
</configuration>
"""


@pytest.fixture
def server():
    made = SilentServer()
    with made.listening:
        yield made


@pytest.fixture
def start(gangrun, home, tmp_path, server):
    """start(word…) starts a command for which the cluster, and every host, is the silent server."""
    for name in ("core-site.xml", "yarn-site.xml"):
        (tmp_path / name).write_text(HADOOP.format(place=server.place))
    host, port = server.place.split(":")
    (tmp_path / "ssh_config").write_text(f"Host silent\n  HostName {host}\n  Port {port}\n")
    environment = os.environ | {"GANGRUN_HOME": str(home), "HADOOP_CONF_DIR": str(tmp_path)}
    with contextlib.ExitStack() as ends:
        def run(*words):
            process = subprocess.Popen([gangrun, *words], env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            ends.callback(process.communicate, timeout=WAIT_S)
            ends.callback(process.kill)
            return process

        yield run


def test_open_ends_at_the_first_ctrl_c(start, server):
    process = start("open", APPLICATION)
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (130, "")
    assert err == f"gangrun: interrupted while {APPLICATION} did not answer\n"


def test_a_job_that_does_not_answer_is_left_at_the_first_ctrl_c(start, server):
    process = start("attach", APPLICATION)
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (130, f"gangrun: detached from {APPLICATION}, which does not answer\n")


def test_no_more_is_waited_for_a_silent_host(start, server):
    process = start("doctor", "--on", "ssh", "--hosts", "silent", "--ssh-config", "ssh_config")
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert out.endswith("whether jobs can run on these hosts is not known: the checks were interrupted\n")


@pytest.mark.parametrize("words, left", [
    (["doctor", "--on", "yarn"], "the cluster has not answered\n"),
    # It has said where it writes, so the folder may have been made.
    (["check_hadoop_env", "--no-remote"], "nobody has confirmed the end of what the checks made: webhdfs://"),
], ids=["doctor", "check_hadoop_env"])
def test_checks_of_a_silent_cluster_end_at_the_second_ctrl_c(start, server, words, left):
    process = start(*words)
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        for line in process.stderr:
            if "send it again to end at once" in line:
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert err.startswith(f"gangrun: interrupted: {left}"), err


@pytest.mark.parametrize("words, told", [
    (["rm", "--yes", "last"], "host silent still has /x/x: it did not answer"),
    (["fetch", "last"], "host silent: it was not waited for"),
], ids=["rm", "fetch"])
def test_no_more_is_asked_of_a_silent_host(start, server, home, tmp_path, words, told):
    start("run", "-r", "worker:1", "--", "true").communicate(timeout=WAIT_S)
    (job,) = home.glob("jobs/*-*")
    described = json.loads((job / "job.json").read_text())
    (job / "job.json").write_text(json.dumps(described | {"on": "ssh", "hosts": ["silent"], "ssh": {"config": str(tmp_path / "ssh_config")}}))
    (job / "hosts.json").write_text(json.dumps([{"host": "silent", "run_folder": "x", "path": "/x/x", "works_here": False}]))
    process = start(*words)
    with server.wait_for_request():
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (7, f"gangrun: {told}\n")


def with_kubeconfig(folder, url):
    """The words that name it."""
    (folder / "kubeconfig").write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "k", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}))
    return ["--kubeconfig", "kubeconfig"]


@pytest.mark.programs  # a request's own limit passes before, of 30 s
def test_what_a_silent_api_server_has_of_a_detached_job_is_left_at_the_second_ctrl_c(start, tmp_path):
    with SilentApiServer().serving() as api:
        (tmp_path / "job.yaml").write_text("tasks: {worker: {instances: 1}}\nkubernetes: {master: {service_account: leader}}\n")
        process = start("run", "job.yaml", "--detach", "--on", "kubernetes", *with_kubeconfig(tmp_path, api.url), "--image", "busybox", "--", "true")
        for method in ("POST", "DELETE"):
            api.wait_for(method)
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, err
    assert "the API server has not confirmed that all objects of " in err and "Ctrl-C: the job is not started" in err, err


def test_tf_spawner_ends_while_nobody_confirms_what_it_deletes(start, tmp_path):
    pod = {"metadata": {"name": "p", "uid": "u", "labels": {"training_attempt": "x"}}}
    with SilentApiServer([pod]).serving() as api:
        process = start("tf-spawner", "-d", "-t", "x", "--yes", *with_kubeconfig(tmp_path, api.url))
        api.wait_for("DELETE")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, err
    assert err.startswith("gangrun: interrupted: whether all objects with the label "), err
