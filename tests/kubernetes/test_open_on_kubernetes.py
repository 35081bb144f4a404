"""`gangrun open` of tasks that are pods: from the user's machine by the API server to a port of the pod's loopback."""

import concurrent.futures
import json
import os
import signal

from kubernetes.jobs import RUN_LIMIT_S, SLEEPER, WITHOUT_AGENTS
from kubernetes.opening import fetch, fetched, opened
from waiting import wait_until

LARGE = os.urandom(1 << 20) * 20
# Listens on 127.0.0.1 only. Gives back what it is sent; by /end it ends.
SERVER = """
import http.server, os, sys, threading
class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/end":
            os._exit(3)
        body = body or f"{self.command} {self.path} {attempt}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = answer
    def log_message(self, *_): pass
attempt = os.environ["GANGRUN_RESTARTS"]
while attempt == "0" and not os.path.exists("/tmp/go"):
    threading.Event().wait(0.1)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["GANGRUN_PORT"])), Echo).serve_forever()
"""


def test_a_port_of_a_pod_is_reached_from_its_first_listening_to_the_jobs_end(jobs):
    """Without agents the task that starts again has another pod."""
    jobs.write("server.py", SERVER)
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--restarts", "1", "--", "python3", "server.py") as client:
        jobs.wait_for_running(2)
        beside = jobs.order("exec", "last", "worker:1", "--", "true")
        assert beside.returncode == 125 and "worker:1: it is in a pod, which has no agent; kubectl exec" in beside.stderr, beside
        with opened(jobs, "worker:1") as process:
            waiting = process.stderr.readline()
            assert "waits for worker:1 to listen: nothing listens at port 2222 of pod" in waiting, waiting
            jobs.kubectl.run("exec", jobs.pod_of("worker-1")["metadata"]["name"], "-c", "task", "--", "touch", "/tmp/go")
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:") and url.endswith("/"), process.stderr.read()
            assert fetch(url + "page") == b"GET /page 0"
            assert fetch(url + "large", LARGE) == LARGE
            with concurrent.futures.ThreadPoolExecutor(8) as several:
                bodies = [str(number).encode() * 100_000 for number in range(24)]
                assert list(several.map(lambda body: fetch(url, body), bodies)) == bodies
            # The task that starts again has another pod, and the same address here.
            assert fetched(url + "end") is None
            wait_until(lambda: fetched(url) == b"GET / 1", "the next pod at the same address", RUN_LIMIT_S, 0.5)
            assert jobs.order("kill", "last").returncode == 0
            _, err = process.communicate(timeout=RUN_LIMIT_S)
            assert process.returncode == 0 and "has killed" in err, err
        assert client.wait(RUN_LIMIT_S) == 5
    done = jobs.order("open", "last", "worker:1")
    assert done.returncode == 7 and "nothing of it can be opened" in done.stderr


def test_who_may_not_forward_is_told_the_right_that_is_missing(jobs):
    account = f"system:serviceaccount:{jobs.kubectl.namespace}:default"
    rights = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "looks"},
              "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]}
    jobs.kubectl.apply(rights, {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "looks"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looks"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": jobs.kubectl.namespace}]})
    config = json.loads(jobs.kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
    config["users"][0]["user"]["as"] = account
    mine = jobs.write("mine.json", json.dumps(config))
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:1", "--", *SLEEPER):
        jobs.wait_for_running(1)
        jobs.environment["KUBECONFIG"] = str(mine)
        with opened(jobs, "worker:0") as process:
            told = process.stderr.readline()
            assert "worker:0" in told and "pods/portforward" in told, told
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=RUN_LIMIT_S)
            assert process.returncode == 130
