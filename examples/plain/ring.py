"""Passes a number around a ring of workers, each of which adds its index; nothing but Python's own library.

Who is here and where, a program learns from three variables: its type, its index, and the addresses of all.
"""

import json
import os
import socket
import time

LIMIT_S = 60


def main():
    index = int(os.environ["GANGRUN_TASK_INDEX"])
    workers = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])[os.environ["GANGRUN_TASK_TYPE"]]
    # The port is held for this task already: whoever listens on it has to say that it may be shared.
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.settimeout(LIMIT_S)
    listener.bind((os.environ["GANGRUN_HOST"], int(os.environ["GANGRUN_PORT"])))
    listener.listen()

    def send(number):
        host, port = workers[(index + 1) % len(workers)].rsplit(":", 1)
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            try:
                with socket.create_connection((host, int(port)), timeout=LIMIT_S) as connection:
                    connection.sendall(f"{number}\n".encode())
                    return
            except ConnectionRefusedError:  # it does not listen yet
                os.sched_yield()
        raise SystemExit(f"{host}:{port} does not listen")

    def receive():
        with listener.accept()[0] as connection, connection.makefile() as lines:
            return int(lines.readline())

    if index == 0:
        send(0)
        print(f"sum of all indexes {receive()}", flush=True)
    else:
        number = receive()
        print(f"worker {index} of {len(workers)} got {number}", flush=True)
        send(number + index)


if __name__ == "__main__":
    main()
