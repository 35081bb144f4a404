"""What an experiment_fn returns, and functions that need no pickling."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, Callable, NamedTuple

ExperimentFn = Callable[[], Any]


class Experiment(NamedTuple):
    """An Estimator and its two specs, as tf.estimator.train_and_evaluate takes them."""

    estimator: Any
    train_spec: Any
    eval_spec: Any

    @property
    def config(self) -> Any:
        return self.estimator.config


class WrongExperiment(TypeError):
    """The experiment_fn returned something else than an experiment."""


def get_safe_experiment_fn(full_fn_name: str, *args: Any) -> ExperimentFn:
    """A function that calls `package.module.function(*args)` in the task.

    Only the name and the arguments travel, so the function's module has to be there: in the environment, or among `files`.
    """
    module, dot, function = full_fn_name.rpartition(".")
    if not dot or not module or not function.isidentifier():
        raise ValueError(f"full_fn_name: {full_fn_name!r} is not a name of a function; allowed: package.module.function")
    return SafeFunction(module, function, args)


@dataclasses.dataclass(frozen=True)
class SafeFunction:
    """Found by its name where it is called."""

    module: str
    function: str
    args: tuple[Any, ...]

    def __call__(self) -> Any:
        return getattr(importlib.import_module(self.module), self.function)(*self.args)


def checked(experiment: Any, *allowed: type) -> Any:
    """The experiment, if it is one of these types or of one that looks like them (the same class of another package)."""
    names = [kind.__name__ for kind in allowed]
    if isinstance(experiment, allowed) or type(experiment).__name__ in names:
        return experiment
    shown = repr(experiment)
    shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
    raise WrongExperiment(f"experiment_fn returned {shown} of type {type(experiment).__name__}; allowed: {' or '.join(names)}")
