"""--kerberos: a realm of the cluster's own, and the configuration of secure daemons."""

import base64
import getpass
import os

from . import namespaces
from .basics import Failure, need, run_logged, write

REALM = "HADOOP.TEST"
HINT = "Debian: krb5-kdc krb5-admin-server krb5-user"
KINIT_LIMIT_S = 60

CLIENT_CONFIGURATION = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_realm = false
 dns_lookup_kdc = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 forwardable = true
 ticket_lifetime = 24h
 renew_lifetime = 7d
[realms]
 {realm} = {{
  kdc = {host}:{port}
 }}
[domain_realm]
 localhost = {realm}
 .{domain} = {realm}
 {domain} = {realm}
"""

SERVER_CONFIGURATION = """\
[kdcdefaults]
 kdc_listen = {bind}:{port}
 kdc_tcp_listen = {bind}:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/kadm5.acl
  max_life = 24h
  max_renewable_life = 7d
  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
 }}
"""


def users():
    """Those of the realm, among them the account that runs the daemons."""
    return list(dict.fromkeys(["alice", "bob", "hdfs", "yarn", getpass.getuser()]))


def keytab(cluster, name):
    return cluster.path("krb5", name + ".keytab")


def environment(cluster, user):
    return {"KRB5_CONFIG": cluster.path("krb5", "krb5.conf"),
            "KRB5CCNAME": "FILE:" + cluster.path("krb5", user + ".ccache")}


def server_environment(cluster):
    return environment(cluster, "hdfs") | {"KRB5_KDC_PROFILE": cluster.path("krb5", "kdc.conf")}


def server_command():
    return [need("krb5kdc", HINT), "-n", "-r", REALM]


def configure(cluster, core, hdfs, yarn):
    """Adds what makes the daemons secure to their properties."""
    web, web_keytab = "HTTP/_HOST@" + REALM, keytab(cluster, "HTTP")
    core.update({
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.security.auth_to_local":
            f"RULE:[2:$1/$2@$0]([nd]n/.*@{REALM})s/.*/hdfs/\nRULE:[2:$1/$2@$0]([rn]m/.*@{REALM})s/.*/yarn/\n"
            f"RULE:[1:$1@$0](.*@{REALM})s/@.*//\nRULE:[2:$1@$0](.*@{REALM})s/@.*//\nDEFAULT",
        "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.simple.anonymous.allowed": "false",
        "hadoop.http.authentication.signature.secret.file": cluster.path("krb5", "http.secret"),
        "hadoop.http.authentication.kerberos.principal": web,
        "hadoop.http.authentication.kerberos.keytab": web_keytab,
    })
    hdfs.update({
        "dfs.block.access.token.enable": "true",
        "dfs.namenode.kerberos.principal": "nn/_HOST@" + REALM,
        "dfs.namenode.keytab.file": keytab(cluster, "nn"),
        "dfs.namenode.kerberos.internal.spnego.principal": web,
        "dfs.datanode.kerberos.principal": "dn/_HOST@" + REALM,
        "dfs.datanode.keytab.file": keytab(cluster, "dn"),
        "dfs.web.authentication.kerberos.principal": web,
        "dfs.web.authentication.kerberos.keytab": web_keytab,
        "dfs.data.transfer.protection": cluster.option("rpc_protection"),
        # SASL protects the data port; the web port is plain HTTP and above 1023.
        "ignore.secure.ports.for.testing": "true",
    })
    yarn.update({
        "yarn.resourcemanager.principal": "rm/_HOST@" + REALM,
        "yarn.resourcemanager.keytab": keytab(cluster, "rm"),
        "yarn.resourcemanager.webapp.spnego-principal": web,
        "yarn.resourcemanager.webapp.spnego-keytab-file": web_keytab,
        "yarn.nodemanager.principal": "nm/_HOST@" + REALM,
        "yarn.nodemanager.keytab": keytab(cluster, "nm"),
        "yarn.nodemanager.webapp.spnego-principal": web,
        "yarn.nodemanager.webapp.spnego-keytab-file": web_keytab,
        "yarn.acl.enable": "true",
        "yarn.admin.acl": "yarn,hdfs",
    })


def principals(cluster):
    """What kadmin is told: principals and keytabs of the services and of the users."""
    kinds = {kind: cluster.names(kind) for kind in ("nn", "dn", "rm", "nm")} | {"HTTP": cluster.daemons()}
    for kind, daemons in kinds.items():
        for host in sorted({cluster.host(name) for name in daemons}):
            yield f"addprinc -randkey {kind}/{host}"
            yield f"ktadd -k {keytab(cluster, kind)} {kind}/{host}"
    for user in users():
        yield f"addprinc -pw {user} {user}"
        yield f"ktadd -norandkey -k {keytab(cluster, user)} {user}"


def make_realm(cluster):
    """The realm's database, its keytabs, and the configuration of server and clients."""
    create, administrate = need("kdb5_util", HINT), need("kadmin.local", HINT)
    need("kinit", HINT)
    folder, log = cluster.path("krb5"), cluster.path("logs", "realm.log")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    port = cluster.port("kdc")
    write(cluster.path("krb5", "krb5.conf"), CLIENT_CONFIGURATION.format(
        realm=REALM, domain=namespaces.DOMAIN, host=cluster.host("kdc"), port=port))
    write(cluster.path("krb5", "kdc.conf"), SERVER_CONFIGURATION.format(
        realm=REALM, folder=folder, port=port, bind="0.0.0.0" if cluster.option("netns") else "127.0.0.1"))
    write(cluster.path("krb5", "http.secret"), base64.b64encode(os.urandom(32)).decode() + "\n", 0o600)
    env = os.environ | server_environment(cluster)
    master_key = base64.b16encode(os.urandom(16)).decode()
    # On standard input, so that the key stands in no argument list.
    if not run_logged([create, "-r", REALM, "create", "-s"], log, env, f"{master_key}\n{master_key}\n"):
        raise Failure(f"kdb5_util failed; see {log}")
    if not run_logged([administrate, "-r", REALM], log, env, "\n".join([*principals(cluster), "quit", ""])):
        raise Failure(f"kadmin.local failed; see {log}")
    for name in ["nn", "dn", "rm", "nm", "HTTP", *users()]:
        if not os.path.exists(keytab(cluster, name)):
            raise Failure(f"no keytab of {name}; see {log}")


def get_ticket(cluster, user):
    """Fills the user's ticket cache; False where the KDC does not answer yet."""
    command = [need("kinit", HINT), "-r", "7d", "-f", "-k", "-t", keytab(cluster, user), user]
    return run_logged(namespaces.on_host(cluster, "client", command), cluster.path("logs", "realm.log"),
                      os.environ | environment(cluster, user), limit=KINIT_LIMIT_S)
