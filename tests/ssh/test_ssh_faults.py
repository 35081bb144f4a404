"""Jobs on hosts that ssh reaches, while clients, masters, agents, sshds, links and hosts fail."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest

from ssh_job import LIMIT_S, TICK, wait_for_nothing
from waiting import wait_until


def test_a_killed_client_leaves_nothing_on_any_host(sshds, start):
    job = start(sshds, 2, "-r", "worker:6", "--timeout", "master_lost=1h")
    for index in range(6):
        job.wait_for_ticks(index)
    job.process.kill()
    job.wait()
    # Long before the lease is over.
    wait_for_nothing(sshds)


def test_a_detached_job_goes_on_under_its_next_master(sshds, start, run_gangrun):
    job = start(sshds, 1, "-d", "-r", "worker:3")
    assert job.wait() == 0, job.said()
    for index in range(3):
        job.wait_for_ticks(index)
    (master,) = [int(pid.name) for pid in pathlib.Path("/proc").iterdir() if pid.name.isdigit() and is_master(pid, job.home)]
    os.kill(master, signal.SIGKILL)
    for index in range(3):
        job.wait_for_ticks(index, generation=1)
    wait_until(lambda: json.loads(run_gangrun("status", "last", "--json").stdout)["state"] == "running", "a new master")
    (job.folder / "go").touch()
    waited = run_gangrun("wait", "last", timeout=LIMIT_S)
    assert waited.status == 0, waited
    logs = run_gangrun("logs", "last").stdout
    assert sum(line.endswith("done") for line in logs.splitlines()) == 3, logs
    wait_for_nothing(sshds)


def is_master(pid, home):
    try:
        words = (pid / "cmdline").read_bytes().split(b"\0")
        return b"master" in words and f"GANGRUN_HOME={home}".encode() in (pid / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def test_a_detached_job_is_killed_from_here(sshds, start, run_gangrun):
    job = start(sshds, 1, "-d", "-r", "worker:3")
    assert job.wait() == 0, job.said()
    job.wait_for_ticks(2)
    assert run_gangrun("kill", "last").status == 0
    wait_for_nothing(sshds)


def test_a_killed_agent_is_the_first_cause(sshds, start):
    job = start(sshds, 1, "-r", "worker:3")
    job.wait_for_ticks(1)
    name = sshds.hosts.names[1]
    agents = sshds.commands(name, "--containment")
    # The guardian is the keeper's child and was started first.
    os.kill(max(pid for pid, line in agents.items() if " task " in line), signal.SIGKILL)
    assert job.wait() == 1, job.said()
    assert f"worker:1 on {name} lost its agent, which was killed by signal 9" in job.said()
    wait_for_nothing(sshds)


def test_killed_sshds_are_connected_to_again(sshds, start):
    job = start(sshds, 1, "-r", "worker:3")
    job.wait_for_ticks(1)
    name = sshds.hosts.names[1]
    sshds.kill_sshd(name)
    job.wait_for_ticks(1)
    sshds.start_one(name)
    job.wait_for_ticks(1, generation=1)
    job.let_end()
    assert job.said().count("done") == 3, job.said()
    wait_for_nothing(sshds)


def test_a_keeper_that_is_killed_is_replaced(sshds, start):
    job = start(sshds, 1, "-r", "worker:3")
    job.wait_for_ticks(0)
    name = sshds.hosts.names[0]
    (keeper,) = [pid for pid, line in sshds.commands(name, " host --folder ").items() if " task " not in line]
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: set(sshds.commands(name, " host --folder ")) - {keeper}, "another keeper", LIMIT_S)
    job.wait_for_ticks(0, generation=1)
    job.let_end()
    wait_for_nothing(sshds)


def children(pid, word):
    """Of that process: those with the word among the words of their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and word in (path / "cmdline").read_text().split("\0"):
                found.append(int(path.name))
    return found


