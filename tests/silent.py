"""A server that never answers."""

import socket

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
