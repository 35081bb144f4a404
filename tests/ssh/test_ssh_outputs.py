"""What tasks write on hosts that do not share the client's folder: it is brought, or named and kept, and never just gone."""

import json
import os
import signal
import subprocess

import pytest

from ssh_job import LIMIT_S
from test_ssh_start import nothing_left
from waiting import wait_until

WRITE = ('mkdir -p model && echo "weights of $GANGRUN_TASK_INDEX" > "model/w.$GANGRUN_TASK_INDEX" && echo more >> train.py '
         '&& head -c 2000000 /dev/zero > "big.$GANGRUN_TASK_INDEX"')


def outputs(home):
    (job,) = (home / "jobs").iterdir()
    found = job / "outputs"
    return {str(path.relative_to(found)): path for path in found.rglob("*") if not path.is_dir()} if found.exists() else {}


def kept(sshds, name):
    """The copied folder that the host has kept."""
    (folder,) = sshds.run_folders(name)
    return sshds.cache(name) / "gangrun/jobs" / folder / "work"


def run(run_on_ssh, sshds, *words, command=WRITE):
    return run_on_ssh(sshds, 1, "-r", "worker:2", "-f", "train.py", "-f", "same", *words, "--", "sh", "-c", command)


@pytest.mark.gate
def test_what_is_new_or_has_changed_is_brought(private, run_on_ssh, run_gangrun, home):
    done = run(run_on_ssh, private)
    assert done.status == 0, done
    assert "tasks work on each host in a folder that is copied there" in done.stderr
    one, two = private.hosts.names
    assert sorted(outputs(home)) == sorted(f"{host}/{name}" for host, index in ((one, 0), (two, 1))
                                           for name in (f"big.{index}", f"model/w.{index}", "train.py"))
    assert outputs(home)[f"{two}/model/w.1"].read_text() == "weights of 1\n"
    assert outputs(home)[f"{one}/train.py"].read_text() == "print('trained')\nmore\n"
    assert f"6 files (3.8 MiB) that tasks have written on {one}, {two} are in " in done.stderr
    nothing_left(private)
    fetched = json.loads(run_gangrun("fetch", "last", "--json").stdout)
    assert {each["task"] for each in fetched["outputs"]} == {one, two}


def test_what_is_over_the_limit_is_named_and_stays_until_it_is_removed(private, run_on_ssh, run_gangrun, home):
    done = run(run_on_ssh, private, "--outputs-limit", "1m")
    assert done.status == 0, done
    one, two = private.hosts.names
    assert f"1 file of host {one} (1.9 MiB) over outputs_limit (1 MiB) stays in" in done.stderr and "big.0" in done.stderr
    assert f"{one}/model/w.0" in outputs(home) and f"{one}/big.0" not in outputs(home)
    for name, index in ((one, 0), (two, 1)):
        assert str(kept(private, name)) in done.stderr
        assert (kept(private, name) / f"big.{index}").stat().st_size == 2_000_000
    # Nobody sits before it.
    assert run_gangrun("rm", "last").status == 2
    removed = run_gangrun("rm", "--yes", "last")
    assert removed.status == 0, removed
    assert not list((home / "jobs").iterdir())
    nothing_left(private)


@pytest.mark.parametrize("words, names", [
    (["--output", "model/", "--output", "nothing"], ["model/w"]),
    (["--output", "same"], ["same"]),
], ids=["new", "as it was"])
def test_what_is_named_is_brought_and_nothing_else(private, run_on_ssh, home, words, names):
    done = run(run_on_ssh, private, *words)
    assert done.status == 0, done
    assert {name.split("/", 1)[1].split(".")[0] for name in outputs(home)} == set(names)
    assert ('has written "nothing"' in done.stderr) == ("nothing" in words)
    nothing_left(private)


def test_an_empty_list_brings_nothing(private, run_on_ssh, home, tmp_path):
    (tmp_path / "job.yaml").write_text("outputs: []\nfiles: [train.py]\ntasks: {worker: {instances: 2}}\n")
    done = run_on_ssh(private, 1, "job.yaml", "--", "sh", "-c", WRITE)
    assert done.status == 0, done
    assert outputs(home) == {}
    nothing_left(private)


def test_folders_are_kept_until_the_job_is_removed(private, run_on_ssh, run_gangrun):
    done = run(run_on_ssh, private, "--keep-folders")
    assert done.status == 0 and "the folders of the job stay until `gangrun rm`" in done.stderr, done
    for name in private.hosts.names:
        assert (kept(private, name) / "same").exists()
        os.utime(kept(private, name).parent, (1, 1))
    # The next job there removes what is older than a day, but not this.
    assert run(run_on_ssh, private).status == 0
    assert all(len(private.run_folders(name)) == 1 for name in private.hosts.names)
    jobs = [job["id"] for job in json.loads(run_gangrun("ps", "--json").stdout)]
    removed = run_gangrun("rm", "--yes", "--json", *jobs)
    assert json.loads(removed.stdout) == {"removed": jobs}, removed
    nothing_left(private)


