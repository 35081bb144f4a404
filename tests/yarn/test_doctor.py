"""What gangrun doctor and check_hadoop_env say of a real cluster, well and not well, and that they leave nothing behind."""

import getpass
import json
import os
import re
import shutil
import signal
import subprocess

import pytest
from waiting import wait_until
from yarn import storage
from yarn.processes import processes

LIMIT_S = 180
COULD_NOT_START, INTERRUPTED = 3, 130
LOGGER = "INFO:tf_yarn.bin.check_hadoop_env:"
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture
def home_folder(hadoop):
    """What is in the user's home folder on HDFS but for the agent that every job leaves there: before and after the same."""
    def look():
        user = f"/user/{getpass.getuser()}"
        found = storage.listed(hadoop, user)
        return {path for path in found if not path.startswith(f"{user}/.gangrun")} | {
            path for path in found if re.search(r"/\.gangrun/(jobs|history)/application", path)}

    before = look()
    yield look
    assert look() == before
    assert [path for path in storage.listed(hadoop, "/tmp") if re.search(UUID, path)] == []
    assert not [found for found in hadoop.applications() if found["state"] not in ("FINISHED", "FAILED", "KILLED")]


@pytest.fixture
def doctor(jobs):
    """doctor(..., status=0, by=jobs) gives {name: check} of gangrun doctor --on yarn."""
    def look(*words, status=0, by=jobs, **variables):
        done = by.order("doctor", "--on", "yarn", "--json", *words, env=variables, limit=LIMIT_S)
        assert done.returncode == status, done.stdout + done.stderr
        report = json.loads(done.stdout)
        assert report["can_run_jobs"] == (status == 0)
        return {check["name"]: check for check in report["checks"]}

    return look


@pytest.fixture
def check_hadoop_env(gangrun, jobs):
    """check_hadoop_env(...) gives (exit status, lines) under its own name; the log has the same lines."""
    def run(*words, **variables):
        done = subprocess.run([gangrun.with_name("check_hadoop_env"), *words], cwd=jobs.folder, stdin=subprocess.DEVNULL,
                              env=jobs.environment | variables, capture_output=True, text=True, timeout=LIMIT_S)
        assert done.stdout == ""
        assert (jobs.folder / "check_hadoop_env.log").read_text() == done.stderr
        return done.returncode, done.stderr.splitlines()

    return run


@pytest.fixture
def no_python(tmp_path):
    """A PATH without Python: its TensorFlow is not what the test is about."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin")}


def only_failed(checks, name):
    assert [check["name"] for check in checks.values() if check["verdict"] == "failed"] == [name]
    assert checks[name]["to_do"]
    return checks[name]


def libhdfs_variables(hadoop):
    """What a user's own terminal needs besides, as Hadoop's and TensorFlow's guides say."""
    site = (hadoop.conf_dir / "yarn-site.xml").read_text()
    jars = re.search(r"\$HADOOP_CONF_DIR,([^<]*)/\*<", site).group(1)
    names = [os.path.join(jars, name) for name in sorted(os.listdir(jars)) if name.endswith(".jar")]
    java = hadoop.exports["JAVA_HOME"]
    folder = next(folder for folder, _, files in os.walk(java, followlinks=True) if "libjvm.so" in files)
    return {"CLASSPATH": ":".join([str(hadoop.conf_dir), *names]), "LD_LIBRARY_PATH": folder}


