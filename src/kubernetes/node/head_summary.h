#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "job/spec.h"
#include "job/status.h"
#include "kubernetes/records/head.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// The plain part of a job's head, for whoever lists jobs: nothing in it is secret.
records::HeadSummary summary_of(const job::JobSpec& spec, const job::JobStatus& status,
                                const std::string& user, std::optional<base::WallTime> kept_until);

// Tells of changes not more often than it is worth, and of the last one always.
class SummaryPace {
 public:
  static constexpr std::chrono::seconds kPause{2};

  SummaryPace(net::EventLoop& loop, std::function<void()> tell, base::Duration pause = kPause)
      : loop_(loop), tell_(std::move(tell)), pause_(pause) {}

  void changed();

 private:
  net::EventLoop& loop_;
  const std::function<void()> tell_;
  const base::Duration pause_;
  std::optional<base::Instant> told_at_;
  net::Timer timer_;
};

}  // namespace gangrun::kubernetes::node
