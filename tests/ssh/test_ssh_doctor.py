"""`gangrun doctor --on ssh` with real sshds: a line for each host, whatever it is like."""

import json

from test_ssh_start import nothing_left


def look(run_gangrun, sshds, *words, hosts=None):
    hosts = ",".join(hosts or sshds.hosts.names)
    return run_gangrun("doctor", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", hosts, *words)


def test_each_host_has_its_line_and_nothing_stays(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(2)
    first, second = sshds.hosts.names
    shown = look(run_gangrun, sshds)
    assert shown.status == 0, shown
    assert "jobs can run on these hosts" in shown.stdout
    done = look(run_gangrun, sshds, "--json", hosts=[f"{first}:4", second])
    told = json.loads(done.stdout)
    assert told["can_run_jobs"] and [check["name"] for check in told["checks"]] == ["agent", first, second]
    for check, name in zip(told["checks"][1:], (first, second)):
        assert check["verdict"] in ("ok", "warning"), check
        for words in ("; containment ", "container engine", f" free in {sshds.cache(name)}/gangrun; \"Linux ",
                      f" x86_64\"; its address is {sshds.hosts.address(name)}; it shares this folder"):
            assert words in check["found"], check
    nothing_left(sshds)


def test_one_that_refuses_is_told_beside_those_that_do_not(make_sshds, run_gangrun):
    sshds = make_sshds(2, before="mount -t tmpfs -o noexec none {cache} && mount -t tmpfs -o noexec none /var/tmp && "
                                 "mount -t tmpfs -o noexec none /tmp && ")
    first, second = sshds.hosts.names
    sshds.kill_sshd(second)
    done = look(run_gangrun, sshds, "--json", hosts=[first, second, "no-such-host.invalid"])
    assert done.status == 3, done
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert [checks[name]["verdict"] for name in ("agent", first, second, "no-such-host.invalid")] == ["ok"] + 3 * ["failed"]
    assert "is mounted noexec" in checks[first]["found"]
    assert f"host {second} runs no sshd at its port" in checks[second]["found"]
    assert "there is no host no-such-host.invalid" in checks["no-such-host.invalid"]["found"]


def test_a_host_with_little_room_is_warned_of(make_sshds, run_gangrun):
    sshds = make_sshds(1, before="mount -t tmpfs -o size=60m none {cache} && ")
    done = look(run_gangrun, sshds, "--json")
    (check,) = json.loads(done.stdout)["checks"][1:]
    assert done.status == 0 and check["verdict"] == "warning" and " MiB free in " in check["found"], done


def test_wrong_flags_are_refused(run_gangrun, tmp_path):
    def said(*words):
        done = run_gangrun("doctor", *words, cwd=tmp_path)
        assert done.status == 2, done
        return done.stderr

    assert "--hosts, --hostfile and --ssh-config apply to hosts; add --on ssh" in said("--hosts", "gpu1")
    assert "apply to a cluster; add --on yarn" in said("--on", "ssh", "--hosts", "gpu1", "--remote")
    assert "hosts: none are named; allowed: --hosts NAME[:SLOTS]" in said("--on", "ssh")
    assert "--hosts: 'gpu1:many': slots: " in said("--on", "ssh", "--hosts", "gpu1:many")
    assert "hosts: " in said("--on", "ssh", "--hosts", "-oProxyCommand=x")
    assert "allowed: one of them" in said("--on", "ssh", "--hosts", "gpu1", "--hostfile", "hosts")
    assert "hostfile" in said("--on", "ssh", "--hostfile", "no-such-file")
