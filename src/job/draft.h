#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"

namespace gangrun::job {

struct PortsDraft {
  std::optional<int> count;
  std::optional<std::vector<std::string>> names;
  std::optional<Hold> hold;
};

// What a job file gives, before flags and defaults: an absent field was not given.
struct TaskDraft {
  std::string type;
  std::optional<int> instances;
  std::optional<int> min_instances;
  std::optional<int> spares;
  std::optional<int> processes;
  PortsDraft ports;
  std::optional<std::int64_t> memory_mib;
  std::optional<int> vcores;
  std::optional<int> gpus;
  std::map<std::string, std::int64_t> others;
  std::map<int, ResourceOverride> overrides;
  std::optional<std::string> label;
  std::optional<bool> one_per_node;
  std::optional<std::string> image;
  std::map<std::string, std::string> archives;
  std::map<std::string, std::string> environment;
  base::Json pod;
  std::optional<std::vector<std::string>> outputs;
  std::optional<Command> command;
  std::optional<Policy> policy;
  std::optional<std::chrono::milliseconds> grace;
  std::optional<std::string> logdir;
  std::optional<Expose> expose;
};

struct TimeoutsDraft {
  std::optional<std::chrono::milliseconds> allocation;
  std::optional<std::chrono::milliseconds> hold;
  std::optional<std::chrono::milliseconds> roll_call;
  std::optional<std::chrono::milliseconds> job;
  std::optional<std::chrono::milliseconds> stop;
  std::optional<std::chrono::milliseconds> shrink;
  std::optional<std::chrono::milliseconds> master_lost;
};

struct YarnDraft {
  std::optional<std::string> queue;
  std::optional<int> priority;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::int64_t> master_memory_mib;
  std::optional<int> master_vcores;
  std::optional<std::string> master_label;
  std::optional<std::string> view_acl;
  std::optional<std::string> modify_acl;
  std::optional<int> max_attempts;
  std::optional<ContainerRuntime> container_runtime;
  std::optional<std::vector<std::string>> file_systems;
  std::optional<std::string> principal;
  std::optional<std::string> keytab;
  std::optional<std::string> as;
};

struct JobDraft {
  std::optional<std::string> name;
  std::vector<TaskDraft> tasks;  // in the user's order; types are unique
  std::optional<Command> command;
  std::map<std::string, std::string> environment;
  std::optional<std::vector<Framework>> frameworks;  // empty: "none"
  std::optional<std::string> success;
  std::optional<Restarts> restarts;
  TimeoutsDraft timeouts;
  std::vector<std::string> files;
  std::map<std::string, std::string> archives;
  std::optional<std::string> image;
  std::vector<Mount> mounts;
  std::optional<ZooKeeper> zookeeper;
  std::optional<std::string> on;
  YarnDraft yarn;
  KubernetesOptions kubernetes;  // none of its values is told from its default
  std::vector<std::string> outputs;
  std::optional<std::vector<Host>> hosts;
  std::optional<std::string> interface;
  std::optional<Containment> containment;
  std::optional<StopSignal> stop_signal;
  std::optional<StopSignalTo> stop_signal_to;
  std::optional<NoticeSignal> notice_signal;

  // Where each field comes from, by its path: "tasks.worker.memory" → "job.yaml:4:12: " or "-m: ".
  // What errors that are found later begin with.
  std::map<std::string, std::string> origins;

  [[nodiscard]] TaskDraft* find(const std::string& type);
};

}  // namespace gangrun::job
