#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/check.h"

// Whether TensorFlow's own file systems reach HDFS: a short Python program, and what it said. Pure;
// who runs it is on the user's machine or on a node.
namespace gangrun::yarn {

// Words that write, read and remove each of the files (URLs).
std::vector<std::string> tensorflow_trial_argv(const std::string& python,
                                               const std::vector<std::string>& urls);

// How that program ended.
struct TensorflowAnswer {
  std::string where;  // "" here, " from node1" on a node: the end of the checks' names
  std::string python;
  int status = 0;      // as a shell says it
  std::string output;  // of both streams
};

// One for each of `urls`. kWarning where TensorFlow is there and cannot do it: jobs run all the
// same, but not those whose TensorFlow has to. kNotChecked where there is no TensorFlow, or none
// that knows HDFS. `missing` is what libhdfs lacks in the environment, in words.
std::vector<cluster::Check> tensorflow_checks(const std::vector<std::string>& urls,
                                              const TensorflowAnswer& answer,
                                              const std::string& missing);

// One that says why nothing was tried.
cluster::Check tensorflow_not_checked(const std::string& where, std::string reason);

[[nodiscard]] bool is_about_tensorflow(const cluster::Check& check);
// Whether there is a TensorFlow that knows HDFS, by its checks.
[[nodiscard]] bool has_tensorflow(const std::vector<cluster::Check>& checks);

}  // namespace gangrun::yarn
