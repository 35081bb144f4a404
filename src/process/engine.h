#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

// Containers that a container engine (docker, podman) runs for a task. They are nobody's
// descendants here: what ends them is their own first process (first_process.h), and whoever is
// left of guardian and agent, by their names.
namespace gangrun::process {

// Which engine is to be used, by name or path; without it the first that is there.
inline constexpr const char* kEngineVariable = "GANGRUN_CONTAINER_ENGINE";

struct EngineContainers {
  std::string engine{};              // the path of the engine's client; empty: there is none
  std::vector<std::string> names{};  // each used by nothing else on this host

  [[nodiscard]] bool empty() const { return engine.empty() || names.empty(); }
};

// The engine's client: `wanted` (a path, or a name in `path`) where it is not empty, else docker,
// else podman. The error says what was looked for where.
base::Result<std::string> find_engine(const std::string& wanted, std::string_view path);

std::vector<std::string> removal_argv(const EngineContainers& containers);
// Whether what the removal said with a status other than 0 is only that there are none.
bool says_absent(std::string_view output);

// The bytes of a program to both outputs, and how it ended.
struct EngineAnswer {
  int status = 0;  // as a shell says it
  std::string output;
};

// A short program, what its environment has beside ours ("NAME=value", which wins), whether its
// errors go to ours instead of being part of the output, and how much of that is kept.
struct EngineQuestion {
  std::vector<std::string> argv;
  std::vector<std::string> environment{};
  bool shows_errors = false;
  std::size_t max_bytes = std::size_t{64} << 10U;
};

// Runs a short program, which is killed at the deadline, or once `is_over` says so (asked ten times
// a second).
base::Result<EngineAnswer> ask(const EngineQuestion& question, base::Instant deadline,
                               const std::function<bool()>& is_over = {});
base::Result<EngineAnswer> ask(const std::vector<std::string>& argv, base::Instant deadline,
                               const std::function<bool()>& is_over = {});

// Ends and removes the containers and returns when there are none. Where what starts them was
// killed, one may still come into being: for `settling` they are looked for again.
base::Result<> remove_containers(const EngineContainers& containers, base::Duration settling,
                                 base::Instant deadline);

}  // namespace gangrun::process
