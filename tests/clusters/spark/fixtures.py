"""Real Spark for tests: `spark_cluster(...)` and `spark_driver(...)`, which last as long as the tests of a module."""

import json
import os
import pathlib
import select
import subprocess
import time

import pytest
from clusters.program import RunningCluster
from living import processes_with
from waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
PROGRAM = pathlib.Path(__file__).with_name("spark-cluster")
# Of tests that say none.
RELEASE = os.environ.get("SPARK_RELEASE", "3.5")
START_LIMIT_S = 240
ANSWER_LIMIT_S = 120
END_LIMIT_S = 60
MOST_SAID = 6000  # characters of a log that a failure shows
# No job begins before all executors are there: three with a core each, where a test does not say otherwise.
WHOLE = {"spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
         "spark.cores.max": "3"}
# JVMs that live for seconds: compile little, collect simply.
SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
OPTIONS = WHOLE | {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
           "spark.driver.extraJavaOptions": SHORT_LIVED, "spark.executor.extraJavaOptions": SHORT_LIVED,
           "spark.executor.memory": "1g", "spark.python.worker.faulthandler.enabled": "true"}


class DriverError(Exception):
    """What a function raised in the driver: `kind` is the exception's class, `text` what it says, `trace` where."""

    def __init__(self, answer):
        super().__init__(answer["trace"])
        self.kind, self.text, self.trace, self.seconds = (answer[name] for name in ("kind", "text", "trace", "seconds"))


def environment_folder(release):
    done = subprocess.run([ROOT / "tools/install-deps", "--venv", f"spark-{release}"], check=True, capture_output=True,
                          text=True, timeout=60)
    return pathlib.Path(done.stdout.strip())


def spark_python(release):
    """The Python of the environment with Spark 3.5 (and TensorFlow 2.15, PyTorch), 4 (and the newest TensorFlow), 3.3 or 3.4."""
    return environment_folder(release) / "bin/python"


def spark_home_of(release, folder):
    """A SPARK_HOME of the test's own: a local-cluster has its applications' files below it."""
    (home,) = (environment_folder(release) / "lib").glob("python3*/site-packages/pyspark")
    (folder / "home").mkdir()
    for entry in home.iterdir():
        if entry.name != "work":
            (folder / "home" / entry.name).symlink_to(entry)
    return folder / "home"


def scratch_of(folder):
    """The folders of nodes below one for files of executors; what goes meanwhile is passed over."""
    return [os.path.join(parent, name) for parent, names, _ in os.walk(folder) for name in names
            if name.startswith("gangrun-")]


class Spark(RunningCluster):
    """A running standalone cluster of spark-cluster."""

    program = PROGRAM

    def __init__(self, folder, **options):
        super().__init__(folder, **{"release": RELEASE} | options)
        self.state = json.loads(self.order("status"))
        self.release, self.master = self.state["release"], self.state["master"]

    def down(self):
        self.order("down")

    def executors(self):
        """{pid: host} of the executors of all applications."""
        return {pid: words[words.index("--hostname") + 1] for pid, words in processes_with(f"SPARK_CLUSTER_DIR={self.folder}").items()
                if EXECUTOR in words}

    def local_files(self):
        """What lies in the folders for files of its applications, of executors and drivers."""
        return sorted(str(path.relative_to(self.folder)) for name in ("local", "applications") for path in (self.folder / name).rglob("*")
                      if path.is_file())


