"""The demo's training job on YARN: the same accuracy as on one machine, with its master killed in the middle."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

from waiting import wait_until
from yarn.processes import master_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ACCURACY = re.compile(r'evaluated: \{"accuracy": ([\d.]+), .*"global_step": (\d+)')


def test_the_wine_is_learned_although_the_master_is_killed(jobs, tmp_path):
    tensorflow = subprocess.run([ROOT / "tools/install-deps", "--venv", "tensorflow-2.15"], check=True,
                                capture_output=True, text=True).stdout.strip()
    shutil.copytree(ROOT / "examples/wine", jobs.folder, dirs_exist_ok=True)
    # Chief and evaluator share their checkpoints, as by a folder that all nodes see.
    job = jobs.submit("job.yaml", "-e", f"PATH={tensorflow}/bin:/usr/bin:/bin", "--timeout", "roll_call=3m,job=10m",
                      "--", "python", "train.py", "--out", str(tmp_path / "out"))
    wait_until(lambda: re.search(r"chief:0.*step [1-9]", jobs.order("logs", job).stdout), "the first steps", 180,
               pause_s=0.5)
    killed = master_of(job)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: master_of(job) not in (None, killed), "the next master", pause_s=0.1)
    ended = jobs.wait_for_state(job, "succeeded", "failed", "killed", seconds=300)
    assert (ended["state"], ended["restarts_used"]) == ("succeeded", 0), ended

    def evaluations():
        done = jobs.order("logs", job, "evaluator:0")
        return done.returncode == 0 and ACCURACY.findall(done.stdout)

    accuracy, step = wait_until(evaluations, "the evaluator's aggregated log", pause_s=0.5)[-1]
    assert int(step) > 1000
    assert float(accuracy) > 0.7
