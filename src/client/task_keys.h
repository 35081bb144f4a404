#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/context.h"

// The commands of a task's processes: keys of the job, and barriers. They ask the task's agent,
// which knows who asks. Status 1: there is no such key, or not so many tasks as are to come to the
// barrier.
namespace gangrun::client {

struct KvOptions {
  std::string action;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::string> words;  // after "--": KEY and VALUE, or VALUE
  std::optional<std::string> timeout;
  bool json = false;
};

base::Result<ExitStatus> use_keys(const KvOptions& options, Context& context);

struct BarrierOptions {
  std::string name;
  std::optional<std::string> tasks;
  std::optional<std::string> timeout;
};

// Waits until so many tasks have come, or all. The error says who has not, or who has ended, so
// that not so many can come any more.
base::Result<ExitStatus> wait_at_barrier(const BarrierOptions& options, Context& context);

}  // namespace gangrun::client
