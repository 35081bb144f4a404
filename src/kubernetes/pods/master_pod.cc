#include "kubernetes/pods/master_pod.h"

#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

// The kubelet starts a master again that was killed, and the Job makes another pod; each counts.
constexpr int kMasterRestarts = 1000;

}  // namespace

Json master_owner(const Manifests& manifests, std::chrono::seconds lease) {
  Json job = manifests.owner(lease);
  job["metadata"]["labels"][kMasterLabel] = "1";
  job["spec"]["completions"] = 1;
  job["spec"]["backoffLimit"] = kMasterRestarts;
  job["spec"]["template"] = manifests.master_template();
  return job;
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
