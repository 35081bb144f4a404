"""Policies, restarts, timeouts and first causes, with real processes on this machine."""

import json
import os
import resource
import subprocess


def run_job(run_gangrun, tmp_path, spec: dict, *flags, timeout=60):
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(spec))  # JSON is YAML
    done = run_gangrun("run", "--json", *flags, str(path), timeout=timeout, cwd=tmp_path)
    final = json.loads(done.stdout.splitlines()[-1])["status"] if done.stdout.strip() else None
    return done, final


def states(final: dict) -> dict[str, str]:
    return {task["task"]: task["state"] for task in final["tasks"]}


def test_success(run_gangrun, tmp_path):
    done, final = run_job(run_gangrun, tmp_path, {"tasks": {"worker": {"instances": 3}}, "command": "true"})
    assert done.status == 0
    assert final["state"] == "succeeded"
    assert set(states(final).values()) == {"succeeded"}
    assert final["all_started_ms"] > 0


def test_all_tasks_see_the_same_cluster_spec(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"instances": 3}, "ps": {"instances": 2}},
            "command": 'echo "$GANGRUN_CLUSTER_SPEC" > spec.$GANGRUN_TASK_TYPE.$GANGRUN_TASK_INDEX'}
    done, _ = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    seen = {path.read_text() for path in tmp_path.glob("spec.worker.*")}
    assert len(seen) == 1
    cluster = json.loads(seen.pop())
    assert len(cluster["worker"]) == 3 and len(cluster["ps"]) == 2
    addresses = cluster["worker"] + cluster["ps"]
    assert len(set(addresses)) == 5


def test_service_is_stopped_when_the_workers_have_ended(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"command": "true"}, "ps": {"command": "exec tail -f /dev/null"}}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert states(final) == {"worker:0": "succeeded", "ps:0": "stopped"}


def test_a_failing_task_ends_the_others_and_is_the_first_cause(run_gangrun, tmp_path):
    traceback = 'import sys\\ndef f():\\n    raise ValueError("bad batch")\\nf()'
    spec = {"tasks": {"worker": {"instances": 4}},
            "command": ["bash", "-c",
                        'if [ $GANGRUN_TASK_INDEX = 2 ]; then printf "' + traceback.replace('"', '\\"')
                        + '" | python3 -; exit $?; fi; exec tail -f /dev/null']}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 1
    assert final["cause"]["task"] == "worker:2" and final["cause"]["reason"] == "exit_status"
    assert "exited with status 1" in final["cause"]["sentence"]
    assert final["cause"]["traceback"].splitlines()[-1] == "ValueError: bad batch"
    assert states(final)["worker:2"] == "failed"
    assert states(final)["worker:0"] == "stopped"


def test_a_signal_is_named(run_gangrun, tmp_path):
    done, final = run_job(run_gangrun, tmp_path,
                          {"tasks": {"worker": {}}, "command": "kill -SEGV $$"})
    assert done.status == 1
    assert "signal 11 (segmentation fault" in final["cause"]["sentence"] and final["cause"]["reason"] == "signal"


def test_a_command_that_cannot_be_executed_is_not_retried(run_gangrun, tmp_path):
    script = tmp_path / "script"
    script.write_text(f"#!{tmp_path}/none/interpreter\n")
    script.chmod(0o755)
    done, final = run_job(run_gangrun, tmp_path,
                          {"tasks": {"worker": {}}, "command": [str(script)], "restarts": 3})
    assert done.status == 3
    assert str(script) in final["cause"]["sentence"] and final["cause"]["reason"] == "could_not_start"
    assert final["restarts_used"] == 0


def test_restart_of_one_task_at_its_old_address(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"instances": 2}}, "restarts": {"max": 2, "scope": "task"},
            "command": 'n=$GANGRUN_TASK_INDEX; echo "$GANGRUN_GENERATION $GANGRUN_PORT" >> run.$n; '
                       '[ $n = 0 ] || [ $(wc -l < run.$n) = 3 ] || exit 7'}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert final["restarts_used"] == 2
    runs = (tmp_path / "run.1").read_text().splitlines()
    assert len(runs) == 3 and len(set(runs)) == 1
    assert len((tmp_path / "run.0").read_text().splitlines()) == 1
    assert final["generation"] == 1


def test_restart_of_the_gang_is_the_next_generation_for_all(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"instances": 2}}, "restarts": {"max": 1, "scope": "gang"},
            "command": 'n=$GANGRUN_TASK_INDEX; echo $GANGRUN_GENERATION >> run.$n; '
                       'if [ $GANGRUN_GENERATION = 1 ]; then while [ ! -s run.0 ]; do :; done; '
                       '[ $n = 1 ] && exit 7; exec tail -f /dev/null; fi'}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert final["generation"] == 2
    assert (tmp_path / "run.0").read_text().split() == ["1", "2"]
    assert (tmp_path / "run.1").read_text().split() == ["1", "2"]


