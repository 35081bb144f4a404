"""A realm of Kerberos of a test's own: MIT's KDC (Debian's package `krb5-kdc`) as a normal process in a folder."""

import base64
import os
import pathlib
import shutil
import socket
import subprocess

from waiting import wait_until

NAME = "GANGRUN.TEST"
LIMIT_S = 60
CLIENTS = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_realm = false
 dns_lookup_kdc = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {realm}
"""
SERVER = """\
[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  max_life = 24h
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }}
"""


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    assert found, f"{name} is not there: tools/install-deps test"
    return found


class Realm:
    """A KDC at `port`, with users whose passwords are their names, and keytabs of services."""

    def __init__(self, folder, port, users, services):
        self.folder, self.port = pathlib.Path(folder), port
        self.folder.mkdir(parents=True)
        self.environment = {"KRB5_CONFIG": str(self.folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
                            "KRB5CCNAME": f"FILE:{self.folder}/cache"}
        values = {"realm": NAME, "port": port, "folder": self.folder}
        (self.folder / "krb5.conf").write_text(CLIENTS.format(**values))
        (self.folder / "kdc.conf").write_text(SERVER.format(**values))
        key = base64.b16encode(os.urandom(16)).decode()
        # On standard input, so that no key stands in an argument list.
        self.run(f"{key}\n{key}\n", "kdb5_util", "-r", NAME, "create", "-s")
        orders = [f"addprinc -pw {user} {user}" for user in users]
        for service in services:
            orders += [f"addprinc -randkey {service}", f"ktadd -k {self.keytab(service)} {service}"]
        self.run("\n".join([*orders, "quit", ""]), "kadmin.local", "-r", NAME)
        self.process = None

    def run(self, given, name, *words):
        done = subprocess.run([program(name), *words], input=given, env=os.environ | self.environment, text=True,
                              capture_output=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def keytab(self, service):
        return self.folder / (service.replace("/", "-") + ".keytab")

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def start(self):
        # It ends at the latest with the process of the tests, also when that is killed.
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", program("krb5kdc"), "-n", "-r", NAME],
                                            env=os.environ | self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, "the KDC to answer", LIMIT_S, pause_s=0.02)
        return self

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait(timeout=LIMIT_S)

    def ticket(self, user, *words):
        """Into the cache of `environment`; words are for kinit."""
        self.run(f"{user}\n", "kinit", *words, user)

    def forget_ticket(self):
        (self.folder / "cache").unlink(missing_ok=True)

    def has_ticket(self):
        return subprocess.run([program("klist"), "-s"], env=os.environ | self.environment, timeout=LIMIT_S).returncode == 0
