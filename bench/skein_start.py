"""What yarn_start.py runs by skein's Python: one application of so many containers, until it has ended.

    ... TASKS BEGIN COMMAND...    the file BEGIN gets the time before the submission
"""

import pathlib
import shlex
import sys
import threading
import time

import skein

LOOK_S = 0.2


def run_to_its_end(client: skein.Client, spec: skein.ApplicationSpec) -> None:
    """Exits with YARN's words where the application fails."""
    application = client.submit(spec)
    pause = threading.Event()
    while (report := client.application_report(application)).final_status == "undefined":
        pause.wait(LOOK_S)
    if report.final_status != "succeeded":
        sys.exit(f"{application}: {report.diagnostics}")


def main() -> None:
    tasks, begin, *command = sys.argv[1:]
    resources = skein.Resources(memory="64 MiB", vcores=1)
    spec = skein.ApplicationSpec(
        name="gang", master=skein.Master(resources=skein.Resources(memory="512 MiB", vcores=1)),
        services={"worker": skein.Service(resources=resources, instances=int(tasks), script=shlex.join(command))})
    with skein.Client.from_global_driver() as client:
        pathlib.Path(begin).write_text(str(time.time()))
        run_to_its_end(client, spec)
