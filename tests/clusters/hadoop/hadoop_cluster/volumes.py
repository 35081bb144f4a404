"""--datanode-mb: every DataNode's volume is a file system of its own, in memory and of that size."""

import os
import subprocess

from .basics import Failure, need

COMMAND_LIMIT_S = 60


def folders(cluster):
    # A cluster that an older version of this program has started does not have the option.
    small = cluster.state["options"].get("datanode_mb")
    return [cluster.path("data", name) for name in cluster.names("dn")] if small else []


def order(tool, *words):
    done = subprocess.run([need(tool, "mount"), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=COMMAND_LIMIT_S)
    if done.returncode:
        raise Failure(f"{tool} {' '.join(words)}: {done.stdout.strip()}")


def mount(cluster):
    for folder in folders(cluster):
        os.makedirs(folder)
        order("mount", "-t", "tmpfs", "-o", f"size={cluster.option('datanode_mb')}m,mode=700", "tmpfs", folder)


def unmount(cluster):
    for folder in folders(cluster):
        if os.path.ismount(folder):
            # Lazily: a `du` of the DataNode may outlive it for a moment, and would keep the volume busy.
            order("umount", "--lazy", folder)
