"""Real trainings in pods on two real nodes: by `gangrun run` and by `tf-spawner`, beside the same on this machine alone."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
import yaml
from kubernetes.opening import fetch, fetched, opened
from waiting import wait_until

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun"
LIMIT_S = 280  # of a training
# Two workers add gradients in another order than one, and each shuffles its own half.
SAME = 0.02
LEAST_OVER_BASELINE = 0.04
# Which lets a TensorBoard of the same template onto any of the nodes.
ON_DIFFERENT_NODES = [{"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                       "labelSelector": {"matchLabels": {"gangrun/type": "worker"}}}]


@pytest.fixture
def training(jobs, tensorflow_image):
    """The folder of a user with the example's files and the wines beside them."""
    shutil.copytree(EXAMPLES / "tf-spawner", jobs.folder, dirs_exist_ok=True)
    shutil.copy(EXAMPLES / "wine/winequality-white.csv", jobs.folder)
    jobs.image = tensorflow_image
    return jobs


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the script finds as one process of this machine."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([CACHE / "tensorflow-2.15/bin/python", EXAMPLES / "tf-spawner/train.py", "--data",
                    EXAMPLES / "wine/winequality-white.csv", "--out", folder / "model"], check=True, capture_output=True,
                   timeout=LIMIT_S)
    return json.loads((folder / "model/evaluation.json").read_text())


@pytest.fixture
def logs_of_all_nodes():
    """A folder that pods of every node may see and write."""
    with tempfile.TemporaryDirectory(prefix="logs-", dir="/var/tmp") as name:
        os.chmod(name, 0o777)
        yield pathlib.Path(name)


def check_same(found, alone):
    assert found["replicas"] == 2 and alone["replicas"] == 1
    assert found["accuracy"] > found["baseline_accuracy"] + LEAST_OVER_BASELINE
    assert abs(found["accuracy"] - alone["accuracy"]) <= SAME, (found, alone)


def nodes_of(jobs):
    return {pod["spec"].get("nodeName") for pod in jobs.pods() if pod["metadata"]["labels"].get("gangrun/task", "").startswith("worker")}


def test_workers_on_two_nodes_train_as_well_as_one_process(training, alone):
    training.write("job.yaml", json.dumps({
        "tasks": {"worker": {"instances": 2, "memory": "2g"}}, "framework": "tensorflow",
        "command": "python3 train.py --data winequality-white.csv", "files": ["train.py", "winequality-white.csv"],
        "outputs": ["model"], "kubernetes": {"pod": {"spec": {"topologySpreadConstraints": ON_DIFFERENT_NODES}}}}))
    with training.running("job.yaml") as client:
        wait_until(lambda: nodes_of(training) == {"node1", "node2"}, lambda: f"two nodes: {nodes_of(training)}", pause_s=0.2)
        assert client.wait(LIMIT_S) == 0
    assert training.order("fetch", "last", "--to", "here").returncode == 0
    check_same(json.loads((training.folder / "here/worker-0/model/evaluation.json").read_text()), alone)
    assert (training.folder / "here/worker-0/model/saved/saved_model.pb").stat().st_size > 0
    assert training.left() == []


def test_tf_spawner_trains_alike_and_tensorboard_shows_it(training, alone, logs_of_all_nodes):
    """As the example's README says, on two nodes and with a folder that TensorBoard sees."""
    namespace = training.kubectl.namespace
    training.kubectl.run("create", "configmap", "wines", f"--from-file={training.folder / 'winequality-white.csv'}")
    pod = yaml.safe_load((training.folder / "pod.yaml").read_text())
    pod["spec"]["topologySpreadConstraints"] = ON_DIFFERENT_NODES
    pod["spec"]["volumes"].append({"name": "logs", "hostPath": {"path": str(logs_of_all_nodes)}})
    pod["spec"]["containers"][0]["volumeMounts"].append({"name": "logs", "mountPath": "/logs"})
    training.write("pod.yaml", yaml.safe_dump(pod))
    training.write("envfile", (training.folder / "envfile.example").read_text() + "WINE_LOGS=/logs\n")
    # TensorBoard ends with the workers, and may start for as long as they train.
    training.write("trains.sh", "python /script/training-script.py\nuntil test -e /logs/seen; do sleep 0.2; done\n")
    words = ("-n", namespace, "-w", "2", "-i", training.image, "-e", "envfile", "-c", "trains.sh", "--output", "model",
             "--tensorboard", "/logs", "train.py")
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(training.running(*words, program="tf-spawner"))
        wait_until(lambda: nodes_of(training) == {"node1", "node2"}, lambda: f"two nodes: {nodes_of(training)}", pause_s=0.2)
        board = stack.enter_context(opened(training))
        url = board.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), board.stderr.read()
        wait_until(lambda: b"worker0/train" in (fetched(url + "data/runs") or b""), lambda: f"its runs: {fetched(url + 'data/runs')}",
                   LIMIT_S, 0.5)
        assert b"<html" in fetch(url).lower()
        (logs_of_all_nodes / "seen").touch()
        assert client.wait(LIMIT_S) == 0
    assert training.order("fetch", "last", "--to", "here").returncode == 0
    check_same(json.loads((training.folder / "here/worker-0/model/evaluation.json").read_text()), alone)
    assert training.kubectl.names("pods", "services", "jobs", "configmaps", "secrets", selector="training_attempt=tf-spawner") == []
    assert "configmap/wines" in training.kubectl.names("configmap")
