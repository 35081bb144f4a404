"""The front door of tf-yarn's last release for TensorFlow: the same names as in gangrun.tf_yarn."""

from __future__ import annotations

from gangrun.tf_yarn import (Experiment, KerasExperiment, Metrics, NodeLabel, RunFailed, TaskSpec, get_safe_experiment_fn,
                             model_to_estimator, ps_strategy_topology, run_on_yarn, single_server_topology)

__all__ = ["Experiment", "KerasExperiment", "Metrics", "NodeLabel", "RunFailed", "TaskSpec", "get_safe_experiment_fn",
           "model_to_estimator", "ps_strategy_topology", "run_on_yarn", "single_server_topology"]
