"""Evaluate the checkpoints of an Estimator, during its training or alone."""

from __future__ import annotations

import dataclasses
import logging
import os
import threading
import time
from typing import Any, Callable, Sequence

from gangrun import task
from gangrun.tf_yarn import keras

logger = logging.getLogger(__name__)
# Seconds without a new checkpoint after which the evaluation ends.
PATIENCE_S = 1200.0
# Seconds between two checks whether the training has ended.
LOOK_S = 0.5


@dataclasses.dataclass
class Loop:
    """Decides when to evaluate which checkpoint. All dependencies are members, including the clock, so that it can be tested.

    checkpoints  returns the paths of the existing checkpoints, oldest first
    evaluate     called with (path, is_last); returns the training step of the checkpoint
    trained      returns whether the training has ended
    max_steps    the last training step; 0: unknown
    every_one    True: evaluate every checkpoint; False: only the newest
    start_delay_s, throttle_s   seconds before the first evaluation, and between two evaluations
    patience_s   seconds without a new checkpoint after which the loop ends
    seen         training steps that are evaluated already
    """

    checkpoints: Callable[[], Sequence[str]]
    evaluate: Callable[[str, bool], int]
    trained: Callable[[], bool]
    max_steps: int = 0
    every_one: bool = True
    start_delay_s: float = 0.0
    throttle_s: float = 0.0
    patience_s: float = PATIENCE_S
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], object] = lambda seconds: threading.Event().wait(seconds)
    seen: set[int] = dataclasses.field(default_factory=set)

    def run(self) -> str:
        """Evaluate until the training has ended or patience runs out. Returns the reason for the end as text."""
        if self.max_steps and self.seen and max(self.seen) >= self.max_steps:
            return f"step {max(self.seen)} has been evaluated before"
        self.pause(self.start_delay_s)
        news_at = self.clock()
        while True:
            # Asked before the look at the checkpoints: then no later one can be missing.
            trained = self.trained()
            fresh = self.fresh()
            # Those that are there are all evaluated, also where one of them has the last step already.
            for path in fresh:
                at_end = trained or bool(self.max_steps) and step_of(fresh[-1]) >= self.max_steps
                self.seen |= {step_of(path), self.evaluate(path, at_end and path == fresh[-1])}
                news_at = self.clock()
            if fresh and self.max_steps and max(self.seen) >= self.max_steps:
                return f"step {max(self.seen)} of {self.max_steps} is evaluated"
            if trained:
                return "the training has ended and its last checkpoint is evaluated"
            if self.clock() - news_at >= self.patience_s:
                return f"there was no new checkpoint for {self.patience_s:.0f} s"
            pause = self.throttle_s if fresh else max(self.throttle_s, LOOK_S)
            self.pause(min(pause, news_at + self.patience_s - self.clock()))

    def fresh(self) -> list[str]:
        """Return the paths of the checkpoints to evaluate next."""
        found = [path for path in self.checkpoints() if step_of(path) not in self.seen]
        return found if self.every_one else found[-1:]

    def pause(self, seconds: float) -> None:
        """Wait this many seconds, or until the training has ended."""
        until = self.clock() + seconds
        while (left := until - self.clock()) > 0 and not self.trained():
            self.wait(min(LOOK_S, left))


def step_of(path: str) -> int:
    """Return the training step in a checkpoint's path."""
    return int(path.rpartition("-")[2])


def alone(experiment: Any) -> None:
    """Evaluate every checkpoint that was not evaluated before. For a job that only evaluates."""
    _run(experiment, every_one=True)


def beside_training(experiment: Any) -> None:
    """Evaluate the newest checkpoint repeatedly until the training has ended. For the evaluator of a training job."""
    _run(experiment, every_one=False)


def _run(experiment: Any, every_one: bool) -> None:
    import tensorflow as tf

    from gangrun.tf_yarn.tasks import hooks

    estimator, train_spec, eval_spec = experiment
    watch = hooks.EvaluationSteps(task.report)

    def evaluate(path: str, is_last: bool) -> int:
        logger.info("evaluating %s", path)
        try:
            result = estimator.evaluate(eval_spec.input_fn, steps=eval_spec.steps, hooks=[*eval_spec.hooks, watch],
                                        checkpoint_path=path, name=eval_spec.name)
        except tf.errors.NotFoundError:
            if tf.compat.v1.train.checkpoint_exists(path):
                raise
            logger.info("%s was removed meanwhile", path)
            return step_of(path)
        logger.info("evaluated %s: %s", path, result)
        export(estimator, eval_spec.exporters, path, result, is_last)
        return int(result[tf.compat.v1.GraphKeys.GLOBAL_STEP])

    def checkpoints() -> Sequence[str]:
        state = tf.train.get_checkpoint_state(estimator.model_dir)
        paths = list(state.all_model_checkpoint_paths) if state else []
        # The list may be older than what is there: of a checkpoint that was removed there is nothing to evaluate.
        return [path for path in paths if tf.compat.v1.train.checkpoint_exists(path)] if every_one else paths[-1:]

    task.report(train_eval_start_time=time.time())
    seen = evaluated_before(estimator.eval_dir(eval_spec.name)) if every_one else set()
    loop = Loop(checkpoints, evaluate, trained=lambda: keras.has_ended(estimator.model_dir),
                max_steps=train_spec.max_steps or 0, every_one=every_one, start_delay_s=eval_spec.start_delay_secs,
                throttle_s=eval_spec.throttle_secs, seen=seen)
    logger.info("the evaluation has ended: %s", loop.run())
    task.report(train_eval_stop_time=time.time())


def export(estimator: Any, exporters: Sequence[Any], path: str, result: Any, is_last: bool) -> None:
    """Call the exporters of an EvalSpec for one checkpoint."""
    for exporter in exporters or ():
        exporter.export(estimator=estimator, export_path=os.path.join(estimator.model_dir, "export", exporter.name),
                        checkpoint_path=path, eval_result=result, is_the_final_export=is_last)


def evaluated_before(folder: str) -> set[int]:
    """Return the training steps whose evaluation is recorded in the summaries of this folder."""
    import tensorflow as tf

    found: set[int] = set()
    for name in tf.io.gfile.listdir(folder) if tf.io.gfile.isdir(folder) else ():
        if name.startswith("events.out"):
            found |= {event.step for event in tf.compat.v1.train.summary_iterator(f"{folder.rstrip('/')}/{name}")
                      if event.HasField("summary")}
    return found
