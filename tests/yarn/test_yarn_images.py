"""Tasks in container images on a real YARN cluster: by its nodes' engine, and by YARN's own runtime for Docker.

The engine and the NodeManager are real. Hadoop's setuid program between them is not among its jars, so a stand-in does
what the NodeManager orders (tests/clusters/engine/container-executor).
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from clusters.engine.fixtures import PYTHON, SMALL
from waiting import wait_until
from yarn.jobs import Jobs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXECUTOR = ROOT / "tests/clusters/engine/container-executor"
LINUX = "yarn.nodemanager.linux-container-executor"
RUNTIME = "yarn.nodemanager.runtime.linux"
GONE_S = 60
# What the design of ytf-submit mounts is where the node says.
LOOK = """
echo "first is $(cat /proc/1/comm)"
echo "node $NM_HOST, image $IMAGE_VARIABLE, sockets ${LISTEN_FDS:-none}"
[ -r "$HADOOP_CONF_DIR/core-site.xml" ] && echo "sees HADOOP_CONF_DIR"
[ -x "$JAVA_HOME/bin/java" ] && echo "sees JAVA_HOME"
cat brought.txt
cat "$DATA/read" && touch "$DATA/written"
"""


@pytest.fixture(scope="module")
def cluster(hadoop_of_module, engine, tmp_path_factory):
    """A cluster whose NodeManagers know Docker, and whose agents find the engine."""
    program = tmp_path_factory.mktemp("executor") / "container-executor"
    # It is called with an empty environment.
    program.write_text(f"#!/bin/sh\nDOCKER_HOST={engine.environment['DOCKER_HOST']} exec {EXECUTOR} \"$@\"\n")
    program.chmod(0o755)
    return hadoop_of_module(nodes=2, nm_expiry_ms=8000, set=[
        f"yarn.nodemanager.admin-env=DOCKER_HOST={engine.environment['DOCKER_HOST']}",
        "yarn.nodemanager.container-executor.class=org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor",
        f"{LINUX}.path={program}", f"{LINUX}.group=root", f"{LINUX}.nonsecure-mode.limit-users=false",
        f"{RUNTIME}.allowed-runtimes=default,docker", f"{RUNTIME}.docker.allowed-container-networks=host",
        f"{RUNTIME}.docker.default-container-network=host",
        f"{RUNTIME}.docker.userremapping-uid-threshold=0", f"{RUNTIME}.docker.userremapping-gid-threshold=0"])


@pytest.fixture
def jobs(gangrun, agent, cluster, home, tmp_path):
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    yield jobs
    jobs.end_all()


def spec(jobs, runtime, command, data, image=PYTHON):
    jobs.write("brought.txt", "brought\n")
    jobs.write("look.sh", LOOK)
    (data / "read").write_text("mounted\n")
    jobs.write("job.yaml", f"""