class Driver:
    """A process that has a SparkContext and runs the functions of a program of tests/spark/programs, one after another.

    The program is its __main__, as a user's is, so that Spark and gangrun pickle its functions by value.
    """

    def __init__(self, program, log, release, master, variables, options):
        python = spark_python(release)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        environment |= {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1",
                        "SPARK_TEST_MASTER": master, "SPARK_TEST_OPTIONS": json.dumps(OPTIONS | options),
                        "PYTHONPATH": str(ROOT / "python"), "TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": "1"}
        self.log, self.is_up, self.read = log, False, b""
        with open(log, "wb") as sink:
            self.process = subprocess.Popen([python, "-W", "ignore", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink,
                                            env=environment | variables, cwd=log.parent, start_new_session=True)

    def said(self):
        """What it has written to its standard output and error."""
        return self.log.read_text(errors="replace")

    def last_said(self):
        """The end of that, for the message of a failure."""
        return self.said()[-MOST_SAID:]

    def ask(self, name, *arguments):
        """Lets it begin a function of the program, which gets the SparkContext before these (of JSON)."""
        self.process.stdin.write(json.dumps([name, arguments]).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, timeout=ANSWER_LIMIT_S):
        """What the function returned (of JSON), or DriverError. The time counts from when there is a SparkContext."""
        self.wait_until_up()
        answer = json.loads(self.line(timeout))
        if "kind" in answer:
            error = DriverError(answer)
            error.add_note(f"the driver's log ends so:\n{self.last_said()}")
            raise error
        self.seconds = answer["seconds"]
        return answer["value"]

    def wait_until_up(self):
        """Its first line says that. Two JVMs start for it, and on a busy machine they take what they take."""
        if not self.is_up:
            self.is_up = json.loads(self.line(START_LIMIT_S))["up"]

    def line(self, timeout):
        limit = time.monotonic() + timeout
        while b"\n" not in self.read:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, limit - time.monotonic()))
            assert ready, f"no answer in {timeout} s; the driver said:\n{self.last_said()}"
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            assert part, f"the driver ended with status {self.process.wait(END_LIMIT_S)}:\n{self.last_said()}"
            self.read += part
        line, _, self.read = self.read.partition(b"\n")
        return line

    def until(self, condition, what, timeout=ANSWER_LIMIT_S):
        """Waits for what a function does on its way; what it raises instead, or its too early end, ends the wait."""
        self.wait_until_up()

        def look():
            if not condition() and (self.read or select.select([self.process.stdout], [], [], 0)[0]):
                raise AssertionError(f"instead of {what}: {self.answer()}")
            return condition()
        wait_until(look, f"{what}; the driver said:\n{self.last_said()}", timeout)

    def run(self, name, *arguments, timeout=ANSWER_LIMIT_S):
        self.ask(name, *arguments)
        return self.answer(timeout)

    def executors(self):
        """The processes of its executors in a local-cluster, which have their files in its folder."""
        return sorted(pid for pid, words in processes_with(f"SPARK_LOCAL_DIRS={self.log.parent / 'local'}").items() if EXECUTOR in words)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()
        return self.process.wait(END_LIMIT_S)


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory):
    """spark_cluster(workers=3, ...): a standalone cluster; the same one where the same is asked for again."""
    made = {}

    def make(**options):
        key = json.dumps(options, sort_keys=True)
        if key not in made:
            made[key] = Spark(tmp_path_factory.mktemp("spark"), **options)
        return made[key]

    yield make
    for cluster in made.values():
        cluster.down()


@pytest.fixture(scope="module")
def spark_jobs(tmp_path_factory):
    """GANGRUN_HOME of the drivers of a module."""
    return tmp_path_factory.mktemp("h")


@pytest.fixture(scope="module")
def spark_driver(tmp_path_factory, spark_jobs):
    """spark_driver("feeding.py", cluster_or_master, options={...}, release="3.5"): a Driver, ended with the module's tests."""
    made = []

    def make(program, where="local-cluster[3,1,1024]", options=None, release=RELEASE, variables=None):
        folder = tmp_path_factory.mktemp("driver")
        cluster = where if isinstance(where, Spark) else None
        own = {"GANGRUN_HOME": str(spark_jobs), "GANGRUN_BIN": os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))}
        if cluster is None:
            (folder / "local").mkdir()
            own |= {"SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_HOME": str(spark_home_of(release, folder))}
        else:
            own |= cluster.state["environment"]
        made.append(Driver(ROOT / "tests/spark/programs" / program, folder / "log", cluster.release if cluster else release,
                           cluster.master if cluster else where, own | (variables or {}), options or {}))
        return made[-1]

    yield make
    for driver in made:
        driver.close()
