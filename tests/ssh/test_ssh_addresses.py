"""By which addresses hosts that ssh reaches know each other."""


from test_ssh_start import nothing_left

TELL = 'echo "$MASTER_ADDR $GANGRUN_HOST"'
BRIDGE = "172.17.0.1"


def run_on(run_gangrun, sshds, hosts, *words, folder):
    done = run_gangrun("run", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", hosts, *words, "--", "sh", "-c", TELL,
                       cwd=folder)
    return done, sorted(line.split(" | ")[1] for line in done.stdout.splitlines())


def add_names_by_loopback(sshds, *names):
    """They lead to 127.0.0.1 on the first host."""
    first = sshds.hosts.names[0]
    with sshds.config.open("a") as config:
        for name in names:
            config.write(f"Host {name}\n  HostName 127.0.0.1\n  ProxyJump {first}\n")
    _, kind, key = sshds.known.read_text().splitlines()[0].split()
    with sshds.known.open("a") as known:
        known.write(f"127.0.0.1 {kind} {key}\n")


def test_beside_another_host_one_that_ssh_reaches_by_loopback_has_another_address(make_sshds, run_gangrun, tmp_path):
    """The other host was told that the master is at 127.0.0.1."""
    sshds = make_sshds(2, sshd_options="ListenAddress 127.0.0.1\n")
    near, far = (sshds.hosts.address(name) for name in sshds.hosts.names)
    add_names_by_loopback(sshds, "near")
    done, told = run_on(run_gangrun, sshds, f"near:1,{sshds.hosts.names[1]}:1", folder=tmp_path)
    assert done.status == 0, done
    assert told == sorted([f"{near} {near}", f"{near} {far}"])
    assert f"host near is known to the others by its address {near}, as host {sshds.hosts.names[1]} cannot reach 127.0.0.1" in done.stderr
    nothing_left(sshds)


def test_all_on_loopback_is_allowed_with_a_notice(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(1, sshd_options="ListenAddress 127.0.0.1\n")
    add_names_by_loopback(sshds, "one", "two")
    done, told = run_on(run_gangrun, sshds, "one:1,two:1", folder=tmp_path)
    assert done.status == 0, done
    assert told == ["127.0.0.1 127.0.0.1"] * 2
    assert "all hosts are one machine, known by its loopback addresses (one 127.0.0.1, two 127.0.0.1): " in done.stderr
    nothing_left(sshds)


def test_one_address_on_two_machines_is_an_error_before_anything_starts(sshds, run_gangrun, home, tmp_path):
    hosts = sshds.hosts
    for name in hosts.names:
        hosts.add_bridge(name, BRIDGE)
    flags = ["--interface", "docker0"]
    done, _ = run_on(run_gangrun, sshds, ",".join(hosts.names), *flags, "-r", "worker:3", folder=tmp_path)
    assert done.status != 0, done
    assert f'{hosts.names[0]} and {hosts.names[1]} are two machines with one address, {BRIDGE} ("of docker0' in done.stderr
    assert not (home / "jobs").exists() or not list((home / "jobs").iterdir())
    started = run_gangrun("run", "--detach", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", ",".join(hosts.names),
                          *flags, "-r", "worker:3", "--", "true", cwd=tmp_path)
    assert started.status == 0, started
    ended = run_gangrun("wait", "last")
    assert ended.status != 0 and "are two machines with one address" in ended.stdout, ended
    nothing_left(sshds)


def test_one_machine_that_is_named_twice_is_no_error(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(1)
    name = sshds.hosts.names[0]
    own = sshds.hosts.address(name)
    done, told = run_on(run_gangrun, sshds, f"{name}:1,{own}:1", folder=tmp_path)
    assert done.status == 0, done
    assert told == [f"{own} {own}"] * 2
    nothing_left(sshds)


def test_hosts_may_be_ipv6_addresses(make_sshds, run_gangrun, tmp_path):
    sshds = make_sshds(2, blocks=["fd22"])
    first, second = (sshds.hosts.address(name) for name in sshds.hosts.names)
    done, told = run_on(run_gangrun, sshds, f"[{first}]:2,{second}", "-r", "worker:3", folder=tmp_path)
    assert done.status == 0, done
    assert told == sorted([f"{first} {first}"] * 2 + [f"{first} {second}"])
    nothing_left(sshds)
