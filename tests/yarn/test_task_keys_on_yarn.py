"""Keys of a job and barriers under the next master, which has them from HDFS: on YARN it may be on any node."""

import os
import signal

from waiting import wait_until
from yarn.processes import master_of

PROGRAM = r"""
import os, select, sys, urllib.error, urllib.request
base, folder, index = "http://" + os.environ["GANGRUN_KV"], sys.argv[1], os.environ["GANGRUN_TASK_INDEX"]
def ask(method, path, body=None):
    with urllib.request.urlopen(urllib.request.Request(base + path, data=body, method=method), timeout=150) as answer:
        return answer.read()
ask("PUT", f"/kv/of/{index}", bytes(range(256)))
ask("PUT", f"/kv/gone/{index}", b"x")
ask("DELETE", f"/kv/gone/{index}")
ask("POST", "/barrier/b?timeout=60", b"")
open(f"{folder}/put{index}", "w").close()
if index == "0":
    ask("POST", "/barrier/across?timeout=120", b"")
else:
    while not os.path.exists(f"{folder}/go"):
        select.select([], [], [], 0.05)
    assert ask("GET", "/kv/of/0") == bytes(range(256)), "lost"
    assert ask("GET", "/kv") == b'{"keys":["of/0","of/1"],"more":false}\n', ask("GET", "/kv")
    ask("POST", "/barrier/across?timeout=60", b"")
ask("POST", "/barrier/b?timeout=60", b"")
ask("PUT", f"/kv/end/{index}", b"")
"""


def test_keys_and_barriers_survive_the_master(jobs, hadoop):
    jobs.write("keys.py", PROGRAM)
    job = jobs.submit("-r", "worker:2", "-m", "128m", "--", "python3", "keys.py", str(jobs.folder))
    wait_until(lambda: (jobs.folder / "put0").exists() and (jobs.folder / "put1").exists(), "the keys", 120, pause_s=0.1)
    hadoop.wait_until_seen_running(job, 3)
    killed = master_of(job)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: master_of(job) not in (None, killed), "the next master", 120, pause_s=0.1)
    (jobs.folder / "go").touch()
    status = jobs.wait_for_state(job, "succeeded", "failed")
    assert status["state"] == "succeeded", status
    assert (status["restarts_used"], status["generation"]) == (0, 1), status