on: yarn
image: "{image}"
mounts: ["{data}"]
yarn: {{container_runtime: {runtime}}}
env: {{DATA: "{data}", PASSWORD: hush-hush}}
tasks: {{worker: {{instances: 2, memory: 128 MiB}}}}
files: [brought.txt, look.sh]
command: {command}
""")


@pytest.mark.parametrize(("runtime", "first", "sockets"), [("none", ".gangrun-agent", "none"), ("auto", "gangrun-guard", "1")])
def test_a_job_runs_in_its_image(jobs, engine, tmp_path_factory, runtime, first, sockets):
    data = tmp_path_factory.mktemp("data")
    spec(jobs, runtime, "bash look.sh", data)
    plan = jobs.order("run", "job.yaml", "--dry-run")
    assert ("YARN's container runtime" if runtime == "auto" else "container engine") in plan.stdout, plan.stderr
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stderr + done.stdout
    said = ["image of-the-image", f"sockets {sockets}", "brought", "mounted"]
    # YARN itself mounts what its administrator says.
    for line in said + (["sees HADOOP_CONF_DIR", "sees JAVA_HOME"] if runtime == "none" else []):
        assert done.stdout.count(line) == 2, done.stdout
    assert f"first is {first}" in done.stdout
    assert (data / "written").exists()
    wait_until(lambda: not engine.containers(), "the end of the containers", GONE_S)


def test_an_image_that_no_node_has_is_the_first_cause(jobs, tmp_path_factory):
    spec(jobs, "none", "'true'", tmp_path_factory.mktemp("data"), image="localhost:1/no-such-image:1")
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 1
    assert "could not be started" in done.stderr + done.stdout
    assert "localhost:1" in done.stderr + done.stdout


@pytest.mark.parametrize("runtime", ["none", "docker"])
def test_no_container_is_left_when_a_job_is_killed(jobs, engine, tmp_path_factory, runtime):
    data = tmp_path_factory.mktemp("data")
    spec(jobs, runtime, "[bash, -c, 'trap \"\" TERM; touch $DATA/up.$GANGRUN_TASK_INDEX; while true; do sleep 0.1; done']", data)
    job = jobs.submit("job.yaml", "--timeout", "stop=1s")
    wait_until(lambda: len(list(data.glob("up.*"))) == 2, "the tasks to run", 120)
    assert len(engine.containers()) == 2
    assert "hush-hush" not in engine.docker("inspect", *engine.containers())
    assert jobs.order("kill", job).returncode == 0
    wait_until(lambda: not engine.containers(), "the end of the containers", GONE_S)


def test_no_container_is_left_where_guardian_and_agent_are_killed(jobs, engine, survivors, tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    spec(jobs, "none", "[sh, -c, 'touch $DATA/up.$GANGRUN_TASK_INDEX; exec sleep 1000']", data, image=SMALL)
    job = jobs.submit("job.yaml")
    wait_until(lambda: len(list(data.glob("up.*"))) == 2, "the tasks to run", 120)
    for pid, words in survivors(f"DOCKER_HOST={engine.environment['DOCKER_HOST']}"):
        if "gangrun-agent task" in words:
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not engine.containers(), "the end of the containers", GONE_S)
    jobs.wait_for_state(job, "failed")


@pytest.mark.parametrize("runtime", ["docker", "none"])
def test_the_design_s_docker_job_of_ytf_submit_trains(jobs, engine, cluster, tmp_path, tmp_path_factory, runtime):
    """TensorFlow's packages are mounted, all else is the image's."""
    venv = subprocess.run([ROOT / "tools/install-deps", "--venv", "tensorflow-2.15"], check=True, capture_output=True,
                          text=True).stdout.strip()
    folder = tmp_path_factory.mktemp("mnist")
    (folder / "data").mkdir()
    (folder / "train").mkdir()
    shutil.copy(ROOT / "examples/wine/winequality-white.csv", folder / "data")
    shutil.copy(ROOT / "examples/ytf-submit/train.py", jobs.folder / "mnist.py")
    # As a cluster tells it that has no runtime of its own.
    conf = tmp_path / "conf"
    shutil.copytree(cluster.conf_dir, conf)
    if runtime == "none":
        site = conf / "yarn-site.xml"
        site.write_text(site.read_text().replace("default,docker", "default"))
    done = jobs.order("ytf-submit", "--wait", "-m", "1024", "--docker_image", PYTHON, "--mount", f"{venv}:ro",
                      "-i", str(folder / "data"), "-o", str(folder / "train"), "-r", "ps:1,worker:2", "-s", "mnist.py",
                      f"echo image $IMAGE_VARIABLE $DTF_DOCKER_IMAGE; {venv}/bin/python ${{DTF_TASK_SCRIPT}} "
                      "--job_name ${DTF_TASK_JOB_NAME} --task_index ${DTF_TASK_INDEX} "
                      "--ps_hosts ${DTF_PS_HOSTS} --worker_hosts ${DTF_WORKER_HOSTS} --steps 500 "
                      "--data_dir ${DTF_INPUT_PATH} --train_dir ${DTF_OUTPUT_PATH}",
                      env={"HADOOP_CONF_DIR": str(conf)}, limit=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"image of-the-image {PYTHON}") == 3, done.stdout
    accuracy = re.search(r"worker:0 \| step \d+, accuracy ([\d.]+)", done.stdout).group(1)
    assert float(accuracy) > 0.7
    assert list((folder / "train").glob("model.ckpt-*.index"))
    wait_until(lambda: not engine.containers(), "the end of the containers", GONE_S)
