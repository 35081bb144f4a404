#pragma once

#include <chrono>
#include <string_view>

#include "base/clock.h"
#include "job/exit_report.h"

namespace gangrun::agent {

// A program that ends for its port does so when it starts.
inline constexpr std::chrono::seconds kPortLossWindow(30);

// Whether a run has ended because somebody else had a port that was meant for it. Pure: it is told
// what the run says and when.
class PortLoss {
 public:
  void begin_run(base::Instant now);
  void on_line(bool is_error, std::string_view line, base::Instant now);
  // It ended by itself (a program that gives up may call abort()), soon, and said why.
  [[nodiscard]] bool explains(const job::ExitReport& report, base::Instant now) const;

 private:
  [[nodiscard]] bool is_early(base::Instant now) const;

  base::Instant started_at_;
  bool said_so_ = false;
};

}  // namespace gangrun::agent
