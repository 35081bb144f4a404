#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "wire/messages.h"

namespace gangrun::agents {

// A start with a longer spec carries it packed.
inline constexpr std::size_t kMaxPlainSpecBytes = std::size_t{4} << 10U;

inline constexpr std::size_t kNoOutline = std::numeric_limits<std::size_t>::max();

// The start messages of one generation. Its spec is encoded and packed once for all agents (the
// master's journal encodes it for itself), and tasks that are told the same share one message. An
// outline is made for each task that gets one.
class Starts {
 public:
  // With `outline_above`, each task is told an outline of its own where the encoded spec has more
  // bytes than that.
  explicit Starts(job::ClusterSpec spec, std::size_t outline_above = kNoOutline);

  [[nodiscard]] int generation() const { return spec_.generation; }
  // As encode_cluster_spec() gives it.
  [[nodiscard]] const std::string& encoded_spec() const { return encoded_spec_; }
  wire::Frame message_for(const job::TaskId& task, int attempt, int restarts);

 private:
  job::ClusterSpec spec_;
  std::string encoded_spec_;
  bool by_outline_;
  std::string member_;  // of a start message: the spec, plain or packed
  std::map<std::pair<int, int>, wire::Frame> kept_;  // by attempt and restarts
};

}  // namespace gangrun::agents
