#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/described.h"
#include "base/described_json.h"
#include "base/json.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/described.h"
#include "job/status.h"
#include "kubernetes/records/map_chain.h"

namespace gangrun::kubernetes::records {

// A head of a later version is refused.
inline constexpr int kHeadVersion = 1;
inline constexpr std::string_view kHeadKey = "head";  // of the map's data

// The job in short, for whoever may read config maps: no secret, no command, no output.
struct HeadSummary {
  std::string name{};
  std::string user{};
  std::string state{};      // job::JobState's word
  std::string submitted{};  // ISO 8601, UTC; so are all times
  std::string started{};
  std::string ended{};
  int tasks = 0;
  std::string reason{};  // job::Reason's word; empty: none
  std::string kept_until{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::late_row, HeadSummary, name, user, state, submitted,
                                   started, ended, tasks, reason, kept_until));
  }
  friend bool operator==(const HeadSummary&, const HeadSummary&) = default;
};

// Somebody wants the job to stop, and no master answered.
struct StopWish {
  std::string by{};
  bool at_once = false;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::late_row, StopWish, by, at_once));
  }
  friend bool operator==(const StopWish&, const StopWish&) = default;
};

struct KeptResultEntry {
  std::string chain{};
  std::int64_t bytes = 0;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, KeptResultEntry, chain, bytes));
  }
  friend bool operator==(const KeptResultEntry&, const KeptResultEntry&) = default;
};

// The one thing that masters of a job fight over, and what others see of the job first.
struct Head {
  int version = kHeadVersion;
  std::string job{};
  int master = 0;  // 0: none yet
  std::string pod_uid{};
  std::string pod_name{};
  std::optional<job::Address> address{};             // none: the master does not serve yet
  std::map<std::string, int> chains{};               // the number of maps of each
  std::map<std::string, KeptResultEntry> results{};  // by the task's name
  // The master whose folder on the job's volume has its journal and keys; 0: chains have them.
  int folder = 0;
  HeadSummary summary{};
  std::string refusal{};       // why a master could not begin
  std::string refusal_code{};  // base::Code's word; empty: not told
  std::optional<StopWish> stop{};
  std::string end{};  // sealed_end(); empty: the job has not ended

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("version", &Head::version), base::row("job", &Head::job),
        base::late_row("master", &Head::master), base::late_row("pod", &Head::pod_uid),
        base::late_row("pod_name", &Head::pod_name), base::row_or_null("address", &Head::address),
        GANGRUN_EACH(base::late_row, Head, chains, results),
        base::row_if_set("folder", &Head::folder),
        GANGRUN_EACH(base::late_row, Head, summary, refusal),
        base::row_if_set("refusal_code", &Head::refusal_code),
        base::row_or_null("stop", &Head::stop), base::row_if_set("end", &Head::end));
  }
  friend bool operator==(const Head&, const Head&) = default;
};

struct ReadHead {
  Head head{};
  std::string uid{};
  std::string resource_version{};
};

// The config map; `metadata` as metadata_of() makes it.
base::Json head_map(const base::Json& metadata, const Head& head);
// kDataLoss: it is no head. kFailedPrecondition: a newer gangrun wrote it.
base::Result<ReadHead> head_in(const base::Json& config_map);
// A JSON patch that fails where the map has changed since it was read.
base::Json head_patch(const ReadHead& from, const Head& to);

// The job's end, for Head::end.
base::Result<std::string> sealed_end(const RecordsKey& key, const std::string& job_id,
                                     const job::JobStatus& status);
base::Result<job::JobStatus> end_in(const RecordsKey& key, const Head& head);

}  // namespace gangrun::kubernetes::records
