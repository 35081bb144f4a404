"""The registry mirrored in a ZooKeeper that knows its clients by SASL, and by TLS.

Real servers of Debian's and a real KDC: what is tested is that they take what gangrun says, and what people are told when not.
"""

import re

import pytest
from clusters.kerberos.realm import NAME as REALM, Realm
from clusters.zookeeper import secured
from clusters.zookeeper.server import ZooKeeper, free_port
from kazoo.exceptions import NoAuthError
from kazoo.security import OPEN_ACL_UNSAFE
from waiting import wait_until

from test_zookeeper import TOLD_LIMIT_S, USER, Job, children, client

PASSWORD = "of ann"
READ, ALL = 1, 31
COULD_NOT_START, BAD_INPUT = 3, 2


class Secured:
    """A server with a port in the clear (`host`), and perhaps one with TLS (`secure_host`)."""

    def __init__(self, folder, login, options=(), client_auth=None, more=""):
        self.folder, port = folder, free_port()
        if client_auth:
            secured.make_certificates(folder)
            secure_port = free_port(port + 1)
            more += secured.TLS.format(port=secure_port, folder=folder, client_auth=client_auth)
            self.secure_host = f"localhost:{secure_port}"
        self.server = ZooKeeper(folder, port, more=secured.PROVIDER + more, options=(*secured.jaas(folder, login), *options))
        self.host = f"localhost:{port}"
        self.server.start()


@pytest.fixture(scope="module")
def digest_server(tmp_path_factory):
    """It knows ann, and wants to see a certificate of whoever comes by TLS."""
    login = secured.DIGEST.format(user="ann", password=PASSWORD)
    running = Secured(tmp_path_factory.mktemp("digest"), login, client_auth="need")
    yield running
    running.server.kill()


@pytest.fixture(scope="module")
def realm(tmp_path_factory):
    running = Realm(tmp_path_factory.mktemp("krb5") / "realm", free_port(), ["alice"], ["zookeeper/localhost"]).start()
    yield running
    running.kill()


def kerberos_server(folder, realm, more=""):
    principal = f"zookeeper/localhost@{REALM}"
    login = secured.KERBEROS.format(keytab=realm.keytab("zookeeper/localhost"), principal=principal)
    return Secured(folder, login, options=(f"-Djava.security.krb5.conf={realm.folder}/krb5.conf",), more=more)


@pytest.fixture(scope="module")
def shared_kerberos(tmp_path_factory, realm):
    running = kerberos_server(tmp_path_factory.mktemp("kerberos"), realm, )
    yield running
    running.server.kill()


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password"
    path.touch(mode=0o600)
    path.write_text(PASSWORD + "\n")
    return path


@pytest.fixture
def start(run_gangrun, home, tmp_path):
    jobs = []

    def start_job(hosts, environment=None, root="/registry", **more):
        jobs.append(Job(run_gangrun, home, tmp_path, None, hosts=hosts, environment=environment, root=root, more=more))
        return jobs[-1]

    yield start_job
    for job in jobs:
        run_gangrun("kill", "--now", job.id)


@pytest.fixture
def refused(run_gangrun, home, tmp_path):
    """What is told of a job that is not started; nothing of it is there."""

    def run(hosts, *words, status=COULD_NOT_START, environment=None, **more):
        spec = tmp_path / "refused.json"
        keys = ", ".join(f"{key}: {value!r}" for key, value in ({"required": True} | more).items()).replace("True", "true")
        spec.write_text(f"{{tasks: {{worker: {{}}}}, command: [touch, {tmp_path}/ran], zookeeper: {{hosts: [{hosts!r}], {keys}}}}}")
        done = run_gangrun("run", *words, spec, env=environment)
        assert done.status == status, done.stderr
        assert not list(home.glob("jobs/*")) and not (tmp_path / "ran").exists()
        return done.stderr

    return run


def rights(kazoo, path):
    return {(entry.id.scheme, entry.id.id.split(":")[0]): entry.perms for entry in kazoo.get_acls(path)[0]}


