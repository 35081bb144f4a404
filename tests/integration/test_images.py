"""Tasks in container images on this machine, by a real engine.

What is tested is what an engine, its client, our agent and the container's first process do together.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
from clusters.engine.fixtures import PYTHON, SMALL
from living import processes_with
from waiting import wait_until

VENV = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun/tensorflow-2.15"
GONE_S = 20
LEVELS = ["pid_namespace", "cgroup", "subreaper"]
USER, GROUP, FURTHER_GROUP = 34561, 34562, 34563


@pytest.fixture
def run(run_gangrun, engine, tmp_path):
    """run("cat /proc/1/comm", "-r", "worker:2") runs a shell's line in the small image; the folder is the test's."""

    def run(line, *flags, image=SMALL, env=None):
        return run_gangrun("run", "--name", "images", "--image", image, *(flags or ["-r", "worker:1"]), "--", "sh", "-c", line,
                           cwd=tmp_path, env=engine.environment | (env or {}))

    return run


@pytest.fixture
def started(gangrun, home, engine, tmp_path):
    """started(line, flag...) starts a job whose task makes the file "up", and waits for that."""
    jobs = []

    def start(line, *flags):
        process = subprocess.Popen(
            [str(gangrun), "run", "--name", "images", "--image", SMALL, "-r", "worker:1", *flags, "--", "sh", "-c", line],
            cwd=tmp_path, env=os.environ | engine.environment | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        jobs.append(process)

        def is_up():
            assert process.poll() is None, process.stdout.read()
            return (tmp_path / "up").exists()

        wait_until(is_up, "the task to run")
        return process

    yield start
    for process in jobs:
        process.kill()
        process.wait()


def processes(process):
    """Guardian, agent and the engine's client of a job with one task."""
    found = {}
    below = [process.pid]
    while below:
        pid = below.pop()
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            below += map(int, (task / "children").read_text().split())
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if words[0].endswith(b"gangrun-agent"):
            found["agent" if "guardian" in found else "guardian"] = pid
        elif words[0].endswith(b"docker") and words[1] == b"run":
            found["client"] = pid
    return found


