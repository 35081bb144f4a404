#pragma once

#include <string>

#include "hadoop/records.h"
#include "job/reason.h"
#include "job/status.h"

namespace gangrun::cluster {

// Why an application ended, as far as YARN alone tells.
struct ApplicationEnd {
  std::string sentence;
  job::Reason reason = job::Reason::kUnknown;
};

// What the master leaves with YARN as the application's diagnostics: the first cause, and its
// reason for application_end(). Empty without a cause.
std::string diagnostics_of(const job::JobStatus& status);

// Of an application that has failed or was killed.
ApplicationEnd application_end(const hadoop::ApplicationReport& report);

}  // namespace gangrun::cluster
