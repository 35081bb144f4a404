#pragma once

#include <functional>
#include <string_view>
#include <vector>

// The variables of a launcher in whose task or step gangrun was started, about its own job: rank,
// size, address, cluster. For the tasks of our job it is wrong, and a program that finds it
// believes it.
namespace gangrun::frameworks {

struct OuterLauncher {
  std::string_view name;  // as people know it
  // Names of variables; one that ends in "*" is the beginning of names. What configures a framework
  // (HOROVOD_FUSION_THRESHOLD), and what a batch system says of the whole allocation
  // (SLURM_JOB_NODELIST), is not among them.
  std::vector<std::string_view> variables;
  // Names that others use too: of this launcher only where one of `variables` is set.
  std::vector<std::string_view> beside{};
};

const std::vector<OuterLauncher>& outer_launchers();

// Whether a task does not inherit the variable, since it is one of these. `is_set` says so of
// others of the same environment.
[[nodiscard]] bool is_of_outer_launcher(std::string_view variable,
                                        const std::function<bool(std::string_view)>& is_set);

}  // namespace gangrun::frameworks
