"""An API server of Kubernetes that is rogue: it answers as it likes, or stands before a real one and changes what that says.

It listens with a certificate of its own authority, which a kubeconfig of the test trusts. Each connection has one request, as
the client makes them; a behaviour is a function of a Talk.
"""

import base64
import contextlib
import functools
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

from rogue_server import RogueServer

LIMIT_S = 150
TOKEN = "token-of-this-test-that-nobody-else-may-see"
HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


@functools.cache
def certificate_for(name, host):
    """(certificate, key) as text, made once a run; it is its own authority."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, end) for end in ("crt", "key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                        "-addext", f"subjectAltName={host}", "-keyout", files[1], "-out", files[0]], check=True, capture_output=True, timeout=LIMIT_S)
        return [path.read_text() for path in files]


def make_certificate(folder, name="rogue", host="IP:127.0.0.1"):
    """(certificate, key): files."""
    files = [folder / f"{name}.{end}" for end in ("crt", "key")]
    for path, text in zip(files, certificate_for(name, host), strict=True):
        path.write_text(text)
    return files


class Talk:
    """One connection and its one request."""

    def __init__(self, connection, upstream):
        self.connection, self.upstream = connection, upstream
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(1 << 16)
            if not piece:
                raise ConnectionResetError
            head += piece
        head, _, self.body = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = first.split(" ", 2)
        self.headers = {key.lower(): value.strip() for key, value in (line.split(":", 1) for line in lines)}
        while len(self.body) < int(self.headers.get("content-length", 0)):
            self.body += connection.recv(1 << 16)
        parsed = urllib.parse.urlsplit(self.target)
        self.path, self.query = parsed.path, dict(urllib.parse.parse_qsl(parsed.query))

    @property
    def kind(self):
        """What is asked for: "watch pods", "list pods", "get pods", "post pods", "log", "exec"."""
        words = self.path.strip("/").split("/")
        if words[-1] in ("log", "exec", "portforward"):
            return words[-1]
        place = words.index("namespaces") + 2 if "namespaces" in words else len(words) - 1
        names = words[place:]
        verb = "watch" if self.query.get("watch") == "true" else self.method.lower()
        return f"{'list' if verb == 'get' and len(names) == 1 else verb} {names[0] if names else 'nothing'}"

    # Answers.

    def send(self, data):
        self.connection.sendall(data if isinstance(data, bytes) else data.encode())

    def begin(self, status=200, *fields):
        self.send("\r\n".join([f"HTTP/1.1 {status} X", *fields, "Connection: close", "", ""]))

    def answer(self, status, body, *fields):
        body = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.begin(status, "Content-Type: application/json", f"Content-Length: {len(body)}", *fields)
        self.send(body)

    def refuse(self, status, reason, message, *fields, **more):
        self.answer(status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message,
                             "code": status} | more, *fields)

    def flood(self, piece):
        while True:
            self.send(piece)

    # The real one.

    def ask(self):
        connection = self.upstream()
        fields = {key: value for key, value in self.headers.items() if key not in HOP_BY_HOP | {"authorization", "accept-encoding", "host"}}
        connection.request(self.method, self.target, self.body or None, fields)
        return connection.getresponse()

    def pass_on(self, change=None, lines=None):
        """`change` is of an answer's object, `lines` gives what comes instead of a line of a stream: any number of pieces."""
        if self.headers.get("upgrade"):
            return self.tunnel()
        answer = self.ask()
        fields = [f"{key}: {value}" for key, value in answer.getheaders() if key.lower() not in HOP_BY_HOP]
        if self.query.get("watch") == "true" or self.kind == "log":
            self.begin(answer.status, *fields)
            while line := answer.readline():
                for piece in lines(line) if lines else [line]:
                    self.send(piece)
            return None
        body = answer.read()
        if change and answer.status < 300:
            body = json.dumps(change(json.loads(body))).encode()
        self.begin(answer.status, *fields, f"Content-Length: {len(body)}")
        return self.send(body)

    def tunnel(self):
        connection = self.upstream()
        connection.connect()
        lines = [f"{self.method} {self.target} HTTP/1.1", *[f"{key}: {value}" for key, value in self.headers.items() if key != "authorization"]]
        connection.sock.sendall(("\r\n".join([*lines, "", ""])).encode("latin-1"))

        def pump(source, target):
            with contextlib.suppress(OSError):
                while data := source.recv(1 << 16):
                    target.sendall(data)
                target.shutdown(socket.SHUT_RDWR)

        back = threading.Thread(target=pump, args=(connection.sock, self.connection), daemon=True)
        back.start()
        pump(self.connection, connection.sock)
        back.join(LIMIT_S)


class RogueApi:
    """`behave` gets each Talk. `upstream()` makes a connection to a real server, if there is one."""

    def __init__(self, folder, behave, upstream=None, **certificate):
        self.certificate, key = make_certificate(folder, **certificate)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.behave, self.upstream = behave, upstream
        self.talks = []
        self.server = RogueServer(self.talk, LIMIT_S)
        self.port, self.close = self.server.port, self.server.close

    def talk(self, connection):
        with contextlib.suppress(http.client.HTTPException), self.context.wrap_socket(connection, server_side=True) as secured:
            talk = Talk(secured, self.upstream)
            self.talks.append(talk)
            self.behave(talk)

    def kubeconfig(self, path, **changes):
        """For a client with a token that trusts this server's certificate."""
        cluster = {"server": f"https://127.0.0.1:{self.port}",
                   "certificate-authority-data": base64.b64encode(self.certificate.read_bytes()).decode()} | changes
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": cluster}],
                  "users": [{"name": "u", "user": {"token": TOKEN}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}
        pathlib.Path(path).write_text(json.dumps(config))
        return path


def upstream_of(kubectl, folder):
    """Connections to the API server of `kubectl`, as its administrator."""
    config = json.loads(kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    for part in ("certificate", "key"):
        (folder / f"client.{part}").write_bytes(base64.b64decode(user[f"client-{part}-data"]))
    context.load_cert_chain(folder / "client.certificate", folder / "client.key")
    return lambda: http.client.HTTPSConnection(urllib.parse.urlsplit(cluster["server"]).netloc, context=context, timeout=LIMIT_S)
