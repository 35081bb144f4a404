#include "base/format.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {

namespace {

// Horovod's own limit for ranks that come late is 30 s, less than a cold import may take on a busy
// machine. Whether a task is still alive is our affair.
constexpr int kTimeoutSeconds = 300;

}  // namespace

Variables horovod_variables(const Place& place) {
  if (!place.ranks || !place.inputs.rendezvous_port) return {};
  const Ranks& ranks = *place.ranks;
  const HostRanks hosts = host_ranks_of(ranks.rank, place.groups);
  const auto number = [](auto value) { return base::format("{}", value); };
  Variables variables{{"HOROVOD_RANK", number(ranks.rank)},
                      {"HOROVOD_SIZE", number(ranks.world_size)},
                      {"HOROVOD_LOCAL_RANK", number(hosts.local_rank)},
                      {"HOROVOD_LOCAL_SIZE", number(hosts.local_size)},
                      {"HOROVOD_CROSS_RANK", number(hosts.cross_rank)},
                      {"HOROVOD_CROSS_SIZE", number(hosts.cross_size)},
                      {"HOROVOD_HOSTNAME", place.address.host},
                      {"HOROVOD_CONTROLLER", "gloo"},
                      {"HOROVOD_CPU_OPERATIONS", "gloo"},
                      {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1"},
                      {"HOROVOD_GLOO_RENDEZVOUS_PORT", number(*place.inputs.rendezvous_port)},
                      {"HOROVOD_GLOO_TIMEOUT_SECONDS", number(kTimeoutSeconds)}};
  if (!place.inputs.interface.empty()) {
    variables.emplace("HOROVOD_GLOO_IFACE", place.inputs.interface);
  }
  return variables;
}

}  // namespace gangrun::frameworks
