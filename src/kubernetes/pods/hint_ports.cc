#include "kubernetes/pods/hint_ports.h"

#include "base/format.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {

bool is_on_host_network(const base::Json& pod) {
  return value_at(pod, {"spec", "hostNetwork"}) == true;
}

// Tasks of a job have others than their peers, and so have other jobs, where chance allows.
std::vector<std::uint16_t> hint_ports(const std::string& job_id, const job::TaskId& task,
                                      bool is_on_host_network) {
  if (!is_on_host_network) return {kHintPort};
  net::Sha256Stream digest;
  digest.put(base::format("{} {}", job_id, job::to_string(task)));
  const std::string bytes = digest.finish();
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < kHintPortChoices; ++i) {
    const unsigned high = static_cast<unsigned char>(bytes[2 * i]);
    const unsigned low = static_cast<unsigned char>(bytes[2 * i + 1]);
    ports.push_back(
        static_cast<std::uint16_t>(kFirstHostHintPort + (high << 8U | low) % kHostHintPorts));
  }
  return ports;
}

}  // namespace gangrun::kubernetes::pods
