"""The configuration files: those that clients read, and a folder for each daemon that differs from them."""

import getpass
import os

from . import certificates, kerberos
from .basics import write, write_properties
from .cluster import NAMESERVICE

SCHEDULER = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
STATE_STORE = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
EXECUTOR = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
CALCULATOR = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
FAILOVER = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
QUEUES = ("default", "ml-gpu")
GPU = "yarn.io/gpu"

LOGGING = """\
hadoop.root.logger=INFO,console
log4j.rootLogger=${hadoop.root.logger}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
# Their lines have the addresses that were asked for, in which WebHDFS has the token (docs/secure-clusters.md).
log4j.logger.http.requests=WARN
log4j.logger.datanode.webhdfs=WARN
"""


def core_properties(cluster):
    user = getpass.getuser()
    return {
        "fs.defaultFS": cluster.hdfs_url(),
        "hadoop.tmp.dir": cluster.path("tmp", "hadoop"),
        "hadoop.http.staticuser.user": user,
        f"hadoop.proxyuser.{user}.hosts": "*",
        f"hadoop.proxyuser.{user}.groups": "*",
        "hadoop.rpc.protection": cluster.option("rpc_protection"),
        # The groups of users without an account are not looked up.
        "hadoop.user.group.static.mapping.overrides":
            "dr.who=;alice=alice;bob=bob;hdfs=hdfs,supergroup;yarn=yarn",
    }


def hdfs_properties(cluster):
    found = {
        "dfs.replication": cluster.option("datanodes"),
        "dfs.namenode.safemode.extension": 0,
        "dfs.namenode.safemode.min.datanodes": cluster.option("datanodes"),
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.fs-limits.min-block-size": 1024,
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
        "dfs.hosts.exclude": cluster.path("conf", "hdfs.exclude"),
    }
    if not cluster.option("ha"):
        return found | name_node_folder(cluster, "nn") | {
            "dfs.namenode.rpc-address": cluster.address("nn.rpc"),
            "dfs.namenode.http-address": cluster.address("nn.http"),
        }
    for name in cluster.names("nn"):
        found[f"dfs.namenode.rpc-address.{NAMESERVICE}.{name}"] = cluster.address(name + ".rpc")
        found[f"dfs.namenode.http-address.{NAMESERVICE}.{name}"] = cluster.address(name + ".http")
    return found | {
        "dfs.nameservices": NAMESERVICE,
        f"dfs.ha.namenodes.{NAMESERVICE}": ",".join(cluster.names("nn")),
        f"dfs.client.failover.proxy.provider.{NAMESERVICE}": FAILOVER,
        "dfs.client.failover.sleep.base.millis": 200,
        "dfs.client.failover.sleep.max.millis": 2000,
        "dfs.namenode.shared.edits.dir": "file://" + cluster.path("data", "shared-edits"),
        "dfs.ha.automatic-failover.enabled": "false",
        # Both live on one machine, and `transition` itself sees to it that one of them is active.
        "dfs.ha.fencing.methods": "shell(/bin/true)",
        "dfs.ha.log-roll.period": 5,
        "dfs.ha.tail-edits.period": 1,
    }


def name_node_folder(cluster, name):
    return {"dfs.namenode.name.dir": "file://" + cluster.path("data", name)}


def manager_addresses(cluster):
    """Where the ResourceManagers are; two of them have their names at the ends of the properties."""
    found = {}
    for name in cluster.names("rm"):
        end = "." + name if cluster.option("ha") else ""
        found["yarn.resourcemanager.hostname" + end] = cluster.host(name)
        for property_name, port in (("address", "client"), ("scheduler.address", "scheduler"),
                                    ("resource-tracker.address", "tracker"), ("admin.address", "admin"),
                                    ("webapp.address", "http")):
            found[f"yarn.resourcemanager.{property_name}{end}"] = cluster.address(f"{name}.{port}")
    if cluster.option("ha"):
        found.update({
            "yarn.resourcemanager.ha.enabled": "true",
            "yarn.resourcemanager.ha.automatic-failover.enabled": "false",
            "yarn.resourcemanager.ha.rm-ids": ",".join(cluster.names("rm")),
            "yarn.resourcemanager.cluster-id": NAMESERVICE,
            "yarn.client.failover-sleep-base-ms": 200,
            "yarn.client.failover-sleep-max-ms": 2000,
        })
    return found


