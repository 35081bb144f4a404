#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/problem.h"
#include "job/spec.h"

// What the places of a job are told, and what each of them does not know.
namespace gangrun::job {

// The place whose tasks come by themselves, from the executors of a Spark application.
inline constexpr std::string_view kSpark = "spark";
// What people write for kKubernetes.
inline constexpr std::string_view kK8s = "k8s";

// What `on` may name, in the order in which errors list them.
std::vector<std::string> place_names();

// TaskSpec::label or YarnOptions::master_label.
Found check_label(const std::optional<std::string>& label, const std::string& path);

Found check_yarn(const YarnOptions& yarn);

// What the place of this job would have to leave out: what only a cluster has, on this machine;
// what only this machine has, on a cluster.
Found check_place(const JobSpec& job);

}  // namespace gangrun::job
