"""The command lines of ytf-submit, as its design writes them, on a real cluster."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import termios

import pytest

from waiting import wait_until
from yarn import storage

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples/ytf-submit"
WINE = ROOT / "examples/wine/winequality-white.csv"
ACCURACY = re.compile(r"step (\d+), accuracy ([\d.]+)")
# The design's command, with fewer steps.
TRAIN = ("--job_name ${DTF_TASK_JOB_NAME} --task_index ${DTF_TASK_INDEX} "
         "--ps_hosts ${DTF_PS_HOSTS} --worker_hosts ${DTF_WORKER_HOSTS} --steps 500")
SMALL = ("-m", "512")
BAD_INPUT = 2


def venv(name):
    return pathlib.Path(subprocess.run([ROOT / "tools/install-deps", "--venv", name], check=True, capture_output=True,
                                       text=True).stdout.strip())


def hdfs_of(hadoop, *words):
    done = hadoop.run("hdfs", "dfs", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def ytf_submit(jobs):
    """ytf_submit("-r", "ps:1", ..., "COMMAND") by its own name, in the jobs' folder."""
    program = jobs.gangrun.with_name("ytf-submit")

    def run(*words, **options):
        done = subprocess.run([program, *words], cwd=jobs.folder, env=jobs.environment, capture_output=True, text=True,
                              timeout=240, **({"stdin": subprocess.DEVNULL} | options))
        jobs.started += re.findall(r"application_\d+_\d+", done.stdout + done.stderr)[:1]
        return done

    run.program = program
    return run


@pytest.fixture
def submitted(ytf_submit):
    """The id of a job that was submitted, and left."""

    def submit(*words):
        done = ytf_submit(*words)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"application_\d+_\d+\n", done.stdout)
        return done.stdout.strip()

    return submit


def trained(jobs, job, hadoop, with_tensorboard):
    """Waits for a training job's success, in which YARN agrees, and returns the last (step, accuracy)."""
    ended = jobs.wait_for_state(job, "succeeded", "failed", "killed", seconds=300)
    told = jobs.order("logs", job).stdout
    assert ended["state"] == "succeeded", (json.dumps(ended["cause"], indent=1), told)
    states = {task["task"]: task["state"] for task in ended["tasks"]}
    board = states.pop("tensorboard:0", None)
    # It obeys SIGTERM, if it already listens to it, with status 0.
    assert board in (("stopped", "succeeded") if with_tensorboard else (None,)), board
    assert states == {"ps:0": "stopped", "worker:0": "succeeded", "worker:1": "succeeded"}
    assert hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"

    def evaluations():
        return ACCURACY.findall(jobs.order("logs", job, "worker:0").stdout)

    step, accuracy = wait_until(evaluations, "the aggregated log of worker:0", pause_s=0.5)[-1]
    return int(step), float(accuracy)


@pytest.mark.parametrize("with_tensorboard", [False, True])
def test_the_design_s_jobs_with_folders_that_all_nodes_see_train(submitted, jobs, hadoop, tmp_path, with_tensorboard):
    data, train = tmp_path / "mnist/data", tmp_path / "mnist/train"
    data.mkdir(parents=True)
    shutil.copy(WINE, data)
    shutil.copy(EXAMPLE / "train.py", tmp_path / "mnist")
    flags, paths = (), f"--data_dir {data} --train_dir {train}"
    if with_tensorboard:
        flags = ("--tensorboard", "-i", str(data), "-o", str(train))
        paths = "--data_dir ${DTF_INPUT_PATH} --train_dir ${DTF_OUTPUT_PATH}"
    job = submitted("-m", "1024", "-e", f"PATH={venv('tensorflow-2.15')}/bin:/usr/bin:/bin", *flags, "-r", "ps:1,worker:2",
                    f"python {tmp_path}/mnist/train.py {TRAIN} {paths}")
    step, accuracy = trained(jobs, job, hadoop, with_tensorboard)
    assert step >= 400 and accuracy > 0.7
    assert list(train.glob("model.ckpt-*.index"))


