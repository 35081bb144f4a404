"""What a user of run_on_yarn is told, from statuses as `gangrun run --json` has them."""

import datetime
import logging

import pytest

from gangrun.tf_yarn import experiment, report
from gangrun.tf_yarn.metrics import Metrics, Thresholds, metrics_of

SECONDS = datetime.timedelta(seconds=1)


def task(name, state, **more):
    return {"task": name, "state": state, "address": "n1:4000", "exit": "", **more}


def status(*tasks, state="running", **more):
    return {"id": "application_1", "state": state, "elapsed_ms": 41_250, "tasks": list(tasks), **more}


FIGURES = {
    "chief:0": {"container_start_time": 100.0, "container_stop_time": 130.0, "train_eval_start_time": 110.0,
                "train_eval_stop_time": 125.0},
    "worker:0": {"container_start_time": 100.0, "container_stop_time": 131.0, "train_eval_start_time": 108.0,
                 "train_eval_stop_time": 126.0},
    "ps:0": {"container_start_time": 100.0},
    "evaluator:0": {"container_start_time": 101.0, "container_stop_time": 140.0, "train_eval_start_time": 111.0,
                    "train_eval_stop_time": 139.0},
}


def test_durations_are_those_of_the_figures():
    assert metrics_of(FIGURES) == Metrics(
        total_training_duration=18 * SECONDS, total_eval_duration=28 * SECONDS,
        container_duration={"chief:0": 30 * SECONDS, "worker:0": 31 * SECONDS, "ps:0": None, "evaluator:0": 39 * SECONDS},
        train_eval_time_per_node={"chief:0": 15 * SECONDS, "worker:0": 18 * SECONDS, "evaluator:0": 28 * SECONDS})
    assert metrics_of({}) == Metrics(None, None, {}, {})
    assert metrics_of({"chief:0": {"train_eval_start_time": 1.0}}).total_training_duration is None


def test_a_task_that_was_stopped_ran_until_then():
    ended = report.ended(FIGURES, status(task("ps:0", "stopped")), now=150.0)
    assert metrics_of(ended).container_duration["ps:0"] == 50 * SECONDS
    assert metrics_of(ended).container_duration["chief:0"] == 30 * SECONDS
    assert "container_stop_time" not in FIGURES["ps:0"]


@pytest.mark.parametrize("state, succeeded, shown", [
    ("succeeded", True, "SUCCEEDED"), ("failed", False, "FAILED"), ("stopped", True, "SUCCEEDED"), ("stopped", False, "KILLED"),
    ("running", False, "KILLED"), ("lost", False, "KILLED"), ("waiting", False, "REQUESTED"), ("registered", False, "REQUESTED"),
])
def test_the_words_for_a_task(state, succeeded, shown):
    assert report.status_of(task("a:0", state), succeeded) == shown


def test_events_tell_what_is_new_only():
    events = report.Events(Thresholds(None), ", try 2 of 3")
    assert events.news(status(task("chief:0", "waiting"), task("tensorboard:0", "waiting"), state="allocating")) == [
        "application_1 is submitted, try 2 of 3"]
    runs = status(task("chief:0", "running", figures={"a": 1}), task("tensorboard:0", "running"))
    assert events.news(runs) == [
        "chief:0 runs at n1:4000", "tensorboard:0 runs at n1:4000", report.tensorboard_line("application_1"),
        "application_1: all tasks have started"]
    assert "gangrun open application_1 tensorboard" in report.tensorboard_line("application_1")
    assert events.news(runs) == []
    assert events.news(status(task("chief:0", "succeeded", figures={"b": 2}), task("tensorboard:0", "running"))) == [
        "chief:0 has succeeded"]
    assert events.figures["chief:0"] == {"a": 1, "b": 2}


def test_the_account_of_a_job():
    tasks = [task("chief:0", "succeeded", exit="exited with status 0"), task("worker:0", "succeeded"),
             task("ps:0", "stopped"), task("evaluator:0", "succeeded")]
    text = report.final(status(*tasks, state="succeeded"), metrics_of(FIGURES))
    assert text.splitlines()[0] == "application_1 has succeeded after 41.2 s"
    assert text.splitlines()[1] == ("  chief:0      SUCCEEDED  n1:4000  ran 30.0 s  Training time 15.0 s  exited with status 0  "
                                    "logs: gangrun logs application_1 chief:0")
    assert "evaluator:0  SUCCEEDED  n1:4000  ran 39.0 s  Evaluation time 28.0 s" in text
    assert text.splitlines()[-2:] == ["  Training time: 0:00:18", "  Evaluation time: 0:00:28"]


def test_the_account_of_a_job_that_failed():
    text = report.final(status(task("chief:0", "failed"), task("ps:0", "waiting", address=""), state="failed"), metrics_of({}),
                        "chief:0 exited with status 1\nValueError: no wine")
    assert text.splitlines()[0] == "application_1 failed after 41.2 s"
    assert "ps:0     REQUESTED  (no address)" in text
    assert text.endswith("chief:0 exited with status 1\nValueError: no wine")


def test_thresholds_choose_what_is_told_of_an_evaluator():
    thresholds = Thresholds({"awake_time_ratio": (0.5, None), "nb_eval_steps": (None, 10)})
    figures = {"evaluator:0": {"awake_time_ratio": 0.25, "nb_eval_steps": 5, "last_training_step": 100}, "chief:0": {}}
    assert thresholds.lines(figures) == ["evaluator:0: last training step 100, nb eval steps 5"]
    assert thresholds.lines(figures) == []
    figures["evaluator:0"] = {"awake_time_ratio": 0.75, "nb_eval_steps": 11, "last_training_step": 100}
    assert thresholds.lines(figures) == ["evaluator:0: awake time ratio 0.75"]


def test_an_evaluator_is_told_of_by_tf_yarn_s_names():
    """Whoever looks for them in a log, or has limits for them, finds the names that they know."""
    figures = {"evaluator:0": {"awake_time_ratio": 0.05394, "eval_step_mean_duration": 0.05, "last_training_step": 1234567,
                               "nb_eval_steps": 12.0}}
    assert Thresholds(None).lines(figures) == [
        "evaluator:0: awake time ratio 0.05394, eval step mean duration 0.05 s, last training step 1234567, nb eval steps 12"]


def test_what_is_told_goes_to_the_log_where_there_is_one(capsys, caplog):
    with caplog.at_level(logging.INFO, logger="gangrun.tf_yarn"):
        report.tell("all is well")
    assert "all is well" in caplog.text and capsys.readouterr().err == ""
    report.tell("all is well")
    assert capsys.readouterr().err == "tf_yarn: all is well\n"


def test_what_an_experiment_fn_must_return():
    made = experiment.Experiment(1, 2, 3)
    assert experiment.checked(made, experiment.Experiment) is made
    looks_like_one = type("Experiment", (), {})()
    assert experiment.checked(looks_like_one, experiment.Experiment) is looks_like_one
    with pytest.raises(TypeError, match=r"experiment_fn returned \(1, 2, 3\) of type tuple; allowed: Experiment"):
        experiment.checked((1, 2, 3), experiment.Experiment)
    with pytest.raises(TypeError, match="experiment_fn returned None of type NoneType"):
        experiment.checked(None, experiment.Experiment)
