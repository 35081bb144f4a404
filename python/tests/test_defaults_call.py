"""Files of defaults, from Python."""

import gangrun


def test_run_reads_them_unless_it_is_told_not_to(tmp_path, monkeypatch):
    (tmp_path / "gangrun.yaml").write_text("env: {WORD: default}\non: yarn\n")
    monkeypatch.setenv("GANGRUN_NO_DEFAULTS", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    command = ["sh", "-c", "echo ${WORD:-none} ${GANGRUN_NO_DEFAULTS:-unset}"]
    # The place is an argument of `run`, which wins.
    assert gangrun.run({"worker": 1}, command, display=False).logs("worker:0") == "default unset\n"
    assert gangrun.run({"worker": 1}, command, env={"WORD": "own"}, display=False).logs("worker:0") == "own unset\n"
    assert gangrun.run({"worker": 1}, command, display=False, defaults=False).logs("worker:0") == "none unset\n"
    detached = gangrun.run({"worker": 1}, command, detach=True, defaults=False)
    assert detached.wait().logs("worker:0") == "none unset\n"
    again = gangrun.rerun(detached.id, detach=True)
    assert again.wait().logs("worker:0") == "none unset\n"