def test_the_pause_before_a_restart_grows(run_gangrun, tmp_path):
    done, final = run_job(run_gangrun, tmp_path,
                          {"tasks": {"worker": {}}, "command": "date +%s%N >>times; exit 3",
                           "restarts": {"max": 4, "pause": "100 ms", "max_pause": "300 ms"}})
    assert done.status == 1 and final["restarts_used"] == 4
    times = [int(line) for line in (tmp_path / "times").read_text().split()]
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    # Not shorter; a busy machine makes them longer.
    assert [gap // 10**6 >= pause for gap, pause in zip(gaps, [100, 200, 300, 300], strict=True)] == [True] * 4, gaps


def test_restarts_are_used_up(run_gangrun, tmp_path):
    done, final = run_job(run_gangrun, tmp_path,
                          {"tasks": {"worker": {}}, "command": "exit 9", "restarts": 2})
    assert done.status == 1
    assert final["restarts_used"] == 2
    assert "status 9" in final["cause"]["sentence"]


def test_success_of_the_chief_ends_workers_that_never_end(run_gangrun, tmp_path):
    spec = {"tasks": {"chief": {"command": "true"}, "worker": {"command": "exec tail -f /dev/null"}},
            "success": "chief"}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert states(final) == {"chief:0": "succeeded", "worker:0": "stopped"}


def test_an_observer_without_progress_is_stopped_and_the_result_stands(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"command": "true"},
                      "evaluator": {"command": "exec tail -f /dev/null", "grace": "1 s"}}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert states(final) == {"worker:0": "succeeded", "evaluator:0": "stopped"}
    assert "no progress" in done.stderr + done.stdout


def test_the_failure_of_an_observer_fails_the_job(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"command": "true"}, "evaluator": {"command": "exit 4"}}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 1
    assert final["cause"]["task"] == "evaluator:0"


def test_a_sidecar_changes_nothing(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"command": "true"},
                      "board": {"command": "exit 4", "policy": "sidecar"},
                      "proxy": {"command": "exec tail -f /dev/null", "policy": "sidecar"}}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0


def test_processes_have_ranks_and_one_failure_is_the_tasks(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"instances": 2, "processes": 3}}, "framework": "pytorch",
            "command": 'echo "$RANK $LOCAL_RANK $WORLD_SIZE" > rank.$RANK; '
                       'if [ $RANK = 4 ]; then while [ $(ls rank.* | wc -l) -lt 6 ]; do :; done; exit 6; fi; '
                       'exec tail -f /dev/null'}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 1
    assert final["cause"]["task"] == "worker:1"
    assert "status 6" in final["cause"]["sentence"]
    ranks = sorted(path.read_text().split() for path in tmp_path.glob("rank.*"))
    assert ranks == [[str(r), str(r % 3), "6"] for r in range(6)]


def test_the_time_limit_of_the_job(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {}}, "command": "exec tail -f /dev/null", "timeouts": {"job": "1 s"}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 1
    assert "did not end within 1" in final["cause"]["sentence"]


def test_a_task_that_ignores_sigterm_is_killed_after_the_stop_limit(run_gangrun, tmp_path):
    spec = {"tasks": {"worker": {"command": "true"},
                      "ps": {"command": "trap '' TERM; while :; do tail -f /dev/null; done"}},
            "timeouts": {"stop": "1 s"}}
    done, final = run_job(run_gangrun, tmp_path, spec)
    assert done.status == 0
    assert states(final)["ps:0"] == "stopped"


def test_the_port_is_inherited_and_held(run_gangrun, tmp_path):
    program = (
        "import os, socket\n"
        "assert os.environ['LISTEN_PID'] == str(os.getpid())\n"
        "assert os.environ['LISTEN_FDS'] == '1'\n"
        "held = socket.socket(fileno=3)\n"
        "assert held.getsockname()[1] == int(os.environ['GANGRUN_PORT'])\n"
        "own = socket.socket()\n"
        "own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "own.bind(('127.0.0.1', int(os.environ['GANGRUN_PORT'])))\n"
        "own.listen()\n"
    )
    (tmp_path / "port.py").write_text(program)
    done, final = run_job(run_gangrun, tmp_path,
                          {"tasks": {"worker": {"instances": 2}}, "command": ["python3", "port.py"]})
    assert done.status == 0, final


def test_more_tasks_than_the_soft_limit_of_open_files_carries(gangrun, home, tmp_path):
    """Each task costs the master several; the tasks keep the limit that the user has."""
    limit = 64
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = subprocess.run([str(gangrun), "run", "-r", "worker:30", "--", "sh", "-c", "ulimit -Sn"], cwd=tmp_path, text=True,
                          env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard)))
    assert done.returncode == 0, done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines()] == [str(limit)] * 30


def with_open_files(hard, command, home, folder):
    """What the command does where nobody may have more than `hard` files open."""
    return subprocess.run(command, cwd=folder, env=os.environ | {"GANGRUN_HOME": str(home)}, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard)))


def test_a_job_of_more_open_files_than_allowed_is_refused_with_both_numbers(gangrun, home, tmp_path):
    done = with_open_files(128, [gangrun, "run", "-r", "worker:60", "--", "true"], home, tmp_path)
    assert done.returncode == 2
    assert "the job needs 304 open files at once in its master; allowed here: 128 (the hard limit" in done.stderr
    assert not list(home.glob("jobs/*"))


def test_an_agent_that_cannot_work_says_why_in_the_first_cause(gangrun, home, tmp_path):
    (tmp_path / "job.yaml").write_text(json.dumps({"tasks": {"worker": {"ports": {"n": 64}}}, "command": "true"}))
    done = with_open_files(70, [gangrun, "run", "--json", "job.yaml"], home, tmp_path)
    status = json.loads(done.stdout.splitlines()[-1])["status"]
    assert status["state"] == "failed"
    sentence = status["cause"]["sentence"]
    assert "worker:0 on 127.0.0.1 lost its agent, which ended: " in sentence and "Too many open files" in sentence