@pytest.mark.parametrize("killed", ["the shell beside ssh", "ssh", "the keeper"])
def test_whoever_carries_a_running_job_may_be_killed(sshds, start, killed):
    """The shell's death failed the job while its ssh lived on; a keeper that got SIGTERM kept its connection, and its tasks were lost."""
    job = start(sshds, 1, "-r", "worker:3")
    for index in range(3):
        job.wait_for_ticks(index)
    name = sshds.hosts.names[1]
    (shell,) = children(job.process.pid, name)
    # Another one waits to read for us when we have died.
    (ssh,) = [pid for pid in children(shell, name) if pathlib.Path(f"/proc/{pid}/comm").read_text() == "ssh\n"]
    (keeper,) = [pid for pid, line in sshds.commands(name, " host --folder ").items() if " task " not in line]
    victim, number = {"the shell beside ssh": (shell, signal.SIGKILL), "ssh": (ssh, signal.SIGKILL), "the keeper": (keeper, signal.SIGTERM)}[killed]
    os.kill(victim, number)
    # All three go, and others come.
    wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}/exe").exists() for pid in (shell, ssh, keeper)), f"the end of {shell}, {ssh}, {keeper}", LIMIT_S)
    wait_until(lambda: children(job.process.pid, name), "another ssh", LIMIT_S)
    job.wait_for_ticks(1, generation=1)
    job.let_end()
    assert job.said().count("done") == 3 and "restart" not in job.said(), job.said()
    wait_for_nothing(sshds)


def test_a_cut_link_that_comes_back_costs_nothing(sshds, start):
    job = start(sshds, 1, "-r", "worker:3")
    job.wait_for_ticks(2)
    name = sshds.hosts.names[2]
    sshds.hosts.cut(name)
    job.wait_for_ticks(2)
    # ssh has given the connection up, and another one is tried.
    wait_until(lambda: name in master_log(job.home), lambda: job.said(), LIMIT_S)
    sshds.hosts.mend(name)
    job.wait_for_ticks(2, generation=1)
    job.let_end()
    assert job.said().count("done") == 3, job.said()
    wait_for_nothing(sshds)


def master_log(home):
    (log,) = home.glob("jobs/*/master.log")
    return "".join(line for line in log.read_text().splitlines(True) if "is not reached" in line)


def test_where_no_other_slot_is_free_the_lost_host_is_the_cause(sshds, start):
    job = start(sshds, 1, "-r", "worker:3", "--timeout", "master_lost=5s,allocation=30s")
    job.wait_for_ticks(2)
    name = sshds.hosts.names[2]
    sshds.hosts.cut(name)
    assert job.wait() == 1, job.said()
    # Whether ssh hears that there is no way, or nothing, depends on the moment.
    cause = re.search(f"worker:2 got no place within 30 s .*host {name}", job.said())
    assert f"worker:2 on {name} sent no heartbeat" in job.said() and cause, job.said()
    # The lease is over there too, and the keeper has heard nothing for too long.
    wait_for_nothing(sshds)


@pytest.mark.parametrize("fault", ["cut", "frozen"])
def test_tasks_of_a_lost_host_restart_elsewhere(sshds, start, fault):
    job = start(sshds, 2, "-r", "worker:3", "--timeout", "master_lost=5s", "--restarts", "3",
                command='echo "$GANGRUN_RESTARTS" >> restarts.$GANGRUN_TASK_INDEX; ' + TICK)
    job.wait_for_ticks(2)
    name = sshds.hosts.names[1]
    if fault == "cut":
        sshds.hosts.cut(name)
    else:
        sshds.freeze(name)
    for index in range(3):
        job.wait_for_ticks(index, generation=2)
    assert (job.folder / "restarts.1").read_text().split()[:2] == ["0", "1"]
    if fault == "frozen":
        sshds.thaw(name)
    wait_until(lambda: not sshds.commands(name, " task "), f"the end of agents on {name}", LIMIT_S)
    job.let_end()


