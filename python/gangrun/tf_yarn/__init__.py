"""tf-yarn's API on top of gangrun: `from gangrun.tf_yarn import Experiment, TaskSpec, run_on_yarn`.

docs/from-tf-yarn.md is the guide for users of tf-yarn. TensorFlow is not imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gangrun.tf_yarn.client import RunFailed, run_on_yarn
    from gangrun.tf_yarn.experiment import Experiment, get_safe_experiment_fn
    from gangrun.tf_yarn.keras import KerasExperiment, model_to_estimator
    from gangrun.tf_yarn.metrics import Metrics
    from gangrun.tf_yarn.topologies import NodeLabel, TaskSpec, ps_strategy_topology, single_server_topology

__all__ = ["Experiment", "KerasExperiment", "Metrics", "NodeLabel", "RunFailed", "TaskSpec", "get_safe_experiment_fn",
           "model_to_estimator", "ps_strategy_topology", "run_on_yarn", "single_server_topology"]

_HOMES = {
    "Experiment": "experiment", "get_safe_experiment_fn": "experiment", "KerasExperiment": "keras",
    "model_to_estimator": "keras", "Metrics": "metrics", "NodeLabel": "topologies", "TaskSpec": "topologies",
    "ps_strategy_topology": "topologies", "single_server_topology": "topologies", "RunFailed": "client",
    "run_on_yarn": "client",
}
_MODULES = ("client", "distributed", "experiment", "metrics", "pytorch", "tensorflow", "topologies")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"gangrun.tf_yarn.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"gangrun.tf_yarn.{name}")
    if name != "standalone_client_mode":
        raise AttributeError(f"module 'gangrun.tf_yarn' has no attribute {name!r}")
    from gangrun import _refused

    return _refused.names("tf_yarn", {name: "TensorFlow 2 has no sessions to be driven from a client; write what a task does into an "
                                            "experiment_fn, or a function for gangrun.tf_yarn.distributed"})(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
