"""The way to an API server: redirects, certificates, kubeconfigs, credential plugins and names that somebody has made up.

None of them brings the token to somebody else, and none starts anything. No cluster is needed.
"""

import json
import os
import ssl
import subprocess

import pytest
from rogue_api import TOKEN, RogueApi, make_certificate
from rogue_server import RogueServer
from said import EVIL, assert_clean, assert_logs_clean, usage_of

MOST_MEMORY_KB = 300 * 1024
LIMIT_S = 60
BAD_INPUT, COULD_NOT_START = 2, 3


@pytest.fixture
def run_with(gangrun, home, tmp_path):
    """run_with(kubeconfig) runs a job by it: what it said. It must be refused."""
    (tmp_path / "work").mkdir()

    def run(config, *words, allowed=(BAD_INPUT, COULD_NOT_START)):
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        status, said, memory = usage_of(gangrun, "run", "--on", "kubernetes", "--kubeconfig", config, "--image", "any/image:1", "-r", "worker:1",
                                        *words, "--", "true", cwd=tmp_path / "work", env=environment | {"GANGRUN_HOME": str(home)})
        assert status in allowed, said
        assert memory < MOST_MEMORY_KB, memory
        assert_clean(said, [TOKEN])
        assert list((tmp_path / "work").iterdir()) == []
        assert_logs_clean(home, [TOKEN])
        return said

    return run


@pytest.fixture
def make_server(tmp_path):
    made = []

    def make(behave, name="rogue", **certificate):
        made.append(RogueApi(tmp_path, behave, name=name, **certificate))
        return made[-1]

    yield make
    for server in made:
        server.close()


class PlainServer(RogueServer):
    """Takes connections and keeps what is sent first."""

    def __init__(self):
        self.got = []
        super().__init__(lambda connection: self.got.append(connection.recv(1 << 16)), LIMIT_S)


@pytest.fixture
def plain():
    made = PlainServer()
    yield made
    made.close()


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize("to", ["https", "http", "itself", "words"])
def test_a_redirect_brings_the_token_to_nobody(run_with, make_server, plain, tmp_path, status, to):
    other = make_server(lambda talk: talk.answer(200, "{}"), name="other")
    server = make_server(lambda talk: talk.answer(status, "", f"Location: {places[to]}{talk.target}"))
    # Whoever it leads to is trusted.
    both = tmp_path / "both"
    both.write_bytes(server.certificate.read_bytes() + other.certificate.read_bytes())
    places = {"https": f"https://127.0.0.1:{other.port}", "http": f"http://127.0.0.1:{plain.port}",
              "itself": f"https://127.0.0.1:{server.port}", "words": "\x1b[2J"}
    config = server.kubeconfig(tmp_path / "config", **{"certificate-authority-data": None, "certificate-authority": str(both)})
    run_with(config)
    assert other.talks == [] and plain.got == []
    # It is not followed, also not to the same one.
    assert 0 < len(server.talks) < 100


CERTIFICATES = {
    "another host's": {"host": "DNS:somebody.else"},
    "another address's": {"host": "IP:127.0.0.2"},
    "a part of the host's": {"host": "DNS:127.0.0.1"},
    "any host's": {"host": "DNS:*"},
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_server_with_a_certificate_that_is_not_its_own_gets_no_request(run_with, make_server, tmp_path, name):
    server = make_server(lambda talk: talk.answer(200, "{}"), **CERTIFICATES[name])
    assert "certificate" in run_with(server.kubeconfig(tmp_path / "config"))
    assert server.talks == []


def test_a_server_of_another_authority_gets_no_request(run_with, make_server, tmp_path):
    server = make_server(lambda talk: talk.answer(200, "{}"))
    other, _ = make_certificate(tmp_path, "another")
    config = server.kubeconfig(tmp_path / "config", **{"certificate-authority-data": None, "certificate-authority": str(other)})
    assert "certificate" in run_with(config)
    assert server.talks == []


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1], ids=str)
def test_a_server_of_an_old_tls_gets_no_request(run_with, make_server, tmp_path, newest):
    server = make_server(lambda talk: talk.answer(200, "{}"))
    server.context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    server.context.maximum_version = newest
    server.context.set_ciphers("ALL:@SECLEVEL=0")
    run_with(server.kubeconfig(tmp_path / "config"))
    assert server.talks == []


