#include "kubernetes/pods/master_config.h"

#include <functional>
#include <utility>

#include "base/described_json.h"
#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "jobfile/plan_json.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;
using base::Result;

// Reads a value of the Secret.
using ReadValue = std::function<Result<std::string>(const char* key)>;

Result<PodMasterConfig> config_from(const ReadValue& read) {
  GANGRUN_ASSIGN(const std::string text, read(kMasterConfigKey));
  GANGRUN_ASSIGN(const Json json, base::parse_json(text, kMaxMasterConfigBytes));
  GANGRUN_ASSIGN(auto config, base::from_json<PodMasterConfig>(json).context(
                                  "the configuration of the job's master"));
  GANGRUN_ASSIGN(std::string secret, read(kMasterSecretKey));
  config.secret = base::Secret(std::move(secret));
  if (config.secret.empty()) return base::invalid_argument("the job's secret is empty");
  GANGRUN_ASSIGN(config.certificate.fingerprint, read(kMasterFingerprintKey));
  GANGRUN_ASSIGN(config.certificate.certificate_pem, read(kMasterCertificateKey));
  GANGRUN_ASSIGN(std::string key, read(kMasterKeyKey));
  config.certificate.key_pem = base::Secret(std::move(key));
  return config;
}

}  // namespace

Result<> KubernetesSpec::read(const Json& json, std::string_view key, job::JobSpec& out) {
  GANGRUN_ASSIGN(out,
                 jobfile::job_spec_from_json(json, {&KubernetesOptions::section()}).context(key));
  return {};
}

Result<std::string> config_text(const PodMasterConfig& config) {
  std::string text = base::dump_json(base::to_json(config));
  if (text.size() <= kMaxMasterConfigBytes) return text;
  return base::invalid_argument(base::format(
      "the job is too large for a detached one: as text it has {}, a Secret takes {} of it",
      base::size_text(text.size()), base::size_text(kMaxMasterConfigBytes)));
}

Result<PodMasterConfig> read_master_config(const std::string& folder) {
  return config_from([&folder](const char* key) {
    return base::read_file(base::format("{}/{}", folder, key), kMaxMasterConfigBytes);
  });
}

Result<PodMasterConfig> master_config_in(const Json& secret_object) {
  return config_from([&secret_object](const char* key) -> Result<std::string> {
    auto bytes = net::from_base64(text_at(secret_object, {"data", key}));
    if (bytes && !bytes->empty()) return *std::move(bytes);
    return base::Error{
        base::Code::kDataLoss,
        base::format("{} has no {}", text_at(secret_object, {"metadata", "name"}), key)};
  });
}

PodMasterConfig master_config_of(const ManifestInput& input, const Owner& owner, std::string user,
                                 base::WallTime submitted, base::Secret secret,
                                 net::JobCertificate certificate) {
  PodMasterConfig config{.spec = input.spec,
                         .job_id = input.job_id,
                         .user = std::move(user),
                         .name_space = input.name_space,
                         .owner = owner,
                         .submitted = submitted,
                         .gang_scheduling = input.gang_scheduling,
                         .secret = std::move(secret),
                         .certificate = std::move(certificate)};
  for (const CarriedFile& file : input.files) {
    config.files.push_back({file.path, file.bytes(), file.is_executable});
  }
  return config;
}

ManifestInput manifest_input_of(const PodMasterConfig& config, std::optional<AgentPods> agents) {
  ManifestInput input;
  input.spec = config.spec;
  input.job_id = config.job_id;
  input.name_space = config.name_space;
  input.gang_scheduling = config.gang_scheduling;
  for (const CarriedOutline& file : config.files) {
    input.files.push_back({.path = file.path,
                           .content = {},
                           .is_executable = file.is_executable,
                           .size = file.bytes});
  }
  input.agents = std::move(agents);
  return input;
}

}  // namespace gangrun::kubernetes::pods
