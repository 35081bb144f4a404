"""The completion scripts, loaded by the shells themselves."""

import shutil
import subprocess
from pathlib import Path

import pytest

COMMANDS = {"run", "ps", "status", "logs", "kill", "rm", "wait", "open", "open", "doctor", "completion", "version"}


@pytest.fixture
def complete(gangrun, run_gangrun, home, tmp_path):
    """complete("gangrun", "ru") lists what bash offers for the last word."""
    script = tmp_path / "completion.bash"
    script.write_text(run_gangrun("completion", "bash").stdout)

    def offers(*words, cwd=None):
        function = "_" + words[0].replace("-", "_")
        run = (f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() {{ :; }}; '
               f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", run, "bash", *words], cwd=cwd or tmp_path,
                              env={"PATH": f"{Path(gangrun).parent}:/usr/bin:/bin", "GANGRUN_HOME": str(home), "HOME": str(tmp_path)},
                              capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stderr) == (0, "")
        found = done.stdout.split()
        # The commands of this machine are bash's, which offers one again that is in two folders.
        assert len(found) == len(set(found)) or "--" in words, found
        return set(found)

    return offers


def test_bash_completes_commands(complete):
    assert COMMANDS <= complete("gangrun", "")
    assert complete("gangrun", "do") == {"doctor"}


def test_bash_completes_flags_of_the_command(complete):
    assert {"--roles", "-r", "--dry-run", "--memory"} <= complete("gangrun", "run", "-")
    assert complete("gangrun", "run", "--dry") == {"--dry-run"}
    assert "--roles" not in complete("gangrun", "ps", "--")


def test_bash_completes_the_times_of_lines(complete, run_gangrun):
    assert {"--timestamps", "--since", "-t"} <= complete("gangrun", "logs", "-")
    assert complete("gangrun", "logs", "--ti") == {"--timestamps"}
    assert complete("gangrun", "logs", "--si") == {"--since"}
    # Its value is a time, and no job; the job follows.
    assert run_gangrun("run", "--name", "timed", "--", "true").status == 0
    assert complete("gangrun", "logs", "--since", "tim") == set()
    (job,) = complete("gangrun", "logs", "--since", "10m", "tim")
    assert job.startswith("timed-")
    assert complete("gangrun", "logs", "--timestamps", "last", "w") == {"worker:0"}


def test_bash_completes_tf_spawner_under_its_own_name(complete):
    assert complete("tf-spawner", "--pod") == {"--pod-file"}


def test_bash_completes_ytf_submit_under_its_own_name(complete):
    assert complete("ytf-submit", "--cl") == {"--cluster_requirement", "--client", "--client_ends_job"}
    assert complete("ytf-submit", "--on", "l") == {"local"}


def test_bash_completes_check_hadoop_env_under_its_own_name(complete):
    assert complete("check_hadoop_env", "--no") == {"--no-remote"}


def test_bash_completes_choices(complete):
    assert complete("gangrun", "run", "--containment", "") == {"auto", "pid_namespace", "cgroup", "subreaper"}
    assert complete("gangrun", "run", "--on", "") == {"kubernetes", "local", "spark", "ssh", "yarn"}
    assert complete("gangrun", "completion", "z") == {"zsh"}


def test_bash_completes_the_actions_of_kv_in_their_place(complete):
    assert complete("gangrun", "kv", "") == {"put", "get", "wait", "delete", "list"}
    assert complete("gangrun", "kv", "de") == {"delete"}
    assert complete("gangrun", "kv", "put", "") == set()


def test_bash_completes_files_and_jobs(complete, home, tmp_path):
    (tmp_path / "job.yaml").write_text("")
    assert complete("gangrun", "run", "job") == {"job.yaml"}
    assert complete("gangrun", "run", "--files", "job") == {"job.yaml"}
    (home / "jobs/wine-20260131-120000-3fa1").mkdir(parents=True)
    assert complete("gangrun", "status", "") == {"last", "wine-20260131-120000-3fa1"}
    assert complete("gangrun", "logs", "--tail", "5", "wi") == {"wine-20260131-120000-3fa1"}


def test_bash_completes_only_jobs_that_a_command_has_a_use_for(complete, run_gangrun):
    assert run_gangrun("run", "--name", "over", "--", "true").status == 0
    going = run_gangrun("run", "--detach", "--name", "going", "--", "sh", "-c", "while :; do sleep 1; done").stdout.split()[-1]
    try:
        (over,) = (job for job in complete("gangrun", "status", "") if job.startswith("over-"))
        for command in ("kill", "attach"):
            assert complete("gangrun", command, "") == {"last", going}, command
        assert complete("gangrun", "open", "") == {"last", going, "worker:0"}
        assert complete("gangrun", "rm", "") == {"last", over}
    finally:
        run_gangrun("kill", "--now", going)


