"""How a client comes to a real API server and as whom: what a kubeconfig may say, and what a pod is given."""

import base64
import contextlib
import json
import signal
import socket
import subprocess
import threading

import pytest
from kubernetes.jobs import SLEEPER
from waiting import wait_until

LIMIT_S = 120
PLUGIN = """#!/bin/sh
# Says its token and until when it is good, as credential plugins do.
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s"}}' "$(cat token)"
"""


class ConnectProxy:
    """A proxy of HTTP that only connects; `asked` has the places to which it was asked to."""

    def __init__(self):
        self.asked = []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                one, _ = self.server.accept()
                threading.Thread(target=self.connect, args=(one,), daemon=True).start()

    def connect(self, one):
        head = b""
        while b"\r\n\r\n" not in head:
            head += one.recv(4096)
        place = head.split()[1].decode()
        self.asked.append(place)
        host, port = place.rsplit(":", 1)
        with one, socket.create_connection((host, int(port))) as other:
            one.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=self.pump, args=(other, one), daemon=True)
            back.start()
            self.pump(one, other)
            back.join(LIMIT_S)

    @staticmethod
    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.thread.join(LIMIT_S)


@pytest.fixture
def proxy():
    made = ConnectProxy()
    yield made
    made.close()


def user_of(jobs, how, token):
    """What a kubeconfig says of a user with this token."""
    jobs.write("token", token)
    if how == "token":
        return {"token": token}
    if how == "token file":
        return {"tokenFile": "token"}
    jobs.write("plugin", PLUGIN).chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "Never"}}


@pytest.mark.parametrize("how", ["token", "token file", "plugin"])
def test_the_rights_of_the_guide_are_enough(jobs, how):
    account = jobs.make_account()
    jobs.write_kubeconfig("mine.yaml", user_of(jobs, how, jobs.make_token(account)))
    done = jobs.run("--kubeconfig", "mine.yaml", "-r", "worker:2", "-e", "API_TOKEN=x", "--output", "made", "--", "sh", "-c", "echo $RANK > made")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [entry["files"] for entry in json.loads(jobs.order("fetch", "last", "--json").stdout)["outputs"]] == [1, 1]
    assert jobs.left() == []


@pytest.mark.parametrize("how", ["token file", "plugin"])
def test_a_token_that_is_no_longer_good_is_asked_for_again(jobs, how):
    """It is bound to a secret and ends with that, as one ends with its time."""
    account = jobs.make_account()
    jobs.kubectl.run("create", "secret", "generic", "tie")
    first = jobs.make_token(account, "--bound-object-kind", "Secret", "--bound-object-name", "tie")
    jobs.write_kubeconfig("mine.yaml", user_of(jobs, how, first))
    with jobs.running("--kubeconfig", "mine.yaml", "-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        jobs.kubectl.run("delete", "secret", "tie")
        before = jobs.pod_of("worker-1")["metadata"]
        wait_until(lambda: "Unauthorized" in jobs.kubectl.run("--kubeconfig", jobs.write_kubeconfig("bare.yaml", {}), "--token", first, "get",
                                                              "pods", check=False).stderr, "its end", pause_s=0.5)
        jobs.write("token", jobs.make_token(account))
        jobs.kubectl.run("delete", "pod", before["name"], "--wait=false")
        wait_until(lambda: [pod for pod in jobs.pods() if pod["metadata"]["name"] == before["name"]
                            and pod["metadata"]["uid"] != before["uid"]], "the next pod", 90, pause_s=0.2)
        assert jobs.wait_for_running(2)["restarts_used"] == 0
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 130 and first not in said
    assert jobs.left() == []


def test_a_proxy_is_gone_through(jobs, proxy):
    config = jobs.write_kubeconfig("proxied.yaml", proxy_url=proxy.url)
    done = jobs.run("--kubeconfig", config, "-r", "worker:1", "--", "echo", "through it")
    assert done.returncode == 0, done.stdout + done.stderr
    server = json.loads(config.read_text())["clusters"][0]["cluster"]["server"]
    assert set(proxy.asked) == {server.removeprefix("https://")}
    assert [line for line in jobs.lines() if "through it" in line]


def other_authority(folder):
    """The certificate of an authority that has signed nothing here."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "other.key", "-out", folder / "other.crt",
                    "-subj", "/CN=other"], check=True, capture_output=True, timeout=LIMIT_S)
    return base64.b64encode((folder / "other.crt").read_bytes()).decode()


def test_an_api_server_of_another_authority_is_not_believed(jobs):
    jobs.write_kubeconfig("other.yaml", certificate_authority_data=other_authority(jobs.folder))
    done = jobs.run("--kubeconfig", "other.yaml", "-r", "worker:1", "--", "true")
    assert done.returncode == 3 and "certificate" in done.stderr


def test_without_verification_only_where_the_job_says_so_too(jobs):
    jobs.write_kubeconfig("blind.yaml", certificate_authority_data=None, insecure_skip_tls_verify=True)
    refused = jobs.run("--kubeconfig", "blind.yaml", "-r", "worker:1", "--", "true")
    assert refused.returncode == 2 and "insecure" in refused.stderr
    done = jobs.run("--kubeconfig", "blind.yaml", "--insecure", "-r", "worker:1", "--", "true")
    assert done.returncode == 0, done.stderr


def test_a_token_that_is_none(jobs):
    jobs.write_kubeconfig("stale.yaml", {"token": "a.b.c-of-this-test"})
    done = jobs.run("--kubeconfig", "stale.yaml", "-r", "worker:1", "--", "true")
    assert done.returncode == 3 and "Unauthorized" in done.stderr and "a.b.c-of-this-test" not in done.stderr


def test_a_client_in_a_pod_has_the_pods_account(jobs, kubernetes):
    """There is no agent's program beside that one."""
    image = kubernetes.make_image("localhost/gangrun:1", "--program", f"{jobs.gangrun}:/usr/bin/gangrun", "--file", "/bin/busybox:/bin/busybox:755",
                                  "--link", "/bin/busybox:/bin/sh", "--env", "PATH=/usr/bin:/bin")
    account = jobs.make_account()
    words = f"GANGRUN_HOME=/tmp/g gangrun run --on k8s --agents none --image {jobs.image} -r worker:2 -- sh -c 'echo from $RANK'; echo status $?"
    jobs.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "client"}, "spec": {
        "serviceAccountName": account, "restartPolicy": "Never",
        "containers": [{"name": "client", "image": image, "command": ["sh", "-c", words]}]}})
    jobs.kubectl.wait_for_phase("client", "Succeeded", "Failed", seconds=LIMIT_S)
    said = jobs.kubectl.run("logs", "client").stdout
    assert "from 0" in said and "from 1" in said and "status 0" in said, said
    assert jobs.left() == []
