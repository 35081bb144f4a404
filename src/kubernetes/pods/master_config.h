#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/spec.h"
#include "jobfile/described_job.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/owner.h"
#include "net/certificate.h"

namespace gangrun::kubernetes::pods {

// A Secret takes 1 MiB with its keys.
inline constexpr std::size_t kMaxMasterConfigBytes = std::size_t{900} << 10U;

// A job with the section of Kubernetes.
struct KubernetesSpec : base::JsonOf<job::JobSpec> {
  static base::Result<> read(const base::Json& json, std::string_view key, job::JobSpec& out);
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return {};
  }
};

// A file that the client has put into config maps: enough to know which map has which part of it.
struct CarriedOutline {
  std::string path;
  std::uint64_t bytes = 0;
  bool is_executable = false;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, CarriedOutline, path, bytes),
                      base::row_if_set("is_executable", &CarriedOutline::is_executable));
  }
};

// Everything that the master of a job must know when it runs in a pod. The Secret that the client
// makes has it, and only the master's pod has that. Names that a job has instead of ours are not in
// it: only tf-spawner's jobs have them, and those are led by their client.
struct PodMasterConfig {
  job::JobSpec spec;
  std::string job_id;
  std::string user;  // who has submitted the job
  std::string name_space;
  Owner owner;
  base::WallTime submitted;
  GangScheduling gang_scheduling = GangScheduling::kHold;
  std::vector<CarriedOutline> files{};
  // Values of the Secret beside the text.
  base::Secret secret{};
  net::JobCertificate certificate{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("spec", &PodMasterConfig::spec, KubernetesSpec{}),
                      GANGRUN_EACH(base::row, PodMasterConfig, job_id, user, name_space, owner,
                                   submitted, gang_scheduling),
                      base::late_row("files", &PodMasterConfig::files));
  }
};

// For kMasterConfigKey; kInvalidArgument where it would be larger than a Secret can be.
base::Result<std::string> config_text(const PodMasterConfig& config);
// All that the Secret has, as it is mounted there.
base::Result<PodMasterConfig> read_master_config(const std::string& folder);
// The same from the Secret as the API server gives it.
base::Result<PodMasterConfig> master_config_in(const base::Json& secret_object);

PodMasterConfig master_config_of(const ManifestInput& input, const Owner& owner, std::string user,
                                 base::WallTime submitted, base::Secret secret,
                                 net::JobCertificate certificate);
// The input of the client for the job's objects, but for the files' bytes.
ManifestInput manifest_input_of(const PodMasterConfig& config, std::optional<AgentPods> agents);

}  // namespace gangrun::kubernetes::pods
