#include "yarn/submission.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "hadoop/class_path.h"
#include "job/described.h"
#include "yarn/submission_checks.h"
#include "yarn/task_container.h"
#include "yarn/uploads.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

constexpr int kDefaultAttempts = 2;
// An attempt that failed longer ago does not count: a job of weeks may outlive several masters.
constexpr std::chrono::milliseconds kFailuresValidity = std::chrono::hours(1);

bool is_for_master(const std::string& name) {
  constexpr std::array<std::string_view, 15> kPrefixes{
      "yarn.acl.",    "yarn.admin.",           "fs.viewfs.",           "dfs.web.",
      "fs.defaultFS", "dfs.namenode.",         "dfs.nameservices",     "dfs.ha.",
      "dfs.http",     "yarn.resourcemanager.", "yarn.scheduler.fair.", hadoop::kClassPathProperty,
      "yarn.http.",   "yarn.web-proxy.",       "yarn.log.server."};
  const auto begins = [&name](std::string_view prefix) { return name.starts_with(prefix); };
  return name.starts_with("hadoop.") || std::ranges::any_of(kPrefixes, begins);
}

}  // namespace

std::map<std::string, std::string> for_master(const hadoop::Configuration& configuration) {
  std::map<std::string, std::string> values;
  for (const std::string& name : configuration.names()) {
    if (is_for_master(name)) values[name] = configuration.get_or(name, "");
  }
  return values;
}

std::string queue_of(const std::string& queue) { return queue.empty() ? "default" : queue; }

base::Result<hadoop::QueueInfo> existing_queue(base::Result<hadoop::QueueInfo> asked,
                                               const std::string& name,
                                               const std::vector<std::string>& own_queues) {
  if (asked.ok() || asked.error().code != base::Code::kNotFound) return asked;
  return base::invalid_argument(base::format("yarn.queue: there is no queue {}; allowed: {}", name,
                                             base::join(leaves_of(own_queues), ", ")));
}

base::Result<hadoop::Submission> make_submission(const job::JobSpec& spec,
                                                 const hadoop::ApplicationId& id,
                                                 const YarnMasterConfig& config,
                                                 hadoop::LaunchContext master) {
  std::string text = base::dump_json(base::to_json(config));
  if (text.size() > kMaxMasterConfigBytes) {
    return base::invalid_argument(
        base::format("the job's spec makes a submission of {} bytes; allowed: up to {}",
                     text.size(), kMaxMasterConfigBytes));
  }
  const YarnOptions& own = yarn_of(spec);
  hadoop::Submission submission;
  submission.id = id;
  submission.name = spec.name;
  submission.queue = queue_of(own.queue);
  submission.priority = own.priority;
  submission.type = kApplicationType;
  submission.tags = own.tags;
  submission.master_resource = resource_of(own.master);
  submission.master_node_label = own.master_label;
  submission.max_attempts = own.max_attempts > 0 ? own.max_attempts : kDefaultAttempts;
  submission.attempt_failures_validity_ms = kFailuresValidity.count();
  master.local_resources[kAgentLink] = config.files.at(kAgentLink);
  master.command = {"exec", base::format("./{}", kAgentLink), "master", "1><LOG_DIR>/stdout",
                    "2><LOG_DIR>/stderr"};
  master.credentials.secrets[kMasterConfigSecret] = base::Secret(std::move(text));
  master.view_acl = own.view_acl;
  master.modify_acl = own.modify_acl;
  submission.master = std::move(master);
  return submission;
}

base::Result<Recording> recording_of(const base::Result<hadoop::ApplicationReport>& report) {
  using State = hadoop::ApplicationState;
  if (!report.ok()) {
    switch (report.error().code) {
      case base::Code::kNotFound: return Recording::kForgotten;
      case base::Code::kUnavailable: return Recording::kNotYet;
      default: return report.error();
    }
  }
  if (report->state == State::kFailed || report->state == State::kKilled) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("YARN has refused the job: {}", base::their_words(report->diagnostics))};
  }
  const bool is_recorded = report->state != State::kNew && report->state != State::kNewSaving;
  return is_recorded ? Recording::kIsRecorded : Recording::kNotYet;
}

}  // namespace gangrun::yarn