def test_a_spare_takes_the_place_of_a_lost_host(sshds, start):
    job = start(sshds, 1, "-r", "worker:2", "--spares", "worker:1", "--timeout", "master_lost=5s", "--restarts", "1")
    job.wait_for_ticks(1)
    sshds.hosts.cut(sshds.hosts.names[1])
    job.wait_for_ticks(0, generation=2)
    job.let_end()


def test_a_slow_link_brings_all_lines(sshds, start):
    name = sshds.hosts.names[0]
    subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "10mbit", "burst", "32kbit",
                    "latency", "400ms"], check=True, timeout=30)
    job = start(sshds, 1, "-r", "worker:3", command="seq 300000; echo error-line >&2; exit 3")
    assert job.wait() == 1, job.said()
    assert "error-line" in job.said() and "exited with status 3" in job.said()
    (log,) = job.home.glob("jobs/*/logs/worker-0.out")
    # What failed first ends the others, each with what it had written then.
    numbers = log.read_text().split()
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    wait_for_nothing(sshds)


def test_lines_come_as_long_as_bytes_come_after_the_end_of_a_task(sshds, start):
    """Longer than an end is waited for otherwise: its last line was missing, and leftovers were looked for."""
    name = sshds.hosts.names[0]
    subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "1mbit", "burst", "32kbit",
                    "latency", "400ms"], check=True, timeout=30)
    job = start(sshds, 1, "-r", "worker:1", command="seq 700000")
    assert job.wait() == 0, job.said()[-2000:]
    (log,) = job.home.glob("jobs/*/logs/worker-0.out")
    assert log.read_text() == "".join(f"{number}\n" for number in range(1, 700_001))
    assert "could not confirm" not in (job.folder / "err").read_text()
    wait_for_nothing(sshds)


def test_a_long_log_comes_whole(sshds, start):
    job = start(sshds, 1, "-r", "worker:3", command="seq 1000000")
    assert job.wait() == 0, job.said()[-2000:]
    whole = "".join(f"{number}\n" for number in range(1, 1_000_001))
    for index in range(3):
        (log,) = job.home.glob(f"jobs/*/logs/worker-{index}.out")
        assert log.read_text() == whole


def test_hosts_behind_a_jump_host_are_reached(sshds, run_on_ssh):
    jump, *behind = sshds.hosts.names
    sshds.config.write_text("".join(f"Host {name}\n  ProxyJump {jump}\n" for name in behind) + sshds.config.read_text())
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "--", "sh", "-c", "echo at $GANGRUN_HOST")
    assert done.status == 0, done
    assert {line.split(" | at ")[1] for line in done.stdout.splitlines()} == {sshds.hosts.address(name) for name in sshds.hosts.names}
    wait_for_nothing(sshds)


def test_a_jump_host_that_is_down_is_named(private, run_gangrun, tmp_path):
    """The host behind it was told to run no sshd."""
    jump, behind = private.hosts.names
    private.config.write_text(f"Host {behind}\n  ProxyJump {jump}\n" + private.config.read_text())
    private.kill_sshd(jump)
    done = run_gangrun("run", "--on", "ssh", "--ssh-config", str(private.config), "--hosts", behind, "--", "true", cwd=tmp_path)
    assert done.status == 3, done
    assert f"the way to host {behind} leads over another one: host {private.hosts.address(jump)} runs no sshd at its port" in done.stderr, done
    private.start_one(jump)


def test_where_a_folder_is_noexec_or_full_the_next_one_is_taken(make_sshds, run_on_ssh):
    sshds = make_sshds(1, before="mkdir -p {cache}/gangrun && mount -t tmpfs -o noexec,mode=700 none {cache}/gangrun && ")
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--", "sh", "-c", "echo here")
    assert done.status == 0 and "here" in done.stdout, done
    assert sshds.run(sshds.hosts.names[0], "ls /var/tmp/gangrun-0/agents").strip()
    subprocess.run(["rm", "-rf", "/var/tmp/gangrun-0"], check=True, timeout=60)


