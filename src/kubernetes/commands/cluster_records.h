#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/spec.h"
#include "job/status.h"
#include "jobfile/described_job.h"

// Detached jobs whose master is a pod, as this machine remembers them. The jobs are the cluster's:
// another machine does without, if its user may read the job's Secret.
namespace gangrun::kubernetes::commands {

// A job with Kubernetes' section, or none.
struct RecordedSpec : base::JsonOf<job::JobSpec> {
  static base::Json write(const job::JobSpec& spec);
  static base::Result<> read(const base::Json& json, std::string_view key, job::JobSpec& out);
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return {};
  }
};

// $GANGRUN_HOME/kubernetes/ID.json, which only its user reads.
struct ClusterRecord {
  std::string id;
  std::string name;
  std::string name_space;
  std::string kubeconfig;  // absolute; empty: as kubectl finds it
  std::string context;     // empty: there was none
  std::string server;      // its URL, by which another cluster of the same name is noticed
  std::string head_name;
  std::string owner_name;
  std::string owner_uid;    // empty: the owner was not made yet
  base::Secret secret;      // empty: the job was found by a list
  std::string fingerprint;  // of the master's certificate
  std::string submitted;
  std::string stopped_by{};                   // empty: nobody asked for its end from here
  std::optional<job::JobStatus> last_seen{};  // when somebody looked last
  bool has_settled = false;                   // nothing of that will change any more
  job::JobSpec spec{};                        // without tasks where the job was found by a list

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    using base::late_row;
    using base::row;
    return std::tuple(row("id", &ClusterRecord::id), row("name", &ClusterRecord::name),
                      row("namespace", &ClusterRecord::name_space),
                      GANGRUN_EACH(row, ClusterRecord, kubeconfig, context, server, head_name,
                                   owner_name, owner_uid, secret, fingerprint, submitted),
                      late_row("stopped_by", &ClusterRecord::stopped_by),
                      row("last_seen", &ClusterRecord::last_seen),
                      late_row("has_settled", &ClusterRecord::has_settled),
                      late_row("spec", &ClusterRecord::spec, RecordedSpec{}));
  }
};

base::Result<> write_cluster_record(const std::string& home, const ClusterRecord& record);
// None where the job has no such record.
base::Result<std::optional<ClusterRecord>> read_cluster_record(const std::string& home,
                                                               const std::string& id);
// The newest first. Those that cannot be read are passed over: who asks for one by its id hears of
// it.
base::Result<std::vector<ClusterRecord>> list_cluster_records(const std::string& home);
// The id that `job` means here: itself, or the one that begins so. None: no record, or several.
std::optional<std::string> recorded_id(const std::string& home, std::string_view job);
// One that is not there is removed already.
base::Result<> remove_cluster_record(const std::string& home, const std::string& id);

}  // namespace gangrun::kubernetes::commands
