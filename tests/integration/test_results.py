"""What tasks leave as results, and what they tell of themselves, by jobs on this machine."""

import json
import os
import subprocess
import sys

from waiting import wait_until

LIMIT_S = 60

LEAVES = """
import os, sys
sys.stdout.flush()
with open(os.environ["GANGRUN_RESULT_FILE"], "wb") as file:
    file.write(os.environ["GANGRUN_TASK_INDEX"].encode() + bytes(range(256)) * int(sys.argv[1]))
sys.exit(int(sys.argv[2]))
"""
TELLS = """
import json, os, select, sys
def tell(text):
    path = os.environ["GANGRUN_FIGURES_FILE"]
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)
tell(json.dumps({"step": 1, "phase": "warm-up"}))
while not os.path.exists(sys.argv[1]):
    select.select([], [], [], 0.05)
tell(sys.argv[2])
"""
# The first life leaves a result and fails, the second leaves none.
ONLY_THE_FIRST = """
import os, sys
if os.environ["GANGRUN_RESTARTS"] == "0":
    with open(os.environ["GANGRUN_RESULT_FILE"], "w") as file:
        file.write("of the first life")
    sys.exit(1)
"""


def command(gangrun, home, *words, folder=None):
    return subprocess.run([gangrun, *words], cwd=folder, env=os.environ | {"GANGRUN_HOME": str(home)}, timeout=LIMIT_S,
                          capture_output=True, stdin=subprocess.DEVNULL)


def run(gangrun, home, folder, text, *arguments, flags=()):
    (folder / "task.py").write_text(text)
    done = command(gangrun, home, "run", *flags, "--json", "--", sys.executable, "task.py", *arguments, folder=folder)
    return json.loads(done.stdout.splitlines()[-1])


def test_results_come_back_as_they_were_also_from_who_fails(gangrun, home, tmp_path):
    # Over the size of one message.
    end = run(gangrun, home, tmp_path, LEAVES, "4000", "0", flags=("-r", "worker:2"))
    assert end["exit_status"] == 0
    expected = bytes(range(256)) * 4000
    listed = json.loads(command(gangrun, home, "result", "last", "--json").stdout)
    assert listed == {"results": [{"task": f"worker:{i}", "bytes": len(expected) + 1} for i in (0, 1)]}
    assert command(gangrun, home, "result", "last", "worker:1").stdout == b"1" + expected
    file = tmp_path / "result"
    assert command(gangrun, home, "result", "last", "worker:0", "-o", str(file)).returncode == 0
    assert file.read_bytes() == b"0" + expected and file.stat().st_mode & 0o777 == 0o600
    end = run(gangrun, home, tmp_path, LEAVES, "0", "3")
    assert end["exit_status"] == 1
    assert command(gangrun, home, "result", "last", "worker:0").stdout == b"0"


def test_no_result_is_an_error_of_its_own_status(gangrun, home, tmp_path):
    run(gangrun, home, tmp_path, "pass")
    done = command(gangrun, home, "result", "last", "worker:0", "-o", str(tmp_path / "result"))
    assert (done.returncode, done.stderr) == (4, b"gangrun: worker:0 has written no result (GANGRUN_RESULT_FILE)\n")
    assert not (tmp_path / "result").exists()
    assert command(gangrun, home, "result", "last").stdout == b"No task has written a result.\n"


def test_what_is_too_large_is_told_and_is_no_failure(gangrun, home, tmp_path):
    end = run(gangrun, home, tmp_path, "import os\nos.truncate(os.open(os.environ['GANGRUN_RESULT_FILE'], os.O_RDWR | os.O_CREAT),"
              " (256 << 20) + 1)")
    assert end["exit_status"] == 0, end
    said = command(gangrun, home, "logs", "last", "worker:0").stderr.decode()
    assert "the result was not kept: it has 268435457 bytes; at most 268435456 (256 MiB) are kept" in said
    assert command(gangrun, home, "result", "last", "--json").stdout == b'{"results":[]}\n'


def test_a_task_that_comes_back_begins_without_a_result(gangrun, home, tmp_path):
    end = run(gangrun, home, tmp_path, ONLY_THE_FIRST, flags=("--restarts", "1"))
    assert end["exit_status"] == 0 and end["status"]["restarts_used"] == 1, end
    assert command(gangrun, home, "result", "last", "worker:0").returncode == 4


def test_figures_are_told_while_a_task_runs_and_at_its_end(gangrun, home, tmp_path):
    go_on = tmp_path / "go_on"
    (tmp_path / "task.py").write_text(TELLS)
    done = command(gangrun, home, "run", "--detach", "--json", "--", sys.executable, "task.py", str(go_on),
                   '{"step": 2, "loss": 0.5}', folder=tmp_path)
    job = json.loads(done.stdout)["job"]

    def figures():
        return json.loads(command(gangrun, home, "status", job, "--json").stdout)["tasks"][0].get("figures")

    assert wait_until(figures, "the first figures") == {"phase": "warm-up", "step": 1}
    assert "phase=warm-up step=1" in command(gangrun, home, "status", job).stdout.decode()
    go_on.touch()
    assert command(gangrun, home, "wait", job).returncode == 0
    assert figures() == {"loss": 0.5, "step": 2}


def test_figures_that_are_none_are_told_in_the_log(gangrun, home, tmp_path):
    (tmp_path / "go_on").touch()
    end = run(gangrun, home, tmp_path, TELLS, str(tmp_path / "go_on"), '{"loss": [1]}')
    assert end["exit_status"] == 0
    assert "GANGRUN_FIGURES_FILE: figure 'loss' must be a number" in command(gangrun, home, "logs", "last").stderr.decode()
