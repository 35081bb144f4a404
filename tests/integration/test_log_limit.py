"""The log of a task has a limit on disk: what comes beyond it is dropped, counted and told, and the job goes on."""

import json
from pathlib import Path

WRITES = "i=0; while [ $i -lt 40000 ]; do echo $i 0123456789012345678901234567890123456789012345678; i=$((i+1)); done; {end}"


def test_what_is_over_the_limit_is_dropped_and_counted(run_gangrun, home, tmp_path):
    done = run_gangrun("run", "--log-limit", "1m", "-r", "worker:2", "--", "sh", "-c", WRITES.format(end="echo err >&2"), cwd=tmp_path)
    assert done.status == 0, done
    assert "worker:0" in done.stderr and "log_limit (1 MiB) is reached" in done.stderr
    status = json.loads(run_gangrun("status", "last", "--json").stdout)
    assert status["state"] == "succeeded"
    for task in status["tasks"]:
        assert task["incomplete_log"].endswith("could not be kept: log_limit (1 MiB) is reached"), task
    for index in range(2):
        files = list((home / "jobs").glob(f"*/logs/worker-{index}.*"))
        text = b"".join(file.read_bytes() for file in files if file.suffix in (".out", ".err"))
        # A quarter is left for ends, most of it for those of later runs.
        assert 12 << 16 < len(text) and len(text) < 1 << 20
        kept = text.count(b"345678\n")
        assert b"lines are missing here: log_limit (1 MiB) is reached\n" in text
        lost = int(text.split(b"gangrun: ")[1].split()[0])
        assert kept + lost == 40000


def test_the_end_is_in_the_log_and_what_is_not_there_is_not_shown(run_gangrun, tmp_path):
    """The end of the log was lost, with the traceback of a task that had written much."""
    end = "echo LASTLINE; echo Traceback >&2; exit 3"
    done = run_gangrun("run", "--log-limit", "1m", "-r", "worker:1", "--", "sh", "-c", WRITES.format(end=end), cwd=tmp_path)
    assert done.status != 0 and "worker:0 | LASTLINE\n" in done.stdout and "| Traceback\n" in done.stderr, done.stderr
    kept = run_gangrun("logs", "last", "worker:0")
    assert kept.stdout.endswith("\nLASTLINE\n") and kept.stdout.count("lines are missing here") == 1
    shown = [int(line.split()[0]) for line in kept.stdout.splitlines() if line.endswith("345678")]
    (gap,) = [at for at in range(1, len(shown)) if shown[at] != shown[at - 1] + 1]
    assert shown[0] == 0 and shown[-1] == 39999 and shown[gap] - shown[gap - 1] - 1 == 40000 - len(shown)
    warnings = [line for line in done.stderr.splitlines() if "the log of worker:0 is incomplete" in line]
    assert warnings and all(line.endswith("log_limit (1 MiB) is reached; what the log lacks is not shown here either") for line in warnings)


def test_lines_of_both_streams_are_counted_together(run_gangrun, tmp_path):
    end = "i=0; while [ $i -lt 9000 ]; do echo error $i; i=$((i+1)); done >&2"
    done = run_gangrun("run", "--log-limit", "1m", "-r", "worker:1", "--", "sh", "-c", WRITES.format(end=end + "; exit 3"), cwd=tmp_path)
    assert done.status != 0, done
    status = json.loads(run_gangrun("status", "last", "--json").stdout)
    lost = int(status["tasks"][0]["incomplete_log"].split()[0])
    logs = Path(status["folder"], "logs")
    kept = (logs / "worker-0.out").read_bytes().count(b"345678\n")  # all room is taken when the errors begin
    assert kept + (logs / "worker-0.err").read_bytes().count(b"error ") + lost == 49000
    assert (logs / "worker-0.err").read_bytes().endswith(b"error 8999\n")
    assert done.stderr.count("is incomplete: log_limit (1 MiB) is reached") == 1
    assert done.stderr.count("lines could not be kept") == 1
    why = run_gangrun("why", "last").stdout
    assert f"{lost} lines could not be kept" in why and "Output, as far as it was kept: gangrun logs" in why and "Full output" not in why


def test_earlier_runs_count(run_gangrun, home, tmp_path):
    done = run_gangrun("run", "--log-limit", "1m", "--restarts", "1:task", "-r", "worker:1", "--", "sh", "-c",
                       WRITES.format(end="exit $((3 * (GANGRUN_RESTARTS == 0)))").replace("40000", "20000"), cwd=tmp_path)
    assert done.status == 0, done
    (log,) = (home / "jobs").glob("*/logs/worker-0.out")
    text = log.read_bytes()
    assert len(text) < 1 << 20
    assert text.count(b"19999 0123") == 2, "the end of each run"
    (task,) = json.loads(run_gangrun("status", "last", "--json").stdout)["tasks"]
    lost = int(task["incomplete_log"].split()[0])
    assert lost == 40000 - text.count(b"345678\n"), task


def test_a_job_below_its_limit_is_complete(run_gangrun, tmp_path):
    (tmp_path / "job.yaml").write_text("tasks: {worker: 1}\ncommand: echo fine\nlog_limit: 2 MiB\n")
    assert run_gangrun("run", "job.yaml", cwd=tmp_path).status == 0
    status = json.loads(run_gangrun("status", "last", "--json").stdout)
    assert "incomplete_log" not in status["tasks"][0]
    assert run_gangrun("logs", "last").stdout.endswith("fine\n")


def test_a_limit_that_cannot_be_is_one_error(run_gangrun, tmp_path):
    for text in ("0", "much"):
        done = run_gangrun("run", "--log-limit", text, "-r", "worker:1", "--", "true", cwd=tmp_path)
        assert done.status == 2 and "--log-limit" in done.stderr and done.stderr.count("\n") == 1, done
        assert text != "0" or done.stderr.endswith("allowed: 1 to 67108864 MiB\n"), done
