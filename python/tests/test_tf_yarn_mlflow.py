"""What is recorded in MLflow, with a recording one in its place; a real server: tests/python/test_tf_yarn_on_yarn.py."""

import datetime
import logging
import sys
import types

import pytest

from gangrun.tf_yarn import mlflow
from gangrun.tf_yarn.metrics import Metrics

METRICS = Metrics(datetime.timedelta(seconds=18), None, {"chief:0": datetime.timedelta(seconds=30)}, {"chief:0": None})


class FakeMlflow:
    """Writes down what it is told, or fails at all of it."""

    def __init__(self, active=True, fails=False):
        self.active, self.fails, self.told = active, fails, []

    def active_run(self):
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id="r1")) if self.active else None

    def start_run(self):
        self.active = True
        return self.active_run()

    def get_tracking_uri(self):
        return "http://127.0.0.1:5000"

    def MlflowClient(self):
        return self

    def log_metric(self, run, name, value, step):
        if self.fails:
            raise ConnectionError("the server is gone")
        self.told.append((run, name, value, step))

    def log_text(self, run, text, name):
        self.told.append((run, name, text))


def test_figures_logs_and_durations():
    module = FakeMlflow()
    recorder = mlflow.Recorder(module)
    assert recorder.variables() == {"MLFLOW_RUN_ID": "r1", "MLFLOW_TRACKING_URI": "http://127.0.0.1:5000",
                                    "GIT_PYTHON_REFRESH": "quiet"}
    recorder.on_line("chief:0", "stdout", "loss 0.5")
    recorder.on_line("chief:0", "stderr", "done")
    figures = {"chief:0": {"steps_per_sec": 100.0, "global_step": 200}, "worker:0": {"steps_per_sec": 1.0},
               "evaluator:0": {"awake_time_ratio": 0.5, "last_training_step": 100}}
    recorder.on_figures(figures, 1)
    recorder.on_figures(figures, 1)
    recorder.on_figures({"chief:0": {"steps_per_sec": 90.0, "global_step": 400}}, 1)
    recorder.on_end({"chief:0": "SUCCEEDED", "ps:0": "KILLED"}, METRICS, 1)
    recorder.close()
    assert module.told == [
        ("r1", "steps_per_sec_1", 100.0, 200),
        ("r1", "evaluator_0_awake_time_ratio_1", 0.5, 100),
        ("r1", "evaluator_0_last_training_step_1", 100.0, 100),
        ("r1", "steps_per_sec_1", 90.0, 400),
        ("r1", "chief_0_SUCCEEDED_1", "loss 0.5\ndone\n"),
        ("r1", "ps_0_KILLED_1", ""),
        ("r1", "tf_yarn_duration_stats",
         "total_training_duration_1: 18.0 secs\ncontainer_duration_chief_0_1: 30.0 secs\n"),
    ]


def test_a_server_that_is_gone_changes_nothing(caplog):
    recorder = mlflow.Recorder(FakeMlflow(fails=True))
    with caplog.at_level(logging.WARNING):
        recorder.on_figures({"chief:0": {"steps_per_sec": 1.0}}, 0)
        recorder.close()
    assert "MLflow: ConnectionError: the server is gone" in caplog.text


def test_without_an_active_run_one_is_started():
    assert mlflow.Recorder(FakeMlflow(active=False)).run_id == "r1"


def test_without_mlflow_nothing_is_done():
    recorder = mlflow.Recorder(None)
    recorder.on_line("chief:0", "stdout", "x")
    recorder.on_figures({"chief:0": {"steps_per_sec": 1.0}}, 0)
    recorder.on_end({"chief:0": "SUCCEEDED"}, METRICS, 0)
    recorder.close()
    assert recorder.variables() == {}


@pytest.mark.parametrize("variables, is_set, found", [
    ({}, True, False), ({"MLFLOW_TRACKING_URI": "http://x"}, True, True), ({"MLFLOW_TRACKING_URI": "http://x"}, False, False),
    ({"MLFLOW_TRACKING_URI": "http://x", "TF_YARN_USE_MLFLOW": "False"}, True, False),
])
def test_it_is_used_where_it_knows_where_to_record(monkeypatch, folder, variables, is_set, found):
    for name in ("MLFLOW_TRACKING_URI", "TF_YARN_USE_MLFLOW"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (folder / "mlflow").mkdir()
    (folder / "mlflow/__init__.py").write_text("")
    (folder / "mlflow/tracking.py").write_text(f"def is_tracking_uri_set():\n    return {is_set}\n")
    monkeypatch.syspath_prepend(str(folder))
    for name in ("mlflow", "mlflow.tracking"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = mlflow.find()
    assert (module is not None) == found
    for name in ("mlflow", "mlflow.tracking"):
        sys.modules.pop(name, None)