def test_a_command_beside_the_task_is_in_its_container(started, run_gangrun, gangrun, home, engine, tmp_path):
    started("touch up; exec sleep 1000", "-e", "OF_THE_JOB=a b")
    script = 'tr "\\0" " " < /proc/1/cmdline; echo "|$OF_THE_JOB|$PWD|$(id -u)"; cat; echo said >&2; exit 6'
    done = subprocess.run([gangrun, "exec", "last", "worker:0", "--", "sh", "-c", script], input="given\n", text=True, timeout=60,
                          capture_output=True, env=os.environ | {"GANGRUN_HOME": str(home)})
    assert done.returncode == 6, done
    first, rest = done.stdout.split("|", 1)
    assert first.startswith("/.gangrun-agent inside")
    assert rest == f"a b|{tmp_path}|{os.getuid()}\ngiven\n"
    assert done.stderr == "said\n"
    assert run_gangrun("exec", "last", "worker:0", "--", "no-such-program").status == 127

    setting = f"EXEC_TEST={tmp_path}"
    begun = subprocess.Popen([gangrun, "exec", "last", "worker:0", "--", "env", setting, "sh", "-c", "trap '' TERM HUP; echo up; sleep 900; true"],
                             env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert begun.stdout.readline() == "up\n"
    assert processes_with(setting)
    begun.kill()
    begun.wait(timeout=60)
    begun.stdout.close()
    wait_until(lambda: not processes_with(setting), "the end of the command in the container")
    assert json.loads(run_gangrun("status", "last", "--json").stdout)["state"] == "running"


def test_stacks_shows_the_processes_in_the_container(started, run_gangrun, engine):
    started("touch up; sleep 1000; true")
    engine.docker("exec", "--detach", *engine.containers(), "sleep", "900")
    seen = run_gangrun("stacks", "last", "--json", "--timeout", "40s")
    assert seen.status == 0, seen.stderr
    (task,) = json.loads(seen.stdout)["tasks"]
    # Neither the container's first process, which is gangrun's, nor what is beside the task.
    assert [(process["name"], process["state"]) for process in task["processes"]] == [("sh", "S"), ("sleep", "S")]
    for process in task["processes"]:
        assert process.get("native") or process.get("kernel") or process["trouble"], process


# It starts containers, and never a command in them.
SILENT = """#!/bin/sh
[ "$1" = exec ] && exec sleep 600
exec docker "$@"
"""


def test_stacks_names_the_container_whose_engine_does_not_answer(started, run_gangrun, engine, tmp_path, monkeypatch):
    """The master gave up at the same time, and only told that the agent did not answer."""
    client = tmp_path / "docker"
    client.write_text(SILENT.replace("exec docker", f"exec {shutil.which('docker')}"))
    client.chmod(0o755)
    monkeypatch.setenv("GANGRUN_CONTAINER_ENGINE", str(client))
    started("touch up; exec sleep 1000")
    (name,) = engine.containers()
    seen = run_gangrun("stacks", "last", "--timeout", "2s")
    assert seen.status == 0, seen.stderr
    why = f"not looked at within 2.0 s: {client} exec did not answer in time; allow more with --timeout"
    assert f"  {name}\n    ({why})\n" in seen.stdout, seen.stdout
    assert "its agent did not answer" not in seen.stdout


# Ignores everything, and so does its child.
STUBBORN = "trap '' TERM INT HUP; (trap '' TERM; sleep 1000) & touch up; while true; do sleep 0.1; done"


def assert_no_container(engine):
    wait_until(lambda: not engine.containers(), f"the end of {engine.containers()}", GONE_S)


def test_output_and_folder_are_those_of_a_process(run, tmp_path, engine):
    (tmp_path / "input").write_text("from the folder")
    done = run('cat input; echo to stderr >&2; pwd >where; cat /proc/1/comm; [ -x /usr/bin/env ] || echo "in the image"')
    assert done.status == 0, done.stderr
    assert "from the folder" in done.stdout
    assert "to stderr" in done.stdout + done.stderr
    assert "in the image" in done.stdout
    assert ".gangrun-agent" in done.stdout
    assert (tmp_path / "where").read_text().strip() == str(tmp_path)
    assert engine.containers() == []


@pytest.mark.parametrize(("line", "says"), [
    ("exit 3", "exited with status 3"),
    pytest.param("exit 137", "exited with status 137", marks=pytest.mark.programs),
    ("kill -SEGV $$", "killed by signal 11"),
    pytest.param("exec ./none/program", "exited with status 127", marks=pytest.mark.programs),
])
def test_the_end_is_told_exactly(run, line, says):
    done = run(line)
    assert done.status == 1
    assert says in done.stderr + done.stdout


def test_a_program_that_is_not_in_the_image_could_not_be_started(run_gangrun, engine, tmp_path):
    done = run_gangrun("run", "--image", SMALL, "-r", "worker:1", "--", "no-such-program", cwd=tmp_path,
                       env=engine.environment)
    assert done.status == 3
    assert "could not be started" in done.stderr + done.stdout
    assert "no-such-program" in done.stderr + done.stdout


def test_the_environment_is_the_images_with_ours_over_it(run, tmp_path):
    done = run("env >variables; id -u >user; id -g >>user", "-r", "worker:1", "-e", "PASSWORD=hush", "-e", "LINES=a\nb",
               env={"JAVA_HOME": "/usr/share", "NOT_FOR_IMAGES": "1", "PATH": os.environ["PATH"]})
    assert done.status == 0, done.stderr
    variables = (tmp_path / "variables").read_text()
    assert "IMAGE_VARIABLE=of-the-image\n" in variables
    assert "GANGRUN_TASK_TYPE=worker\n" in variables
    assert "PASSWORD=hush\n" in variables
    assert "LINES=a\nb\n" in variables
    assert "JAVA_HOME=/usr/share\n" in variables
    assert "NOT_FOR_IMAGES" not in variables
    assert "LISTEN_FDS" not in variables
    assert "PATH=/usr/local/sbin:" in variables
    assert (tmp_path / "user").read_text().split() == [str(os.getuid()), str(os.getgid())]


@pytest.fixture
def users_folder():
    """A folder that is another user's, and can be reached by him."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="user-"))
    os.chown(folder, USER, GROUP)
    yield folder
    shutil.rmtree(folder)


def test_a_user_without_rights_is_himself_in_the_container(gangrun, agent, engine, users_folder):
    for program in (gangrun, agent):
        shutil.copy(program, users_folder)
    (engine.folder / "docker.sock").chmod(0o666)
    command = ["setpriv", f"--reuid={USER}", f"--regid={GROUP}", f"--groups={FURTHER_GROUP}", users_folder / "gangrun", "run",
               "--image", SMALL, "-r", "worker:1", "--", "sh", "-c", "id >who; cat /proc/1/status | grep Groups: >>who"]
    done = subprocess.run(command, cwd=users_folder, env=os.environ | engine.environment | {"GANGRUN_HOME": str(users_folder / "home")},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = (users_folder / "who").read_text()
    assert f"uid={USER} gid={GROUP}" in said
    assert (users_folder / "who").stat().st_uid == USER
    assert engine.containers() == []


def test_nobody_sees_the_variables_in_the_container_or_its_client(started, engine, tmp_path, home):
    process = started("touch up; exec sleep 1000", "-e", "PASSWORD=hush-hush")
    (name,) = engine.containers()
    assert "hush-hush" not in engine.docker("inspect", name)
    words = pathlib.Path(f"/proc/{processes(process)['client']}/cmdline").read_bytes()
    assert b"hush-hush" not in words
    # The file that brought them has been removed.
    assert not list(home.glob("jobs/*/logs/*environment*"))


def test_what_is_mounted(run, tmp_path_factory):
    data, read_only = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("fixed \"quoted\"")
    (read_only / "a").write_text("abc")
    done = run(f"cat '{read_only}/a' >{data}/b; touch '{read_only}/c' || echo refused; ls {pathlib.Path(__file__).parent} || echo hidden",
               "-r", "worker:1", "--mount", str(data), "--mount", f"{read_only}:ro")
    assert done.status == 0, done.stderr
    assert (data / "b").read_text() == "abc"
    assert "refused" in done.stdout
    assert "hidden" in done.stdout


def test_a_mount_that_is_not_there_is_the_first_cause(run, tmp_path):
    done = run("true", "-r", "worker:1", "--mount", str(tmp_path / "none"))
    assert done.status == 3
    assert str(tmp_path / "none") in done.stderr + done.stdout
    assert "could not be started" in done.stderr + done.stdout


def test_ranks_have_a_container_each_and_one_failure_ends_all(run, tmp_path, engine):
    done = run('touch rank.$RANK; [ $RANK = 1 ] && exit 5; exec sleep 1000', "-r", "worker:1", "--processes", "2",
               "--framework", "pytorch")
    assert done.status == 1, done.stderr
    assert "status 5" in done.stderr + done.stdout
    assert sorted(path.name for path in tmp_path.glob("rank.*")) == ["rank.0", "rank.1"]
    assert engine.containers() == []


def test_sigterm_reaches_the_program_and_is_honoured(started, tmp_path, engine):
    process = started("trap 'touch saved; exit 0' TERM; touch up; while true; do sleep 0.1; done")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert (tmp_path / "saved").exists()
    assert engine.containers() == []


def test_a_program_below_a_shell_has_its_time_too(started, tmp_path, engine):
    # The outer shell ends at the signal.
    process = started("sh -c \"trap 'touch saved; exit 0' TERM; touch up; while true; do sleep 0.1; done\"; true")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert (tmp_path / "saved").exists()
    assert engine.containers() == []


def test_what_ignores_sigterm_is_killed_after_the_grace(started, engine):
    process = started("trap '' TERM INT; touch up; while true; do sleep 0.1; done", "--timeout", "stop=1s")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert engine.containers() == []


VICTIMS = ["client", "agent", "guardian", "guardian-agent", "master", "master-guardian-agent-client"]
IN_THE_GATE = {("pid_namespace", "client"), ("cgroup", "guardian-agent"), ("subreaper", "master")}


@pytest.mark.parametrize(("level", "victims"), [
    pytest.param(level, victims.split("-"), id=f"{level}-{victims}",
                 marks=() if (level, victims) in IN_THE_GATE else pytest.mark.programs)
    for level in LEVELS for victims in VICTIMS])
def test_no_container_is_left_whatever_is_killed(started, engine, level, victims):
    process = started(STUBBORN, "--containment", level, "--timeout", "stop=1s")
    alive = processes(process) | {"master": process.pid}
    # The container's first process cannot help: it is somebody else who removes it.
    (name,) = engine.containers()
    os.kill(int(engine.docker("inspect", "--format", "{{.State.Pid}}", name)), signal.SIGSTOP)
    for victim in victims:
        with contextlib.suppress(ProcessLookupError):  # whoever was to end with the one before may have done so
            os.kill(alive[victim], signal.SIGKILL)
    assert_no_container(engine)
    process.wait(timeout=30)


def test_the_container_ends_by_itself_where_nobody_is_left_to_remove_it(started, engine, survivors):
    process = started(STUBBORN)
    alive = processes(process)
    (remover,) = [pid for pid, words in survivors(f"DOCKER_HOST={engine.environment['DOCKER_HOST']}")
                  if "/proc/self/exe remove" in words]
    for pid in (remover, alive["guardian"], alive["agent"]):
        os.kill(pid, signal.SIGKILL)
    assert_no_container(engine)
    process.wait(timeout=30)


def test_an_image_that_is_not_here_is_refused_before_anything_starts(run, home):
    done = run("true", image="no-such-image:1")
    assert done.status == 2
    assert "image: 'no-such-image:1'" in done.stderr
    assert not list(home.glob("jobs/*"))


def test_no_engine_is_refused_before_anything_starts(run, home):
    done = run("true", env={"GANGRUN_CONTAINER_ENGINE": "no-engine"})
    assert done.status == 2
    assert "GANGRUN_CONTAINER_ENGINE: 'no-engine'" in done.stderr
    assert not list(home.glob("jobs/*"))


def test_the_plan_and_doctor_tell_how_it_is_run(run, run_gangrun, engine):
    done = run("true", "-r", "worker:1", "--dry-run", "--mount", "/data:ro")
    assert done.status == 0, done.stderr
    assert SMALL in done.stdout
    assert "container engine" in done.stdout
    assert "/data:ro" in done.stdout
    checks = json.loads(run_gangrun("doctor", "--json", env=engine.environment).stdout)["checks"]
    (found,) = [check for check in checks if check["name"] == "container engine"]
    assert found["verdict"] == "ok"


PORTS = """
import os, socket
with socket.socket() as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("", int(os.environ["GANGRUN_PORT"])))
    s.listen()
    print("listens on the held port")
