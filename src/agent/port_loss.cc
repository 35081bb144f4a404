#include "agent/port_loss.h"

#include <csignal>

#include "process/address_in_use.h"

namespace gangrun::agent {

void PortLoss::begin_run(base::Instant now) {
  started_at_ = now;
  said_so_ = false;
}

bool PortLoss::is_early(base::Instant now) const { return now - started_at_ <= kPortLossWindow; }

void PortLoss::on_line(bool is_error, std::string_view line, base::Instant now) {
  if (is_error && !said_so_ && is_early(now)) said_so_ = process::says_address_in_use(line);
}

bool PortLoss::explains(const job::ExitReport& report, base::Instant now) const {
  if (report.success) return false;
  const bool by_itself =
      report.why.reason == job::Reason::kExitStatus ||
      (report.why.reason == job::Reason::kSignal && report.why.signal == SIGABRT);
  return by_itself && said_so_ && is_early(now);
}

}  // namespace gangrun::agent
