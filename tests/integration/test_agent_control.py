"""An agent follows its master to another address when that calls: the program, and a master that is played here."""

import base64
import contextlib
import hashlib
import http.client
import json
import socket
import ssl
import struct
import subprocess

import pytest

LIMIT_S = 60
SECRET = "0123456789abcdef"


@pytest.fixture
def certificate(tmp_path):
    """Of the job: the file with key and certificate."""
    path = tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                    "-days", "1", "-keyout", path, "-out", tmp_path / "public.pem"], check=True, capture_output=True, timeout=LIMIT_S)
    path.write_text(path.read_text() + (tmp_path / "public.pem").read_text())
    return path


class Master:
    """One session with one agent, as docs/protocols/registry.md says."""

    def __init__(self, host, certificate):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._listener = socket.create_server((host, 0))
        self._listener.settimeout(LIMIT_S)
        self.host, self.port = self._listener.getsockname()
        self._session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (self._session, self._listener):
            if one:
                one.close()

    def accept(self):
        """The report of the agent that comes."""
        plain, _ = self._listener.accept()
        plain.settimeout(LIMIT_S)
        self._session = self._context.wrap_socket(plain, server_side=True)
        self._reader = self._session.makefile("rb")
        headers = http.client.parse_headers(self._skip_request_line())
        assert headers["Authorization"] == f"Bearer {SECRET}"
        key = headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self._session.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              b"Sec-WebSocket-Accept: " + accepted.encode() + b"\r\n\r\n")
        return self.hear("report")

    def _skip_request_line(self):
        assert self._reader.readline().startswith(b"GET /v1/agent ")
        return self._reader

    def hear(self, kind):
        """The next message of this type; heartbeats and lines of output are not waited for."""
        while True:
            _, length = self._reader.read(2)
            size = length & 0x7F
            if size == 126:
                size, = struct.unpack(">H", self._reader.read(2))
            mask = self._reader.read(4)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self._reader.read(size)))
            message = json.loads(text)
            if message["type"] == kind:
                return message
            assert message["type"] in ("heartbeat", "log"), message

    def say(self, message):
        text = json.dumps(message).encode()
        length = struct.pack("B", len(text)) if len(text) < 126 else struct.pack(">BH", 126, len(text))
        self._session.sendall(b"\x81" + length + text)


def call(report, body, secret=SECRET):
    """The status and the answer of the agent's control address, which shows the certificate that it has reported."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", report["control_port"], timeout=LIMIT_S, context=context)
    with contextlib.closing(connection):
        connection.connect()
        shown = hashlib.sha256(connection.sock.getpeercert(binary_form=True)).hexdigest()
        assert shown == report["control_fingerprint"]
        connection.request("PUT", "/v1/master", json.dumps(body), {"Authorization": f"Bearer {secret}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_an_agent_goes_on_under_a_master_that_has_moved(agent, certificate, tmp_path):
    public = ssl.PEM_cert_to_DER_cert((tmp_path / "public.pem").read_text())
    first, second = Master("127.0.0.1", certificate), Master("127.0.0.2", certificate)
    config = {"job_id": "x", "spec": {"name": "x", "tasks": {"worker": {}}, "command": "exec sleep 1000"}, "task": "worker:0",
              "attempt": 1, "secret": SECRET, "host": "127.0.0.1", "host_reason": "", "working_folder": str(tmp_path),
              "log_prefix": str(tmp_path / "log"), "master_host": first.host, "master_port": first.port,
              "fingerprint": hashlib.sha256(public).hexdigest()}
    (tmp_path / "config").write_text(json.dumps(config))
    with open(tmp_path / "config") as file:
        running = subprocess.Popen([agent, "task", "--containment", "subreaper", "--name", "x", "--config-fd", str(file.fileno())],
                                   pass_fds=[file.fileno()], stderr=subprocess.PIPE, text=True)
    try:
        with second:
            with first:
                report = first.accept()
                first.say({"type": "welcome", "heartbeat_ms": 1000, "master_lost_ms": 60000})
                first.say({"type": "start", "attempt": 1, "restarts": 0,
                           "cluster_spec": {"generation": 1, "tasks": {"worker": [report["address"]]}}})
                started = first.hear("started")
            moved = {"host": second.host, "port": second.port, "attempt": 2}
            assert call(report, moved, secret="guess")[0] == 401
            assert call(report, moved) == (200, {})
            back = second.accept()
            assert (back["state"], back["user_pid"]) == ("running", started["pid"])
            assert back["control_port"] == report["control_port"]
            assert call(report, {"host": first.host, "port": first.port, "attempt": 1})[0] == 409
            second.say({"type": "welcome", "heartbeat_ms": 1000, "master_lost_ms": 60000})
            second.say({"type": "end", "grace_ms": 30000})
            assert second.hear("exited")["attempt"] == 1
        _, told = running.communicate(timeout=LIMIT_S)
    finally:
        running.kill()
        running.wait(timeout=LIMIT_S)
    assert running.returncode == 0, told
    assert SECRET not in told and "guess" not in told
    assert f"master 2 calls from {second.host}:{second.port}" in told