def closed_to_others(server, job, identity):
    """The job is there, and nobody else can change it, or what is the user's."""
    shared = [job.path.rpartition("/wine/")[0], job.path.rpartition("/")[0]]
    own = [job.path, f"{job.path}/components", f"{job.path}/components/worker-0"]
    with client(server, job.credentials()) as kazoo:
        job.wait_until_shown(kazoo)
    with client(server) as kazoo:
        for path in shared + own:
            assert rights(kazoo, path) == {("sasl", identity): ALL, ("digest", "gangrun"): ALL, ("world", "anyone"): READ}
            for what in (lambda path=path: kazoo.set(path, b"other"), lambda path=path: kazoo.create(f"{path}/mine"),
                         lambda path=path: kazoo.set_acls(path, OPEN_ACL_UNSAFE)):
                with pytest.raises(NoAuthError):
                    what()
        with pytest.raises(NoAuthError):
            kazoo.delete(own[-1])


def test_digest_over_tls_with_a_certificate_of_the_job(start, digest_server, password_file):
    folder = digest_server.folder
    job = start(digest_server.secure_host, tls=True, ca=f"{folder}/ca.pem", certificate=f"{folder}/client.pem",
                key=f"{folder}/client-key.pem", login="digest", user="ann", password_file=str(password_file), required=True)
    # A certificate is an identity, too: the server shows it to the ACLs.
    with client(digest_server.server, job.credentials()) as kazoo:
        job.wait_until_shown(kazoo)
        told = rights(kazoo, job.path)
        assert told.pop(("x509", "CN=client")) == ALL
        assert told == {("sasl", "ann"): ALL, ("digest", "gangrun"): ALL, ("world", "anyone"): READ}
    kept = job.folder / "zookeeper.json"
    assert PASSWORD in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600
    others = [path for path in job.folder.rglob("*") if path.is_file() and path != kept and path.name != "environment"]
    key = (folder / "client-key.pem").read_text().splitlines()[1]
    for path in others:
        text = path.read_bytes().decode(errors="replace")
        assert PASSWORD not in text and key not in text, path
    for pid in job.processes("master"):
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            assert PASSWORD.encode() not in line.read()
    assert job.finish().status == 0
    assert not kept.exists()
    with client(digest_server.server) as kazoo:
        wait_until(lambda: not children(kazoo, f"/registry/users/{USER}"), "nothing of the job to be there")


def test_kerberos_with_the_ticket_that_there_is(start, shared_kerberos, realm):
    realm.ticket("alice")
    job = start(shared_kerberos.host, realm.environment, login="kerberos", required=True)
    closed_to_others(shared_kerberos.server, job, f"alice@{REALM}")
    assert job.finish().status == 0


@pytest.mark.programs
def test_digest_in_the_clear(start, digest_server, password_file):
    job = start(digest_server.host, root="/clear", login="digest", user="ann", password_file=str(password_file))
    closed_to_others(digest_server.server, job, "ann")
    assert job.finish().status == 0


@pytest.mark.programs
def test_a_wrong_password_is_told_and_the_job_goes_on_or_not(start, refused, digest_server, password_file):
    password_file.write_text("of bob\n")
    wrong = {"login": "digest", "user": "ann", "password_file": str(password_file)}
    for words in ((), ("--detach",)):
        assert re.fullmatch(rf"(gangrun: )?(error: )?ZooKeeper \({digest_server.host}\) does not take the job, .*it refuses the job's login\n",
                            refused(digest_server.host, *words, **wrong))
    job = start(digest_server.host, **wrong)
    job.state("running")
    told = wait_until(lambda: "ZooKeeper" in job.why() and job.why(), "the job to tell it", TOLD_LIMIT_S, pause_s=0.5)
    assert "it refuses the job's login" in told and "the job continues without it" in told
    assert job.finish().status == 0


