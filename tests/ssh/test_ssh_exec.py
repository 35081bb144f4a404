"""Commands beside tasks on hosts that only ssh reaches."""

import json
import os
import signal
import subprocess

import pytest

from living import processes_with
from ssh_job import LIMIT_S, TICK, wait_for_nothing
from waiting import wait_until


@pytest.fixture
def command(gangrun, home, tmp_path):
    def run(*words, given=""):
        return subprocess.run([gangrun, *words], env=os.environ | {"GANGRUN_HOME": str(home)}, cwd=tmp_path, timeout=LIMIT_S,
                              text=True, capture_output=True, input=given)

    return run


def test_a_command_runs_on_the_host_of_the_task_and_ends_with_its_user(sshds, start, command, gangrun, home, tmp_path):
    # Inside the tasks, the job's keys and barriers go from host to host.
    keys = (f'set -e; test "$GANGRUN_TASK_INDEX" != 0 || "{gangrun}" kv put model/address "$GANGRUN_HOST"; "{gangrun}" barrier put --timeout 1m; '
            f'"{gangrun}" kv get model/address > "address.$GANGRUN_TASK_INDEX"; ')
    job = start(sshds, 1, "-r", "worker:3", command=keys + TICK)
    for index in range(3):
        job.wait_for_ticks(index)
        assert (tmp_path / f"address.{index}").read_text().strip() == sshds.hosts.address(sshds.hosts.names[0])
    done = command("exec", "last", "worker:2", "--", "sh", "-c", "echo $GANGRUN_TASK_INDEX at $GANGRUN_HOST in $PWD; cat; echo err >&2; exit 5",
                   given="given\n")
    assert done.returncode == 5, done
    assert done.stdout == f"2 at {sshds.hosts.address(sshds.hosts.names[2])} in {tmp_path}\ngiven\n"
    assert done.stderr == "err\n"
    (seen,) = json.loads(command("stacks", "last", "worker:2", "--timeout", "40s", "--json").stdout)["tasks"]
    assert seen["task"] == "worker:2" and "sh" in [process["name"] for process in seen["processes"]], seen

    setting = f"EXEC_TEST={tmp_path}"
    begun = subprocess.Popen([gangrun, "exec", "last", "worker:1", "--", "env", setting, "sh", "-c", "trap '' TERM HUP; echo up; sleep 900; true"],
                             env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert begun.stdout.readline() == "up\n"
    assert processes_with(setting)
    begun.send_signal(signal.SIGKILL)
    begun.wait(timeout=LIMIT_S)
    begun.stdout.close()
    wait_until(lambda: not processes_with(setting), "the end of the command", LIMIT_S)
    # The job has not noticed.
    job.let_end()
    wait_for_nothing(sshds)
