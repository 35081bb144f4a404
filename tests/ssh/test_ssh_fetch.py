"""What hosts have kept of an ended job is brought by `gangrun fetch`, and removed there only when all of it has come."""

import fcntl
import json
import os
import signal
import subprocess

import pytest

from ssh_job import LIMIT_S
from test_ssh_outputs import kept, outputs, run
from test_ssh_start import nothing_left
from waiting import wait_until

LIMIT = ("--outputs-limit", "1m")


def fetched(done):
    """What each host has said, by its name."""
    return {each["host"]: each for each in json.loads(done.stdout)["hosts"]}


def test_what_was_over_the_limit_is_brought_whole_and_then_nothing_is_left(private, run_on_ssh, run_gangrun, home):
    done = run(run_on_ssh, private, *LIMIT)
    assert done.status == 0 and 'for `gangrun fetch`: "big.0' in done.stderr, done
    one, two = private.hosts.names
    assert f"{one}/big.0" not in outputs(home)
    (outputs(home)[f"{one}/model/w.0"]).write_text("edited here\n")
    first = run_gangrun("fetch", "last", one)
    assert first.status == 0, first
    assert f"1 file (1.9 MiB) has come from host {one}, which keeps nothing more to bring" in first.stderr
    assert private.run_folders(one) == [] and (kept(private, two) / "big.1").exists()
    rest = run_gangrun("fetch", "last", "--json")
    assert rest.status == 0, rest
    assert fetched(rest) == {two: {"host": two, "files": 1, "bytes": 2_000_000, "failure": "", "remark": ""}}
    for name, index in ((one, 0), (two, 1)):
        assert outputs(home)[f"{name}/big.{index}"].read_bytes() == bytes(2_000_000)
    # What has come before does not come again.
    assert outputs(home)[f"{one}/model/w.0"].read_text() == "edited here\n"
    nothing_left(private)
    again = run_gangrun("fetch", "last", "--json")
    assert again.status == 0 and fetched(again) == {}, again


# `wait` had ended a moment before the hosts were recorded, and `fetch` found nothing; `attach` did not say what stays.
def test_what_a_detached_job_has_left_is_there_when_it_has_ended(private, run_on_ssh, run_gangrun, home):
    assert run(run_on_ssh, private, *LIMIT, "--detach").status == 0
    attached = run_gangrun("attach", "last")
    assert attached.status == 0, attached
    assert "tasks work on each host" in attached.stderr and "for `gangrun fetch`" in attached.stderr, attached
    rest = run_gangrun("fetch", "last", "--json")
    assert rest.status == 0 and set(fetched(rest)) == set(private.hosts.names), rest
    assert run(run_on_ssh, private, *LIMIT, "--detach").status == 0
    assert run_gangrun("wait", "last").status == 0
    assert run_gangrun("rm", "--yes", "last").status == 0
    nothing_left(private)


def test_a_host_that_is_down_is_told_and_asked_again_later(private, run_on_ssh, run_gangrun, home):
    assert run(run_on_ssh, private, *LIMIT).status == 0
    one, two = private.hosts.names
    private.kill_sshd(one)
    failed = run_gangrun("fetch", "last", "--json")
    assert failed.status != 0 and f"host {one}" in failed.stderr, failed
    assert fetched(failed)[one]["failure"] and not fetched(failed)[two]["failure"]
    assert f"{two}/big.1" in outputs(home) and (kept(private, one) / "big.0").exists()
    private.start_one(one)
    later = run_gangrun("fetch", "last", "--json")
    assert later.status == 0 and list(fetched(later)) == [one], later
    assert outputs(home)[f"{one}/big.0"].stat().st_size == 2_000_000
    nothing_left(private)


def test_a_rest_that_is_gone_is_told_once(private, run_on_ssh, run_gangrun):
    assert run(run_on_ssh, private, *LIMIT).status == 0
    one, two = private.hosts.names
    subprocess.run(["rm", "-rf", kept(private, one).parent], check=True, timeout=LIMIT_S)
    failed = run_gangrun("fetch", "last", "--json")
    assert failed.status != 0 and f"host {one}: it has no" in failed.stderr and "kept for a day" in failed.stderr, failed
    assert fetched(failed)[two]["failure"] == ""
    again = run_gangrun("fetch", "last", "--json")
    assert again.status == 0 and fetched(again) == {}, again


