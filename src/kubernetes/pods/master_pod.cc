#include "kubernetes/pods/master_pod.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_template.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

// The kubelet starts a master again that was killed, and the Job makes another pod; each counts.
constexpr int kMasterRestarts = 1000;

// Amounts for a job that says nothing of them.
constexpr std::int64_t kMasterMemoryMib = 256;
constexpr std::int64_t kMasterKibPerTask = 24;
constexpr std::int64_t kKibInMib = 1024;
constexpr const char* kMasterVcores = "100m";
constexpr std::int64_t kMasterStorageMib = 256;
constexpr std::int64_t kOutputsMib = 1024;  // of a task, where they have no limit
constexpr const char* kDisk = "ephemeral-storage";
// It has to leave its tasks alone, and that is all.
constexpr std::chrono::seconds kMasterGrace{10};
// How long its node may be silent before another one is made elsewhere.
constexpr std::chrono::seconds kMasterNodeLoss{15};
// The life of a job that has no limit of its own.
constexpr std::chrono::hours kUsualLife{7 * 24};
// How much longer a job is kept that its master does not end by itself.
constexpr std::chrono::hours kSpareLife{1};

std::string in_mebibytes(std::int64_t mib) { return base::format("{}Mi", mib); }

bool keeps_outputs(const job::JobSpec& spec) {
  return std::ranges::any_of(spec.tasks, [&spec](const job::TaskSpec& task) {
    const auto outputs = spec.outputs_of(task);
    return outputs && !outputs->empty();
  });
}

// It is charged for all tasks, and for their outputs until they are fetched. Limits of the kinds
// that it has are as high.
void put_resources(const job::JobSpec& spec, Json& resources) {
  const auto tasks = static_cast<std::int64_t>(spec.task_ids().size());
  const job::Resources& own = kubernetes_of(spec).master.resources;
  const std::int64_t mib = own.memory_mib > 0
                               ? own.memory_mib
                               : kMasterMemoryMib + tasks * kMasterKibPerTask / kKibInMib;
  const std::string vcores = own.vcores > 0 ? base::format("{}", own.vcores) : kMasterVcores;
  resources["requests"]["memory"] = in_mebibytes(mib);
  resources["requests"]["cpu"] = vcores;
  if (!resources.contains("limits")) return;
  Json& limits = resources["limits"];
  if (limits.contains("memory")) limits["memory"] = in_mebibytes(mib);
  if (limits.contains("cpu") && own.vcores > 0) limits["cpu"] = vcores;
  if (!limits.contains(kDisk)) return;
  const std::int64_t of_outputs =
      keeps_outputs(spec) ? tasks * spec.outputs_limit_mib.value_or(kOutputsMib) : 0;
  resources["requests"][kDisk] = limits[kDisk] = in_mebibytes(kMasterStorageMib + of_outputs);
}

// A cluster waits 5 minutes for a node that is silent, and the job's master would be away with it.
Json brief_losses() {
  Json tolerations = Json::array();
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    tolerations.push_back({{"key", key},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", kMasterNodeLoss.count()}});
  }
  return tolerations;
}

}  // namespace

Json master_owner(const Manifests& manifests, std::chrono::seconds lease) {
  Json job = manifests.owner(lease);
  job["metadata"]["labels"][kMasterLabel] = "1";
  job["spec"]["completions"] = 1;
  job["spec"]["backoffLimit"] = kMasterRestarts;
  Json pod = manifests.master_template();
  put_resources(manifests.input().spec, pod["spec"]["containers"][0]["resources"]);
  merge_pod(pod, {{"spec",
                   {{"terminationGracePeriodSeconds", kMasterGrace.count()},
                    {"tolerations", brief_losses()}}}});
  job["spec"]["template"] = std::move(pod);
  return job;
}

std::chrono::seconds detached_life(const job::JobSpec& spec) {
  const std::chrono::milliseconds limit = spec.timeouts.job;
  const std::chrono::milliseconds life = limit.count() == 0 ? kUsualLife : limit;
  return std::chrono::ceil<std::chrono::seconds>(life + master_keep(spec) + kSpareLife);
}

Json switch_on(std::int64_t deadline_seconds) {
  return {{"spec",
           {{"parallelism", 1},
            {"activeDeadlineSeconds", deadline_seconds},
            {"ttlSecondsAfterFinished", std::chrono::seconds(kKeptAfterEnd).count()}}}};
}

base::Result<Json> master_secret(const ManifestInput& input, const PodMasterConfig& config,
                                 const Owner& owner) {
  GANGRUN_ASSIGN(const std::string text, config_text(config));
  Json secret = object_of(input, "v1", "Secret", master_secret_name(input), owner);
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  secret["data"] = {{kMasterConfigKey, net::to_base64(text)},
                    {kMasterSecretKey, net::to_base64(config.secret.reveal())},
                    {kMasterFingerprintKey, net::to_base64(config.certificate.fingerprint)},
                    {kMasterCertificateKey, net::to_base64(config.certificate.certificate_pem)},
                    {kMasterKeyKey, net::to_base64(config.certificate.key_pem.reveal())}};
  return secret;
}

}  // namespace gangrun::kubernetes::pods