def yarn_properties(cluster):
    memory_check = cluster.option("enforce_memory")
    found = manager_addresses(cluster) | {
        "yarn.resourcemanager.scheduler.class": SCHEDULER,
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.work-preserving-recovery.enabled": "true",
        "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 3000,
        "yarn.resourcemanager.store.class": STATE_STORE,
        "yarn.resourcemanager.fs.state-store.uri": "file://" + cluster.path("data", "rm-state"),
        "yarn.resourcemanager.nodes.exclude-path": cluster.path("conf", "yarn.exclude"),
        "yarn.resourcemanager.connect.retry-interval.ms": 1000,
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": cluster.option("heartbeat_ms"),
        "yarn.nm.liveness-monitor.expiry-interval-ms": cluster.option("nm_expiry_ms"),
        "yarn.scheduler.minimum-allocation-mb": 64,
        "yarn.scheduler.maximum-allocation-mb": cluster.option("memory_mb"),
        "yarn.scheduler.minimum-allocation-vcores": 1,
        "yarn.scheduler.maximum-allocation-vcores": cluster.option("vcores"),
        "yarn.application.classpath": f"$HADOOP_CONF_DIR,{cluster.state['jars']}/*",
        "yarn.log-aggregation-enable": "true",
        "yarn.nodemanager.remote-app-log-dir": "/tmp/logs",
        "yarn.nodemanager.container-executor.class": EXECUTOR,
        "yarn.nodemanager.recovery.enabled": "true",
        "yarn.nodemanager.recovery.supervised": "true",
        "yarn.nodemanager.resource.memory-mb": cluster.option("memory_mb"),
        "yarn.nodemanager.resource.cpu-vcores": cluster.option("vcores"),
        "yarn.nodemanager.pmem-check-enabled": str(bool(memory_check)).lower(),
        "yarn.nodemanager.vmem-check-enabled": str(memory_check == "both").lower(),
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
        "yarn.nodemanager.resourcemanager.minimum.version": "NONE",
        "yarn.timeline-service.enabled": "false",
    }
    if memory_check:
        found["yarn.nodemanager.container-monitor.interval-ms"] = 1000
        # Else the NodeManager leaves it to cgroups, which it has not here.
        found["yarn.nodemanager.resource.memory.enforced"] = "false"
    if cluster.option("node_labels"):
        found["yarn.node-labels.enabled"] = "true"
        found["yarn.node-labels.fs-store.root-dir"] = "file://" + cluster.path("data", "node-labels")
    return found


def scheduler_properties(cluster):
    prefix = "yarn.scheduler.capacity."
    found = {
        prefix + "maximum-applications": 10000,
        prefix + "maximum-am-resource-percent": 0.9,
        prefix + "resource-calculator": CALCULATOR,
        prefix + "root.queues": ",".join(QUEUES),
    }
    for queue in QUEUES:
        found[f"{prefix}root.{queue}.capacity"] = 50
        found[f"{prefix}root.{queue}.maximum-capacity"] = 100
        found[f"{prefix}root.{queue}.user-limit-factor"] = 100
        found[f"{prefix}root.{queue}.state"] = "RUNNING"
    if cluster.option("node_labels"):
        for queue in ("root", "root.ml-gpu"):
            found[f"{prefix}{queue}.accessible-node-labels"] = "gpu"
            found[f"{prefix}{queue}.accessible-node-labels.gpu.capacity"] = 100
            found[f"{prefix}{queue}.accessible-node-labels.gpu.maximum-capacity"] = 100
        found[prefix + "root.default.accessible-node-labels"] = " "
        found[prefix + "root.ml-gpu.maximum-am-resource-percent"] = 0.9
    return found


def resource_counts(cluster):
    """{name: count} of the countable resources beyond memory and vcores."""
    gpus = {GPU: cluster.option("gpus")} if cluster.option("gpus") else {}
    return dict(cluster.option("resources")) | gpus