def test_a_fetch_that_is_interrupted_leaves_the_rest_on_its_host(private, run_on_ssh, run_gangrun, gangrun, home):
    """The host is frozen as soon as bytes have come, and the command is ended then."""
    assert run(run_on_ssh, private, *LIMIT, command="head -c 300000000 /dev/zero > big").status == 0
    one, two = private.hosts.names
    fetch = subprocess.Popen([gangrun, "fetch", "last", one], env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_until(lambda: any(name.startswith(".gangrun-") for name in outputs(home)), "the first bytes", LIMIT_S)
    private.freeze(one)
    fetch.send_signal(signal.SIGINT)
    said, _ = fetch.communicate(timeout=LIMIT_S)
    private.thaw(one)
    assert fetch.returncode != 0 and f"host {one}: stopped" in said
    assert not outputs(home)
    assert (kept(private, one) / "big").stat().st_size == 300_000_000
    wait_until(lambda: not private.agents(one), lambda: f"the end of the keeper: {private.agents(one)}", LIMIT_S)
    done = run_gangrun("fetch", "last")
    assert done.status == 0, done
    assert outputs(home)[f"{one}/big"].stat().st_size == outputs(home)[f"{two}/big"].stat().st_size == 300_000_000
    nothing_left(private)


def test_two_commands_at_once_bring_all_and_have_their_turns(private, run_on_ssh, gangrun, home):
    """Both asked the same host, and each wrote what hosts have as it knew it."""
    assert run(run_on_ssh, private, *LIMIT).status == 0
    fetches = [subprocess.Popen([gangrun, "fetch", "last"], env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    ends = [(fetch.communicate(timeout=LIMIT_S)[0], fetch.returncode) for fetch in fetches]
    assert all(code == 0 for _, code in ends), ends
    for name, index in zip(private.hosts.names, (0, 1), strict=True):
        assert outputs(home)[f"{name}/big.{index}"].stat().st_size == 2_000_000
    nothing_left(private)


def test_a_fetch_waits_for_its_turn_and_can_be_interrupted(private, run_on_ssh, run_gangrun, gangrun, home, tmp_path):
    assert run(run_on_ssh, private, *LIMIT).status == 0
    (job,) = (home / "jobs").iterdir()
    said = tmp_path / "said"
    with open(job / "hosts.json.lock", "w") as lock, said.open("w") as out:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch = subprocess.Popen([gangrun, "fetch", "last"], env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=out)
        wait_until(lambda: "waits for another command that fetches or removes files of this job" in said.read_text(), said.read_text, LIMIT_S)
        fetch.send_signal(signal.SIGINT)
        assert fetch.wait(LIMIT_S) != 0
    assert run_gangrun("fetch", "last").status == 0
    nothing_left(private)


def test_what_has_come_of_each_host_is_told_though_it_cannot_be_noted(private, run_on_ssh, run_gangrun, home):
    """The first error ended the command, and nobody heard of what had come."""
    assert run(run_on_ssh, private, *LIMIT).status == 0
    (job,) = (home / "jobs").iterdir()
    (job / "hosts.json.lock").touch()
    subprocess.run(["chattr", "+i", job], check=True, timeout=LIMIT_S)
    try:
        failed = run_gangrun("fetch", "last", "--json")
    finally:
        subprocess.run(["chattr", "-i", job], check=True, timeout=LIMIT_S)
    assert failed.status != 0, failed
    for name, each in fetched(failed).items():
        assert each["files"] == 1 and f"host {name}: that all has come could not be noted: " in each["failure"], failed
    assert set(fetched(failed)) == set(private.hosts.names)
    nothing_left(private)


def test_a_name_that_is_none_is_refused_before_a_host_is_asked(private, run_on_ssh, run_gangrun):
    assert run(run_on_ssh, private, *LIMIT).status == 0
    one, two = private.hosts.names
    wrong = run_gangrun("fetch", "last", "nosuch")
    assert wrong.status == 2, wrong
    assert f"TASK: 'nosuch' is no task and no host of this job; allowed: worker:0 to worker:1, host {one}, host {two}" in wrong.stderr
    assert (kept(private, one) / "big.0").exists() and (kept(private, two) / "big.1").exists()
    assert run_gangrun("rm", "--yes", "last").status == 0


@pytest.mark.parametrize("keeps", [True, False], ids=["kept folders", "a killed client"])
def test_what_else_is_on_hosts_can_be_fetched(private, run_on_ssh, start, run_gangrun, home, keeps):
    if keeps:
        assert run(run_on_ssh, private, *LIMIT, "--keep-folders").status == 0
    else:
        job = start(private, 1, "-r", "worker:2", "-f", "train.py", command="head -c 9 /dev/zero > big.$GANGRUN_TASK_INDEX; echo said; exec sleep 1000")
        wait_until(lambda: job.said().count("said") == 2, job.said, LIMIT_S)
        job.process.kill()
        job.wait()
        for name in private.hosts.names:
            wait_until(lambda: not private.agents(name), lambda: f"the end of agents on {name}: {private.agents(name)}", LIMIT_S)
    done = run_gangrun("fetch", "last", "--json")
    assert done.status == 0 and set(fetched(done)) == set(private.hosts.names), done
    assert {name.split("/", 1)[1] for name in outputs(home)} >= {"big.0", "big.1"}
    again = run_gangrun("fetch", "last", "--json")
    assert again.status == 0, again
    # It says what stays there.
    stays = {name: each["remark"] for name, each in fetched(again).items()}
    assert stays == ({name: f"host {name}: the job's folder {kept(private, name).parent} stays until `gangrun rm`"
                      for name in private.hosts.names} if keeps else {})
    if keeps:
        assert all((kept(private, name) / "same").exists() for name in private.hosts.names)
        assert run_gangrun("rm", "--yes", "last").status == 0
    nothing_left(private)
