"""A cluster's start and its end."""

import contextlib
import getpass
import os
import shutil
import signal

from . import availability, daemons, java, kerberos, namespaces, questions, volumes
from .basics import Failure, run_logged

TICKET_LIMIT_S = 60
END_GRACE_S = 8
OWN_PARTS = ("logs", "tmp", "data", "conf", "home", "krb5", "tls", "cluster.json", "cluster.lock")


def bring_up(cluster, seconds):
    volumes.mount(cluster)
    if cluster.option("kerberos"):
        kerberos.make_realm(cluster)
        daemons.start(cluster, "kdc")
        for user in kerberos.users():
            questions.wait(cluster, "the KDC", lambda: kerberos.get_ticket(cluster, user), TICKET_LIMIT_S, ["kdc"])
    # YARN needs no HDFS to start, so it starts while the NameNode formats.
    for name in cluster.names("rm"):
        daemons.start(cluster, name)
    format_hdfs(cluster)
    for kind in ("nn", "far", "nm", "dn"):
        for name in cluster.names(kind):
            daemons.start(cluster, name)
    if cluster.option("ha"):
        availability.transition(cluster, "nn1", seconds)
        availability.transition(cluster, "rm1", seconds)
    questions.wait_for_hdfs(cluster, seconds)
    for name in cluster.names("far"):
        questions.wait_for_names(cluster, name, seconds)
    make_folders(cluster)
    questions.wait_for_yarn(cluster, seconds, cluster.names("nm"))
    if cluster.option("node_labels"):
        label_nodes(cluster)


def format_hdfs(cluster):
    first, *others = cluster.names("nn")
    command = java.daemon_command(cluster, first, ["-format", "-force", "-nonInteractive"])
    log = cluster.path("logs", "format.log")
    if not run_logged(namespaces.on_host(cluster, first, command), log, daemons.environment(cluster)):
        raise Failure(f"formatting HDFS failed; see {log}")
    for name in cluster.names("far"):
        command = java.daemon_command(cluster, name, ["-format", "-force", "-nonInteractive"])
        if not run_logged(command, log, daemons.environment(cluster)):
            raise Failure(f"formatting the other HDFS failed; see {log}")
    for other in others:
        # Where nothing was written yet, a copy is what -bootstrapStandby makes.
        shutil.copytree(cluster.path("data", first), cluster.path("data", other))


def make_folders(cluster):
    homes = kerberos.users() if cluster.option("kerberos") else [getpass.getuser()]
    wanted = [("/tmp", "1777", None), ("/tmp/logs", "1777", None), ("/user", "755", None)]
    for path, mode, owner in wanted + [("/user/" + user, "755", user) for user in homes]:
        orders = [("MKDIRS", {}), ("SETPERMISSION", {"permission": mode})]
        for operation, parameters in orders + ([("SETOWNER", {"owner": owner})] if owner else []):
            code, body = questions.webhdfs(cluster, path, operation, **parameters)
            if code != 200:
                raise Failure(f"{operation} {path} in HDFS: {code} {body}")


def label_nodes(cluster):
    pairs = [cluster.address(f"nm{number}.rpc") + "=gpu" for number in cluster.gpu_nodes]
    availability.administrate(cluster, "rm", "-addToClusterNodeLabels", "gpu(exclusive=true)")
    availability.administrate(cluster, "rm", "-replaceLabelsOnNode", " ".join(pairs), "-failOnUnknownNodes")


def tear_down(cluster):
    """Ends all that the cluster started, and returns how many daemons those were."""
    ended = 0
    # The guard first, unless it is who does this; then the NodeManagers, so that nothing restarts a container.
    known = [name for name in cluster.state["pids"] if cluster.pid(name) != os.getpid()]
    order = sorted(known, key=lambda name: (name != "guard", not name.startswith("nm")))
    for name in order:
        if cluster.alive(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(cluster.pid(name), signal.SIGTERM)
            ended += name != "guard"
    daemons.kill_containers(cluster)
    for name in order:
        daemons.end(cluster, name, grace=END_GRACE_S)
    daemons.kill_containers(cluster)
    with cluster.changing() as state:
        state["pids"] = {}
    volumes.unmount(cluster)
    if cluster.option("netns"):
        namespaces.drop(cluster)
    return ended


def wipe(cluster):
    """Removes the cluster's own files, and its folder where nothing else is in it."""
    for part in os.listdir(cluster.folder):
        if part in OWN_PARTS or part.startswith("conf-"):
            path = cluster.path(part)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