def data_node_properties(cluster, name):
    def bound(port):
        return f"{'0.0.0.0' if cluster.option('netns') else cluster.host(name)}:{cluster.port(f'{name}.{port}')}"

    # A whole GiB must be left on a volume, else nothing is written to it.
    small = {"dfs.datanode.round-robin-volume-choosing-policy.additional-available-space": 0}
    return (small if cluster.option("datanode_mb") else {}) | {
        "dfs.datanode.data.dir": "file://" + cluster.path("data", name),
        "dfs.datanode.hostname": cluster.host(name),
        "dfs.datanode.address": bound("data"),
        "dfs.datanode.ipc.address": bound("ipc"),
        "dfs.datanode.http.address": bound("http"),
        "dfs.datanode.https.address": bound("http"),
    }


def node_manager_properties(cluster, name):
    return {
        "yarn.nodemanager.hostname": cluster.host(name),
        "yarn.nodemanager.address": cluster.address(name + ".rpc"),
        "yarn.nodemanager.localizer.address": cluster.address(name + ".localizer"),
        "yarn.nodemanager.webapp.address": cluster.address(name + ".http"),
        "yarn.nodemanager.webapp.https.address": cluster.address(name + ".http"),
        "yarn.nodemanager.collector-service.address": cluster.address(name + ".collector"),
        "yarn.nodemanager.local-dirs": cluster.path("data", name, "local"),
        "yarn.nodemanager.log-dirs": cluster.path("data", name, "userlogs"),
        "yarn.nodemanager.recovery.dir": cluster.path("data", name, "recovery"),
    }


def client_files(cluster):
    """{file: properties} of what clients read."""
    core, hdfs, yarn = core_properties(cluster), hdfs_properties(cluster), yarn_properties(cluster)
    scheduler, types = scheduler_properties(cluster), {}
    counts = resource_counts(cluster)
    if counts:
        types["yarn.resource-types"] = ",".join(sorted(counts))
    if cluster.option("kerberos"):
        kerberos.configure(cluster, core, hdfs, yarn)
    if cluster.option("https"):
        certificates.configure(cluster, hdfs, yarn)
    owners = (("yarn.scheduler.capacity.", scheduler), ("yarn.resource-types", types), ("yarn.", yarn),
              ("dfs.", hdfs), ("", core))
    for item in cluster.option("set"):
        name, _, value = item.partition("=")
        next(owner for prefix, owner in owners if name.startswith(prefix))[name] = value
    return {"core-site": core, "hdfs-site": hdfs, "yarn-site": yarn, "capacity-scheduler": scheduler,
            "resource-types": types, "hadoop-policy": {}} | (certificates.stores(cluster) if cluster.option("https") else {})


def write_folder(folder, files, own):
    """The files, each with the properties of this folder's `own` besides."""
    for name in {**files, **own}:
        write_properties(os.path.join(folder, name + ".xml"), files.get(name, {}) | own.get(name, {}))
    write(os.path.join(folder, "log4j.properties"), LOGGING)


def write_all(cluster):
    files = client_files(cluster)
    for name in ("yarn.exclude", "hdfs.exclude"):
        write(cluster.path("conf", name), "")
    write_folder(cluster.path("conf"), files, {})
    if cluster.option("ha"):
        for name in cluster.names("nn"):
            write_folder(cluster.configuration_folder(name), files, {
                "hdfs-site": {"dfs.ha.namenode.id": name, **name_node_folder(cluster, name)}})
        for name in cluster.names("rm"):
            write_folder(cluster.configuration_folder(name), files, {
                "yarn-site": {"yarn.resourcemanager.ha.id": name}})
    for name in cluster.names("far"):
        write_folder(cluster.configuration_folder(name), files, {
            "core-site": {"fs.defaultFS": cluster.far_url()},
            "hdfs-site": name_node_folder(cluster, name) | {
                "dfs.namenode.rpc-address": cluster.address(name + ".rpc"),
                "dfs.namenode.http-address": cluster.address(name + ".http"),
                "dfs.namenode.https-address": cluster.address(name + ".http"),
                "dfs.namenode.safemode.min.datanodes": 0}})
    for name in cluster.names("dn"):
        write_folder(cluster.configuration_folder(name), files, {"hdfs-site": data_node_properties(cluster, name)})
    for name in cluster.names("nm"):
        counts = {"yarn.nodemanager.resource-type." + resource: count
                  for resource, count in resource_counts(cluster).items()
                  if resource != GPU or int(name[2:]) in cluster.gpu_nodes}
        write_folder(cluster.configuration_folder(name), files, {
            "yarn-site": node_manager_properties(cluster, name), "node-resources": counts})
