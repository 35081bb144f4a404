"""tf-yarn's API for TensorFlow, under the name of its last release; the same as gangrun.tf_yarn."""

from __future__ import annotations

from gangrun.tf_yarn import (Experiment, KerasExperiment, Metrics, NodeLabel, RunFailed, TaskSpec, get_safe_experiment_fn,
                             model_to_estimator, ps_strategy_topology, run_on_yarn, single_server_topology)

__all__ = ["Experiment", "KerasExperiment", "Metrics", "NodeLabel", "RunFailed", "TaskSpec", "get_safe_experiment_fn",
           "model_to_estimator", "ps_strategy_topology", "run_on_yarn", "single_server_topology"]
