#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "job/draft.h"
#include "job/spec.h"

namespace gangrun::job {

// The flags of a command as the user wrote them; a list has an element for each time that the flag
// was given. What they may be is in docs/job.md. (The braces let a part of them be named alone.)
struct Flags {
  std::vector<std::string> roles{};          // -r "ps:2,worker:4"
  std::vector<std::string> memory{};         // -m "4g", "ps:2g", "worker[0]:8g"
  std::vector<std::string> vcores{};         // -c, in the same three forms
  std::vector<std::string> gpus{};           // --gpus, in the same three forms
  std::vector<std::string> resources{};      // --resource "NAME=1", "ps:NAME=1", "ps[0]:NAME=1"
  std::vector<std::string> processes{};      // --processes "2", "worker:2"
  std::vector<std::string> ports{};          // --ports "2", "worker:http+grpc"
  std::vector<std::string> holds{};          // --hold "until-exec", "worker:until-exec"
  std::vector<std::string> min_instances{};  // --min-instances "worker:2"
  std::vector<std::string> spares{};         // --spares "worker:1"
  std::vector<std::string> labels{};         // --label "gpu", "worker:gpu"
  std::vector<std::string> one_per_node{};   // --one-per-node "ps,chief"
  std::vector<std::string> env{};            // -e "NAME=value", "worker:NAME=value"
  std::vector<std::string> policies{};       // --policy "evaluator:sidecar"
  std::vector<std::string> graces{};         // --grace "evaluator:5m"
  std::vector<std::string> exposes{};        // --expose "tensorboard:host"
  std::vector<std::string> timeouts{};       // --timeout "allocation=10m,job=2h"
  std::vector<std::string> files{};          // -f, one path each
  std::vector<std::string> outputs{};        // --output, one path each
  std::optional<std::string> image{};
  std::vector<std::string> mounts{};     // --mount, "PATH" or "PATH:ro"
  std::vector<std::string> zookeeper{};  // --zookeeper "h1:2181,h2:2181"
  bool mirrors_in_zookeeper = false;     // the same with the hosts of Hadoop's configuration
  std::optional<std::string> name{};
  std::optional<std::string> framework{};  // "tensorflow,pytorch"
  std::optional<std::string> success{};
  std::optional<std::string> restarts{};       // "3", "3:gang"
  std::optional<std::string> restart_pause{};  // "2s", "2s:5min"
  std::optional<std::string> on{};
  std::optional<std::string> queue{};  // of YARN, or on Kubernetes
  std::optional<std::string> priority{};
  std::vector<std::string> tags{};          // --tag "night,wine"
  std::vector<std::string> file_systems{};  // --file-system, one URL each
  std::optional<std::string> principal{};
  std::optional<std::string> keytab{};
  std::optional<std::string> as{};
  std::optional<std::string> master_memory{};
  std::optional<std::string> master_vcores{};
  std::optional<std::string> name_space{};
  std::optional<std::string> context{};
  std::optional<std::string> kubeconfig{};
  bool insecure = false;
  std::optional<std::string> service_account{};
  std::vector<std::string> node_selectors{};      // --node-selector "zone=a,disk=ssd"
  std::vector<std::string> image_pull_secrets{};  // --image-pull-secret "a,b"
  std::optional<std::string> priority_class{};
  std::optional<std::string> gang_scheduling{};
  std::vector<std::string> hosts{};  // --hosts "h1:2,h2:2"
  std::optional<std::string> interface {};
  std::optional<std::string> containment{};
  std::optional<std::string> stop_signal{};     // "USR1"
  std::optional<std::string> stop_signal_to{};  // "group"
  std::optional<std::string> tensorboard{};     // the folder that a tensorboard task shows
  std::vector<std::string> command{};           // what stands after "--"
  std::optional<std::string> command_line{};    // or one line for a shell
};

// Which tasks a value is for: all, those of a type, or one.
struct Target {
  std::string type;          // empty: all
  std::optional<int> index;  // only with a type
};

template <typename T>
struct Assignment {
  Target target;
  T value{};
  std::string text;  // as the user wrote it
};

// Of one of Resources::others.
struct OtherResource {
  std::string name;
  std::int64_t amount = 0;
};

struct Variable {
  std::string name;
  std::string value;
};

// The flags read, each by itself: whether the job has such types and tasks is not known here.
struct ParsedFlags {
  std::vector<std::pair<std::string, int>> roles;
  std::vector<Assignment<std::int64_t>> memory;
  std::vector<Assignment<int>> vcores;
  std::vector<Assignment<int>> gpus;
  std::vector<Assignment<OtherResource>> others;
  std::vector<Assignment<int>> processes;
  std::vector<Assignment<PortsDraft>> ports;
  std::vector<Assignment<Hold>> holds;
  std::vector<Assignment<int>> min_instances;
  std::vector<Assignment<int>> spares;
  std::vector<Assignment<std::string>> labels;
  std::vector<std::string> one_per_node;  // types
  std::vector<Assignment<Variable>> env;
  std::vector<Assignment<Policy>> policies;
  std::vector<Assignment<std::chrono::milliseconds>> graces;
  std::vector<Assignment<Expose>> exposes;
  std::optional<std::vector<std::string>> zookeeper_hosts;
  TimeoutsDraft timeouts;
  std::optional<std::vector<Framework>> frameworks;
  std::optional<Restarts> restarts;
  std::optional<std::chrono::milliseconds> pause;  // between restarts
  std::optional<std::chrono::milliseconds> max_pause;
  std::optional<Containment> containment;
  std::optional<StopSignal> stop_signal;
  std::optional<StopSignalTo> stop_signal_to;
  std::optional<std::vector<Host>> hosts;
  std::optional<std::string> interface;
  YarnDraft yarn;
  std::map<std::string, std::string> node_selector;
  std::vector<std::string> image_pull_secrets;
  std::optional<GangScheduling> gang_scheduling;
};

// The error is one line that begins with the flag: "-m: 'worker:4gg': '4gg' is not …; allowed: …".
base::Result<ParsedFlags> parse_flags(const Flags& flags);

}  // namespace gangrun::job
