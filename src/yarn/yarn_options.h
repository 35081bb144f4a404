#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/choice.h"
#include "job/spec.h"
#include "jobfile/place_rules.h"
#include "jobfile/section.h"

namespace gangrun::yarn {

// The value of `on` for YARN.
inline constexpr std::string_view kYarn = "yarn";

inline constexpr int kMaxMasterAttempts = 1000;
inline constexpr int kMaxPriority = 1'000'000;
inline constexpr std::size_t kMaxTags = 100;
inline constexpr std::size_t kMaxTagBytes = 100;
inline constexpr std::size_t kMaxQueueBytes = 1024;
inline constexpr std::size_t kMaxFileSystems = 100;

// The runtime of the images of tasks: what Hadoop's configuration says, YARN itself, or our agent
// by the engine that its node has.
enum class ContainerRuntime { kAuto, kDocker, kNone };
constexpr auto choice_of(ContainerRuntime) {
  using enum ContainerRuntime;
  return job::choice<ContainerRuntime>("what runs images",
                                       {{kAuto, "auto"}, {kDocker, "docker"}, {kNone, "none"}});
}
inline std::string_view to_string(ContainerRuntime runtime) { return job::to_string(runtime); }

// The settings of a job for YARN beside its tasks.
struct YarnOptions {
  std::string queue;            // empty: "default"
  std::optional<int> priority;  // a larger number goes first; absent: what the queue says
  std::vector<std::string> tags;
  job::Resources master{.memory_mib = 256};  // without GPUs and others; all at least 1
  std::optional<std::string> master_label;   // as TaskSpec::label
  // The users who may look at the job and those who may end it, as YARN writes them: "user,user
  // group,group", or "*". Empty: its user, and who the cluster says.
  std::string view_acl;
  std::string modify_acl;
  int max_attempts = 0;  // how often a master is started; 0: as often as the cluster allows
  ContainerRuntime container_runtime = ContainerRuntime::kAuto;
  // On a cluster with Kerberos. URLs for which the tasks get tokens too, beside the cluster's own.
  std::vector<std::string> file_systems;
  std::string principal;  // of the user; empty: that of the ticket, or of the keytab
  std::string keytab;     // a file on the client's machine; empty: the ticket cache
  std::string as;         // the user for which the job runs; empty: who submits it

  static constexpr std::string_view kKey = kYarn;
  static const jobfile::Section& section();

  friend bool operator==(const YarnOptions&, const YarnOptions&) = default;
};

inline const YarnOptions& yarn_of(const job::JobSpec& job) {
  return job.sections.get<YarnOptions>();
}
inline YarnOptions& edit_yarn(job::JobSpec& job) { return job.sections.edit<YarnOptions>(); }

// The parts of a job that YARN takes, as far as that can be said without a cluster.
jobfile::PlaceRules yarn_rules();

}  // namespace gangrun::yarn
