"""What makes a ZooKeeper of tests a secured one: logins by SASL, and TLS with certificates of its own."""

import subprocess

LIMIT_S = 60
PROVIDER = "authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
DIGEST = 'Server {{\n org.apache.zookeeper.server.auth.DigestLoginModule required user_{user}="{password}";\n}};\n'
KERBEROS = ('Server {{\n com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="{keytab}" storeKey=true\n'
            ' useTicketCache=false principal="{principal}";\n}};\n')
TLS = """\
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
secureClientPort={port}
secureClientPortAddress=127.0.0.1
ssl.keyStore.location={folder}/server.pem
ssl.keyStore.type=PEM
ssl.trustStore.location={folder}/ca.pem
ssl.trustStore.type=PEM
ssl.clientAuth={client_auth}
"""


def jaas(folder, text):
    """The options by which Java's logins are what `text` says."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jaas.conf").write_text(text)
    return (f"-Djava.security.auth.login.config={folder}/jaas.conf",)


def openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr


def make_certificates(folder):
    """ca.pem, server.pem with its key, client.pem and client-key.pem; and other-ca.pem, which has signed none of them."""
    folder.mkdir(parents=True, exist_ok=True)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    for name in ("ca", "other-ca"):
        openssl("req", "-x509", *curve, "-subj", f"/CN={name}", "-keyout", folder / f"{name}-key.pem", "-out", folder / f"{name}.pem")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    for name in ("server", "client"):
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", folder / f"{name}-key.pem", "-out", folder / f"{name}.csr")
        openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / "ca.pem", "-CAkey", folder / "ca-key.pem", "-days", "2",
                "-extfile", folder / "names", "-out", folder / f"{name}.pem")
    server = folder / "server.pem"
    server.write_text((folder / "server-key.pem").read_text() + server.read_text())
