"""Servers that never answer, or not all that they are asked."""

import contextlib
import http.server
import json
import socket
import threading

WAIT_S = 60


class SilentServer:
    """Listens, reads what comes, and never answers."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(WAIT_S)
        self.place = f"127.0.0.1:{self.listening.getsockname()[1]}"

    def wait_for_request(self):
        """A connection on which a request has come; who has it keeps the client waiting."""
        connection, _ = self.listening.accept()
        connection.settimeout(WAIT_S)
        assert connection.recv(4096), "the client closed its connection"
        return connection


class SilentApiServer:
    """Of Kubernetes: shows what there is, but never answers who wants to change it."""

    def __init__(self, pods=()):
        self.requests, self.news, self.is_over = [], threading.Condition(), False
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.partition("?")[0].rpartition("/")[0].endswith("/jobs"):
                    return self.say_nothing()
                return self.answer({"items": list(pods) if self.path.partition("?")[0].endswith("/pods") else []})

            def do_POST(self):
                if self.path.partition("?")[0].endswith("subjectaccessreviews"):
                    return self.answer({"status": {"allowed": True}})
                return self.say_nothing()

            def say_nothing(self):
                with api.news:
                    api.requests.append(self.command)
                    api.news.notify_all()
                    api.news.wait_for(lambda: api.is_over)

            do_DELETE = do_PATCH = say_nothing

            def answer(self, content):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def wait_for(self, method):
        with self.news:
            assert self.news.wait_for(lambda: method in self.requests, WAIT_S), self.requests

    @contextlib.contextmanager
    def serving(self):
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            with self.news:
                self.is_over = True
                self.news.notify_all()
            self.server.shutdown()
            thread.join(WAIT_S)
            self.server.server_close()
