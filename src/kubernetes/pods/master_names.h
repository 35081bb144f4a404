#pragma once

#include <cstdint>
#include <string>

#include "kubernetes/pods/manifests.h"

// The names of what a detached job has beside the objects that every job has: a master in a pod.
namespace gangrun::kubernetes::pods {

// "1": on the owner of such a job, and on its master's pod.
inline constexpr const char* kMasterLabel = "gangrun/master";
// On the job's records: "head", or the name of a chain.
inline constexpr const char* kRecordsLabel = "gangrun/records";
inline constexpr const char* kMasterContainer = "master";
// In the master's pod: its Secret, and its own room on the node.
inline constexpr const char* kMasterConfigFolder = "/gangrun/master";
inline constexpr const char* kMasterRunFolder = "/gangrun/run";
// Keys of the Secret.
inline constexpr const char* kMasterConfigKey = "config";
inline constexpr const char* kMasterSecretKey = "secret";
inline constexpr const char* kMasterFingerprintKey = "fingerprint";
inline constexpr const char* kMasterCertificateKey = "certificate.pem";
inline constexpr const char* kMasterKeyKey = "key.pem";
// Variables by which its pod tells it of itself; kPodAddressVariable is in link_frames.h.
inline constexpr const char* kPodNameVariable = "GANGRUN_POD_NAME";
inline constexpr const char* kPodUidVariable = "GANGRUN_POD_UID";
// Agents come to it by the pod's address, commands by a forwarded port.
inline constexpr std::uint16_t kMasterPort = 17403;

std::string master_secret_name(const ManifestInput& input);
std::string head_name(const ManifestInput& input);

}  // namespace gangrun::kubernetes::pods