def test_all_is_well_from_here_and_from_a_container(doctor, hadoop, no_python, home_folder):
    checks = doctor("--remote", **no_python)
    assert {check["verdict"] for check in checks.values()} == {"ok", "not checked"}
    hdfs = hadoop.hdfs_url
    assert [name for name in checks if checks[name]["verdict"] == "not checked"] == ["TensorFlow"]
    assert re.fullmatch(rf"a file was written, read and removed below /user/\w+/gangrun-doctor-{UUID}", checks[hdfs]["found"])
    assert checks["ResourceManager"]["found"].startswith(f"{hadoop.rm_address} answers, Hadoop 3.")
    assert checks["nodes"]["found"].startswith("2 run with ")
    assert re.search(r"application_\d+_\d+ ran on \S+ and ended after", checks["container"]["found"])
    from_node, = (name for name in checks if name.startswith(f"{hdfs} from "))
    assert from_node.removeprefix(f"{hdfs} from ") in checks["container"]["found"]
    identifier = re.search(r"application_\d+_\d+", checks["container"]["found"]).group()
    assert hadoop.wait_for_application(identifier)["finalStatus"] == "SUCCEEDED"


def test_the_words_that_tf_yarn_s_users_know(check_hadoop_env, jobs, hadoop, no_python, home_folder):
    status, lines = check_hadoop_env(**no_python)
    assert status == 0, lines
    written = f"{LOGGER}write dummy file to hdfs {hadoop.hdfs_url}/tmp/"
    assert re.fullmatch(re.escape(written) + UUID + "/hello_tf_yarn.txt", lines[2])
    assert [line for line in lines if "not checked" not in line] == [
        f"{LOGGER}results will be written in {jobs.folder}/check_hadoop_env.log", f"{LOGGER}check_env: True", lines[2],
        f"{LOGGER}check_local_hadoop_tensorflow: True", "INFO:root:Launching remote check", f"{LOGGER}remote_check: True",
        f"{LOGGER}Hadoop setup: OK"]


def test_tensorflow_with_its_plugin_reaches_hdfs_here_and_there(check_hadoop_env, hadoop, hdfs_tensorflow, home_folder):
    python = hdfs_tensorflow["PATH"].split(":")[0] + "/python"
    status, lines = check_hadoop_env("--python", python, **libhdfs_variables(hadoop), **hdfs_tensorflow)
    assert (status, lines[-1]) == (0, f"{LOGGER}Hadoop setup: OK"), lines
    assert not [line for line in lines if "not checked" in line]


def test_tensorflow_without_what_libhdfs_needs(check_hadoop_env, hdfs_tensorflow, home_folder):
    status, lines = check_hadoop_env("--no-remote", CLASSPATH="", LD_LIBRARY_PATH="", **hdfs_tensorflow)
    assert (status, lines[-1]) == (1, f"{LOGGER}Hadoop setup: KO"), lines
    why = lines[lines.index(f"{LOGGER}check_local_hadoop_tensorflow: False") - 1]
    assert "libhdfs" in why and "not set: CLASSPATH" in why and "LD_LIBRARY_PATH" in why


def test_a_configuration_that_is_not_there(doctor, check_hadoop_env, tmp_path):
    for folder in ("", str(tmp_path / "none")):
        only_failed(doctor(status=COULD_NOT_START, HADOOP_CONF_DIR=folder), "variables")
    (tmp_path / "conf").mkdir()
    only_failed(doctor(status=COULD_NOT_START, HADOOP_CONF_DIR=str(tmp_path / "conf")), "configuration")
    status, lines = check_hadoop_env(HADOOP_CONF_DIR="")
    assert status == 1
    assert lines[1].startswith("ERROR:tf_yarn.bin.check_hadoop_env:variables: failed: HADOOP_CONF_DIR is not set; to do: export")
    assert lines[2:] == [f"{LOGGER}{what}" for what in ("check_env: False", "check_local_hadoop_tensorflow: False",
                                                       "remote_check: False", "Hadoop setup: KO")]


