"""`gangrun run --on yarn` and the commands after it, on real clusters: one that believes names, and one with Kerberos and encryption."""

import hashlib
import json
import os
import re

import pytest

from waiting import wait_until

TASK = """
import json, os, socket, sys
config = json.loads(os.environ["TF_CONFIG"])
print("task", config["task"]["type"], config["task"]["index"], "of", sorted(config["cluster"]))
print("at", os.environ["NM_HOST"], "in", os.environ["GANGRUN_JOB_ID"])
print("to standard error", file=sys.stderr)
import helper
print("helped by", helper.NAME)
"""


SECURE = pytest.param("privacy", marks=pytest.mark.secure)
# Of what decides about a change, where nobody has to prove who he is.
decides = pytest.mark.parametrize("security", [pytest.param("simple", marks=pytest.mark.gate), SECURE])


@pytest.fixture(params=["simple", SECURE])
def security(request):
    return request.param


@pytest.fixture
def hadoop(request, security):
    return request.getfixturevalue("hadoop" if security == "simple" else "secured_hadoop")


def state_of(hadoop, job):
    return next(app["state"] for app in hadoop.applications() if app["id"] == job)


def write_task(jobs):
    jobs.write("task.py", TASK)
    jobs.write("helper.py", "NAME = 'a module beside'\n")


@decides
def test_a_gang_runs_and_what_it_says_is_shown(jobs, hadoop):
    write_task(jobs)
    done = jobs.run("-r", "chief:1,worker:2", "-m", "128m", "-f", "helper.py", "--", "python3", "task.py")
    assert done.returncode == 0, done.stderr
    for task, number in (("chief", 0), ("worker", 0), ("worker", 1)):
        assert re.search(rf"{task}:{number}.*task {task} {number} of \['chief', 'worker'\]", done.stdout), done.stdout
    assert done.stdout.count("helped by a module beside") == 3
    assert (done.stdout + done.stderr).count("to standard error") == 3
    application = hadoop.wait_for_application(max(app["id"] for app in hadoop.applications()))
    assert (application["state"], application["finalStatus"]) == ("FINISHED", "SUCCEEDED")
    assert application["applicationType"] == "GANGRUN"


@decides
def test_what_the_cluster_has_is_not_uploaded_again(jobs):
    write_task(jobs)
    words = ("-r", "worker:1", "-m", "128m", "-f", "helper.py", "--", "python3", "task.py")
    jobs.write("helper.py", "NAME = 'changed for this test'\n")
    first = jobs.run(*words)
    assert first.returncode == 0, first.stderr
    assert "uploads files.tar.gz" in first.stderr
    second = jobs.run(*words)
    assert second.returncode == 0, second.stderr
    assert "uploads" not in second.stderr
    # Nor is YARN asked twice for an application's number.
    numbers = [int(re.search(r"application_\d+_(\d+)", done.stderr).group(1)) for done in (first, second)]
    assert numbers[1] == numbers[0] + 1


LARGE = """
import hashlib, helper, os
def digest(path): return hashlib.sha256(open(path, "rb").read()).hexdigest()
print("helped by", helper.NAME, digest("large.bin"), digest("images/a/part.bin"), sorted(os.listdir("images")), flush=True)
"""


