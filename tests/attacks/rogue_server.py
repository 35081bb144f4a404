"""What every rogue server of these tests is: a listener on 127.0.0.1 that behaves as a test likes, on each connection by itself."""

import contextlib
import socket
import threading


class RogueServer:
    """`behave` gets each connection, whose operations have a limit of so many seconds."""

    def __init__(self, behave, limit_s):
        self.behave, self.limit_s, self.count = behave, limit_s, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self.listener.accept()
                self.count += 1
                threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        # A client that has enough leaves.
        with connection, contextlib.suppress(OSError):
            connection.settimeout(self.limit_s)
            self.behave(connection)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
