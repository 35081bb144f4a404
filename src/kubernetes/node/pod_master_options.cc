#include "kubernetes/node/pod_master_options.h"

#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/variable.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/node/job_end.h"
#include "kubernetes/node/own_client.h"
#include "kubernetes/pods/agent_parts.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/pods/master_names.h"

namespace gangrun::kubernetes::node {

namespace {

using base::Result;

// Whether the flag is known.
bool take_flag(std::string_view flag, const char* value, PodMasterOptions& options) {
  if (flag == "--config") return options.config_folder = value, true;
  if (flag == "--run") return options.run_folder = value, true;
  return false;
}

}  // namespace

Result<PodMasterOptions> pod_master_options_from(int argc, char** argv) {
  PodMasterOptions options;
  for (int i = 0; i < argc; i += 2) {
    if (i + 1 == argc || !take_flag(argv[i], argv[i + 1], options)) {
      return base::invalid_argument(
          base::format("{} is no flag of pod-master, or has no value", argv[i]));
    }
  }
  if (options.config_folder.empty() || options.run_folder.empty()) {
    return base::invalid_argument("--config and --run must be given");
  }
  options.journal_folder = pods::kJournalFolder;
  options.parts_folder = pods::kAgentFolder;
  options.reason_file = kTerminationFile;
  options.port = pods::kMasterPort;
  options.make_client = client_of_pod;
  const std::pair<const char*, std::string*> variables[] = {
      {pods::kPodNameVariable, &options.pod_name},
      {pods::kPodUidVariable, &options.pod_uid},
      {kPodAddressVariable, &options.pod_address}};
  for (const auto& [name, value] : variables) {
    *value = base::variable(name);
    if (!value->empty()) continue;
    return base::invalid_argument(base::format("{} must be set: this is no pod of a job", name));
  }
  return options;
}

}  // namespace gangrun::kubernetes::node
