"""A detached job needs agents, and a service account for its master: what is told to who has none, and that it helps."""

import json

import pytest

BUSYBOX = "localhost/busybox:1"
ACCOUNT = "gangrun-master"


def job_file(jobs, **master):
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": ["true"], "tasks": {"worker": {"instances": 1, "memory": "64m"}},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", "master": master}}))
    return "job.yaml"


def role_in(text):
    """The objects that an error printed for `kubectl apply -f -`."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines[lines.index("---\n"):] if not line.startswith("gangrun: "))


def apply(jobs, text):
    path = jobs.write("role.yaml", text)
    jobs.kubectl.run("apply", "-f", path)


@pytest.mark.gate
def test_the_printed_role_is_all_that_is_missing(jobs):
    done = jobs.order("run", "--detach", job_file(jobs))
    assert done.returncode == 2 and "kubernetes.master.service_account: is missing" in done.stderr, done
    assert jobs.left() == []
    apply(jobs, role_in(done.stderr))
    done = jobs.order("run", "--detach", job_file(jobs, service_account=ACCOUNT))
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    waited = jobs.order("wait", job)
    assert waited.returncode == 0, waited.stdout + waited.stderr
    assert jobs.order("rm", "--yes", job).returncode == 0


def test_an_account_without_rights_is_refused_before_anything_is_made(jobs):
    missing = jobs.order("run", "--detach", job_file(jobs, service_account="nobody"))
    assert missing.returncode == 3 and "has no service account 'nobody'" in missing.stderr, missing
    account = jobs.make_account(ACCOUNT, rules=[])
    refused = jobs.order("run", "--detach", job_file(jobs, service_account=account))
    assert refused.returncode == 3 and f"the service account '{account}' has no right to create pods, " in refused.stderr, refused
    assert jobs.left() == []
    apply(jobs, role_in(refused.stderr))
    done = jobs.order("run", "--detach", job_file(jobs, service_account=account))
    assert done.returncode == 0, done.stderr
    assert jobs.order("kill", done.stdout.strip()).returncode == 0


def test_a_job_without_agents_is_refused(jobs):
    done = jobs.run("--detach", "--agents", "none", "-r", "worker:1", "--", "true")
    assert done.returncode == 2, done
    assert "kubernetes.agents: none is not allowed with --detach" in done.stderr and "allowed: config_maps, image" in done.stderr, done
    assert jobs.left() == []
