#include "yarn/yarn_logs.h"

#include <optional>
#include <utility>
#include <vector>

#include "hadoop/aggregated_logs.h"
#include "wire/rest_client.h"
#include "yarn/task_lines.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// For the reading of all output that is shown at once.
constexpr std::chrono::minutes kEndedLogsTimeout(5);

class LiveLogs final : public cluster::LogReader {
 public:
  LiveLogs(hadoop::ResourceManagerClient& resource_manager, hadoop::ApplicationId id,
           const JobAccess& access, cluster::LogRequest request, const base::Clock& clock)
      : resource_manager_(resource_manager),
        id_(id),
        access_(access),
        request_(std::move(request)),
        clock_(clock) {}

  Result<std::vector<cluster::LogLine>> next(base::Instant deadline) override;
  std::vector<cluster::LogLine> rest() override { return {}; }

 private:
  Result<wire::KeptLines> ask(base::Instant deadline);

  hadoop::ResourceManagerClient& resource_manager_;
  const hadoop::ApplicationId id_;
  const JobAccess& access_;
  const cluster::LogRequest request_;
  const base::Clock& clock_;
  std::optional<net::Endpoint> endpoint_;
  std::int64_t from_ = 0;
  bool is_first_ = true;
};

Result<wire::KeptLines> LiveLogs::ask(base::Instant deadline) {
  if (!endpoint_) {
    GANGRUN_ASSIGN(const auto report,
                   resource_manager_.report(id_, clock_.now() + kQuestionTimeout));
    endpoint_ = endpoint_of(report, access_.fingerprint);
    if (!endpoint_) return base::unavailable("the job has no master at the moment");
  }
  // One that is asked to wait for lines answers with what it has in time.
  auto lines = wire::fetch_lines(*endpoint_, access_.secret, from_, deadline,
                                 clock_.now() + kQuestionTimeout);
  if (!lines.ok()) endpoint_.reset();
  return lines;
}

Result<std::vector<cluster::LogLine>> LiveLogs::next(base::Instant deadline) {
  std::vector<cluster::LogLine> wanted;
  while (true) {
    auto lines = ask(deadline);
    // Between two masters there are no lines; the status tells whether another comes.
    if (!lines.ok()) return wanted;
    const bool is_of_another_master = lines->next < from_;
    from_ = is_of_another_master ? 0 : lines->next;
    for (wire::KeptLine& line : lines->lines) {
      if (!is_wanted(request_, line.task, line.is_error)) continue;
      if (is_too_old(request_, line.time)) continue;
      wanted.push_back(log_line(line.task, line.is_error, std::move(line.text)));
      wanted.back().time = line.time;
    }
    // The tail is of what is there at the beginning: all of that comes first.
    const bool is_all = lines->lines.empty() && !is_of_another_master;
    const bool collects_tail = is_first_ && request_.tail;
    if (is_all || (!collects_tail && !wanted.empty()) || clock_.now() >= deadline) break;
  }
  wanted = without_replaced(std::move(wanted));
  if (std::exchange(is_first_, false)) return last_lines(std::move(wanted), request_);
  return wanted;
}

// The lines of an ended job, read whole.
class EndedLogs final : public cluster::LogReader {
 public:
  explicit EndedLogs(std::vector<cluster::LogLine> lines) : lines_(std::move(lines)) {}

  Result<std::vector<cluster::LogLine>> next(base::Instant) override {
    return std::exchange(lines_, {});
  }
  std::vector<cluster::LogLine> rest() override { return {}; }

 private:
  std::vector<cluster::LogLine> lines_;
};

}  // namespace

base::Result<std::unique_ptr<cluster::LogReader>> open_aggregated_logs(
    const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
    const hadoop::ApplicationReport& report, const cluster::LogRequest& request,
    const base::Clock& clock) {
  const base::Instant deadline = clock.now() + kEndedLogsTimeout;
  GANGRUN_ASSIGN(const auto folders, hadoop::log_folders(configuration, report.user, report.id));
  GANGRUN_ASSIGN(auto nodes, hadoop::find_node_logs(files, folders, deadline));
  TaskLines lines(request);
  for (const hadoop::NodeLogs& node : nodes) {
    GANGRUN_TRY(hadoop::read_node_logs(files, node, lines, deadline));
  }
  return std::unique_ptr<cluster::LogReader>(std::make_unique<EndedLogs>(lines.take()));
}

std::unique_ptr<cluster::LogReader> open_live_logs(hadoop::ResourceManagerClient& resource_manager,
                                                   const hadoop::ApplicationId& id,
                                                   const JobAccess& access,
                                                   const cluster::LogRequest& request,
                                                   const base::Clock& clock) {
  return std::make_unique<LiveLogs>(resource_manager, id, access, request, clock);
}

}  // namespace gangrun::yarn
