"""Bad input (promise P8): one line that names the field, the value and what is allowed, before anything is started."""

import json
import os
import subprocess

import pytest

GOOD = {"tasks": {"worker": {}}, "command": "true"}


def refused(done, home, *parts, status=2):
    assert done.status == status, done
    assert done.stdout == ""
    assert done.stderr.startswith("gangrun: ") and done.stderr.count("\n") == 1, done.stderr
    assert len(done.stderr) < 1000
    for part in parts:
        assert part in done.stderr
    jobs = home / "jobs"
    assert not jobs.exists() or list(jobs.iterdir()) == []


SPECS = {
    "unknown key": (GOOD | {"restart": 3}, ["restart", "did you mean"]),
    "a key of a section": (GOOD | {"queue": "q"}, ["'queue' is not a key of a job", "did you mean yarn.queue or kubernetes.queue?"]),
    "a key of a section in a task": ({"tasks": {"worker": {"queue": "q"}}, "command": "true"},
                                     ["tasks.worker: 'queue' is not a key here", "did you mean yarn.queue or kubernetes.queue?"]),
    "unknown key of a task": ({"tasks": {"worker": {"memmory": "1 GiB"}}, "command": "true"}, ["memmory", "memory"]),
    "wrong type": ({"tasks": ["worker"], "command": "true"}, ["tasks"]),
    "wrong type of a number": ({"tasks": {"worker": {"instances": "two"}}, "command": "true"}, ["tasks.worker.instances", "'two'"]),
    "negative number": ({"tasks": {"worker": {"instances": -1}}, "command": "true"}, ["tasks.worker.instances", "'-1'"]),
    "absurd number": ({"tasks": {"worker": {"instances": 10**30}}, "command": "true"}, ["tasks.worker.instances"]),
    "unit typo": ({"tasks": {"worker": {"memory": "2 GBB"}}, "command": "true"}, ["tasks.worker.memory", "'2 GBB'", "GiB"]),
    "override of a task that is not there": (
        {"tasks": {"worker": {"overrides": {7: {"memory": "1 GiB"}}}}, "command": "true"}, ["worker", "7"]),
    "empty command": ({"tasks": {"worker": {}}, "command": ""}, ["command"]),
    "no command": ({"tasks": {"worker": {}}}, ["command"]),
    "no tasks": ({"tasks": {}, "command": "true"}, ["tasks"]),
    "zero tasks": ({"tasks": {"worker": {"instances": 0}}, "command": "true"}, ["instances", "'0'"]),
    "another place": (GOOD | {"on": "yran"}, ["'yran'", "local", "yarn"]),
    "what only a cluster has": ({"tasks": {"worker": {"resources": {"yarn.io/fpga": 1}}}, "command": "true"},
                                ["tasks.worker.resources.yarn.io/fpga", "'1'", "`on: local`", "`on: yarn`"]),
    "a file of a cluster on this machine": (GOOD | {"files": ["hdfs:///a"]}, ["files.0", "'hdfs:///a'", "`on: yarn`"]),
    "a file that YARN has to be brought": (GOOD | {"on": "yarn", "files": ["nothing.py"]}, ["files", "nothing.py", "no such"]),
    "a file that a host would have to put elsewhere": (
        GOOD | {"on": "ssh", "hosts": ["h1"], "files": ["/etc/hostname#../../evil"]}, ["files", "'../../evil'", "'..'"]),
    "hosts on YARN": (GOOD | {"on": "yarn", "hosts": ["h1"]}, ["hosts", "'h1'", "`on: local`"]),
    "YARN without a cluster": (GOOD | {"on": "yarn"}, ["HADOOP_CONF_DIR", "core-site.xml"]),
    "unknown framework": (GOOD | {"framework": "tensorflw"}, ["'tensorflw'", "tensorflow"]),
    "missing file": (GOOD | {"files": ["nothing.py"]}, ["files", "nothing.py", "no such"]),
    "more memory than there is": ({"tasks": {"worker": {"memory": "60 TiB"}}, "command": "true"}, ["memory"]),
    "more GPUs than there are": ({"tasks": {"worker": {"gpus": 1000}}, "command": "true"}, ["1000 GPUs", "this machine has"]),
    "a program that is not there": ({"tasks": {"worker": {}}, "command": ["no-such-program"]}, ["worker", "'no-such-program'", "PATH"]),
    "a program that is not a file": ({"tasks": {"worker": {}}, "command": ["./"]}, ["worker", "not an executable file"]),
}


@pytest.mark.parametrize("name", SPECS)
def test_job_files(run_gangrun, home, tmp_path, name):
    spec, parts = SPECS[name]
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(spec))
    refused(run_gangrun("run", path, cwd=tmp_path), home, *parts)


