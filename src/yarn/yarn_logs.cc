#include "yarn/yarn_logs.h"

#include <optional>
#include <utility>
#include <vector>

#include "hadoop/aggregated_logs.h"
#include "wire/live_lines.h"
#include "wire/rest_client.h"
#include "yarn/task_lines.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// For the reading of all output that is shown at once.
constexpr std::chrono::minutes kEndedLogsTimeout(5);

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
  // YARN is asked again for the address after each call that failed.
  auto endpoint = std::make_shared<std::optional<net::Endpoint>>();
  const auto fetch = [&resource_manager, id, &access, &clock, endpoint](
                         std::int64_t from, base::Instant wait_until) -> Result<wire::KeptLines> {
    if (!*endpoint) {
      GANGRUN_ASSIGN(const auto report,
                     resource_manager.report(id, clock.now() + kQuestionTimeout));
      *endpoint = endpoint_of(report, access.fingerprint);
      if (!*endpoint) return base::unavailable("the job has no master at the moment");
    }
    // One that is asked to wait for lines answers with what it has in time.
    auto lines = wire::fetch_lines(**endpoint, access.secret, from, wait_until,
                                   clock.now() + kQuestionTimeout);
    if (!lines.ok()) endpoint->reset();
    return lines;
  };
  return std::make_unique<wire::LiveLines>(fetch, request, clock);
}

}  // namespace gangrun::yarn
