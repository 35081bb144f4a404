"""The jars of a Hadoop release, resolved by Maven once and kept in a cache."""

import fcntl
import glob
import os
import re
import shutil
import subprocess
import zipfile

from .basics import Failure, need, say, write
from .class_file import add_static_boolean

DEFAULT_VERSION = "3.5.0"
HADOOP = "org.apache.hadoop"
SERVERS = ("hadoop-common", "hadoop-hdfs", "hadoop-hdfs-client", "hadoop-yarn-server-resourcemanager",
           "hadoop-yarn-server-nodemanager", "hadoop-yarn-client", "hadoop-yarn-server-timelineservice")
# DistributedShell is taken from another release where there is none of the same version ...
DISTRIBUTED_SHELL = "hadoop-yarn-applications-distributedshell"
DISTRIBUTED_SHELL_VERSION = dict.fromkeys(("3.5.0", "3.3.6", "3.2.4"), "3.4.2")
# ... and then needs a class of Jersey 1.
JERSEY_1_CLIENT = ("com.sun.jersey", "jersey-client", "1.19.4", True)
# Carries the libhadoop.so of Hadoop 3.3.5 (Apache's jars carry none).
NATIVE = ("io.trino.hadoop", "hadoop-apache", "3.3.5-3")
# A static field that this libhadoop.so looks up and that Hadoop 3.5 has dropped.
NATIVE_CLASS, NATIVE_FIELD = "org/apache/hadoop/io/nativeio/NativeIO.class", "workaroundNonThreadSafePasswdCalls"
# Of other systems, or of a licence that nobody here asked for.
UNWANTED = re.compile(r"-osx-|^mssql-jdbc")
# Brings the classes of asm-3.1 in another form, with which WebHDFS of Hadoop 2 does not start.
UNWANTED_BESIDE = {"asm-3.1.jar": "asm-5.0.4.jar"}
MAVEN_LIMIT_S = 20 * 60
EMPTY_WEB_APPLICATION = """\
<?xml version="1.0" encoding="UTF-8"?>
<web-app version="3.0" xmlns="http://java.sun.com/xml/ns/javaee">
</web-app>
"""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.abspath(os.environ.get("HADOOP_CLUSTER_CACHE") or os.path.join(base, "gangrun/hadoop"))


def java_home():
    home = os.environ.get("JAVA_HOME")
    if home and os.access(os.path.join(home, "bin/java"), os.X_OK):
        return home
    return os.path.dirname(os.path.dirname(os.path.realpath(need("java", "a JDK 17"))))


def project(artifacts):
    """A Maven project that depends on (group, name, version, without its own dependencies)."""
    rows = ["<project><modelVersion>4.0.0</modelVersion><groupId>hadoop-cluster</groupId>"
            "<artifactId>jars</artifactId><version>1</version><packaging>pom</packaging><dependencies>"]
    for group, name, version, alone in artifacts:
        exclusions = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        rows.append(f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
                    f"<version>{version}</version>{exclusions if alone else ''}</dependency>")
    return "\n".join([*rows, "</dependencies></project>"]) + "\n"


def copy_artifacts(artifacts, folder):
    """Puts the jars of the artifacts and of what they depend on into a folder."""
    maven = need("mvn", "Maven 3 resolves the jars")
    work, log = folder + ".project", os.path.join(cache_folder(), "maven.log")
    shutil.rmtree(work, ignore_errors=True)
    write(os.path.join(work, "pom.xml"), project(artifacts))
    command = [maven, "-B", "-ntp", "-f", os.path.join(work, "pom.xml"), "dependency:copy-dependencies",
               "-DincludeScope=runtime", "-DoutputDirectory=" + folder]
    with open(log, "ab") as sink:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                                timeout=MAVEN_LIMIT_S).returncode
    shutil.rmtree(work)
    if status:
        raise Failure(f"Maven could not resolve the jars; see {log}")


def fetch_release(version, folder):
    say(f"resolving the Hadoop {version} jars (once)")
    shutil.rmtree(folder, ignore_errors=True)
    shell = DISTRIBUTED_SHELL_VERSION.get(version, version)
    wanted = [(HADOOP, name, version, False) for name in SERVERS] + [(HADOOP, DISTRIBUTED_SHELL, shell, True)]
    copy_artifacts(wanted + ([JERSEY_1_CLIENT] if shell != version else []), folder)
    found = os.listdir(folder)
    beside = [jar for other, jar in UNWANTED_BESIDE.items() if other in found and jar in found]
    for jar in [*filter(UNWANTED.search, found), *beside]:
        os.unlink(os.path.join(folder, jar))
    # The servers of WebHDFS and /jmx insist on web pages that the jar of HDFS lacks: empty ones do.
    for application in ("hdfs", "datanode", "static"):
        write(os.path.join(folder, "web/webapps", application, "WEB-INF/web.xml"), EMPTY_WEB_APPLICATION)
    write(os.path.join(folder, ".complete"), version + "\n")


def fetch_native(folder):
    say("resolving libhadoop.so (once)")
    shutil.rmtree(folder, ignore_errors=True)
    jars = folder + ".jar"
    shutil.rmtree(jars, ignore_errors=True)
    copy_artifacts([NATIVE + (True,)], jars)
    os.makedirs(folder)
    for jar in glob.glob(os.path.join(jars, "*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if re.match(r"nativelib/Linux-amd64/[^/]+\.so", name):
                    path = os.path.join(folder, os.path.basename(name))
                    with open(path, "wb") as out:
                        out.write(archive.read(name))
                    os.chmod(path, 0o755)
    shutil.rmtree(jars)
    if not os.path.exists(os.path.join(folder, "libhadoop.so")):
        raise Failure("no libhadoop.so in {}:{}:{}".format(*NATIVE))
    write(os.path.join(folder, ".complete"), NATIVE[2] + "\n")


def fit_native(jars, version, folder):
    """Puts a copy of the class with the field that libhadoop.so wants before the jars, where it lacks that."""
    with zipfile.ZipFile(os.path.join(jars, f"hadoop-common-{version}.jar")) as jar:
        content = jar.read(NATIVE_CLASS)
    os.makedirs(folder)
    if NATIVE_FIELD.encode() not in content:
        path = os.path.join(folder, NATIVE_CLASS)
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as sink:
            sink.write(add_static_boolean(content, NATIVE_FIELD))


def resolve(version, native=False):
    """(folder of the jars, folder of native libraries or None); from the cache, else by Maven."""
    root = cache_folder()
    os.makedirs(root, exist_ok=True)
    jars, libraries = os.path.join(root, "hadoop-" + version), os.path.join(root, "native-" + NATIVE[2])
    with open(os.path.join(root, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(jars, ".complete")):
            fetch_release(version, jars)
        if native and not os.path.exists(os.path.join(libraries, ".complete")):
            fetch_native(libraries)
        classes = os.path.join(libraries, "classes-" + version)
        if native and not os.path.isdir(classes):
            fit_native(jars, version, classes)
    return jars, (libraries if native else None)