"""


def test_the_port_stays_held_and_is_bound_by_its_number(run_gangrun, engine, tmp_path):
    (tmp_path / "port.py").write_text(PORTS)
    done = run_gangrun("run", "--image", PYTHON, "-r", "worker:2", "--", "python3", "port.py", cwd=tmp_path,
                       env=engine.environment)
    assert done.status == 0, done.stderr
    assert done.stdout.count("listens on the held port") == 2


# An engine that passes the check before the job and cannot be started for it.
GOES_AWAY = """#!/bin/sh
printf '#!%s/none\\n' "$(dirname "$0")" >"$0.new"
chmod +x "$0.new"
mv "$0.new" "$0"
"""


def test_variables_of_a_container_that_did_not_start_do_not_stay(run_gangrun, home, tmp_path):
    """Secrets among them stayed in the job's folder."""
    engine = tmp_path / "docker"
    engine.write_text(GOES_AWAY)
    engine.chmod(0o755)
    done = run_gangrun("run", "--image", "busybox", "-r", "worker:1", "-e", "TOKEN=hidden-word", "--", "true", cwd=tmp_path,
                       env={"GANGRUN_CONTAINER_ENGINE": str(engine)})
    assert done.status != 0
    assert f"{tmp_path}/none, does not exist" in done.stderr
    logs = list(home.glob("jobs/*/logs"))
    assert len(logs) == 1
    assert [file.name for file in logs[0].iterdir() if "hidden-word" in file.read_text()] == []


TRAIN = """
import json, os
import tensorflow as tf
spec = json.loads(os.environ["TF_CONFIG"])
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices(([[1.0]] * 32, [[2.0]] * 32)).repeat().batch(8)
model.fit(data, epochs=1, steps_per_epoch=4, verbose=0)
print("trained", spec["task"]["index"], "of", strategy.num_replicas_in_sync)
"""


@pytest.mark.frameworks
def test_a_distributed_training_runs_in_an_image(run_gangrun, engine, tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    done = run_gangrun("run", "--image", PYTHON, "-r", "worker:2", "--framework", "tensorflow", "--mount", f"{VENV}:ro",
                       "-e", "TF_CPP_MIN_LOG_LEVEL=3", "--", str(VENV / "bin/python"), "train.py", cwd=tmp_path,
                       env=engine.environment, timeout=240)
    assert done.status == 0, done.stderr + done.stdout
    assert "trained 0 of 2" in done.stdout
    assert "trained 1 of 2" in done.stdout