FLAGS = {
    "unknown type": (["-r", "worker:2", "-m", "ps:2g"], ["-m", "ps"]),
    "unit typo": (["-r", "worker:2", "-m", "4gg"], ["-m", "'4gg'"]),
    "bad role": (["-r", "worker:x"], ["-r", "worker:x"]),
    "bad variable": (["-r", "worker:1", "-e", "=x"], ["-e"]),
    "unknown timeout": (["-r", "worker:1", "--timeout", "jb=1h"], ["--timeout", "jb", "job"]),
    "another place": (["-r", "worker:1", "--on", "kubernets"], ["'kubernets'", "kubernetes", "local"]),
    "what only a cluster has": (["--resource", "yarn.io/fpga=1"], ["--resource", "'1'", "`on: yarn`"]),
    "an own address on YARN": (["--on", "yarn", "--host", "127.0.0.1"], ["--host", "'127.0.0.1'", "`on: local`"]),
    "unknown containment": (["-r", "worker:1", "--containment", "cgrup"], ["'cgrup'", "cgroup"]),
    "a host that does not resolve": (["-r", "worker:1", "--host", "no-such-host.invalid"], ["--host", "no-such-host.invalid"]),
    "a host that is not this machine": (["-r", "worker:1", "--host", "192.0.2.1"], ["--host", "192.0.2.1", "not this machine"]),
    "missing file": (["-r", "worker:1", "-f", "nothing.py"], ["nothing.py"]),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags(run_gangrun, home, tmp_path, name):
    flags, parts = FLAGS[name]
    refused(run_gangrun("run", *flags, "--", "true", cwd=tmp_path), home, *parts)


def test_a_job_needs_tasks_and_a_command(run_gangrun, home, tmp_path):
    refused(run_gangrun("run", "-r", "worker:2", cwd=tmp_path), home, "command")
    refused(run_gangrun("run", cwd=tmp_path), home, "tasks")


def test_a_missing_job_file(run_gangrun, home, tmp_path):
    refused(run_gangrun("run", "nothing.yaml", cwd=tmp_path), home, "nothing.yaml", "No such file")
    refused(run_gangrun("run", tmp_path, cwd=tmp_path), home, str(tmp_path))


def test_a_job_file_of_100_mb(run_gangrun, home, tmp_path):
    path = tmp_path / "big.yaml"
    with open(path, "wb") as file:
        file.truncate(100 << 20)
    refused(run_gangrun("run", path, cwd=tmp_path, timeout=20), home, "big.yaml", "limit")


def test_a_job_file_that_is_not_utf8(run_gangrun, home, tmp_path):
    path = tmp_path / "latin.yaml"
    path.write_bytes(b'name: "caf\xe9"\ntasks: {worker: {}}\ncommand: "true"\n')
    refused(run_gangrun("run", path, cwd=tmp_path), home, "latin.yaml", "UTF-8")


def test_an_error_shows_no_control_characters_of_the_input(run_gangrun, home, tmp_path):
    done = run_gangrun("run", "-r", "worker:1", "--name", "a\x1b[31mb", "--", "true", cwd=tmp_path)
    refused(done, home, "name")
    assert "\x1b" not in done.stderr


def open_way_to(folder):
    """Lets every user into a folder, up to one that all may enter already: that belongs to the machine."""
    for path in (folder, *folder.parents):
        if path.stat().st_mode & 0o055 == 0o055:
            break
        path.chmod(0o755)


def as_nobody(command, environment, folder):
    """Runs a command without the rights of root, where we have them."""
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    return subprocess.run(command, env=os.environ | environment, cwd=folder, capture_output=True, text=True, timeout=60)


def test_an_unreadable_file(gangrun, home, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("")
    secret.chmod(0)
    open_way_to(tmp_path)
    done = as_nobody([str(gangrun), "run", "-r", "worker:1", "-f", "secret.py", "--", "true"],
                     {"GANGRUN_HOME": str(home)}, tmp_path)
    assert done.returncode == 2, done
    assert "secret.py" in done.stderr and "Permission denied" in done.stderr


def test_a_home_without_write_permission(gangrun, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    open_way_to(tmp_path)
    done = as_nobody([str(gangrun), "run", "-r", "worker:1", "--", "true"], {"GANGRUN_HOME": str(closed)}, tmp_path)
    assert done.returncode == 3, done
    assert done.stderr.count("\n") == 1 and str(closed) in done.stderr and "Permission denied" in done.stderr
    assert list(closed.iterdir()) == []


def test_a_home_that_is_a_file(run_gangrun, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = run_gangrun("run", "-r", "worker:1", "--", "true", env={"GANGRUN_HOME": str(file)}, cwd=tmp_path)
    assert done.status == 3 and str(file) in done.stderr and done.stderr.count("\n") == 1


def test_a_full_disk(gangrun, tmp_path):
    """A small tmpfs in a mount namespace of our own; /dev/full where we may not mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = ('mount -t tmpfs -o size=32k tmpfs "$1" 2>/dev/null || { echo x > /dev/full; exit $?; } 2>&1; '
              'GANGRUN_HOME="$1" "$2" run -r worker:1 -- true; status=$?; ls -A "$1/jobs"; exit $status')
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(disk), str(gangrun)],
                          capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode != 0
    assert "space left" in done.stdout + done.stderr or "Operation not permitted" in done.stderr, done
    if "gangrun:" in done.stderr:
        assert done.returncode == 3 and done.stdout == "" and done.stderr.count("\n") == 1


def test_an_agent_that_is_not_there(run_gangrun, home, tmp_path):
    done = run_gangrun("run", "-r", "worker:1", "--", "true", env={"GANGRUN_AGENT": str(tmp_path / "none")}, cwd=tmp_path)
    refused(done, home, "GANGRUN_AGENT", str(tmp_path / "none"), status=3)
