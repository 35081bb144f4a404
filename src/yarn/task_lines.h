#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log_times.h"
#include "cluster/line_choice.h"
#include "cluster/site.h"
#include "hadoop/aggregated_logs.h"

namespace gangrun::yarn {

// The limit for all lines that are shown at once, and what a line takes besides its text.
inline constexpr std::size_t kMaxEndedLogBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kLineBytes = 128;

// Takes the tasks' output out of the logs of all containers, container by container. Whoever may
// write where they lie has written them: a line may have no end, and there may be any number of
// empty ones. Of a tail no more is kept than the request has.
class TaskLines final : public hadoop::LogSink {
 public:
  explicit TaskLines(cluster::LogRequest request, std::size_t most_bytes = kMaxEndedLogBytes)
      : request_(std::move(request)), most_bytes_(most_bytes) {}

  base::Result<bool> begin(const hadoop::AggregatedLog& log) override;
  base::Result<> content(std::string_view piece) override;
  base::Result<> end() override;

  // By task, and of each in the order in which they came.
  std::vector<cluster::LogLine> take();

 private:
  // A stream of a task in one of its containers.
  using Source = std::pair<std::string, std::pair<job::TaskId, bool>>;
  struct Kept {
    std::size_t count = 0;  // of all lines before it
    std::string text;
    std::string container;
    std::uint64_t offset = 0;  // where it begins there
  };

  void add(std::string text);
  [[nodiscard]] std::optional<base::WallTime> time_of(
      const Kept& line, const std::pair<job::TaskId, bool>& stream) const;
  void drop_old();
  [[nodiscard]] base::Result<> check() const;

  const cluster::LogRequest request_;
  const std::size_t most_bytes_;
  std::pair<job::TaskId, bool> stream_;
  std::string part_;       // the beginning of a line
  std::size_t bytes_ = 0;  // of what is kept
  std::size_t count_ = 0;  // of all that have come
  std::map<std::pair<job::TaskId, bool>, std::deque<Kept>> lines_;
  std::string container_;
  std::uint64_t line_start_ = 0;
  // The times of this one's lines are being read; they may come before or after the lines.
  base::KnownTimes* reads_times_ = nullptr;
  std::map<Source, base::KnownTimes> times_;
};

}  // namespace gangrun::yarn
