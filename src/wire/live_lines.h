#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/site.h"
#include "wire/rest_bodies.h"

namespace gangrun::wire {

// The output of a running job, through its master: what that still keeps, then what comes. When the
// master goes, the next one is asked; when the job has ended, nothing comes any more.
class LiveLines final : public cluster::LogReader {
 public:
  // Asks whoever is the job's master now for the lines from this one on; none if no new one has
  // come by `wait_until`.
  using Fetch = std::function<base::Result<KeptLines>(std::int64_t from, base::Instant wait_until)>;

  // `clock` outlives it.
  LiveLines(Fetch fetch, cluster::LogRequest request, const base::Clock& clock)
      : fetch_(std::move(fetch)), request_(std::move(request)), clock_(clock) {}

  base::Result<std::vector<cluster::LogLine>> next(base::Instant deadline) override;
  std::vector<cluster::LogLine> rest() override { return {}; }

 private:
  const Fetch fetch_;
  const cluster::LogRequest request_;
  const base::Clock& clock_;
  std::int64_t from_ = 0;
  bool is_first_ = true;
};

}  // namespace gangrun::wire
