#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "job/task_id.h"

namespace gangrun::gang {

// Which hosts a job keeps away from, because it failed on them again and again. A value: the same
// calls at the same times give the same answers.
class Hosts {
 public:
  // So many failures within that time make a host a bad one, for so long.
  static constexpr std::size_t kFailures = 3;
  static constexpr std::chrono::minutes kWindow{10};
  static constexpr std::chrono::minutes kCoolDown{10};
  // Ends of several tasks of a host within that time are one failure of the host: with it, all
  // its tasks are lost.
  static constexpr std::chrono::seconds kOneFailure{5};

  // A task has been there.
  void saw(const std::string& host);
  // A run of the task failed there, or its agent was lost. True when that made it a bad host.
  bool failed_on(const std::string& host, const job::TaskId& task, base::Instant now);
  // In alphabetical order. Never all hosts that were seen: of these, the one that has been bad for
  // the longest is left out.
  [[nodiscard]] std::vector<std::string> to_avoid(base::Instant now) const;
  [[nodiscard]] bool avoids(const std::string& host, base::Instant now) const;

  friend bool operator==(const Hosts&, const Hosts&) = default;

 private:
  struct Failure {
    base::Instant at{};
    std::set<job::TaskId> tasks;

    friend bool operator==(const Failure&, const Failure&) = default;
  };

  std::set<std::string> seen_;
  std::map<std::string, std::vector<Failure>> failures_;  // since it was last a bad one
  std::map<std::string, base::Instant> bad_since_;
};

}  // namespace gangrun::gang
