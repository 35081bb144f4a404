"""`gangrun run --on ssh`: real sshds on hosts of their own. What decides about a change."""

import json
import re
import subprocess

import pytest

from waiting import wait_until

pytestmark = pytest.mark.gate

TELL = 'echo "$GANGRUN_TASK_INDEX at $GANGRUN_HOST in $PWD has [$SSH_CONNECTION]"'


def nothing_left(sshds):
    for name in sshds.hosts.names:
        wait_until(lambda: not sshds.agents(name), lambda: f"the end of agents on {name}: {sshds.agents(name)}")
        assert sshds.run_folders(name) == []


def test_a_gang_starts_on_three_hosts_in_the_folder_that_they_share(sshds, run_on_ssh, tmp_path):
    done = run_on_ssh(sshds, 2, "-r", "worker:6", "--", "sh", "-c", TELL)
    assert done.status == 0, done
    told = {line.split(" | ")[1] for line in done.stdout.splitlines()}
    # Hosts are filled one after another.
    assert told == {f"{index} at {sshds.hosts.address(sshds.hosts.names[index // 2])} in {tmp_path} has []"
                    for index in range(6)}
    nothing_left(sshds)


def test_the_variable_of_the_working_folder_names_it(sshds, run_on_ssh, tmp_path):
    """It was that of the login's script: what a program made in $PWD vanished in gangrun's own folder."""
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "--", "env")
    told = [line.split(" | ")[1] for line in done.stdout.splitlines()]
    assert [line for line in told if "PWD=" in line] == [f"PWD={tmp_path}"] * 3, done


def test_the_first_cause_names_the_host_and_logs_are_brought(sshds, run_on_ssh, run_gangrun):
    fail = 'test "$GANGRUN_TASK_INDEX" != 2 || { echo this-is-why >&2; exit 3; }; exec sleep 1000'
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "--", "sh", "-c", fail)
    assert done.status == 1, done
    assert f"worker:2 on {sshds.hosts.names[2]} exited with status 3" in done.stderr
    assert "this-is-why" in done.stderr
    nothing_left(sshds)
    why = run_gangrun("why", "last", "--json")
    assert json.loads(why.stdout)["cause"]["reason"] == "exit_status"
    assert "this-is-why" in run_gangrun("logs", "last", "worker:2").stderr


def test_hosts_without_the_folder_get_the_files(make_sshds, run_on_ssh, tmp_path):
    (tmp_path / "train.py").write_text("print('trained')\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "deep.txt").write_text("setting\n" * 100_000)
    (tmp_path / "run me.sh").write_text("#!/bin/sh\nexec python3 train.py\n")
    (tmp_path / "run me.sh").chmod(0o755)
    sshds = make_sshds(3, private=True)
    show = "./'run me.sh'; wc -l < conf/deep.txt; stat -c %a 'run me.sh' train.py"
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "-f", "train.py", "-f", "conf", "-f", "run me.sh", "--", "sh", "-c", show)
    assert done.status == 0, done
    for line in ("trained", "100000", "700", "600"):
        assert sum(each.endswith(f"| {line}") for each in done.stdout.splitlines()) == 3, done
    nothing_left(sshds)


def test_a_folder_in_which_others_make_files_is_shared_by_all(sshds, run_on_ssh, tmp_path):
    """Its inode and time of change were compared, at different moments: tasks of one host worked in a copy, and what they
    wrote was gone."""
    busy = subprocess.Popen(["sh", "-c", "while :; do : > x; rm x; done"], cwd=tmp_path)
    try:
        for _ in range(3):
            done = run_on_ssh(sshds, 1, "-r", "worker:3", "--", "sh", "-c", 'echo kept > "model.$GANGRUN_TASK_INDEX"')
            assert done.status == 0 and "tasks work" not in done.stderr, done
            assert sorted(path.name for path in tmp_path.glob("model.*")) == ["model.0", "model.1", "model.2"]
            for path in tmp_path.glob("model.*"):
                path.unlink()
    finally:
        busy.kill()
        busy.wait()
    assert not list(tmp_path.glob(".gangrun-mark-*"))


