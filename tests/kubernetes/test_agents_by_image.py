"""Agents that an image brings into pods: that of `make dist`, which the nodes get as an archive."""

import json
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/agent_image"
AGENT_IMAGE = "localhost/gangrun-agent:test"
STATIC_IMAGE = "localhost/static:1"
OTHER_IMAGE = "localhost/other-agent:1"
IMAGE_LIMIT_S = 60
RESTRICTED = {"securityContext": {"runAsNonRoot": True, "runAsUser": 4321, "seccompProfile": {"type": "RuntimeDefault"}},
              "containers": [{"name": "task", "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                                  "capabilities": {"drop": ["ALL"]}}}]}
QUOTA = {"requests.cpu": "4", "requests.memory": "2Gi", "limits.cpu": "8", "limits.memory": "4Gi"}


@pytest.fixture(scope="module")
def agent_image(kubernetes, agent, tmp_path_factory):
    archive = tmp_path_factory.mktemp("image") / "agent.tar"
    subprocess.run([TOOL, "--agent", agent, "--name", AGENT_IMAGE, archive], check=True, timeout=IMAGE_LIMIT_S)
    kubernetes.order("load", archive)
    return AGENT_IMAGE


@pytest.fixture(scope="module")
def static_image(kubernetes):
    """An image with one static program, and nothing else."""
    return kubernetes.make_image(STATIC_IMAGE, "--file", "/bin/busybox:/echo:755")


def write_job(jobs, image, agent_image, *command, pod=None, **options):
    own = {"namespace": jobs.kubectl.namespace, "agent_image": agent_image, "pod": {"spec": pod or {}}} | options
    jobs.write("job.yaml", json.dumps({"on": "kubernetes", "image": image, "command": list(command), "kubernetes": own,
                                       "tasks": {"worker": {"instances": 2, "memory": "32m"}}}))


def test_an_image_brings_them_into_images_that_have_nothing(jobs, agent_image, static_image):
    write_job(jobs, static_image, agent_image, "/echo", "is here")
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line.split("| ")[1] for line in jobs.lines()) == ["is here", "is here"]
    assert jobs.left() == [] and jobs.kubectl.names("configmap", selector="gangrun/parts") == []


def test_they_come_into_a_namespace_that_allows_little(jobs, kubernetes, agent_image, static_image):
    """PodSecurity restricted, a quota that asks for all limits, another user, and a root file system that is read-only."""
    namespace = jobs.kubectl.namespace
    kubernetes.kubectl.run("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    jobs.kubectl.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all"}, "spec": {"hard": QUOTA}})
    write_job(jobs, static_image, agent_image, "/echo", "is here", pod=RESTRICTED, vcores_limit=1)
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(jobs.lines()) == 2


def test_an_image_of_another_version_is_told(jobs, kubernetes, agent, tmp_path, agent_image, static_image):
    """Its agent is this one, which is told that the job is older."""
    script = tmp_path / "agent"
    script.write_text('#!/bin/sh\nexec /real copy-to "$2" 0.0.9\n')
    other = kubernetes.make_image(OTHER_IMAGE, "--file", "/bin/busybox:/bin/sh:755", "--file", f"{agent}:/real:755",
                                  "--file", f"{script}:/gangrun-agent:755")
    write_job(jobs, static_image, other, "/echo", "never")
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 3, done.stdout + done.stderr
    said = jobs.order("why", "last").stdout
    assert "its init container gangrun-agent" in said and "the job needs that of gangrun 0.0.9" in said, said
    assert jobs.left() == []


def test_a_dry_run_says_what_brings_them_and_why(jobs, agent_image):
    write_job(jobs, "localhost/busybox:1", agent_image, "true")
    done = jobs.order("run", "--dry-run", "job.yaml")
    assert done.returncode == 0, done.stderr
    assert f"the image {agent_image} brings" in done.stderr and "(kubernetes.agent_image is given)" in done.stderr
    write_job(jobs, "localhost/busybox:1", agent_image, "true", agents="none")
    assert "(kubernetes.agents: none)" in jobs.order("run", "--dry-run", "job.yaml").stderr


def test_doctor_says_it_for_the_defaults_of_its_user(jobs, tmp_path):
    (tmp_path / "gangrun.yaml").write_text("kubernetes: {agent_image: hub/gangrun-agent:1}\n")
    done = jobs.order("doctor", "--on", "kubernetes", "-n", jobs.kubectl.namespace, "--json", env={"XDG_CONFIG_HOME": str(tmp_path), "GANGRUN_NO_DEFAULTS": ""})
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, checks
    assert checks["agents"]["found"].endswith("the image hub/gangrun-agent:1 brings (kubernetes.agent_image is given)")
    assert f"all rights for a job in the namespace '{jobs.kubectl.namespace}'" in checks["cluster"]["found"]
    done = jobs.order("doctor", "--on", "kubernetes", "-n", "nowhere")
    assert done.returncode == 3 and "'nowhere' is not a namespace" in done.stdout