def test_bash_offers_the_task_that_failed_once(complete, run_gangrun):
    """It stands at the begin of two lines of its job's status: its own, and that of the cause."""
    assert run_gangrun("run", "-r", "worker:2", "--", "sh", "-c", "exit $GANGRUN_TASK_INDEX").status == 1
    assert sum(line.startswith("worker:1 ") for line in run_gangrun("status", "last").stdout.splitlines()) == 2
    assert complete("gangrun", "logs", "last", "") == {"worker:0", "worker:1"}


def test_bash_completes_tasks_of_the_job(complete, run_gangrun):
    assert run_gangrun("run", "-r", "worker:2,ps:1", "--", "true").status == 0
    assert complete("gangrun", "logs", "last", "") == {"worker:0", "worker:1", "ps:0"}
    assert complete("gangrun", "logs", "-n", "5", "last", "w") == {"worker:0", "worker:1"}
    # As bash splits it: what stands before the colon stays.
    assert complete("gangrun", "logs", "last", "worker", ":") == {"0", "1"}
    assert complete("gangrun", "logs", "last", "worker", ":", "1") == {"1"}
    assert complete("gangrun", "logs", "no-such-job", "") == set()


@pytest.mark.parametrize("command", ["logs", "fetch", "result"])
def test_bash_completes_tasks_of_the_last_job_where_none_is_named(complete, run_gangrun, command):
    """`gangrun logs wo` had no completion, though `gangrun logs worker:0` is a command."""
    assert run_gangrun("run", "--name", "first", "-r", "ps:1,worker:2", "--", "true").status == 0
    offered = complete("gangrun", command, "")
    assert {"last", "ps:0", "worker:0", "worker:1"} < offered and any(job.startswith("first-") for job in offered)
    assert complete("gangrun", command, "wo") == {"worker:0", "worker:1"}
    assert complete("gangrun", command, "worker", ":") == {"0", "1"}
    assert complete("gangrun", command, "worker", ":", "1") == {"1"}


def test_bash_completes_commands_reasons_and_frameworks(complete):
    assert complete("gangrun", "hel") == {"help"}
    assert COMMANDS <= complete("gangrun", "help", "")
    assert complete("gangrun", "help", "lo") == {"logs"}
    assert complete("gangrun", "explain", "out_of") == {"out_of_memory"}
    assert complete("gangrun", "run", "--framework", "") == {"tensorflow", "pytorch", "jax", "horovod", "none"}


def test_bash_leaves_the_users_command_alone(complete):
    assert complete("gangrun", "run", "--", "--ro") == set()
    assert "sort" in complete("gangrun", "run", "--", "sor")
    assert complete("gangrun", "kv", "put", "--", "sor") == set()


def test_bash_completes_words_behind_the_dashes_where_no_command_follows(complete, home):
    (home / "jobs/wine-20260131-120000-3fa1").mkdir(parents=True)
    assert complete("gangrun", "logs", "--", "wi") == {"wine-20260131-120000-3fa1"}
    assert complete("gangrun", "logs", "--", "--ta") == set()


def test_bash_completes_a_value_behind_the_equals_sign(complete, home):
    """As bash splits it: what stands before the sign stays."""
    assert complete("gangrun", "run", "--on", "=", "y") == {"yarn"}
    assert complete("gangrun", "run", "--on", "=") == complete("gangrun", "run", "--on", "")
    assert complete("gangrun", "logs", "--since", "=", "1") == set()
    (home / "jobs/wine-20260131-120000-3fa1").mkdir(parents=True)
    assert complete("gangrun", "logs", "--tail", "=", "5", "wi") == {"wine-20260131-120000-3fa1"}


def test_bash_offers_no_names_of_values(complete):
    """It offered TYPE and TYPE:loopback."""
    assert complete("gangrun", "run", "--success", "") == {"all"}
    assert complete("gangrun", "run", "--expose", "") == set()
    assert complete("gangrun", "run", "--timeout", "") == set()


def test_bash_completes_more_tasks_of_the_last_job(complete, run_gangrun):
    assert run_gangrun("run", "-r", "worker:2", "--", "true").status == 0
    assert complete("gangrun", "stacks", "worker", ":", "0", "wo") == {"worker:0", "worker:1"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_every_flag(run_gangrun, shell):
    done = run_gangrun("completion", shell)
    assert done.status == 0
    for word in COMMANDS | {"roles", "dry-run", "containment", "pid_namespace", "tail"}:
        assert word in done.stdout
    program = shutil.which(shell)
    if program:
        checked = subprocess.run([program, "-n"], input=done.stdout, capture_output=True, text=True, timeout=30)
        assert (checked.returncode, checked.stderr) == (0, "")
