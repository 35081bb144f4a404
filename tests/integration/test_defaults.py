"""Files of defaults, as a user has them. Those of the machine: src/client/default_files_test.cc."""

import json

import pytest


@pytest.fixture
def config(tmp_path):
    folder = tmp_path / "config"
    folder.mkdir()
    return folder / "gangrun.yaml"


@pytest.fixture
def run(run_gangrun, config, tmp_path):
    """run(...) is a command of a user who has that file, with the folder `work` as its own."""
    work = tmp_path / "work"
    work.mkdir()

    def call(*words, cwd=work, **env):
        return run_gangrun(*words, cwd=cwd, env={"GANGRUN_NO_DEFAULTS": "", "XDG_CONFIG_HOME": str(config.parent), **env})

    call.work = work
    return call


def lines(done):
    assert done.status == 0, done
    return sorted(line.split(" | ")[1] for line in done.stdout.splitlines() if " | " in line)


def sources(done):
    assert done.status == 0, done
    return {one.pop("field"): one for one in json.loads(done.stdout)["sources"]}


def test_job_files_and_flags_win_over_them(run, config):
    config.write_text("env: {A: default, B: default, C: default}\nyarn: {queue: research}\n")
    (run.work / "job.yaml").write_text("tasks: {worker: 1}\nenv: {B: file}\ncommand: echo $A $B $C\n")
    done = run("run", "job.yaml", "-e", "C=flag", "--dry-run", "--json")
    found = sources(done)
    assert found["env.A"] == {"from": "defaults", "file": str(config), "line": 1}
    assert found["env.B"] == {"from": "job_file", "file": str(run.work / "job.yaml"), "line": 2}
    assert found["env.C"] == {"from": "flag", "flag": "-e"}
    assert found["on"] == {"from": "built_in"}
    assert found["tasks.worker.instances"] == {"from": "job_file", "file": str(run.work / "job.yaml"), "line": 1}
    left_out = {one["field"]: one["line"] for one in json.loads(done.stdout)["defaults_left_out"]}
    assert left_out["yarn"] == 2
    shown = run("run", "job.yaml", "--dry-run").stdout
    assert f"  {config}:1" in shown and "built-in" in shown and "yarn, which is not used with `on: local`" in shown
    done = run("run", "job.yaml", "-e", "C=flag")
    assert lines(done) == ["default file flag"]
    assert "not used" not in done.stderr


def test_they_can_be_left_out(run, config):
    config.write_text("env: {WORD: default}\n")
    command = ["--", "sh", "-c", "echo ${WORD:-none}"]
    assert lines(run("run", *command)) == ["default"]
    assert lines(run("run", "--no-defaults", *command)) == ["none"]
    assert lines(run("run", *command, GANGRUN_NO_DEFAULTS="1")) == ["none"]


def test_a_default_may_choose_the_place(run, config):
    config.write_text("on: kubernetes\nimage: busybox\n")
    done = run("run", "--dry-run", "--", "true", KUBECONFIG=str(config))
    assert done.status == 2 and "there is no context" in done.stderr, "it is for Kubernetes"
    config.write_text("on: kubernetes\n")
    assert sources(run("run", "--on", "local", "--dry-run", "--json", "--", "true"))["on"] == {"from": "flag", "flag": "--on"}


def test_what_a_place_does_not_take_is_left_out(run, config):
    config.write_text("restarts: 3\nzookeeper: {root: /r}\nssh: {hostfile: /no/such/file}\n")
    done = run("run", "--on", "ssh", "--hosts", "h1", "--dry-run", "--json", "--", "true")
    assert {one["field"] for one in json.loads(done.stdout)["defaults_left_out"]} == {"ssh.hostfile", "zookeeper"}
    assert sources(done)["restarts.max"]["from"] == "defaults"


def test_a_failure_before_the_start_names_the_defaults_that_count(run, config):
    config.write_text("interface: none77\nenv: {A: b}\n")
    done = run("run", "--dry-run", "--", "true")
    assert done.status == 2 and "no interface 'none77'" in done.stderr
    assert f"defaults count for this job: env.A ({config}:2), interface ({config}:1); --no-defaults or GANGRUN_NO_DEFAULTS=1 leaves them out" in done.stderr, done
    assert "defaults count" not in run("run", "--no-defaults", "--interface", "none77", "--", "true").stderr


def test_what_is_wrong_in_one_names_it_and_starts_nothing(run, config, run_gangrun):
    for text, said in {"name: x\n": "1:1: 'name' is not allowed in a file of defaults: each job has its own; allowed: env, ",
                       "yarn: {queu: x}\n": "1:8: yarn: 'queu' is not a known key; did you mean 'queue'?",
                       "log_limit: 1 GB\n": "1:12: log_limit: '1 GB' is not an amount of memory",
                       "env: [a]\n": "1:6: env: a list is not allowed; allowed: a map of variables to texts",
                       "ssh: {hostfile: mine}\n": "1:17: ssh.hostfile: 'mine' is not allowed in a file of defaults"}.items():
        config.write_text(text)
        done = run("run", "--", "true")
        assert done.status == 2 and f"{config}:{said}" in done.stderr, done
    config.unlink()
    config.mkdir()
    assert f"{config} is a folder" in run("run", "--", "true").stderr
    assert json.loads(run_gangrun("ps", "--json").stdout) == []


def test_one_that_others_may_write_is_not_followed(run, config):
    config.write_text("env: {A: b}\n")
    config.chmod(0o666)
    done = run("run", "--", "true")
    assert done.status == 2 and f"{config} is not followed: it has mode 0666" in done.stderr, done
    assert "--no-defaults" in done.stderr
    assert run("run", "--no-defaults", "--", "true").status == 0


def test_a_job_is_run_again_with_those_that_it_had(run, config):
    config.write_text("env: {WORD: then}\n")
    command = ["--", "sh", "-c", "echo ${WORD:-none}"]
    assert lines(run("run", *command)) == ["then"]
    config.write_text("env: {WORD: now}\n")
    done = run("rerun")
    assert lines(done) == ["then"]
    assert f"{config} has changed since" in done.stderr and "as they were then" in done.stderr
    # One that was started again is, too.
    assert lines(run("rerun")) == ["then"]
    assert lines(run("rerun", "--no-defaults")) == ["none"]
    assert lines(run("rerun")) == ["none"]


def test_a_job_without_any_is_run_again_without_any(run, config):
    assert lines(run("run", "--", "sh", "-c", "echo ${WORD:-none}")) == ["none"]
    config.write_text("env: {WORD: now}\n")
    assert lines(run("rerun")) == ["none"]