def test_what_tasks_have_written_outlives_a_client_that_is_killed(private, start, run_gangrun, tmp_path):
    job = start(private, 1, "-r", "worker:2", "-f", "train.py", command="echo weights > model; echo said; exec sleep 1000")
    wait_until(lambda: job.said().count("said") == 2, job.said, LIMIT_S)
    job.process.kill()
    job.wait()
    for name in private.hosts.names:
        wait_until(lambda: not private.agents(name), lambda: f"the end of agents on {name}: {private.agents(name)}", LIMIT_S)
        assert (kept(private, name) / "model").read_text() == "weights\n"
    removed = run_gangrun("rm", "--yes", "last")
    assert removed.status == 0, removed
    nothing_left(private)


def test_a_detached_job_has_ended_when_its_files_have_come(private, run_on_ssh, run_gangrun, home):
    done = run(run_on_ssh, private, "--detach")
    assert done.status == 0, done
    assert run_gangrun("wait", "last").status == 0
    assert len(outputs(home)) == 6
    notes = json.loads(run_gangrun("status", "last", "--json").stdout)["notes"]
    assert any("are in " in note for note in notes) and any("tasks work on each host" in note for note in notes), notes


def test_a_folder_that_is_shared_keeps_its_files(sshds, run_on_ssh, home, tmp_path):
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "--output", "model", "--", "sh", "-c",
                      'mkdir -p model; echo "$GANGRUN_TASK_INDEX" > "model/$GANGRUN_TASK_INDEX"')
    assert done.status == 0 and "written" not in done.stderr, done
    assert sorted(os.listdir(tmp_path / "model")) == ["0", "1", "2"]
    assert outputs(home) == {}


def test_a_full_disk_here_leaves_the_files_there(private, run_on_ssh, home, tmp_path):
    """The outputs of a job lie below its folder: here on a disk without room."""
    command = "mkdir -p model; head -c 30000000 /dev/zero > model/w"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", home], check=True, timeout=30)
    try:
        done = run(run_on_ssh, private, command=command)
        assert done.status == 0, done
        assert "was not all brought, and stays in" in done.stderr and "No space left on device" in done.stderr, done
        assert not [name for name in outputs(home) if ".gangrun-" in name]
    finally:
        subprocess.run(["umount", "-l", home], check=True, timeout=30)
    for name in private.hosts.names:
        assert (kept(private, name) / "model/w").stat().st_size == 30_000_000


def test_ctrl_c_while_files_come_counts_whole_files_only(private, start, home):
    """It said that the tasks, which had ended, have 30 s, and counted what was there of a file that was not."""
    job = start(private, 1, "-r", "worker:1", "--output", "big", "-f", "same", command="head -c 300000000 /dev/zero > big")
    wait_until(lambda: (home / "jobs").exists() and any(".gangrun-" in name for name in outputs(home)), job.said, LIMIT_S)
    for name in private.hosts.names:
        private.freeze(name)
    try:
        job.process.send_signal(signal.SIGINT)
        wait_until(lambda: "Ctrl-C" in job.said(), job.said, LIMIT_S)
    finally:
        for name in private.hosts.names:
            private.thaw(name)
    job.wait()
    said = job.said()
    assert "Ctrl-C: the tasks have ended; files of theirs are not waited for" in said and "to stop" not in said, said
    assert "was not all brought, and stays in" in said and " that tasks have written on " not in said, said


# Links with an absolute path and with a slash behind, what is no file, a long name, and names like those of what comes.
ODD = '''mkdir -p ckpt runs/first; echo weights > ckpt/w; ln -s "$PWD/ckpt" model; ln -s ../outside out; mkfifo pipe
echo 1 > "$(printf 'n%.0s' $(seq 250))"; echo 2 > w; echo 3 > w.gangrun-part'''


@pytest.mark.parametrize("words, names", [
    (["--output", "model/", "--output", "out", "--output", "pipe", "--output", "runs/"], {"ckpt/w"}),
    ([], {"ckpt/w", "n" * 250, "w", "w.gangrun-part"}),
], ids=["named", "all that is new"])
def test_links_and_empty_folders_come_and_what_cannot_is_named_and_stays(private, run_on_ssh, run_gangrun, home, words, names):
    """They went without a word, status 0, and were removed with the folder."""
    done = run(run_on_ssh, private, *words, command=ODD)
    assert done.status == 0, done
    for host in private.hosts.names:
        (sentence,) = [line for line in done.stderr.splitlines() if f"what tasks have made on host {host} cannot all be brought" in line]
        assert f"and stays in {kept(private, host)} for a day" in sentence
        assert '"out" (a link to nothing)' in sentence and '"pipe" (a FIFO)' in sentence
        assert (kept(private, host) / "pipe").is_fifo()
        assert {name.split("/", 1)[1] for name in outputs(home) if name.startswith(host)} == names
        (job,) = (home / "jobs").iterdir()
        assert os.readlink(job / "outputs" / host / "model") == "ckpt"
        assert (job / "outputs" / host / "model/w").read_text() == "weights\n"
        assert (job / "outputs" / host / "runs/first").is_dir()
    # All that can be brought has been; what cannot is told each time.
    for _ in range(2):
        fetched = run_gangrun("fetch", "last")
        assert fetched.status == 0, fetched
        for host in private.hosts.names:
            (sentence,) = [line for line in fetched.stderr.splitlines() if line.startswith(f"gangrun: host {host}: ")]
            assert f"what cannot be brought stays in {kept(private, host)} for a day: " in sentence and '"pipe" (a FIFO)' in sentence
    assert run_gangrun("rm", "--yes", "last").status == 0
    nothing_left(private)
