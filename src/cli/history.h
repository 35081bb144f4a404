#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "client/context.h"
#include "client/style.h"
#include "cluster/site.h"
#include "job/status.h"

namespace gangrun::cli {

struct HistoryFilter {
  std::string since;  // ISO 8601, UTC, or the beginning of it; empty: all
  std::optional<job::JobState> state;
};

// From `--since`, a time before `now` ("2d") or a day or moment ("2026-01-31", "2026-01-31T12:00"),
// and `--state`, the name of a state that a job ends in. Errors name what is allowed.
base::Result<HistoryFilter> history_filter(const std::optional<std::string>& since,
                                           const std::optional<std::string>& state,
                                           base::WallTime now);

// Those of `jobs` that have ended and are wanted, in their order. How a job has ended whose records
// cannot be read is not known: it is among them where no state is named.
std::vector<cluster::ListedJob> history_of(std::vector<cluster::ListedJob> jobs,
                                           const HistoryFilter& filter);

// Whether the job has ended, as far as anybody knows.
[[nodiscard]] bool has_ended(const cluster::ListedJob& job);

// A table, or nothing but its head.
client::Lines job_table(const std::vector<cluster::ListedJob>& jobs, std::size_t width);

// As --json prints them.
base::Json to_json(const std::vector<cluster::ListedJob>& jobs);

// Prints either.
void show_jobs(const std::vector<cluster::ListedJob>& jobs, bool json, client::Context& context);

}  // namespace gangrun::cli