def test_a_host_with_no_folder_for_the_program_is_refused(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(1, before="mkdir -p {cache}/small {cache}/noexec && mount -t tmpfs -o size=1m,mode=700 none {cache}/small && "
                                 "mount -t tmpfs -o noexec,mode=700 none {cache}/noexec && ")
    (name,) = sshds.hosts.names
    for folder, why in ("small", "KiB free, and"), ("noexec", "is mounted noexec"):
        job = {"name": "j", "tasks": {"worker": {}}, "command": "true", "on": "ssh", "hosts": [name],
               "ssh": {"config": str(sshds.config), "folder": f"{sshds.cache(name)}/{folder}"}}
        (tmp_path / "job.yaml").write_text(json.dumps(job))
        done = run_gangrun("run", "job.yaml", cwd=tmp_path)
        assert done.status not in (0, 1), done
        assert f"host {name} has no folder for gangrun-agent" in done.stderr and why in done.stderr, done


def test_a_login_that_prints_is_no_hindrance(make_sshds, run_on_ssh, tmp_path):
    sshds = make_sshds(1, sshd_options="Banner /etc/hostname\nForceCommand echo 'Welcome!'; printf 'no end'; eval "
                                       "\"$SSH_ORIGINAL_COMMAND\"\n")
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--", "sh", "-c", "echo here")
    assert done.status == 0 and "here" in done.stdout, done
    done = run_on_ssh(make_silent(sshds), 1, "-r", "worker:1", "--", "true")
    assert done.status not in (0, 1) and "host" in done.stderr, done


def make_silent(sshds):
    """A host whose login ends without a word."""
    for name in sshds.hosts.names:
        sshds.kill_sshd(name)
        sshds.sshd_options = "ForceCommand exit 7\n"
        sshds.start_one(name)
    return sshds


def test_a_task_is_reached_through_ssh_alone(sshds, gangrun, home, start):
    serve = ('python3 -c "import http.server, os; http.server.HTTPServer((\'127.0.0.1\', int(os.environ[\'GANGRUN_PORT\'])), '
             'http.server.SimpleHTTPRequestHandler).serve_forever()"')
    job = start(sshds, 1, "-d", "-r", "worker:3", command=serve)
    assert job.wait() == 0, job.said()
    opened = subprocess.Popen([gangrun, "open", "last", "worker:2", "--json"], env=os.environ | {"GANGRUN_HOME": str(home)},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    killer = threading.Timer(LIMIT_S, opened.kill)
    killer.start()
    try:
        url = json.loads(opened.stdout.readline())["url"]
        got = subprocess.run(["curl", "-sS", "-m", "60", url], capture_output=True, text=True, timeout=LIMIT_S)
        assert "Directory listing" in got.stdout, got
    finally:
        killer.cancel()
        opened.terminate()
        opened.wait(timeout=LIMIT_S)
        subprocess.run([gangrun, "kill", "last"], env=os.environ | {"GANGRUN_HOME": str(home)}, check=True, timeout=LIMIT_S)
    wait_for_nothing(sshds)


def keeper_of(sshds, name):
    (keeper,) = [pid for pid, line in sshds.commands(name, " host --folder ").items() if " task " not in line]
    return keeper


# Longer than a keeper's patience with a client that says nothing.
LONG_STOP_S = 40


@pytest.mark.parametrize("end", ["later", "meanwhile"])
def test_a_client_that_is_stopped_for_long_goes_on_where_it_was(sshds, start, end):
    """Ctrl-Z, a laptop asleep: the keeper let go after 30 s, and nobody told the client: its tasks were lost, and their lines."""
    command = ('while ! test -e "go$GANGRUN_TASK_INDEX"; do echo "$GANGRUN_GENERATION" >> "tick.$GANGRUN_TASK_INDEX"; sleep 0.05; done; '
               "seq 2000; echo done")
    job = start(sshds, 1, "-r", "worker:3", command=command)
    for index in range(3):
        job.wait_for_ticks(index)
    job.process.send_signal(signal.SIGSTOP)
    stopped_at = time.monotonic()
    if end == "meanwhile":
        for index in range(3):
            (job.folder / f"go{index}").touch()
    wait_until(lambda: time.monotonic() - stopped_at > LONG_STOP_S, "the end of a keeper's patience", LIMIT_S)
    if end == "later":
        # They have lived on meanwhile.
        for index in range(3):
            job.wait_for_ticks(index, generation=1)
    job.process.send_signal(signal.SIGCONT)
    for index in range(3):
        (job.folder / f"go{index}").touch()
    assert job.wait() == 0, job.said()[-3000:]
    whole = "".join(f"{number}\n" for number in range(1, 2001)) + "done\n"
    for index in range(3):
        (log,) = job.home.glob(f"jobs/*/logs/worker-{index}.out")
        assert log.read_text() == whole
    assert "restart" not in job.said() and "lost" not in job.said(), job.said()[-3000:]
    wait_for_nothing(sshds)


def test_a_keeper_that_is_told_to_end_while_another_host_logs_in_is_replaced(make_sshds, start, fake_ssh, tmp_path):
    """What it said then was taken for something that nobody had asked for: status 3, and no second try."""
    sshds = make_sshds(2)
    slow, quick = sshds.hosts.names
    fake_ssh(f'case "$*" in *{slow}*) while ! test -e {tmp_path}/slow; do sleep 0.05; done ;; esac; exec /usr/bin/ssh "$@"')
    job = start(sshds, 1, "-r", "worker:2")
    wait_until(lambda: sshds.commands(quick, " host --folder "), lambda: f"a keeper on {quick}: {job.said()}", LIMIT_S)
    first = keeper_of(sshds, quick)
    # Before that it knows no SIGTERM, and it is replaced like one that was killed.
    os.kill(first, signal.SIGTERM)
    wait_until(lambda: set(sshds.commands(quick, " host --folder ")) - {first}, lambda: f"another keeper: {job.said()}", LIMIT_S)
    (tmp_path / "slow").touch()
    for index in range(2):
        job.wait_for_ticks(index, generation=1)
    job.let_end()
    wait_for_nothing(sshds)


def test_a_task_has_the_umask_of_the_login(make_sshds, run_on_ssh):
    """They had that of our login script, 0077, and ssh itself has 0022."""
    sshds = make_sshds(1)
    (name,) = sshds.hosts.names
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--", "sh", "-c", "umask")
    assert done.status == 0, done
    assert sshds.run(name, "umask").strip() in done.stdout, done


def test_a_login_that_leaves_a_process_delays_nothing(make_sshds, start):
    """A `.bashrc` with ssh-agent: as long as that process holds the connection, ssh does not end, whatever has become of the keeper."""
    sshds = make_sshds(1, sshd_options="ForceCommand sleep 600 & exec /bin/sh\n")
    (name,) = sshds.hosts.names
    job = start(sshds, 1, "-r", "worker:1")
    job.wait_for_ticks(0)
    first = keeper_of(sshds, name)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: set(sshds.commands(name, " host --folder ")) - {first}, lambda: f"another keeper: {job.said()}", LIMIT_S)
    job.wait_for_ticks(0, generation=1)
    job.let_end()
    # The keeper's word is what counts.
    (log,) = job.home.glob("jobs/*/master.log")
    assert "does not say that the job's folder is removed" not in log.read_text()
    assert "does not answer though ssh does" not in log.read_text()
    wait_for_nothing(sshds)


def test_one_host_takes_a_thousand_tasks(make_sshds, run_on_ssh):
    """From five hundred on they had no answer from the master for 30 s."""
    sshds = make_sshds(1)
    done = run_on_ssh(sshds, 1000, "-r", "worker:1000", "--", "sh", "-c", "echo $GANGRUN_TASK_INDEX", timeout=LIMIT_S)
    assert done.status == 0, done.stderr[-2000:]
    told = sorted(int(line.split(" | ")[1]) for line in done.stdout.splitlines())
    assert told == list(range(1000))
    wait_for_nothing(sshds)
