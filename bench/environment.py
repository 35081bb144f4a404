"""How long an environment takes to reach a task on a real YARN cluster: the first time, and when it is there.

    python bench/environment.py [--mib 100]

The environment of the measurement is made of files that no compression makes smaller, `--mib` of them in all, beside
the interpreter. From the call of `gangrun.run` until the task's function runs; the second time nothing is packed and
nothing uploaded, and the node unpacks nothing. The program itself reports the parts.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from measure import ROOT, Verdicts, build_folder
from cluster import YarnCluster

FILE_MIB = 4
LIMIT_S = 1800
AIM_S = 2.0
PROGRAM = """
import json, sys, time
begin = time.monotonic()
import gangrun
from gangrun import environments
parts = {}
prepare = environments.prepare
def timed(*words, **options):
    start = time.monotonic()
    try:
        return prepare(*words, **options)
    finally:
        parts["prepared"] = time.monotonic() - start
environments.prepare = timed
def told(status):
    parts.setdefault("submitted", time.monotonic() - begin)
def task():
    import time
    return time.monotonic()
run = gangrun.run({"worker": gangrun.TaskSpec(memory="512 MiB")}, task, on="yarn", on_status=told)
parts["running"] = run.result - begin
parts["ended"] = time.monotonic() - begin
print(json.dumps(parts))
"""


def make_environment(folder: pathlib.Path, mib: int) -> pathlib.Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "environment"], check=True, timeout=LIMIT_S)
    site = next((folder / "environment/lib").glob("python3.*/site-packages"))
    for number in range(mib // FILE_MIB):
        path = site / f"large/part-{number % 16}/{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(FILE_MIB << 20))
    import cloudpickle

    (site / "cloudpickle").symlink_to(pathlib.Path(cloudpickle.__file__).parent)
    return folder / "environment/bin/python"


def run_once(python: pathlib.Path, environment: dict, folder: pathlib.Path) -> tuple:
    done = subprocess.run([python, folder / "program.py"], env=environment, cwd=folder, capture_output=True, text=True,
                          timeout=LIMIT_S)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout), [line for line in done.stderr.splitlines() if "pack" in line or "upload" in line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=100)
    arguments = parser.parse_args()
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        python = make_environment(folder, arguments.mib)
        # A node keeps what it has unpacked, if its cache is large enough.
        cache = f"yarn.nodemanager.localizer.cache.target-size-mb={max(10240, 8 * arguments.mib)}"
        with YarnCluster(folder / "cluster", "--nodes", 1, "--set", cache) as environment:
            environment |= {"GANGRUN_BIN": str(build_folder() / "src"), "GANGRUN_HOME": str(folder / "home"),
                            "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT / "python")}
            print(f"seconds from the call until the function runs in its task, an environment of {arguments.mib} MiB")
            print(f"{'':12} {'prepared':>9} {'submitted':>9} {'running':>9} {'ended':>9}")
            said = {}
            for turn in ("first", "second", "third"):
                begin = time.monotonic()
                parts, said[turn] = run_once(python, environment, folder)
                print(f"{turn:12} " + " ".join(f"{parts[key]:9.2f}" for key in ("prepared", "submitted", "running", "ended")),
                      flush=True)
                last, taken = parts, time.monotonic() - begin
            for line in said["first"]:
                print(f"  {line}")
    repeated = [line for line in said["second"] + said["third"] if "packs" in line or "uploads" in line]
    verdicts.at_most("what was packed or uploaded again", len(repeated), 0)
    verdicts.tell_at_most("seconds until the job is submitted, the environment being there", last["submitted"], AIM_S)
    verdicts.tell_at_most("seconds of the whole program then", taken, 15)
    verdicts.finish()


if __name__ == "__main__":
    main()
