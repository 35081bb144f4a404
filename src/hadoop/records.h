#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hadoop/credentials.h"

// The records of YARN's daemons, as plain values (hadoop.yarn in proto/hadoop). Fields that are not
// needed are left out. Memory is in MiB, instants of the cluster in milliseconds since the epoch.
// clang-tidy takes the 0 with which a compiler compares an ordering for a null pointer.
namespace gangrun::hadoop {

struct ApplicationId {
  std::int64_t cluster_timestamp = 0;  // when the ResourceManager that gave it was started
  std::int32_t id = 0;

  auto operator<=>(const ApplicationId&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct AttemptId {
  ApplicationId application;
  std::int32_t attempt = 0;

  auto operator<=>(const AttemptId&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct ContainerId {
  AttemptId attempt;
  // The low 40 bits are the number, the others how often the ResourceManager was restarted.
  std::int64_t id = 0;

  auto operator<=>(const ContainerId&) const = default;  // NOLINT(modernize-use-nullptr)
};

// "application_1700000000000_0001", "container_e02_1700000000000_0001_01_000002"
std::string to_string(const ApplicationId& id);
std::string to_string(const AttemptId& id);
std::string to_string(const ContainerId& id);
base::Result<ApplicationId> application_id_from(std::string_view text);
base::Result<ContainerId> container_id_from(std::string_view text);

struct NodeId {
  std::string host;
  std::int32_t port = 0;  // of the NodeManager's container management

  auto operator<=>(const NodeId&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Resource {
  std::int64_t memory_mib = 0;
  std::int32_t vcores = 0;
  // The amounts of other types by name ("yarn.io/gpu"), in the cluster's unit.
  std::map<std::string, std::int64_t> others{};

  friend bool operator==(const Resource&, const Resource&) = default;
};

struct ResourceType {
  std::string name;
  std::string units;

  friend bool operator==(const ResourceType&, const ResourceType&) = default;
};

enum class Visibility { kPublic = 1, kPrivate = 2, kApplication = 3 };
enum class LocalResourceType { kArchive = 1, kFile = 2 };

// A file that the NodeManager fetches before a container starts.
struct LocalResource {
  std::string scheme = "hdfs";
  std::string host;        // or the name of a name service
  std::int32_t port = -1;  // -1: the default, or none as for a name service
  std::string path;
  std::int64_t size = 0;
  std::int64_t timestamp = 0;  // the file's modification time, to the millisecond
  LocalResourceType type = LocalResourceType::kFile;
  Visibility visibility = Visibility::kPrivate;
};

using LocalResources = std::map<std::string, LocalResource>;  // by the name of the link

struct LaunchContext {
  LocalResources local_resources{};
  // As the launch script has them: see quote_for_launch_script() (hadoop/launch_script.h).
  std::map<std::string, std::string> environment{};
  std::vector<std::string> command;
  Credentials credentials;
  // The users who may see and change the application: "*" or "user1,user2 group1".
  std::string view_acl{};
  std::string modify_acl{};
};

// One entry of an ask. `containers` is how many are still wanted, not how many more.
struct ResourceRequest {
  std::int32_t priority = 0;
  std::string resource_name = "*";  // a host, "/rack" or "*"
  Resource capability;
  std::int32_t containers = 0;  // 0 takes the ask back
  bool relax_locality = true;
  std::optional<std::string> node_label{};  // only with "*"
  std::int64_t allocation_request_id = -1;

  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

// One container whose place is bound by a constraint: no two of the same tag on one node, and that
// a node with the label, if it has one.
struct SchedulingRequest {
  std::int64_t allocation_request_id = 0;
  std::int32_t priority = 0;
  Resource capability;
  std::int32_t containers = 1;  // 0 takes it back
  std::string tag;
  bool one_per_node = true;
  std::optional<std::string> node_label{};

  friend bool operator==(const SchedulingRequest&, const SchedulingRequest&) = default;
};

struct Container {
  ContainerId id;
  NodeId node;
  Resource resource;  // as granted: rounded up
  Token token;        // for NodeManagerClient::start_container()
  std::int64_t allocation_request_id = -1;
};

enum class ContainerState { kNew = 1, kRunning = 2, kComplete = 3 };

inline constexpr std::int32_t kExitInvalid = -1000;  // has not ended, or never started
inline constexpr std::int32_t kExitAborted = -100;
inline constexpr std::int32_t kExitDisksFailed = -101;
inline constexpr std::int32_t kExitPreempted = -102;
inline constexpr std::int32_t kExitOverVirtualMemory = -103;
inline constexpr std::int32_t kExitOverPhysicalMemory = -104;
inline constexpr std::int32_t kExitKilledByMaster = -105;
inline constexpr std::int32_t kExitKilledByResourceManager = -106;
inline constexpr std::int32_t kExitAfterApplication = -107;
inline constexpr std::int32_t kExitOverLogLimit = -109;

struct ContainerStatus {
  ContainerId id{};
  ContainerState state = ContainerState::kNew;
  std::int32_t exit_status = kExitInvalid;
  std::string diagnostics{};
  // Its node still fetches and unpacks its files, or has no room to start it yet. A node before
  // Hadoop 3 does not tell.
  bool is_being_prepared = false;
  // How many of its files and archives are there then, and of how many; 0 of 0: it does not tell.
  int files_there = 0;
  int files = 0;
};

struct NodeReport {
  NodeId id;
  std::string rack;
  Resource used;
  Resource capability;
  std::vector<std::string> labels;
};

struct NodeToken {
  NodeId node;
  Token token;
};

enum class ApplicationState {
  kNew = 1,
  kNewSaving = 2,
  kSubmitted = 3,
  kAccepted = 4,
  kRunning = 5,
  kFinished = 6,
  kFailed = 7,
  kKilled = 8,
};

[[nodiscard]] bool is_final(ApplicationState state);

enum class FinalStatus { kUndefined = 0, kSucceeded = 1, kFailed = 2, kKilled = 3, kEnded = 4 };

enum class LogAggregationStatus {
  kUnknown = 0,  // not told
  kDisabled = 1,
  kNotStarted = 2,
  kRunning = 3,
  kSucceeded = 4,
  kFailed = 5,
  kTimedOut = 6,
  kRunningWithFailure = 7,
};

struct ApplicationReport {
  ApplicationId id;
  std::string user;
  std::string queue;
  std::string name;
  std::string host;           // of the master, as it registered; empty before
  std::int32_t rpc_port = 0;  // likewise; 0 or -1 before
  ApplicationState state = ApplicationState::kNew;
  FinalStatus final_status = FinalStatus::kUndefined;
  std::string diagnostics;
  std::int64_t start_time = 0;
  std::int64_t finish_time = 0;  // 0 while it runs
  std::vector<std::string> tags;
  LogAggregationStatus log_aggregation = LogAggregationStatus::kUnknown;
};

struct QueueInfo {
  std::string name;  // the last part of the path
  std::string path;
  bool is_running = true;           // false: stopped or draining
  std::vector<std::string> labels;  // that may be requested; "*": all
  std::int64_t pending_applications = 0;
  std::int64_t running_applications = 0;
  std::int64_t available_memory_mib = 0;
  std::int64_t available_vcores = 0;
  std::vector<QueueInfo> children;
};

struct Submission {
  ApplicationId id;
  std::string name;
  std::string queue = "default";
  std::optional<std::int32_t> priority{};
  std::string type;  // of the application, shown in lists
  std::vector<std::string> tags{};
  LaunchContext master;
  Resource master_resource;
  std::optional<std::string> master_node_label{};
  std::int32_t max_attempts = 2;
  // Failures of the master before this many milliseconds ago do not count; -1: all count.
  std::int64_t attempt_failures_validity_ms = -1;
};

struct NewApplication {
  ApplicationId id;
  Resource largest;  // container that any queue may give
};

}  // namespace gangrun::hadoop