@pytest.mark.programs
def test_what_is_wrong_with_kerberos_is_told(refused, shared_kerberos, realm):
    asked = {"login": "kerberos", "environment": realm.environment}
    realm.forget_ticket()
    assert "kinit" in refused(shared_kerberos.host, **asked)
    realm.ticket("alice", "-l", "1s")
    wait_until(lambda: not realm.has_ticket(), "the ticket to expire", pause_s=0.1)
    assert "kinit" in refused(shared_kerberos.host, **asked)
    realm.ticket("alice")
    told = refused(shared_kerberos.host, principal="other/localhost", **asked)
    assert "other/localhost" in told
    assert "is an address" in refused(f"127.0.0.1:{shared_kerberos.server.port}", status=BAD_INPUT, **asked)


@pytest.mark.programs
def test_what_is_wrong_with_tls_is_told(refused, digest_server):
    folder, secure, plain = digest_server.folder, digest_server.secure_host, digest_server.host
    assert "TLS" in refused(plain, tls=True, ca=f"{folder}/ca.pem")
    assert "TLS" in refused(secure)
    assert "certificate" in refused(secure, tls=True, ca=f"{folder}/other-ca.pem")
    assert "TLS" in refused(secure, tls=True, ca=f"{folder}/ca.pem")  # it wants to see a certificate
    address = secure.replace("localhost", "127.0.0.1")
    assert "certificate" in refused(address, tls=True, ca=f"{folder}/ca.pem")


@pytest.mark.programs
def test_tls_without_a_certificate_of_the_job(start, tmp_path):
    server = Secured(tmp_path / "tls", secured.DIGEST.format(user="ann", password=PASSWORD), client_auth="none")
    try:
        job = start(server.secure_host, tls=True, ca=f"{server.folder}/ca.pem", required=True)
        with client(server.server) as kazoo:
            job.wait_until_shown(kazoo)
            assert rights(kazoo, job.path) == {("digest", "gangrun"): ALL, ("world", "anyone"): READ}
        assert job.finish().status == 0
    finally:
        server.server.kill()


@pytest.mark.programs
def test_a_server_that_demands_a_login(start, refused, tmp_path, realm):
    server = kerberos_server(tmp_path / "demanding", realm, more="sessionRequireClientSASLAuth=true\n")
    try:
        assert "demands a login by SASL" in refused(server.host)
        realm.ticket("alice")
        job = start(server.host, realm.environment, login="kerberos", required=True)
        job.state("running")
        wait_until(lambda: "ZooKeeper has all of the registry" in (job.folder / "master.log").read_text(), "it to be there")
        assert job.finish().status == 0
    finally:
        server.server.kill()


@pytest.mark.programs
def test_a_lost_session_is_followed_by_one_with_the_renewed_ticket(start, tmp_path, realm):
    server = kerberos_server(tmp_path / "own", realm)
    try:
        realm.ticket("alice", "-l", "5s")
        job = start(server.host, realm.environment, login="kerberos")
        with client(server.server) as kazoo:
            job.wait_until_shown(kazoo)
        server.server.kill()
        wait_until(lambda: not realm.has_ticket(), "the ticket to expire", pause_s=0.1)
        server.server.start()
        told = wait_until(lambda: "ZooKeeper" in job.why() and job.why(), "the job to tell it", TOLD_LIMIT_S, pause_s=0.5)
        assert "kinit" in told
        realm.ticket("alice")
        closed_to_others(server.server, job, f"alice@{REALM}")
        assert job.finish().status == 0
    finally:
        server.server.kill()


@pytest.mark.programs
def test_files_that_cannot_be_used_are_told_before_anything_starts(refused, digest_server, password_file):
    host = digest_server.secure_host
    missing = str(password_file.parent / "none")
    told = refused(host, status=BAD_INPUT, tls=True, ca=missing)
    assert told.startswith("gangrun: zookeeper.ca: ") and f"cannot read {missing}: No such file" in told
    password_file.chmod(0o644)
    assert "every user of this machine may read it" in refused(host, status=BAD_INPUT, login="digest", user="ann",
                                                               password_file=str(password_file))
    assert "zookeeper.password_file: is required" in refused(host, status=BAD_INPUT, login="digest", user="ann")


@pytest.mark.programs
def test_servers_that_are_away_are_told(refused):
    assert "does not take the job" in refused(f"127.0.0.1:{free_port()}")
