"""The command line as a user meets it: help, usage, exit statuses, plans. Golden texts are written anew with
GANGRUN_UPDATE_GOLDEN=1."""

import json
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs/commands.md"
COMMANDS = ["run", "rerun", "ps", "status", "logs", "result", "fetch", "kill", "rm", "wait", "attach", "open", "exec",
            "stacks", "kv", "barrier", "why", "explain", "history", "doctor", "completion", "ytf-submit",
            "tf-spawner", "check_hadoop_env", "version"]
JOB = {"tasks": {"worker": {"instances": 2}}, "command": "true"}


def compare_with_golden(name, text):
    path = HERE / "golden" / name
    if os.environ.get("GANGRUN_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs; GANGRUN_UPDATE_GOLDEN=1 writes it anew"


def test_no_command_needs_the_current_folder_but_run(gangrun, home, tmp_path):
    """In a folder that was removed not even `kill`, `version` or `--help` worked."""
    (tmp_path / "gone").mkdir()
    line = 'cd gone && rmdir ../gone && "$0" "$@"'
    statuses = {}
    for words in (["--help"], ["version"], ["ps"], ["kill", "nosuch"], ["run", "-r", "worker:1", "--", "true"]):
        done = subprocess.run(["/bin/sh", "-c", line, gangrun, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "GANGRUN_HOME": str(home)})
        statuses[words[0]] = done.returncode
        (tmp_path / "gone").mkdir()
    assert "the current folder, in which the tasks would run, is gone" in done.stderr
    assert statuses.pop("run") not in (0, 1, -15) and statuses == {"--help": 0, "version": 0, "ps": 0, "kill": 4}


@pytest.mark.parametrize("value, status, said", [
    ("abc", 2, "GANGRUN_PARENT='abc' is not a process"), ("-1", 2, "is not a process"), ("", 2, "is not a process"),
    ("1", -15, "GANGRUN_PARENT=1: that process has ended or did not start this command"),
])
def test_a_parent_that_is_none_is_told(run_gangrun, value, status, said):
    """It ended every command by SIGTERM without a word."""
    done = run_gangrun("version", env={"GANGRUN_PARENT": value})
    assert done.status == status and said in done.stderr, done
    assert run_gangrun("version", env={"GANGRUN_PARENT": str(os.getpid())}).status == 0


def test_a_gangrun_that_a_task_starts_keeps_its_jobs_where_this_one_does(run_gangrun, gangrun, agent, home, tmp_path):
    done = run_gangrun("run", "-r", "worker:1", "--", "sh", "-c", f"echo home=$GANGRUN_HOME; '{gangrun}' ps", cwd=tmp_path)
    assert done.status == 0 and f"home={home}" in done.stdout and "running" in done.stdout, done


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(run_gangrun, command):
    done = run_gangrun(*[command] if command else [], "--help")
    assert (done.status, done.stderr) == (0, "")
    assert "Example" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110
    compare_with_golden(f"help_{command or 'gangrun'}.txt", done.stdout)


def test_help_wants_nothing_else(run_gangrun, tmp_path):
    done = run_gangrun("status", "--help", env={"GANGRUN_HOME": "", "HOME": ""}, cwd=tmp_path)
    assert done.status == 0 and list(tmp_path.iterdir()) == []


def test_the_exit_statuses_of_help_and_documentation_are_the_same(run_gangrun):
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", DOCS.read_text(), re.MULTILINE)
    assert len(rows) >= 8
    shown = re.findall(r"^ +(\d+)  (.*)$", run_gangrun("--help").stdout.split("Exit status:")[1], re.MULTILINE)
    assert rows == shown


def test_the_documentation_names_every_command(run_gangrun):
    named = set(re.findall(r"^\| `gangrun ([\w-]+)", DOCS.read_text(), re.MULTILINE))
    assert named == set(COMMANDS)


@pytest.mark.parametrize("arguments, parts", [
    ([], ["no command", "gangrun --help"]),
    (["staus"], ["unknown command 'staus'", "did you mean status?"]),
    (["xyzzy"], ["unknown command 'xyzzy'", "gangrun --help"]),
    (["--versoin"], ["unknown flag '--versoin'"]),
    (["ps", "--jsno"], ["unknown flag '--jsno'", "did you mean --json?"]),
    (["run", "--memmory=4g", "job.yaml"], ["unknown flag '--memmory'", "did you mean --memory?"]),
    (["ps", "extra"], ["unexpected argument 'extra'"]),
    (["run", "a.yaml", "python", "train.py"], ["unexpected argument 'python'", "gangrun run a.yaml -- python train.py"]),
    (["kill"], ["JOB is missing", "gangrun kill --help"]),
    (["list"], ["unknown command 'list'", "did you mean ps?"]),
    (["run", "-n", "4", "--", "true"], ["-n 4", "use -r worker:4"]),
    (["run", "-np", "4", "--", "true"], ["-np 4", "use -r worker:4"]),
    (["run", "--nnodes", "2", "--", "true"], ["unknown flag '--nnodes'", "did you mean -r worker:N?"]),
    (["run", "--framework", "TF", "--", "true"], ["'TF' is not a framework", "did you mean 'tensorflow'?"]),
    (["run", "-m"], ["--memory needs a value"]),
    (["wait", "x", "--timeout", "soon"], ["--timeout", "'soon'"]),
    (["logs", "x", "--tail", "-3"], ["--tail", "'-3'"]),
    (["logs", "x", "worker"], ["'worker'"]),
    (["logs", "x", "--stdout", "--stderr"], ["exclude each other"]),
    (["ps", "--", "x"], ["unexpected argument 'x'", "gangrun ps --help"]),
    (["completion", "tcsh"], ["'tcsh'", "bash, zsh, fish"]),
    (["run", "--quiet", "--verbose", "-r", "worker:1", "--", "true"], ["exclude each other"]),
])
def test_bad_usage(run_gangrun, home, arguments, parts):
    done = run_gangrun(*arguments)
    assert done.status == 2 and done.stdout == ""
    assert done.stderr.startswith("gangrun: ") and done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("command", ["status", "logs", "kill", "wait"])
def test_an_unknown_job_has_a_status_of_its_own(run_gangrun, command):
    for job in ("nothing", "last"):
        done = run_gangrun(command, job)
        assert done.status == 4 and "there is no job" in done.stderr


def test_version(run_gangrun):
    done = run_gangrun("version")
    assert re.fullmatch(r"gangrun \d+\.\d+\.\d+\n", done.stdout)
    assert json.loads(run_gangrun("version", "--json").stdout)["version"] in done.stdout


def test_the_licenses_of_all_that_is_linked_in_are_told(run_gangrun):
    root = HERE.parents[1]
    said = run_gangrun("version", "--licenses").stdout
    assert (root / "licenses/components.txt").read_text() in said
    texts = [root / "LICENSE", *(path for path in (root / "licenses").glob("*.txt") if path.stem != "components")]
    assert len(texts) == 9 and all(path.read_text() in said for path in texts)


def test_ps_without_jobs_is_an_empty_table(run_gangrun, home):
    assert run_gangrun("ps").stdout.startswith("JOB ")
    assert json.loads(run_gangrun("ps", "--json").stdout) == []
    assert list(home.iterdir()) == []


def test_the_reason_that_why_names_is_explained(run_gangrun, tmp_path):
    run_gangrun("run", "-r", "worker:1", "--", "sh", "-c", "echo the last line >&2; kill -SEGV $$", cwd=tmp_path)
    _, _, *evidence, output, named = run_gangrun("why", "last").stdout.splitlines()
    assert evidence == ["its last lines on standard error:", "  | the last line"]
    assert output.startswith("Full output: gangrun logs ") and output.endswith(" worker:0")
    assert run_gangrun(*output.partition("gangrun ")[2].split()).stderr == "the last line\n"
    assert named == "What to do: gangrun explain signal"
    told = json.loads(run_gangrun("why", "last", "--json").stdout)
    assert told["reason"] == "signal" and told["cause"]["last_lines"] == ["the last line"] and told["why"][-2:] == [output, named]
    text = run_gangrun(*named.partition("gangrun ")[2].split()).stdout
    assert text.startswith("Killed by a signal\n\n") and "What to do: " in text and "**" not in text
    assert json.loads(run_gangrun("explain", "signal", "--json").stdout)["reasons"] == ["signal"]


def test_every_reason_can_be_listed(run_gangrun):
    lines = run_gangrun("explain").stdout.splitlines()
    reasons = [line.split()[0] for line in lines]
    assert {"exit_status", "preempted", "image_pull"} <= set(reasons) and len(set(reasons)) == len(reasons)
    told = json.loads(run_gangrun("explain", "--json").stdout)
    assert [reason for section in told for reason in section["reasons"]] == reasons
    wrong = run_gangrun("explain", "preemptd")
    assert wrong.status == 2 and "'preemptd' is not a reason; did you mean 'preempted'?" in wrong.stderr, wrong


def test_doctor_says_whether_jobs_can_run(run_gangrun):
    done = run_gangrun("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.status == (0 if report["can_run_jobs"] else 3)
    names = {check["name"] for check in report["checks"]}
    assert {check["verdict"] for check in report["checks"]} <= {"ok", "warning", "failed", "not checked"}
    assert {"agent", "home", "ports", "machine", "clock", "containment subreaper"} <= names
    assert run_gangrun("doctor").status == done.status


def test_doctor_without_an_agent_says_that_no_job_can_run(run_gangrun, tmp_path):
    done = run_gangrun("doctor", env={"GANGRUN_AGENT": str(tmp_path / "none")})
    assert done.status == 3 and "no job can run" in done.stdout


@pytest.mark.parametrize("text", ["yarn: {queu: x}", "log_limit: much"])
def test_doctor_tells_what_is_wrong_with_a_file_of_defaults(run_gangrun, tmp_path, text):
    """It said that jobs can run, while each run was refused."""
    (tmp_path / "gangrun.yaml").write_text(text)
    env = {"XDG_CONFIG_HOME": str(tmp_path), "GANGRUN_NO_DEFAULTS": ""}
    refused = run_gangrun("run", "--", "true", env=env)
    assert refused.status == 2 and f"{tmp_path}/gangrun.yaml:1:" in refused.stderr, refused
    done = run_gangrun("doctor", "--json", env=env)
    (check,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "defaults"]
    assert done.status == 3 and check["verdict"] == "failed" and f"{tmp_path}/gangrun.yaml:1:" in check["found"], check
    (tmp_path / "gangrun.yaml").write_text("log_limit: 1 GiB")
    checks = json.loads(run_gangrun("doctor", "--json", env=env).stdout)["checks"]
    assert [check["found"] for check in checks if check["name"] == "defaults"] == [f"of {tmp_path}/gangrun.yaml"]


def test_doctor_says_whether_stacks_can_be_read(run_gangrun, tmp_path):
    def look():
        report = json.loads(run_gangrun("doctor", "--json", env={"PATH": str(tmp_path)}).stdout)
        return next(check for check in report["checks"] if check["name"] == "stacks")

    assert look()["verdict"] == "warning"
    assert "pip install 'gangrun[stacks]'" in look()["found"] and "neither eu-stack nor gdb is installed" in look()["found"]
    for name in ("py-spy", "gdb"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert look()["found"].startswith("Python's are read by py-spy; those of other programs by gdb")


# Plans

@pytest.fixture
def job_file(tmp_path):
    (tmp_path / "train.py").write_text("")
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps({
        "name": "wine",
        "tasks": {"chief": {"memory": "100 MiB"},
                  "worker": {"instances": 2, "env": {"OMP_NUM_THREADS": "1"}, "overrides": {1: {"memory": "64 MiB"}}},
                  "ps": {}},
        "command": "python train.py", "framework": "tensorflow", "files": ["train.py"], "env": {"A": "b c"}}))
    return path


def test_a_plan_starts_and_creates_nothing(run_gangrun, home, job_file, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run_gangrun("run", "--dry-run", job_file, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    assert list(home.iterdir()) == [] and sorted(path.name for path in tmp_path.iterdir()) == before
    for part in ("wine: 4 tasks", "nothing is started", "worker:1", "64 MiB", "OMP_NUM_THREADS=1", "A='b c'", "TF_CONFIG",
                 "python train.py", "train.py", "not covered", "noticed"):
        assert part in done.stdout


def without_sources(done):
    """A plan, without where its values come from."""
    plan = json.loads(done.stdout)
    assert {source["from"] for source in plan.pop("sources")} <= {"built_in", "job_file", "flag"}
    return plan


def test_a_plan_as_json_is_complete(run_gangrun, job_file, tmp_path):
    done = run_gangrun("run", "--dry-run", "--json", job_file, cwd=tmp_path)
    plan = json.loads(done.stdout)
    tasks = {task["task"]: task for task in plan["tasks"]}
    assert list(tasks) == ["chief:0", "worker:0", "worker:1", "ps:0"]
    assert tasks["worker:1"]["memory"] == "64 MiB"
    assert tasks["worker:0"]["env"] == {"A": "b c", "OMP_NUM_THREADS": "1"}
    assert tasks["ps:0"]["policy"] == "service"
    assert "TF_CONFIG" in tasks["chief:0"]["variables"] and "GANGRUN_TASK_INDEX" in tasks["chief:0"]["variables"]
    assert tasks["chief:0"]["command"] == ["/bin/sh", "-c", "python train.py"]
    assert plan["containment"]["level"] in ("pid_namespace", "cgroup", "subreaper")
    # The job of a plan is a job file that gives the same plan.
    again = tmp_path / "again.yaml"
    again.write_text(json.dumps(plan["job"]))
    assert without_sources(run_gangrun("run", "--dry-run", "--json", again, cwd=tmp_path)) == without_sources(done)


def test_who_names_outputs_on_this_machine_is_told_that_they_stay(run_gangrun, tmp_path):
    """`--output` had no effect here, and nothing said so."""
    words = ("-r", "worker:1", "--output", "model", "--", "sh", "-c", "echo it >model")
    said = "what `outputs` names stays where the tasks write it; on this machine nothing is brought"
    plan = json.loads(run_gangrun("run", "--dry-run", "--json", *words, cwd=tmp_path).stdout)
    assert plan["where_tasks_work"] == f"{tmp_path}; {said}"
    assert said in run_gangrun("run", "--dry-run", *words, cwd=tmp_path).stdout
    done = run_gangrun("run", *words, cwd=tmp_path)
    assert done.status == 0 and done.stderr.count(said) == 1, done.stderr
    assert (tmp_path / "model").read_text() == "it\n"
    assert said in json.loads(run_gangrun("status", "last", "--json").stdout)["notes"]
    (tmp_path / "job.yaml").write_text("tasks: {worker: {outputs: [model]}}\noutputs: []\ncommand: 'true'\n")
    assert said in run_gangrun("run", "job.yaml", cwd=tmp_path).stderr


def test_flags_and_file_give_the_same_plan(run_gangrun, tmp_path):
    flags = run_gangrun("run", "--dry-run", "--json", "--name", "x", "-r", "ps:1,worker:2", "-m", "64m", "-m", "ps:32m",
                        "-e", "A=1", "--timeout", "job=1h", "--", "sh", "-c", "true", cwd=tmp_path)
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps({
        "tasks": {"ps": {"memory": "32 MiB"}, "worker": {"instances": 2, "memory": "64 MiB"}},
        "command": ["sh", "-c", "true"], "env": {"A": "1"}, "timeouts": {"job": "1 h"}}))
    file = run_gangrun("run", "--dry-run", "--json", path, cwd=tmp_path)
    assert (flags.status, file.status) == (0, 0), flags.stderr + file.stderr
    assert without_sources(flags) == without_sources(file)


def test_paths_of_files_are_relative_to_the_job_file(run_gangrun, job_file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plan = json.loads(run_gangrun("run", "--dry-run", "--json", job_file, cwd=elsewhere).stdout)
    assert plan["job"]["files"] == [str(tmp_path / "train.py")]
    assert plan["working_folder"] == str(elsewhere)
