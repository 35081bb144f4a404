"""Where the time goes from `gangrun run --on yarn` to the last user's process, and how much of it is our own.

    python bench/yarn_parts.py [--runs 3] [--tasks 8]

Read from what the daemons of a real cluster write: the ResourceManager's and the NodeManagers' logs, and the file that
each container's launch script leaves when it hands over to the container's command. What passes between one of their
steps and the next one that waits for us is ours: the master from its first instruction to its registration, its ask,
the look for the answer, the call to the NodeManagers, and the agents' way from the last one's first instruction to the
last user's process, roll call and journal included. The client's own time until YARN has the submission stands apart.
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import tempfile
import time

from gate import Gate
from measure import Series, Verdicts, gangrun_program
from cluster import LIMIT_S, YarnCluster

AIM_MS = 150
AIM_SHARE = 1 / 8
LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \w+ (.*)$")
CONTAINER = re.compile(r"container_\w+")
# The first of an application's containers is its master's.
MASTER = "_000001"
OURS = ("the master, until it registers", "its ask", "its look for the answer", "its call to the NodeManagers",
        "the agents, until the last process runs")


def steps(path: pathlib.Path, application: str, words: str) -> dict[str, float]:
    """When a daemon's log says these words of each container of the application, the last time that it does."""
    number = application.removeprefix("application_")
    found = {}
    for line in path.read_text().splitlines():
        match = LINE.match(line)
        if match and number in line and re.search(words, match.group(2)):
            container = CONTAINER.search(match.group(2))
            when = datetime.datetime.strptime(match.group(1), "%Y-%m-%d %H:%M:%S,%f").timestamp()
            found[container.group() if container else ""] = when
    return found


def of_tasks(steps_of_all: dict[str, float]) -> list[float]:
    return [when for container, when in steps_of_all.items() if not container.endswith(MASTER)]


class Jobs:
    def __init__(self, folder: pathlib.Path, environment: dict[str, str], tasks: int) -> None:
        self.folder, self.tasks = folder, tasks
        self.environment = environment | {"GANGRUN_HOME": str(folder / "home")}
        self.logs = folder / "cluster/logs"

    def run(self) -> dict[str, float]:
        """Milliseconds of each part of one job."""
        with Gate(self.folder) as gate:
            begin = time.time()
            job = subprocess.Popen([gangrun_program(), "run", "--on", "yarn", "-m", "64m", "-r", f"worker:{self.tasks}",
                                    "--", *gate.words], env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            started = gate.wait(self.tasks, job)
            # The launch scripts' files have their times as long as the containers run.
            application, launched = self.launched()
        if job.wait(LIMIT_S):
            raise SystemExit("the gang has failed")
        return self.parts(application, begin, launched, started)

    def launched(self) -> tuple[str, dict[str, float]]:
        """The newest application, and when the launch script of each of its containers was through."""
        folders = (self.folder / "cluster/data").glob("nm*/userlogs/application_*")
        application = max(folder.name for folder in folders)
        files = (self.folder / "cluster/data").glob(f"nm*/userlogs/{application}/container_*/prelaunch.out")
        return application, {file.parent.name: file.stat().st_mtime for file in files}

    def parts(self, application: str, begin: float, launched: dict[str, float], started: float) -> dict[str, float]:
        manager = self.logs / "rm.log"
        submitted = steps(manager, application, "Submit Application Request")[""]
        registered = steps(manager, application, "AM registration")[""]
        allocated = of_tasks(steps(manager, application, "from NEW to ALLOCATED"))
        acquired = of_tasks(steps(manager, application, "from ALLOCATED to ACQUIRED"))
        asked = [of_tasks(steps(log, application, "Start request for container")) for log in self.logs.glob("nm?.log")]
        assert len(allocated) == len(acquired) == sum(map(len, asked)) == len(launched) - 1 == self.tasks
        # One call starts all containers of a node; when it takes up the first, it has our call.
        called = max(min(of_node) for of_node in asked if of_node)
        master = next(when for container, when in launched.items() if container.endswith(MASTER))
        last = max(of_tasks(launched))
        seconds = {
            "the client, until YARN has the submission": submitted - begin,
            "YARN: from the submission to the master": master - submitted,
            OURS[0]: registered - master,
            OURS[1]: min(allocated) - registered,
            "YARN: from the first container to the last": max(allocated) - min(allocated),
            OURS[2]: max(acquired) - max(allocated),
            OURS[3]: called - max(acquired),
            "YARN: from the last call to the last agent": last - called,
            OURS[4]: started - last,
        }
        return {what: value * 1000 for what, value in seconds.items()} | {"all": (started - begin) * 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        with YarnCluster(folder / "cluster", "--nodes", 2, "--vcores", 64) as environment:
            jobs = Jobs(folder, environment, arguments.tasks)
            jobs.run()  # uploads, and fills the nodes' caches
            runs = [jobs.run() for _ in range(arguments.runs)]
    print(f"{arguments.tasks} tasks, ms, minimum and median of {arguments.runs} runs; * is ours")
    for what in runs[0]:
        print(f"{Series(tuple(run[what] for run in runs))} {'*' if what in OURS else ' '} {what}")
    ours = Series(tuple(sum(run[what] for what in OURS) for run in runs))
    print(f"{ours} * ours together")
    verdicts = Verdicts()
    verdicts.tell_at_most("our own ms between YARN's steps", ours.minimum, AIM_MS)
    shares = Series(tuple(own / run["all"] for own, run in zip(ours.values, runs, strict=True)))
    verdicts.at_most("our own share of all", shares.minimum, AIM_SHARE)
    verdicts.finish()


if __name__ == "__main__":
    main()