def test_a_small_change_does_not_bring_large_files_again(jobs, tmp_path):
    content = {"large.bin": os.urandom(4 << 20), "images/a/part.bin": os.urandom(5 << 20), "images/b.txt": b"b"}
    (tmp_path / "images/a").mkdir(parents=True)
    for name, octets in content.items():
        (tmp_path / name).write_bytes(octets)
    jobs.write("large.py", LARGE)

    def run(helper):
        jobs.write("helper.py", f"NAME = '{helper}'\n")
        done = jobs.run("-r", "worker:1", "-m", "128m", "-f", "helper.py", "-f", "large.bin", "-f", "images", "--",
                        "python3", "large.py", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
        assert done.returncode == 0, done.stderr
        digests = " ".join(hashlib.sha256(content[name]).hexdigest() for name in ("large.bin", "images/a/part.bin"))
        assert f"helped by {helper} {digests} ['a', 'b.txt']" in done.stdout, done.stdout
        return set(re.findall(r"uploads (\S+) \(", done.stderr)) - {"gangrun-agent"}

    assert run("one") == {"files.tar.gz", "large.bin", "images"}
    assert run("two") == {"files.tar.gz"}
    content["large.bin"] = os.urandom(4 << 20)
    (tmp_path / "large.bin").write_bytes(content["large.bin"])
    assert run("two") == {"large.bin"}


@decides
def test_values_of_variables_arrive_as_they_are(jobs):
    values = {"A": "plain", "B": "a \"quoted\" $HOME `id` \\ word", "C": "two\nlines", "D": "ümläut 日本",
              "E": "{{NM_HOST}} <CPS> <LOG_DIR>", "F": "'single' & ; | * ?"}
    jobs.write("show.py", "import json, os\nprint('values', json.dumps({n: os.environ[n] for n in 'ABCDEF'}))\n")
    flags = [word for name, value in values.items() for word in ("-e", f"{name}={value}")]
    done = jobs.run("-r", "worker:1", "-m", "128m", *flags, "--", "python3", "show.py")
    assert done.returncode == 0, done.stderr
    shown = re.search(r"values (\{.*\})", done.stdout)
    assert shown, done.stdout
    assert json.loads(shown[1]) == values


@decides
def test_a_failure_is_told_with_its_first_cause(jobs, hadoop):
    jobs.write("fail.py", "import os, signal, sys\n"
                          "if os.environ['GANGRUN_TASK_INDEX'] == '1': print('no such data', file=sys.stderr); sys.exit(3)\n"
                          "signal.pause()\n")
    done = jobs.run("-r", "worker:2", "-m", "128m", "--", "python3", "fail.py")
    assert done.returncode == 1, done.stderr
    assert re.search(r"worker:1 .*exited with status 3", done.stdout + done.stderr), done.stderr
    application = hadoop.wait_for_application(max(app["id"] for app in hadoop.applications()))
    assert application["finalStatus"] == "FAILED"
    assert "exited with status 3" in application["diagnostics"]
    # What the task said last, of which YARN is not told.
    listed = jobs.order("ps", "--on", "yarn").stdout
    assert re.search(rf"{application['id']} .*worker:1: no such data \(status 3\)", listed), listed
    # On a machine that knows no more of it than YARN.
    known = json.loads(jobs.order("history", "--on", "yarn", "--json").stdout)
    (ended,) = [job for job in known if job["id"] == application["id"]]
    assert ended["cause"]["reason"] == "exit_status" and ended["cause"]["sentence"] in application["diagnostics"], ended


@decides
def test_the_commands_after_a_detached_job(jobs, hadoop):
    jobs.write("wait.py", "import signal\nprint('waits', flush=True)\nsignal.pause()\n")
    job = jobs.submit("-r", "worker:2", "-m", "128m", "--", "python3", "wait.py")
    status = jobs.wait_for_state(job, "running")
    assert [task["task"] for task in status["tasks"]] == ["worker:0", "worker:1"]
    wait_until(lambda: sum("waits" in line for line in jobs.lines(job)) == 2, "both lines", pause_s=0.2)
    listed = json.loads(jobs.order("ps", "--on", "yarn", "--json").stdout)
    assert job in [entry["id"] for entry in listed]
    assert jobs.order("why", job).returncode == 0
    killed = jobs.order("kill", job)
    assert killed.returncode == 0, killed.stderr
    jobs.wait_for_state(job, "killed")
    wait_until(lambda: state_of(hadoop, job) == "FINISHED", "YARN to know of the end", pause_s=0.25)
    # What was the job's on the cluster is gone, what is the user's is there.
    listing = hadoop.run("hdfs", "dfs", "-ls", "-R", "/user").stdout
    assert f"/jobs/{job}" not in listing
    assert f"/history/{job}/status.json" in listing


@decides
def test_the_output_of_an_ended_job_comes_from_the_aggregated_logs(jobs):
    write_task(jobs)
    job = jobs.submit("-r", "worker:2", "-m", "128m", "-f", "helper.py", "--", "python3", "task.py")
    # Until then the master itself answers.
    assert jobs.hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"

    def aggregated():
        done = jobs.order("logs", job)
        return done.stdout if done.returncode == 0 and done.stdout.count("helped by") == 2 else None

    assert wait_until(aggregated, "the aggregated logs", pause_s=0.5)
    one = jobs.lines(job, "worker:1", "--stdout")
    assert [line for line in one if line.startswith("task")] == ["task worker 1 of ['worker']"]


@decides
def test_bad_input_is_refused_before_anything_is_started(jobs, hadoop, tmp_path):
    write_task(jobs)
    before = len(hadoop.applications())
    command = ("--", "python3", "task.py")

    def refusal(*words, env=None):
        done = jobs.run(*words, *command, env=env)
        assert done.returncode == 2, (done.returncode, done.stderr)
        return done.stderr

    assert "HADOOP_CONF_DIR is not set" in refusal("-r", "worker:1", env={"HADOOP_CONF_DIR": ""})
    missing = str(tmp_path / "none")
    assert missing in refusal("-r", "worker:1", env={"HADOOP_CONF_DIR": missing})
    assert "there is no queue nosuch; allowed:" in refusal("-r", "worker:1", "--queue", "nosuch")
    too_much = refusal("-r", "worker:1", "-m", "900g")
    assert "921600 MiB" in too_much and "allowed: up to" in too_much
    assert "label gpu is not known" in refusal("-r", "worker:1", "--label", "gpu")
    assert "fpga is not known" in refusal("-r", "worker:1", "--resource", "fpga=1")
    assert len(hadoop.applications()) == before
