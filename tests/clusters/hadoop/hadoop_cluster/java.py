"""Command lines of Java: the daemons, and a HADOOP_HOME with the stock commands."""

import glob
import os
import shlex

from . import namespaces
from .basics import write
from .jars import DISTRIBUTED_SHELL

OPENED = [f"--add-opens={module}=ALL-UNNAMED" for module in (
    *("java.base/java." + package for package in (
        "io", "lang", "lang.reflect", "math", "net", "nio", "text", "util", "util.concurrent", "util.zip")),
    "java.base/sun.nio.ch", "java.base/sun.security.util", "java.base/sun.security.x509",
    "java.security.jgss/sun.security.krb5")]
SMALL = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
# A daemon of a test spends most of its life loading classes; those of a release need not be verified each time.
UNVERIFIED = ["-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
CLIENT_HEAP_MB = 256

MAIN_CLASSES = {
    "nn": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "far": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "dn": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "rm": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nm": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}

APPLICATION = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
# One class for several commands: it wants to be told which.
TOLD = ("application", "app", "applicationattempt", "container")
COMMANDS = {
    "hadoop": {
        "fs": "org.apache.hadoop.fs.FsShell",
        "jar": "org.apache.hadoop.util.RunJar",
        "key": "org.apache.hadoop.crypto.key.KeyShell",
        "credential": "org.apache.hadoop.security.alias.CredentialShell",
        "dtutil": "org.apache.hadoop.security.token.DtUtilShell",
        "kerbname": "org.apache.hadoop.security.HadoopKerberosName",
        "kdiag": "org.apache.hadoop.security.KDiag",
        "version": "org.apache.hadoop.util.VersionInfo",
        "checknative": "org.apache.hadoop.util.NativeLibraryChecker",
        "conftest": "org.apache.hadoop.util.ConfTest",
    },
    "hdfs": {
        "dfs": "org.apache.hadoop.fs.FsShell",
        "dfsadmin": "org.apache.hadoop.hdfs.tools.DFSAdmin",
        "haadmin": "org.apache.hadoop.hdfs.tools.DFSHAAdmin",
        "fsck": "org.apache.hadoop.hdfs.tools.DFSck",
        "getconf": "org.apache.hadoop.hdfs.tools.GetConf",
        "fetchdt": "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher",
        "groups": "org.apache.hadoop.hdfs.tools.GetGroups",
        "version": "org.apache.hadoop.util.VersionInfo",
    },
    "yarn": {
        **dict.fromkeys(TOLD, APPLICATION),
        "node": "org.apache.hadoop.yarn.client.cli.NodeCLI",
        "queue": "org.apache.hadoop.yarn.client.cli.QueueCLI",
        "logs": "org.apache.hadoop.yarn.client.cli.LogsCLI",
        "cluster": "org.apache.hadoop.yarn.client.cli.ClusterCLI",
        "top": "org.apache.hadoop.yarn.client.cli.TopCLI",
        "rmadmin": "org.apache.hadoop.yarn.client.cli.RMAdminCLI",
        "schedulerconf": "org.apache.hadoop.yarn.client.cli.SchedConfCLI",
        "nodeattributes": "org.apache.hadoop.yarn.client.cli.NodeAttributesCLI",
        "jar": "org.apache.hadoop.util.RunJar",
        "version": "org.apache.hadoop.util.VersionInfo",
    },
}

TOOL = """\
#!/bin/sh
{enter}conf=${{HADOOP_CONF_DIR:-{conf}}}
jars={jars}
path={path}
[ $# -gt 0 ] || {{ echo "usage: $0 COMMAND [ARGS]" >&2; exit 1; }}
command=$1; shift
case $command in
  classpath)
    if [ "$1" = --glob ]; then
      path=$conf; for jar in "$jars"/*.jar; do path=$path:$jar; done; echo "$path"
    else echo "$conf:$jars/*"; fi
    exit 0;;
{cases}
  *.*) class=$command;;
  *) echo "$0: unknown command $command" >&2; exit 1;;
esac
exec {java} \\
  -Dhadoop.root.logger=${{HADOOP_ROOT_LOGGER:-INFO,console}} \\
  {properties} $HADOOP_OPTS $HADOOP_CLIENT_OPTS \\
  -cp "$conf:$path${{HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}}" $class "$@"
"""


def program(cluster):
    return os.path.join(cluster.state["java_home"], "bin/java")


def class_path(cluster):
    jars, native = cluster.state["jars"], cluster.state["native"]
    path = f"{jars}/web:{jars}/*"
    return f"{native}/classes-{cluster.option('version')}:{path}" if native else path


def properties(cluster):
    found = ["-Djava.net.preferIPv4Stack=true"]
    if cluster.state["native"]:
        found.append("-Djava.library.path=" + cluster.state["native"])
    if cluster.option("kerberos"):
        found.append("-Djava.security.krb5.conf=" + cluster.path("krb5", "krb5.conf"))
    return found


def daemon_command(cluster, name, arguments=()):
    """What runs a daemon, or with arguments one of the other things that its program can do."""
    main = MAIN_CLASSES[name.rstrip("0123456789")]
    return [program(cluster), f"-Xmx{cluster.option('heap_mb')}m", "-Xss512k", *SMALL, *UNVERIFIED, "-XX:+ExitOnOutOfMemoryError",
            *OPENED, *properties(cluster), "-Djava.io.tmpdir=" + cluster.path("tmp"),
            "-Dhadoop.log.dir=" + cluster.path("logs"), "-Dyarn.log.dir=" + cluster.path("logs"),
            "-Dhadoop.root.logger=INFO,console", "-Dproc_" + name,
            "-cp", f"{cluster.configuration_folder(name)}:{class_path(cluster)}", main, *arguments]


def distributed_shell(cluster):
    return next(iter(glob.glob(os.path.join(cluster.state["jars"], DISTRIBUTED_SHELL + "-*.jar"))), "")


def link(target, name):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    if os.path.islink(name):
        os.unlink(name)
    os.symlink(target, name)


def write_home(cluster):
    """A HADOOP_HOME with the names of the stock commands."""
    home = cluster.path("home")
    link(cluster.path("conf"), os.path.join(home, "etc/hadoop"))
    for part in ("common", "hdfs", "yarn"):
        link(cluster.state["jars"], os.path.join(home, "share/hadoop", part))
    if cluster.state["native"]:
        link(cluster.state["native"], os.path.join(home, "lib/native"))
    enter = ""
    if cluster.option("netns"):
        words = " ".join(map(shlex.quote, namespaces.on_host(cluster, "client", [])))
        enter = f'if [ "$(ip netns identify $$)" = "" ]; then exec {words} "$0" "$@"; fi\n'
    command = [program(cluster), f"-Xmx{CLIENT_HEAP_MB}m", *SMALL, *OPENED]
    for tool, classes in COMMANDS.items():
        cases = [f"  {name}) class={value};" + (f' set -- {name} "$@";;' if name in TOLD else ";")
                 for name, value in sorted(classes.items())]
        write(os.path.join(home, "bin", tool), TOOL.format(
            enter=enter, conf=shlex.quote(cluster.path("conf")), jars=shlex.quote(cluster.state["jars"]),
            path=shlex.quote(class_path(cluster)), cases="\n".join(cases), java=" ".join(map(shlex.quote, command)),
            properties=" ".join(map(shlex.quote, properties(cluster)))), 0o755)
