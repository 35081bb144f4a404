"""run_on_yarn(on="local") with real TensorFlow: a training whose experiment does not say when it ends."""

import os
import pathlib
import re
import subprocess

import pytest

pytestmark = pytest.mark.frameworks

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun"
LIMIT_S = 200

# As somebody's script that trains on its data eight times, without max_steps: the evaluator of tf-yarn waits forever.
SCRIPT = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import run
from gangrun.tf_yarn import TaskSpec, run_on_yarn

def experiment_fn():
    import tensorflow as tf
    import wines
    experiment = run.experiment_fn(sys_out, 2000)
    train = lambda: wines.train_input_fn().take(400)
    return experiment._replace(train_spec=tf.estimator.TrainSpec(train, max_steps=None))

sys_out = sys.argv[2]
files = {path.name: str(path) for path in (run.HERE / "wines.py", run.DATA)}
spec = TaskSpec(memory="48 GiB", vcores=48)
metrics = run_on_yarn(experiment_fn, {"chief": spec, "evaluator": spec}, files=files, on="local",
                      eval_monitor_log_thresholds={"awake_time_ratio": (2, 3)})
print(metrics.total_training_duration, metrics.total_eval_duration)
print({task: duration is not None for task, duration in metrics.container_duration.items()})
"""


def test_an_evaluator_without_a_last_step_ends_with_the_training(folder):
    (folder / "lib").mkdir()
    # The Python with TensorFlow has no cloudpickle.
    import cloudpickle

    (folder / "lib/cloudpickle").symlink_to(pathlib.Path(cloudpickle.__file__).parent)
    done = subprocess.run(
        [CACHE / "tensorflow-2.15/bin/python", "-c", SCRIPT, ROOT / "examples/tf_yarn_wine", folder / "out"], text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'python'}:{folder / 'lib'}"}, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    durations, containers = done.stdout.splitlines()
    assert re.fullmatch(r"\d:\d\d:\d\d\.\d+ \d:\d\d:\d\d\.\d+", durations), durations
    assert containers == "{'chief:0': True, 'evaluator:0': True}"
    assert re.search(r"evaluator:0: .*last training step 400, nb eval steps \d+", done.stderr), done.stderr
    assert "awake time ratio" not in done.stderr, "it is outside of its limits"
    evaluations = list((folder / "out/model/eval").glob("events.*"))
    assert len(evaluations) == 1 and (folder / "out/model/gangrun-training-ended").exists()
