"""--ha: which of two masters is active. Nobody fails over by itself: `transition` does."""

import getpass
import os

from . import kerberos, questions
from .basics import Failure, run_logged

# Who may do it in a secure cluster.
ADMINISTRATORS = {"nn": "hdfs", "rm": "yarn"}
TOOLS = {"nn": ("hdfs", "haadmin"), "rm": ("yarn", "rmadmin")}


def administrate(cluster, kind, *words):
    """One of the stock administrator's commands for NameNodes or ResourceManagers."""
    tool, command = TOOLS[kind]
    env = os.environ | cluster.environment() | {"HADOOP_ROOT_LOGGER": "WARN,console"}
    if cluster.option("kerberos"):
        user = getpass.getuser() if getpass.getuser() in ADMINISTRATORS.values() else ADMINISTRATORS[kind]
        env |= kerberos.environment(cluster, user)
    log = cluster.path("logs", command + ".log")
    if not run_logged([cluster.path("home", "bin", tool), command, *words], log, env):
        raise Failure(f"{tool} {command} {' '.join(words)} failed; see {log}")


def transition(cluster, name, seconds):
    """Makes a master active, after the other one, where it was that, has become standby."""
    if not cluster.option("ha"):
        raise Failure("transition goes with --ha")
    kind = name[:2]
    if not cluster.alive(name):
        raise Failure(f"{name} is not running")
    questions.wait_for_role(cluster, name, ("standby", "active"), seconds)
    for other in cluster.names(kind):
        if other != name and cluster.alive(other) and questions.role(cluster, other) == "active":
            administrate(cluster, kind, "-transitionToStandby", other)
    # Forced, because the tool else refuses while the other one does not answer.
    administrate(cluster, kind, "-transitionToActive", "--forceactive", name)
    with cluster.changing() as state:
        state["active"][kind] = name
    questions.wait_for_role(cluster, name, ("active",), seconds)
