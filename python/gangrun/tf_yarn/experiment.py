"""What an experiment_fn returns, and experiment functions that are found by name instead of being pickled."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, Callable, NamedTuple

ExperimentFn = Callable[[], Any]


class Experiment(NamedTuple):
    """An Estimator with its TrainSpec and EvalSpec, as for tf.estimator.train_and_evaluate."""

    estimator: Any
    train_spec: Any
    eval_spec: Any

    @property
    def config(self) -> Any:
        """The Estimator's RunConfig."""
        return self.estimator.config


class WrongExperiment(TypeError):
    """The experiment_fn did not return an experiment."""


def get_safe_experiment_fn(full_fn_name: str, *args: Any) -> ExperimentFn:
    """Return an experiment_fn that imports and calls `package.module.function(*args)` in the task.

    Only the name and the arguments are pickled, so the module must be in the tasks' environment or among `files`.
    Raises ValueError if the name has no module.
    """
    module, dot, function = full_fn_name.rpartition(".")
    if not dot or not module or not function.isidentifier():
        raise ValueError(f"full_fn_name: {full_fn_name!r} is not a name of a function; allowed: package.module.function")
    return SafeFunction(module, function, args)


@dataclasses.dataclass(frozen=True)
class SafeFunction:
    """A function that is imported by its name when it is called."""

    module: str
    function: str
    args: tuple[Any, ...]

    def __call__(self) -> Any:
        return getattr(importlib.import_module(self.module), self.function)(*self.args)


def checked(experiment: Any, *allowed: type) -> Any:
    """Return the experiment if it has one of these types; otherwise raise WrongExperiment.

    A class of the same name from another package is accepted too.
    """
    names = [kind.__name__ for kind in allowed]
    if isinstance(experiment, allowed) or type(experiment).__name__ in names:
        return experiment
    shown = repr(experiment)
    shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
    raise WrongExperiment(f"experiment_fn returned {shown} of type {type(experiment).__name__}; allowed: {' or '.join(names)}")
