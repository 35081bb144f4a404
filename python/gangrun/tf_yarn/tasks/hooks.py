"""Session hooks that report the progress of an Estimator. Imports TensorFlow, so import it in tasks only."""

from __future__ import annotations

import time
from typing import Any, Callable

import tensorflow as tf

Report = Callable[..., None]
# Seconds between two reports; gangrun sends values at most once a second.
TELL_EVERY_S = 1.0


class StepsPerSecond(tf.estimator.SessionRunHook):  # type: ignore[misc]  # TensorFlow has no types
    """Reports steps_per_sec and global_step every `every_n_steps` steps."""

    def __init__(self, every_n_steps: int, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._every, self._report, self._clock = every_n_steps, report, clock
        self._told_step, self._told_at = -1, 0.0

    def begin(self) -> None:
        self._step = tf.compat.v1.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        return tf.estimator.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step, now = int(run_values.results), self._clock()
        if self._told_step < 0:
            self._told_step, self._told_at = step, now
        elif step - self._told_step >= self._every and now > self._told_at:
            self._report(steps_per_sec=(step - self._told_step) / (now - self._told_at), global_step=step)
            self._told_step, self._told_at = step, now


class EvaluationSteps(tf.estimator.SessionRunHook):  # type: ignore[misc]  # likewise
    """Reports the evaluator's steps, their mean duration in seconds, its busy fraction, and the last training step.

    One instance serves all evaluations of an evaluator.
    """

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report, self._clock = report, clock
        self._began = clock()
        self._busy = 0.0
        self._steps = 0
        self._training_step = 0
        self._told_at = float("-inf")

    def begin(self) -> None:
        self._step = tf.compat.v1.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        self._step_began = self._clock()
        return tf.estimator.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._steps += 1
        self._busy += self._clock() - self._step_began
        self._training_step = int(run_values.results)
        if self._clock() - self._told_at >= TELL_EVERY_S:
            self.tell()

    def end(self, session: Any) -> None:
        self.tell()

    def tell(self) -> None:
        """Report the current values now."""
        now = self._clock()
        self._told_at = now
        self._report(nb_eval_steps=self._steps, eval_step_mean_duration=self._busy / self._steps if self._steps else 0.0,
                     awake_time_ratio=self._busy / (now - self._began) if now > self._began else 0.0,
                     last_training_step=self._training_step)