def test_hosts_that_do_not_share_the_folder_are_named(make_sshds, run_on_ssh, run_gangrun, tmp_path):
    sshds = make_sshds(3, before="case {cache} in *c) mount -t tmpfs none " + f"{tmp_path};; esac && ")
    done = run_on_ssh(sshds, 1, "-r", "worker:3", "--", "sh", "-c", TELL)
    assert done.status == 0, done
    sentence = f"tasks work in {tmp_path}, but on {sshds.hosts.names[2]} in a folder that is copied there"
    assert sentence in done.stderr, done
    (note,) = json.loads(run_gangrun("status", "last", "--json").stdout)["notes"]
    assert sentence in note


def refused(run_gangrun, sshds, tmp_path, host, config=None, *words):
    done = run_gangrun("run", "--on", "ssh", "--ssh-config", config or sshds.config, "--hosts", host, *words, "--", "true",
                       cwd=tmp_path)
    assert done.status not in (0, 1), done
    assert not list((tmp_path / "jobs").glob("*"))
    return done.stderr


def test_refusals_name_the_command_that_helps(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(1)
    (name,) = sshds.hosts.names
    config = tmp_path / "other_config"

    def changed(old, new):
        config.write_text(sshds.config.read_text().replace(old, new))
        return refused(run_gangrun, sshds, tmp_path, name, config)

    said = changed(str(sshds.known), str(tmp_path / "nobody"))
    assert f"the key of host {name} is not known; run `ssh {name}` once" in said
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True, timeout=30)
    said = changed(f"{sshds.keys}/user", str(tmp_path / "other"))
    assert f"host {name} lets nobody in without a password; run `ssh-copy-id {name}` once" in said
    other = (tmp_path / "other.pub").read_text().split()[1]
    (tmp_path / "changed").write_text(f"{sshds.hosts.address(name)} ssh-ed25519 {other}\n")
    said = changed(str(sshds.known), str(tmp_path / "changed"))
    assert "is another one than ~/.ssh/known_hosts has" in said
    said = refused(run_gangrun, sshds, tmp_path, "no-such-host.invalid")
    assert "there is no host no-such-host.invalid" in said
    (tmp_path / "bad").write_text("Nonsense yes\n")
    assert "the configuration of ssh is wrong" in refused(run_gangrun, sshds, tmp_path, name, tmp_path / "bad")
    said = refused(run_gangrun, sshds, tmp_path, name, None, "--gpus", "1")
    assert re.search("asks for 1 GPU; the host with the most has 0", said)
    done = run_gangrun("run", "--on", "ssh", "--", "true", cwd=tmp_path)
    assert "hosts: none are named; allowed: --hosts NAME[:SLOTS]" in done.stderr


def test_hosts_come_from_files_and_batch_systems(run_gangrun, tmp_path):
    def hosts(*words, **variables):
        done = run_gangrun("run", "--on", "ssh", "--dry-run", "--json", "-r", "worker:2", *words, "--", "true", cwd=tmp_path,
                           env=variables)
        assert done.status == 0, done
        return json.loads(done.stdout)["job"]["hosts"]

    def tasks(*words):
        done = run_gangrun("run", "--on", "ssh", "--dry-run", "--json", *words, "--", "true", cwd=tmp_path)
        assert done.status == 0, done
        return json.loads(done.stdout)["job"]["tasks"]["worker"]["instances"]

    # Without a number of tasks, one for each slot.
    assert tasks("--hosts", "gpu1:8,gpu2:8") == 16
    assert tasks("--hosts", "gpu1,gpu2") == 2
    assert tasks("--hosts", "gpu1:8,gpu2:8", "-r", "worker:3") == 3
    (tmp_path / "hostfile").write_text("gpu1 slots=8\ngpu2:4 # the other\n")
    assert hosts("--hostfile", "hostfile") == ["gpu1:8", "gpu2:4"]
    assert hosts(SLURM_JOB_NODELIST="gpu[1-2]", SLURM_TASKS_PER_NODE="4(x2)") == ["gpu1:4", "gpu2:4"]
    assert hosts(LSB_HOSTS="gpu1 gpu1 gpu2") == ["gpu1:2", "gpu2:1"]
    (tmp_path / "nodes").write_text("gpu1\ngpu2\n")
    assert hosts(PBS_NODEFILE=str(tmp_path / "nodes")) == ["gpu1:1", "gpu2:1"]