def test_a_server_that_speaks_no_tls_gets_no_token(run_with, make_server, plain, tmp_path):
    server = make_server(lambda talk: talk.answer(200, "{}"))
    run_with(server.kubeconfig(tmp_path / "config", server=f"https://127.0.0.1:{plain.port}"))
    assert plain.got and TOKEN.encode() not in b"".join(plain.got)


# Of a kubeconfig: a text, or what it has besides, for its cluster and its user.
def config_of(user=None, **cluster):
    return lambda port: {"apiVersion": "v1", "kind": "Config", "current-context": "c",
                         "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True} | cluster}],
                         "users": [{"name": "u", "user": {"token": TOKEN} if user is None else user}],
                         "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}


def text_of(text):
    return lambda port: text


CONFIGS = {
    "words": text_of(EVIL),
    "nothing": text_of(""),
    "zeros": text_of("\0" * 1000),
    "a bomb of anchors": text_of("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)) + "clusters: *j\n"),
    "an anchor in itself": text_of("clusters: &a [*a]\n"),
    "deep": text_of("[" * 200_000),
    "a tag that runs programs": text_of("clusters: !!python/object/apply:os.system ['touch pwned']\n"),
    "a list": text_of("[]"),
    "many documents": text_of("---\n{}\n" * 10_000),
    "5 MiB": text_of("# " + "x" * (5 << 20)),
    "names with words": text_of(json.dumps({"current-context": EVIL, "contexts": [{"name": EVIL, "context": {"cluster": EVIL, "user": EVIL}}]})),
    "clusters with words": text_of(json.dumps({"current-context": "c", "clusters": EVIL, "contexts": [{"name": "c", "context": EVIL}]})),
    "a server with words": config_of(server="https://127.0.0.1/" + EVIL),
    "a server with a line more": config_of(server="https://127.0.0.1:1/\r\nX-Evil: 1"),
    "a server with a password": config_of(server="https://root:hunter2@127.0.0.1:1"),
    "a server that is a file": config_of(server="file:///etc/passwd"),
    "a server on a socket": config_of(server="unix:///var/run/docker.sock"),
    "a server at port 99999": config_of(server="https://127.0.0.1:99999"),
    "a server without TLS": config_of(server="http://127.0.0.1:1"),
    "a proxy with words": config_of(**{"proxy-url": "http://" + EVIL}),
    "a proxy of another kind": config_of(**{"proxy-url": "socks5://127.0.0.1:1"}),
    "a name for TLS with words": config_of(**{"tls-server-name": EVIL}),
    "no authority": config_of(**{"certificate-authority": "{none}"}),
    "an authority without an end": config_of(**{"certificate-authority": "/dev/zero"}),
    "an authority that nobody writes": config_of(**{"certificate-authority": "{fifo}"}),
    "an authority that is a folder": config_of(**{"certificate-authority": "/"}),
    "an authority with words": config_of(**{"certificate-authority-data": "\x1b[2J"}),
    "a token with a line more": config_of({"token": f"{TOKEN}\r\nX-Evil: 1"}),
    "a token with zeros": config_of({"token": f"{TOKEN}\0"}),
    "a token of 10 MiB": config_of({"token": "t" * (3 << 20)}),
    "a token without an end": config_of({"tokenFile": "/dev/zero"}),
    "a token that nobody writes": config_of({"tokenFile": "{fifo}"}),
    "a token that is a folder": config_of({"tokenFile": "/"}),
    "a key with words": config_of({"client-certificate-data": "\x1b", "client-key-data": "\x1b"}),
    "a key without an end": config_of({"client-certificate": "/dev/zero", "client-key": "/dev/zero"}),
    "another user with a line more": config_of({"token": TOKEN, "as": "root\r\nX-Evil: 1"}),
    "groups with words": config_of({"token": TOKEN, "as": "x", "as-groups": [EVIL]}),
    "a password with a line more": config_of({"username": "x\r\ny", "password": "z\r\nX-Evil: 1"}),
    "a plugin with words": config_of({"exec": {"apiVersion": EVIL, "command": EVIL, "installHint": EVIL}}),
    "a plugin that is no program": config_of({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/etc/passwd",
                                                       "interactiveMode": "Never", "installHint": EVIL}}),
    "a plugin with zeros": config_of({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "true", "args": ["a\0b"],
                                               "interactiveMode": "Never"}}),
    "an old plugin": config_of({"auth-provider": {"name": EVIL, "config": {"cmd-path": "touch", "cmd-args": "pwned"}}}),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_kubeconfig_that_leads_nowhere_is_one_short_error(run_with, make_server, tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    server = make_server(lambda talk: talk.refuse(403, "Forbidden", "no"))
    told = CONFIGS[name](server.port)
    text = told if isinstance(told, str) else json.dumps(told)
    (tmp_path / "config").write_text(text.replace("{fifo}", str(tmp_path / "fifo")).replace("{none}", str(tmp_path / "none")))
    said = run_with(tmp_path / "config", "--insecure")
    assert said.strip().count("\n") == 0, said
    assert not any("x-evil" in talk.headers for talk in server.talks)
    assert not list(tmp_path.rglob("pwned"))


CREDENTIAL = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": TOKEN}}


def credential(**status):
    return f"cat <<'E'\n{json.dumps(CREDENTIAL | {'status': status})}\nE\n"


PLUGINS = {
    "words": "printf '\\033[2J\\033]52;c;aGk=\\007'",
    "nothing": "exit 0",
    "a failure": "exit 255",
    "its own death": "kill -KILL $$",
    "an output without an end": "exec cat /dev/zero",
    "lines without an end": "exec yes '{'",
    "2 MiB": "head -c 2000000 /dev/zero",
    "a list": "echo '[]'",
    "a depth": "head -c 500000 /dev/zero | tr '\\0' '['",
    "another kind": f"echo '{json.dumps(CREDENTIAL | {'kind': EVIL})}'",
    "another version": f"echo '{json.dumps(CREDENTIAL | {'apiVersion': EVIL})}'",
    "no status": f"echo '{json.dumps(CREDENTIAL | {'status': EVIL})}'",
    "a token with a line more": credential(token=f"{TOKEN}\r\nX-Evil: 1"),
    "a token with a sequence": credential(token="\x1b[2J"),
    "a token that is a list": credential(token=[TOKEN]),
    "no token": credential(token=""),
    "a time that is none": credential(token=TOKEN, expirationTimestamp=EVIL),
    "a certificate with words": credential(clientCertificateData=EVIL, clientKeyData=EVIL),
    "a certificate without its key": credential(clientCertificateData="x"),
    "a token that has ended": credential(token=TOKEN, expirationTimestamp="1970-01-01T00:00:00Z"),
    "two of them": credential(token="a") + credential(token="b"),
    "a token, and a child that lives on": credential(token=TOKEN) + "sleep 1000 2>/dev/null & echo $! >child\n",
}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_that_is_rogue_is_one_short_error(run_with, make_server, tmp_path, name):
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\ncd {tmp_path}\n{PLUGINS[name]}")
    plugin.chmod(0o755)
    server = make_server(lambda talk: talk.refuse(403, "Forbidden", "no"))
    config = config_of({"exec": {"apiVersion": CREDENTIAL["apiVersion"], "command": str(plugin), "interactiveMode": "Never"}})(server.port)
    (tmp_path / "config").write_text(json.dumps(config))
    try:
        said = run_with(tmp_path / "config", "--insecure")
    finally:
        if (tmp_path / "child").exists():
            subprocess.run(["kill", (tmp_path / "child").read_text().strip()], check=True, timeout=LIMIT_S)
    assert said.strip().count("\n") == 0, said
    assert not any("x-evil" in talk.headers for talk in server.talks)


NAMES = {
    "namespace": "--namespace", "service account": "--service-account", "priority class": "--priority-class", "queue": "--queue",
    "secret": "--image-pull-secret", "image": "--image", "name": "--name",
}
WRONG = {"words": EVIL, "a path": "../../../kube-system", "a query": "a?watch=true&x=y", "a line more": "a\r\nX-Evil: 1", "an option": "--all",
         "a quote": "a\"}},{\"x\":{\"y\":\"", "a shell's": "$(touch pwned)", "1 MiB": "a" * (1 << 16), "a slash": "a/b/../../../c", "percents": "a%2f..%2fb"}
# A slash is one of an image's own characters.
ALLOWED = {("image", "a path"), ("image", "a slash")}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", WRONG)
def test_a_name_that_is_none_is_an_error_before_anything_is_asked(run_with, make_server, tmp_path, name, how):
    server = make_server(lambda talk: talk.refuse(403, "Forbidden", "no"))
    said = run_with(server.kubeconfig(tmp_path / "config"), f"{NAMES[name]}={WRONG[how]}")
    if (name, how) not in ALLOWED:
        assert server.talks == [], said
    assert said.strip().count("\n") == 0 and not list(tmp_path.rglob("pwned"))
