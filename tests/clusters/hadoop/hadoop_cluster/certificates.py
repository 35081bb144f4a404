"""--https: a certificate authority of the cluster's own, and its daemons' key, as Java reads them."""

import os
import secrets

from .basics import Failure, need, run_logged, write
from .cluster import NAMESERVICE

HINT = "Debian: openssl"
DAYS = "30"


def authority(cluster):
    """What clients trust, in PEM form."""
    return cluster.path("tls", "authority.pem")


def configure(cluster, hdfs, yarn):
    hdfs["dfs.http.policy"] = "HTTPS_ONLY"
    yarn["yarn.http.policy"] = "HTTPS_ONLY"
    for name in cluster.names("nn"):
        end = f".{NAMESERVICE}.{name}" if cluster.option("ha") else ""
        hdfs["dfs.namenode.https-address" + end] = cluster.address(name + ".http")
    for name in cluster.names("rm"):
        end = "." + name if cluster.option("ha") else ""
        yarn["yarn.resourcemanager.webapp.https.address" + end] = cluster.address(name + ".http")


def stores(cluster):
    """{file: properties} by which the daemons find their key, and whom they trust."""
    with open(cluster.path("tls", "password")) as source:
        password = source.read().strip()
    trust = {"truststore.location": cluster.path("tls", "trust.p12"), "truststore.password": password,
             "truststore.type": "pkcs12"}
    key = {"keystore.location": cluster.path("tls", "key.p12"), "keystore.password": password,
           "keystore.keypassword": password, "keystore.type": "pkcs12"}
    return {"ssl-server": {"ssl.server." + name: value for name, value in {**trust, **key}.items()},
            "ssl-client": {"ssl.client." + name: value for name, value in trust.items()}}


def make(cluster):
    openssl, folder, log = need("openssl", HINT), cluster.path("tls"), cluster.path("logs", "certificates.log")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write(cluster.path("tls", "password"), secrets.token_hex(16) + "\n", 0o600)
    names = sorted({cluster.host(name) for name in cluster.daemons()})
    write(cluster.path("tls", "names"), "subjectAltName=" + ",".join(
        ("IP:" if name[0].isdigit() else "DNS:") + name for name in names) + "\n")

    def run(*words):
        if not run_logged([openssl, *words], log, dict(os.environ)):
            raise Failure(f"openssl failed; see {log}")

    def path(name):
        return cluster.path("tls", name)

    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", DAYS, "-subj", "/CN=the cluster's authority",
        "-keyout", path("authority.key"), "-out", authority(cluster))
    run("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a daemon", "-keyout", path("key.pem"), "-out", path("request.pem"))
    run("x509", "-req", "-in", path("request.pem"), "-CA", authority(cluster), "-CAkey", path("authority.key"), "-CAcreateserial",
        "-days", DAYS, "-extfile", path("names"), "-out", path("certificate.pem"))
    run("pkcs12", "-export", "-in", path("certificate.pem"), "-inkey", path("key.pem"), "-out", path("key.p12"),
        "-passout", "file:" + path("password"))
    keytool = os.path.join(cluster.state["java_home"], "bin/keytool")
    if not run_logged([keytool, "-importcert", "-noprompt", "-alias", "authority", "-file", authority(cluster), "-storetype", "PKCS12",
                       "-keystore", path("trust.p12"), "-storepass:file", path("password")], log, dict(os.environ)):
        raise Failure(f"keytool failed; see {log}")