def test_the_design_s_job_with_script_tensorboard_and_hdfs_paths_trains(submitted, jobs, hadoop, hdfs_tensorflow):
    base = f"{hadoop.hdfs_url}/user1/mnist"
    hdfs_of(hadoop, "-mkdir", "-p", f"{base}/data")
    hdfs_of(hadoop, "-put", str(WINE), f"{base}/data")
    shutil.copy(EXAMPLE / "train.py", jobs.folder / "mnist.py")
    job = submitted("--tensorboard", "-m", "1024", "-i", f"{base}/data", "-o", f"{base}/train10", "-r", "ps:1,worker:2",
                    "-s", "mnist.py", *(word for pair in hdfs_tensorflow.items() for word in ("-e", "=".join(pair))),
                    "python ${DTF_TASK_SCRIPT} " + TRAIN + " --data_dir ${DTF_INPUT_PATH} --train_dir ${DTF_OUTPUT_PATH}")
    step, accuracy = trained(jobs, job, hadoop, with_tensorboard=True)
    assert step >= 400 and accuracy > 0.7
    assert re.search(r"/model\.ckpt-\d+\.index$", hdfs_of(hadoop, "-ls", "-C", f"{base}/train10"), re.MULTILINE)


@pytest.mark.gate
def test_a_failed_worker_fails_the_application_with_the_first_cause(submitted, jobs, hadoop):
    # A worker's end by SIGTERM is a failure too.
    for line, words in (("exit 7", "exited with status 7"), ("kill -TERM $$", "was killed by signal 15")):
        job = submitted(*SMALL, "-r", "ps:1,worker:2",
                        f'if [ "$DTF_TASK_JOB_NAME$DTF_TASK_INDEX" = worker1 ]; then {line}; else exec sleep 600; fi')
        ended = jobs.wait_for_state(job, "succeeded", "failed", "killed")
        assert ended["state"] == "failed" and ended["cause"]["task"] == "worker:1", ended
        application = hadoop.wait_for_application(job)
        assert application["finalStatus"] == "FAILED"
        assert "worker:1" in application["diagnostics"] and words in application["diagnostics"], application


@pytest.mark.gate
def test_each_task_sees_the_design_s_variables(ytf_submit, jobs):
    (jobs.folder / "x.sh").write_text("echo script\n")
    (jobs.folder / "more").mkdir()
    (jobs.folder / "more/file").write_text("brought\n")
    done = ytf_submit("--wait", *SMALL, "-c", "1", "-m", "worker[1]:768", "-r", "my-ps:1,worker:2", "-i", ".", "-o",
                      "/out put", "-s", "x.sh", "--file", "more", "-n", "named",
                      'sh $DTF_TASK_SCRIPT; cat more/file; echo "$DTF_TASK_JOB_NAME|$DTF_TASK_INDEX|$DTF_MY_PS_HOSTS|'
                      '$DTF_WORKER_HOSTS|$DTF_INPUT_PATH|$DTF_OUTPUT_PATH|$DTF_TASK_PROGRAM"')
    assert done.returncode == 0, done.stderr
    lines = [line.split("| ", 1)[1] for line in done.stdout.splitlines()]
    assert lines.count("script") == lines.count("brought") == 3
    rows = [line.split("|", 6) for line in lines if line.count("|") >= 6]
    assert {tuple(row[:2]) for row in rows} == {("my-ps", "0"), ("worker", "0"), ("worker", "1")}
    servers, workers = {row[2] for row in rows}, {row[3] for row in rows}
    assert len(servers) == len(workers) == 1
    assert re.fullmatch(r"[\w.-]+:\d+", servers.pop()) and re.fullmatch(r"[\w.-]+:\d+,[\w.-]+:\d+", workers.pop())
    assert {tuple(row[4:6]) for row in rows} == {(".", "/out put")}
    assert all(row[6].startswith("sh $DTF_TASK_SCRIPT; ") for row in rows)
    assert jobs.status(jobs.started[-1])["name"] == "named"