def test_nobody_where_the_configuration_says(doctor, hadoop, tmp_path, no_python, home_folder):
    folder = tmp_path / "conf"

    def configured(site, name, value):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(hadoop.conf_dir, folder)
        path = folder / f"{site}-site.xml"
        path.write_text(path.read_text().replace(
            "</configuration>", f"<property><name>{name}</name><value>{value}</value></property></configuration>"))
        return doctor("--remote", status=COULD_NOT_START, HADOOP_CONF_DIR=str(folder), **no_python)

    checks = configured("hdfs", "dfs.namenode.http-address", "127.0.0.1:1")
    assert "http://127.0.0.1:1" in only_failed(checks, hadoop.hdfs_url)["found"]
    assert checks["container"]["verdict"] == "not checked" and checks["ResourceManager"]["verdict"] == "ok"
    checks = configured("yarn", "yarn.resourcemanager.address", "127.0.0.1:1")
    assert "127.0.0.1:1 cannot be reached" in only_failed(checks, "ResourceManager")["found"]
    assert {checks[name]["verdict"] for name in ("queue default", "nodes", "container")} == {"not checked"}


def test_what_the_user_may_not(doctor, jobs, no_python, home_folder):
    checks = doctor("--queue", "nosuch", "--remote", status=COULD_NOT_START, **no_python)
    found = only_failed(checks, "queue nosuch")
    assert found["found"] == "there is no queue nosuch" and "root.default, root.ml-gpu" in found["to_do"]
    checks = doctor("--remote", status=COULD_NOT_START, by=jobs.of("carol"), **no_python)
    hdfs, = (name for name in checks if name.startswith("hdfs://"))
    assert "/user/carol" in only_failed(checks, hdfs)["found"] and "carol" in checks[hdfs]["to_do"]


def test_another_file_system_must_work_too(doctor, hadoop, no_python, home_folder):
    web = hadoop.webhdfs_url.split("/webhdfs")[0].replace("http", "webhdfs")
    checks = doctor("--file-system", web, "--file-system", "s3://bucket", status=COULD_NOT_START, **no_python)
    assert checks[web]["verdict"] == "ok"
    assert "hdfs://nameservice" in only_failed(checks, "s3://bucket")["to_do"]


def test_a_node_that_has_another_python(doctor, no_python, home_folder, tmp_path):
    missing = tmp_path / "none/python"
    checks = doctor("--remote", "--python", str(missing), **no_python)
    not_checked = [check["found"] for name, check in checks.items() if name.startswith("TensorFlow")]
    assert not_checked == [f"{missing} is not a program here", f"the node has no {missing}"]


@pytest.fixture
def hanging(gangrun, jobs, no_python, tmp_path):
    """A doctor whose Python hangs, here and in the container; that program's processes are hanging.pids()."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec /bin/sleep 612\n")
    python.chmod(0o755)
    process = subprocess.Popen([gangrun, "doctor", "--on", "yarn", "--remote", "--python", str(python)], cwd=jobs.folder,
                               env=jobs.environment | no_python, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    process.pids = lambda: processes("612")
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)


def interrupted(process):
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == INTERRUPTED, said
    assert said == "gangrun: Ctrl-C: what the checks have made is removed and ended; send it again to end at once\n"
    wait_until(lambda: not process.pids(), "no program of it to run", LIMIT_S, pause_s=0.1)


def test_ctrl_c_leaves_nothing_here(home_folder, hadoop, hanging):
    before = len(hadoop.applications())
    wait_until(hanging.pids, "the program that hangs", LIMIT_S, pause_s=0.1)
    interrupted(hanging)
    assert len(hadoop.applications()) == before


def test_ctrl_c_leaves_nothing_on_the_cluster(home_folder, hadoop, hanging):
    before = {found["id"] for found in hadoop.applications()}
    here, = wait_until(hanging.pids, "the program that hangs", LIMIT_S, pause_s=0.1)
    os.kill(here, signal.SIGTERM)
    wait_until(lambda: set(hanging.pids()) - {here}, "the container's", LIMIT_S, pause_s=0.1)
    interrupted(hanging)
    identifier, = {found["id"] for found in hadoop.applications()} - before
    assert hadoop.wait_for_application(identifier)["finalStatus"] == "KILLED"
