#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/records/record_place.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

struct PodMasterOptions {
  std::string config_folder;     // the master's Secret
  std::string run_folder;        // its own; what an earlier master of this pod left is in it
  std::string journal_folder{};  // its volume, with the folders of jobs; only where the job has one
  std::string parts_folder{};    // of the agent's parts, where agents come by them
  std::string reason_file{};     // for why no master will lead the job
  std::uint16_t port = 0;        // for agents and commands
  // The pod, as it knows itself.
  std::string pod_name;
  std::string pod_uid;
  std::string pod_address;
  // How often it looks at the job's head, unasked.
  base::Duration look_interval = records::kLookInterval;
  // To the API server, as the pod's service account.
  std::function<base::Result<std::unique_ptr<kubernetes::Client>>(net::EventLoop&, base::Logger&)>
      make_client;
};

// From the arguments of `gangrun-pod-agent pod-master`, and what a pod has.
base::Result<PodMasterOptions> pod_master_options_from(int argc, char** argv);

}  // namespace gangrun::kubernetes::node
