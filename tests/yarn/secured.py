"""What tests know of clusters with Kerberos: users, keytabs, and what tasks do there with their tokens."""

import getpass
import subprocess

USER = getpass.getuser()
REALM = "HADOOP.TEST"

# For scripts of tasks: the tokens of the token file, which is Hadoop's own format (docs/protocols/hadoop-rpc.md), and WebHDFS by them.
READING = '''
import base64, os, re, select, stat, sys, time, urllib.error, urllib.parse, urllib.request

def number(data, at):
    first = int.from_bytes(data[at:at + 1], "big", signed=True)
    if first >= -112: return first, at + 1
    size = -112 - first
    return int.from_bytes(data[at + 1:at + 1 + size], "big"), at + 1 + size

def piece(data, at):
    size, at = number(data, at)
    return data[at:at + size], at + size

def tokens(path=None):
    """[(kind, service, password, the token itself)]"""
    data = open(path or os.environ["HADOOP_TOKEN_FILE_LOCATION"], "rb").read()
    count, at = number(data, 5)
    found = []
    for _ in range(count):
        _, at = piece(data, at)
        begin, parts = at, []
        for _ in range(4):
            part, at = piece(data, at)
            parts.append(part)
        found.append((parts[2].decode(), parts[3].decode(), parts[1], data[begin:at]))
    return found

def hdfs(url, operation, service=None):
    """The answer of WebHDFS to one who has nothing but the newest token."""
    token, = [whole for kind, of, _, whole in tokens() if kind == "HDFS_DELEGATION_TOKEN" and service in (None, of)]
    text = base64.urlsafe_b64encode(token).decode().rstrip("=")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(f"{url}?op={operation}&delegation=" + urllib.parse.quote(text), timeout=30).read()
'''


def keytab(cluster, user=USER):
    return str(cluster.folder / "krb5" / f"{user}.keytab")


def kinit(cluster, cache, user=USER, *words):
    """The variable that names a new ticket cache with a ticket of the user."""
    found = {"KRB5CCNAME": f"FILE:{cache}"}
    subprocess.run(["kinit", *words, "-k", "-t", keytab(cluster, user), user], check=True, capture_output=True, timeout=60,
                   env=cluster.environment_of(user) | found)
    return found


def curl(cluster, user, *words):
    """(status, body) of a request as that user, whom a ticket of his proves; without one: of nobody."""
    environment = cluster.environment_of(user or USER)
    login = ("--negotiate", "-u", ":") if user else ()
    trust = ("--cacert", environment["SSL_CERT_FILE"]) if "SSL_CERT_FILE" in cluster.exports else ()
    done = subprocess.run(["curl", "-s", "-S", "--noproxy", "*", "--max-time", "60", *login, *trust, "-w", "\n%{http_code}", *words],
                          env=environment, capture_output=True, text=True, timeout=90)
    body, _, code = done.stdout.rpartition("\n")
    return int(code or 0), body or done.stderr


def put(cluster, source, path):
    code, body = curl(cluster, "hdfs", "-L", "-T", str(source), f"{cluster.webhdfs_url}{path}?op=CREATE&overwrite=true")
    assert code == 201, (code, body)


def passwords(token_file):
    """The secret parts of the tokens in a file."""
    known = {}
    exec(READING, known)
    return [password for _, _, password, _ in known["tokens"](token_file)]