def test_a_client_on_this_terminal_ends_the_job(ytf_submit, jobs):
    """A Python prompt, as at a terminal: the tasks are only there for it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [ytf_submit.program, "--client", "--client_ends_job", *SMALL, "-r", "worker:2",
         'if [ "$DTF_TASK_JOB_NAME" = client ]; then exec python3 -q; else exec sleep 600; fi'],
        cwd=jobs.folder, env=jobs.environment, stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(follower)
    shown = ""

    def read_until(text):
        def seen():
            nonlocal shown
            if text not in shown:
                shown += os.read(leader, 65536).decode(errors="replace")
            return text in shown

        wait_until(seen, f"{text!r} on the terminal", 120)

    try:
        read_until(">>> ")
        os.write(leader, b"import os; print(os.environ['DTF_TASK_JOB_NAME'], 'of', "
                         b"len(os.environ['DTF_WORKER_HOSTS'].split(',')), 'DTF_CLIENT_HOSTS' in os.environ)\n")
        read_until("client of 2 False")
        # Ctrl-C is the client's.
        os.write(leader, b"\x03")
        read_until("KeyboardInterrupt")
        os.write(leader, b"exit()\n")
        read_until("ends the job")
        assert process.wait(timeout=60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(leader)
    job = re.search(r"application_\d+_\d+", shown).group()
    jobs.started.append(job)
    ended = jobs.wait_for_state(job, "killed", "failed", "succeeded")
    assert ended["state"] == "killed" and "client:0" in ended["cause"]["sentence"], ended


@pytest.mark.gate
def test_a_client_s_end_leaves_the_job_alone_and_the_job_s_end_ends_the_client(ytf_submit, jobs):
    both = 'if [ "$DTF_TASK_JOB_NAME" = client ]; then {}; else {}; fi'
    end = jobs.folder / "end"
    done = ytf_submit("--client", *SMALL, "-r", "worker:1",
                      both.format("exit 4", f"while [ ! -e {end} ]; do sleep 0.2; done"))
    assert done.returncode == 1 and "client:0 exited with status 4" in done.stderr, done.stderr
    job = jobs.started[-1]
    assert jobs.status(job)["state"] == "running"
    end.touch()
    jobs.wait_for_state(job, "succeeded")
    begun = jobs.folder / "begun"
    done = ytf_submit("--client", *SMALL, "-r", "worker:1",
                      both.format(f"touch {begun}; exec sleep 600", f"while [ ! -e {begun} ]; do sleep 0.2; done; exit 3"))
    assert done.returncode == 1, done.stderr
    assert "the job has ended: client:0 is asked to stop" in done.stderr
    assert "worker:0" in done.stderr.splitlines()[-1] and "exited with status 3" in done.stderr


@pytest.mark.gate
def test_an_interrupt_before_the_client_has_started_ends_the_job(ytf_submit, jobs):
    process = subprocess.Popen([ytf_submit.program, "--client", "-m", "512", "-r", "worker:64", "true"],
                               cwd=jobs.folder, env=jobs.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    while "client:0 starts here" not in line:
        assert line, "ytf-submit has ended"
        line = process.stderr.readline()
    job = re.search(r"application_\d+_\d+", line).group()
    jobs.started.append(job)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert jobs.wait_for_state(job, "killed", "failed", "succeeded")["state"] == "killed"


@pytest.mark.gate
def test_bad_input_is_one_line_and_submits_nothing(ytf_submit, jobs, hadoop, tmp_path):
    before = len(hadoop.applications())
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    storage.order(hadoop, "/locked", "MKDIRS")
    storage.order(hadoop, "/locked", "SETPERMISSION", permission="000")
    url = hadoop.hdfs_url
    for words, error in (
            (("-i", f"{tmp_path}/none"), f"-i: '{tmp_path}/none': there is no such file or folder on this machine"),
            (("-i", f"{url}/nowhere"), f"-i: '{url}/nowhere': GETFILESTATUS /nowhere at "),
            (("-s", "nowhere.py"), "-s: 'nowhere.py': there is no such file or folder on this machine"),
            (("-s", "."), "-s: '.': is not a file; allowed: a file"),
            (("-t",), "-t: TensorBoard shows the output path; name it with -o"),
            (("--docker_image", "No Image"), "--docker_image: 'No Image' is not the name of an image; allowed: "),
            (("-m", "wroker:1024"), "-m: 'wroker:1024': unknown task type 'wroker'; did you mean 'worker'? "),
            (("-c", "worker[7]:2"), "-c: 'worker[7]:2': there is no worker:7"),
            (("-r", "ps:0"), "-r: 'ps:0': '0' is not allowed; allowed: a whole number from 1"),
            (("-r", "worker:1"), "-r: 'worker:1': this type is given twice"),
            (("-q", "nowhere"), "yarn.queue: there is no queue nowhere; allowed: ")):
        done = ytf_submit("-r", "worker:1", *SMALL, *words, "true")
        assert (done.returncode, done.stdout) == (BAD_INPUT, ""), done.stderr
        line, = done.stderr.splitlines()
        assert line.startswith("gangrun: " + error), line
    done = ytf_submit("-r", "", "true")
    assert done.stderr.startswith("gangrun: -r: the cluster requirement is empty; allowed: "), done.stderr
    other = jobs.of("bob")
    done = subprocess.run([ytf_submit.program, "-r", "worker:1", "-i", f"{url}/locked", "true"], cwd=jobs.folder,
                          env=other.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == BAD_INPUT and "Permission denied" in done.stderr, done.stderr
    assert len(hadoop.applications()) == before
