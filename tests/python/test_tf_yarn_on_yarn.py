"""The README of tf-yarn on a real YARN cluster with real TensorFlow and the real wines: two plain nodes, one with GPUs.

The nodes have no TensorFlow of their own that the tasks would use: its environment is brought.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from conftest import ROOT, environment_folder  # of this folder
from waiting import wait_until

EXAMPLE = ROOT / "examples" / "tf_yarn_wine"
LIMIT_S = 280
GPU_NODE = "127.0.0.4"
EVALUATED = re.compile(r"evaluated \S+model\.ckpt-(\d+): \{'accuracy': ([\d.]+)")
STEPS = 1000


@pytest.fixture(scope="module")
def mlflow_url(tmp_path_factory):
    """A server of MLflow, which takes its time to start: so it is asked for before the cluster."""
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            [environment_folder("mlflow") / "bin/mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
             "--backend-store-uri", f"sqlite:///{folder}/runs.db", "--artifacts-destination", folder / "artifacts"],
            stdout=log, stderr=log, cwd=folder, start_new_session=True, env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"})
    yield url
    os.killpg(server.pid, signal.SIGKILL)
    server.wait(LIMIT_S)


@pytest.fixture(scope="module")
def cluster(mlflow_url, labelled):
    return labelled


def answers(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
        return answer.status == 200


@pytest.fixture
def user(client, cluster, tensorflow_archive, tmp_path):
    """Runs the example as a user does: its standard error, with the account of the job."""
    client(cluster)

    def run(*words, python=sys.executable):
        done = subprocess.run([python, EXAMPLE / "run.py", "--out", tmp_path / "out", "--python", tensorflow_archive,
                               "--memory", "512 MiB", "--max-steps", str(STEPS), "--tensorboard-seconds", "0", *words],
                              capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def application_of(text):
    (application,) = set(re.findall(r"application_\d+_\d+", text))
    return application


def accuracies(gangrun, text):
    """{step: accuracy} from the log of the evaluator, which YARN has some seconds after the end."""
    def told():
        done = subprocess.run([gangrun, "logs", application_of(text), "evaluator:0"], capture_output=True, text=True,
                              timeout=LIMIT_S)
        return done.returncode == 0 and EVALUATED.findall(done.stdout + done.stderr)

    return {int(step): float(accuracy) for step, accuracy in wait_until(told, "the evaluator's aggregated log", pause_s=0.5)}


def places(text):
    """{task: (status, host)} of the account at the end."""
    return {task: (status, host) for task, status, host in re.findall(r"^  (\w+:\d)\s+([A-Z]+)\s+([\d.]+):", text, re.M)}


def test_chief_evaluator_and_tensorboard_with_the_label_gpu_recorded_by_mlflow(user, gangrun, mlflow_url, monkeypatch):
    wait_until(lambda: answers(mlflow_url), "MLflow's server", 120, pause_s=0.25)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_url)
    text = user("--gpu", "--queue", "ml-gpu", python=environment_folder("mlflow") / "bin/python")
    ended, found = places(text), accuracies(gangrun, text)
    assert {task: status for task, (status, _) in ended.items()} == {
        "chief:0": "SUCCEEDED", "evaluator:0": "SUCCEEDED", "tensorboard:0": "SUCCEEDED"}
    assert ended["chief:0"][1] == GPU_NODE and GPU_NODE not in (ended["evaluator:0"][1], ended["tensorboard:0"][1])
    assert f"gangrun open {application_of(text)} tensorboard" in text
    assert max(found) == STEPS and found[STEPS] > 0.7, found
    assert re.search(r"chief:0 +SUCCEEDED .* ran [\d.]+ s  Training time [\d.]+ s", text), text
    assert re.search(r"evaluator:0 +SUCCEEDED .* Evaluation time [\d.]+ s", text), text
    assert re.search(r"evaluator:0: awake time ratio .* nb eval steps \d+", text), text
    check_recorded(mlflow_url)


def check_recorded(url):
    """By MLflow's own client."""
    script = """
import mlflow
client = mlflow.MlflowClient()
(run,) = client.search_runs(["0"])
print(sorted(run.data.metrics))
print([metric.step for metric in client.get_metric_history(run.info.run_id, "steps_per_sec_0")])
print(sorted(file.path for file in client.list_artifacts(run.info.run_id)))
print("done training" if "Loss for final step" in client_text(run, "chief_0_SUCCEEDED_0") else "no log")
print(client_text(run, "tf_yarn_duration_stats"))
"""
    text = "def client_text(run, name): return mlflow.artifacts.load_text(f'{run.info.artifact_uri}/{name}')\n"
    done = subprocess.run([environment_folder("mlflow") / "bin/python", "-c", text + script], capture_output=True, text=True,
                          timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    metrics, steps, artifacts, log, *durations = done.stdout.splitlines()
    assert metrics == str(["evaluator_0_awake_time_ratio_0", "evaluator_0_eval_step_mean_duration_0",
                           "evaluator_0_last_training_step_0", "evaluator_0_nb_eval_steps_0", "steps_per_sec_0"])
    assert steps != "[]"
    assert artifacts == str(["chief_0_SUCCEEDED_0", "evaluator_0_SUCCEEDED_0", "tensorboard_0_SUCCEEDED_0",
                             "tf_yarn_duration_stats"])
    assert log == "done training"
    assert any(re.fullmatch(r"total_training_duration_0: [\d.]+ secs", line) for line in durations), durations


def test_workers_and_a_ps_train_and_their_checkpoints_are_evaluated_by_another_job(user, gangrun, tmp_path):
    text = user("--workers", "2", "--train-only", "--tensorboard-seconds", "-1")
    ended = places(text)
    assert set(ended) == {"chief:0", "worker:0", "worker:1", "ps:0"}
    assert {status for status, _ in ended.values()} == {"SUCCEEDED"}
    text = user("--evaluate-only")
    found = accuracies(gangrun, text)
    assert {task: status for task, (status, _) in places(text).items()} == {"evaluator:0": "SUCCEEDED"}
    kept = {int(path.stem.rpartition("-")[2]) for path in (tmp_path / "out/model").glob("model.ckpt-*.index")}
    assert set(found) == kept and len(kept) > 2, (found, kept)
    assert max(found) >= STEPS and found[max(found)] > 0.7, found


# Its functions are called in the tasks; TensorFlow is not needed for what they are about.
SCRIPT = """
import os, sys, threading
from gangrun.environments import NodePython
from gangrun.tf_yarn import RunFailed, TaskSpec, run_on_yarn

def wrong():
    return "no experiment"

def fails():
    if os.environ["GANGRUN_TASK_TYPE"] == "worker" and os.environ["TF_YARN_N_TRY"] == "0":
        raise ValueError("no wine")
    if os.environ["TF_YARN_N_TRY"] == "0":
        threading.Event().wait(100)
    sys.exit(0)

def waits():
    threading.Event().wait(100)

def tells(local_rank):
    first = os.environ["LD_LIBRARY_PATH"].split(":")[0]
    with open(os.environ["FROM_ENV"], "w") as file:
        print(os.listdir(first), os.environ["FROM_HOOK"], os.environ["HADOOP_CONF_DIR"], file=file)

specs = {task: TaskSpec(memory="128 MiB", vcores=1) for task in ("chief", "worker", "ps")}
if sys.argv[1] != "tells":
    more = {"nb_retries": int(sys.argv[2])}
else:
    specs = {"worker": TaskSpec(memory="128 MiB", vcores=1)}
    more = {"cuda_runtime_hdfs_path": sys.argv[2], "pre_script_hook": "export FROM_HOOK='by bash'",
            "env": {"FROM_ENV": sys.argv[3], "HADOOP_CONF_DIR": "/etc/hadoop/conf.all"}, "acls": {"view_users": ["ann"]},
            "custom_task_module": "tf_yarn.distributed.task", "file_systems": ["hdfs://preprod"]}
try:
    run_on_yarn(NodePython(sys.executable), globals()[sys.argv[1]], specs, name="x", **more)
except RunFailed as failure:
    print(failure)
"""


@pytest.fixture
def script(client, hadoop, tmp_path):
    client(hadoop)
    (tmp_path / "script.py").write_text(SCRIPT)
    return [sys.executable, str(tmp_path / "script.py")]


def test_a_wrong_return_type_is_told_with_the_traceback_of_the_task(script):
    done = subprocess.run([*script, "wrong", "0"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert re.match(r"(chief|worker|ps):0 on 127.0.0.\d exited with status 1\b", done.stdout), done.stdout
    assert "WrongExperiment: experiment_fn returned 'no experiment' of type str; allowed: Experiment or KerasExperiment" in \
        done.stdout
    assert re.search(r"^  (chief|worker|ps):0 +FAILED ", done.stderr, re.M), done.stderr


@pytest.mark.gate
def test_a_failed_worker_ends_the_try_and_the_next_one_succeeds(script):
    done = subprocess.run([*script, "fails", "1"], capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "ValueError: no wine" in done.stderr and "worker:0  FAILED" in done.stderr and "chief:0   KILLED" in done.stderr
    first, second = re.findall(r"^tf_yarn: (application_\S+) is submitted, try \d of 2$", done.stderr, re.M)
    assert f"{second} has succeeded" in done.stderr


def test_a_hook_and_libraries_that_are_brought_come_before_the_python_of_the_task(script, tmp_path):
    (tmp_path / "cuda/lib64").mkdir(parents=True)
    (tmp_path / "cuda/lib64/libcudart.so.12").touch()
    archive = shutil.make_archive(str(tmp_path / "runtime"), "gztar", tmp_path, "cuda")
    done = subprocess.run([*script, "tells", archive, tmp_path / "told"], capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "told").read_text() == "['libcudart.so.12'] by bash /etc/hadoop/conf.all\n"


def test_ctrl_c_is_the_end_of_the_job(script, hadoop):
    running = subprocess.Popen([*script, "waits", "3"], stderr=subprocess.PIPE, text=True)
    said = []
    for line in running.stderr:
        said.append(line)
        if "all tasks have started" in line:
            running.send_signal(signal.SIGINT)
            break
    rest = running.stderr.read()
    assert running.wait(LIMIT_S) == -signal.SIGINT, rest
    assert "KeyboardInterrupt" in rest and "is submitted" not in rest
    application = hadoop.wait_for_application(application_of("".join(said)))
    assert application["finalStatus"] == "KILLED", application
