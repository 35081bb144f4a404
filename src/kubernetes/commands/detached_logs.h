#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cluster/site.h"
#include "kubernetes/commands/pods_record.h"
#include "kubernetes/pods/pod_streams.h"

namespace gangrun::kubernetes::commands {

// The logs of a detached job's pods, as the API server has them: both streams of a task are one
// there, and count as its output. For one thread.
class DetachedLogs final : public cluster::LogReader {
 public:
  DetachedLogs(std::unique_ptr<PodsWay> way, const cluster::LogRequest& request);

  base::Result<std::vector<cluster::LogLine>> next(base::Instant deadline) override;
  std::vector<cluster::LogLine> rest() override { return {}; }

 private:
  enum class Stage { kNew, kGoingThrough, kThrough, kFollowing };

  void on_line(const job::TaskId& task, std::optional<base::WallTime> time, std::string_view text);
  void on_ended(const job::TaskId& task, const base::Result<>& ended);
  void read_all(bool follow);
  base::Result<> go_through();
  void give_tail();

  const std::unique_ptr<PodsWay> way_;
  std::vector<job::TaskId> tasks_;
  // Until all that was there at first has been read: each task's last lines.
  std::optional<std::size_t> tail_;
  std::map<job::TaskId, std::deque<cluster::LogLine>> tails_;
  const std::optional<base::WallTime> since_;
  std::vector<cluster::LogLine> lines_;
  std::set<job::TaskId> open_;  // that are being read
  Stage stage_ = Stage::kNew;
  std::optional<base::Error> trouble_;
  pods::PodStreams streams_;
};

}  // namespace gangrun::kubernetes::commands
