#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "job/choice.h"
#include "job/sections.h"
#include "job/task_id.h"

namespace gangrun::job {

// The meaning of a task type for the end of the job (docs/ARCHITECTURE.md, "The end of a job").
enum class Policy { kTracked, kService, kObserver, kSidecar };
constexpr auto choice_of(Policy) {
  using enum Policy;
  return choice<Policy>("a policy", {{kTracked, "tracked"},
                                     {kService, "service"},
                                     {kObserver, "observer"},
                                     {kSidecar, "sidecar"}});
}

enum class Framework { kTensorflow, kPytorch, kJax, kHorovod };
constexpr auto choice_of(Framework) {
  using enum Framework;
  return choice<Framework>(
      "a framework",
      {{kTensorflow, "tensorflow"}, {kPytorch, "pytorch"}, {kJax, "jax"}, {kHorovod, "horovod"}});
}

// The part of the job that comes back after a failure that may be answered: the task in its old
// place, or the whole gang.
enum class RestartScope { kNone, kTask, kGang };
constexpr auto choice_of(RestartScope) {
  using enum RestartScope;
  return choice<RestartScope>("a scope of restarts",
                              {{kTask, "task"}, {kGang, "gang"}, {kNone, "none"}});
}

// The guarantee that everything that a task started dies with it; kAuto is the best that the host
// permits.
enum class Containment { kAuto, kPidNamespace, kCgroup, kSubreaper };
constexpr auto choice_of(Containment) {
  using enum Containment;
  return choice<Containment>("a containment", {{kAuto, "auto"},
                                               {kPidNamespace, "pid_namespace"},
                                               {kCgroup, "cgroup"},
                                               {kSubreaper, "subreaper"}});
}

// How long the ports of a task are held for it: for as long as its agent lives, for programs that
// bind with SO_REUSEADDR or SO_REUSEPORT (servers do) or take the inherited socket; or until its
// command is executed, for programs that do neither.
enum class Hold { kUntilBind, kUntilExec };
constexpr auto choice_of(Hold) {
  using enum Hold;
  return choice<Hold>("a time until which ports are held",
                      {{kUntilBind, "until-bind"}, {kUntilExec, "until-exec"}});
}

// The machines that reach the port on which TensorBoard listens: this machine only, or all who
// reach its host.
enum class Expose { kLoopback, kHost };
constexpr auto choice_of(Expose) {
  using enum Expose;
  return choice<Expose>("who reaches a port", {{kLoopback, "loopback"}, {kHost, "host"}});
}

// The way in which a login by SASL shows ZooKeeper's servers who the job's user is.
enum class ZooKeeperLogin { kNone, kDigest, kKerberos };
constexpr auto choice_of(ZooKeeperLogin) {
  using enum ZooKeeperLogin;
  return choice<ZooKeeperLogin>("a login",
                                {{kNone, "none"}, {kDigest, "digest"}, {kKerberos, "kerberos"}});
}

// The signal by which a task is told to stop, with its number.
enum class StopSignal {
  kTerm = SIGTERM,
  kInt = SIGINT,
  kHup = SIGHUP,
  kQuit = SIGQUIT,
  kUsr1 = SIGUSR1,
  kUsr2 = SIGUSR2,
};
constexpr auto choice_of(StopSignal) {
  using enum StopSignal;
  return choice<StopSignal>("a signal to stop by",
                            {{kTerm, "TERM"},
                             {kInt, "INT"},
                             {kHup, "HUP"},
                             {kQuit, "QUIT"},
                             {kUsr1, "USR1"},
                             {kUsr2, "USR2"}},
                            "SIG");
}

// The processes of a task that get the signal: the command, and where that is a shell what it runs,
// or all that they have started too.
enum class StopSignalTo { kProcess, kGroup };
constexpr auto choice_of(StopSignalTo) {
  using enum StopSignalTo;
  return choice<StopSignalTo>("who gets the signal to stop",
                              {{kProcess, "process"}, {kGroup, "group"}});
}

// The signal by which a command learns that its place may take it away, with its number.
enum class NoticeSignal {
  kUsr1 = SIGUSR1,
  kUsr2 = SIGUSR2,
  kTerm = SIGTERM,
  kInt = SIGINT,
  kNone = 0,
};
constexpr auto choice_of(NoticeSignal) {
  using enum NoticeSignal;
  return choice<NoticeSignal>(
      "a signal for notices",
      {{kUsr1, "USR1"}, {kUsr2, "USR2"}, {kTerm, "TERM"}, {kInt, "INT"}, {kNone, "none"}}, "SIG");
}

inline constexpr int kMaxTasks = 10'000;
inline constexpr int kMaxProcessesPerTask = 256;
inline constexpr int kMaxPortsPerTask = 64;
inline constexpr std::size_t kMaxSpecBytes = std::size_t{1} << 20U;

// The resources of one task. 0 is "not limited, not wanted".
struct Resources {
  std::int64_t memory_mib = 0;
  int vcores = 1;
  int gpus = 0;
  // Other resources that a cluster counts, by the name and in the unit that it has there
  // ("yarn.io/fpga").
  std::map<std::string, std::int64_t> others{};

  friend bool operator==(const Resources&, const Resources&) = default;
};

// Some of the resources of one task, where they differ from those of its type.
struct ResourceOverride {
  std::optional<std::int64_t> memory_mib;
  std::optional<int> vcores;
  std::optional<int> gpus;
  std::map<std::string, std::int64_t> others{};  // the names that differ

  friend bool operator==(const ResourceOverride&, const ResourceOverride&) = default;
};

// The command of a task: either words that are executed as they are, or one line for /bin/sh -c.
struct Command {
  std::vector<std::string> words;
  std::string shell_line;

  [[nodiscard]] bool empty() const { return words.empty() && shell_line.empty(); }
  // The words that are executed: these, or {"/bin/sh", "-c", shell_line}.
  [[nodiscard]] std::vector<std::string> argv() const;
  // One line that a shell would read as the same command.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Command&, const Command&) = default;
};

// The ports of one task. The first is the one in the cluster spec.
struct Ports {
  int count = 1;
  std::vector<std::string> names;  // all different; as many as `count`, or none
  Hold hold = Hold::kUntilBind;

  friend bool operator==(const Ports&, const Ports&) = default;
};

// "grpc-web" is GANGRUN_PORT_GRPC_WEB.
std::string port_variable(std::string_view name);

struct TaskSpec {
  std::string type;
  int instances = 1;
  // With fewer than `instances` the gang goes on with what is there. Absent: it needs them all.
  std::optional<int> min_instances;
  // Agents beside the instances that run nothing until they take the place of a lost one.
  int spares = 0;
  int processes = 1;  // ranks in each task
  Ports ports;
  Resources resources;
  std::map<int, ResourceOverride> overrides;  // by task index
  // The label of the nodes that a cluster may choose; empty: those without one. Absent: what the
  // queue says.
  std::optional<std::string> label;
  bool one_per_node = false;  // never two of this type on one node of a cluster
  // The container image that these tasks run in; empty: in none. Absent: in the job's.
  std::optional<std::string> image;
  // By the folder that a task finds each in, unpacked: the path or URL. Beside the job's.
  std::map<std::string, std::string> archives;
  std::map<std::string, std::string> environment;
  // A pod, or a part of one, as Kubernetes writes it, over the job's. Null: none.
  base::Json pod;
  // The files of these tasks that are kept. Absent: the job's.
  std::optional<std::vector<std::string>> outputs;
  Command command;  // empty: the job's
  Policy policy = Policy::kTracked;
  // An observer's longest time without progress after the tracked tasks have ended; a sidecar's
  // time until it is stopped after them.
  std::chrono::milliseconds grace{0};
  std::string logdir;  // what TensorBoard shows
  Expose expose = Expose::kLoopback;

  // Instances and spares, each with an agent of its own: the indexes of a TaskId go up to here.
  [[nodiscard]] int slots() const { return instances + spares; }
  [[nodiscard]] int needed() const { return min_instances.value_or(instances); }
  // The resources of the task with this index: those of the type with its override applied.
  [[nodiscard]] Resources resources_of(int index) const;

  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

// A host for tasks, by a name that the place knows, and how many of them.
struct Host {
  std::string name;
  std::optional<int> slots;  // absent: any number

  friend bool operator==(const Host&, const Host&) = default;
};

// A file or folder of the host that a container sees under the same path.
struct Mount {
  std::string path;  // absolute
  bool read_only = false;

  friend bool operator==(const Mount&, const Mount&) = default;
};

// The servers on which the roll call is mirrored for clients of YARN's service registry.
struct ZooKeeper {
  std::vector<std::string> hosts;  // "host:port"; empty: those of Hadoop's configuration
  std::string root;                // empty: that of Hadoop's configuration, else "/registry"
  bool readable_by_all = true;     // else only with what the job's secret gives
  bool tls = false;
  // Files of the client's machine, in PEM form: who vouches for the servers (empty: whom the system
  // trusts), and what they are shown (empty: nothing).
  std::string ca{};
  std::string certificate{};
  std::string key{};
  ZooKeeperLogin login = ZooKeeperLogin::kNone;
  std::string user{};           // of kDigest
  std::string password_file{};  // likewise
  std::string principal{};      // of kKerberos, the servers'; empty: "zookeeper/HOST"
  // Whether there is no job without it.
  bool required = false;

  friend bool operator==(const ZooKeeper&, const ZooKeeper&) = default;
};

struct Restarts {
  int max = 0;
  RestartScope scope = RestartScope::kTask;
  // The time before a failed task starts again: `pause` the first time, then twice as long each
  // time, up to `max_pause`; after a run longer than that it begins with `pause` again. 0: none.
  std::chrono::milliseconds pause{1'000};
  std::chrono::milliseconds max_pause{60'000};

  friend bool operator==(const Restarts&, const Restarts&) = default;
};

// Zero is "no limit" for `job` only.
struct Timeouts {
  std::chrono::milliseconds allocation{std::chrono::minutes(10)};
  // How long a cluster's containers that were given are held while others are missing.
  std::chrono::milliseconds hold{std::chrono::minutes(1)};
  std::chrono::milliseconds roll_call{std::chrono::minutes(2)};
  std::chrono::milliseconds job{0};
  std::chrono::milliseconds stop{std::chrono::seconds(30)};
  // How long a gang that may be smaller waits for those that are missing.
  std::chrono::milliseconds shrink{std::chrono::seconds(10)};
  // Absent: what the place decides (0 where the client is the master and the tasks are beside it,
  // 60 s where they are on hosts).
  std::optional<std::chrono::milliseconds> master_lost;

  friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

// The default of `on`.
inline constexpr std::string_view kDefaultPlace = "local";

struct JobSpec {
  std::string name;
  std::vector<TaskSpec> tasks;  // in the user's order; types are unique
  Command command;
  std::map<std::string, std::string> environment;
  // Absent: the variables of all that do not clash; empty: "none".
  std::optional<std::vector<Framework>> frameworks;
  std::string success = "all";  // or a task type
  Restarts restarts;
  Timeouts timeouts;
  std::vector<std::string> files;
  std::map<std::string, std::string> archives;  // of every task; see TaskSpec
  std::string image;                            // a container image for all tasks; empty: none
  std::vector<Mount> mounts;           // what containers see of the host beside their own folder
  std::optional<ZooKeeper> zookeeper;  // absent: the roll call is not mirrored
  std::string on{kDefaultPlace};
  Sections sections;  // what only one place is told
  // Files and folders (with a "/" at the end or not), relative to the working folder, that are
  // brought to the client. Of use where the tasks have other files than it. Absent: what is new or
  // has changed in a folder that was copied for the job; empty: nothing.
  std::optional<std::vector<std::string>> outputs;
  // The most bytes of what no `outputs` names, from each host; where tasks work in containers, of
  // what each names. Without a value: what the place has.
  std::optional<std::int64_t> outputs_limit_mib;
  bool keep_folders = false;  // copied ones, until the job is removed
  // The most of the log of each task, both its streams together; without a value: no limit.
  std::optional<std::int64_t> log_limit_mib;
  std::vector<Host> hosts;  // names are unique; empty: what the place decides
  // The interface (by name), or network ("10.0.0.0/8"), of a task's published address; empty:
  // what the place decides.
  std::string interface;
  Containment containment = Containment::kAuto;
  StopSignal stop_signal = StopSignal::kTerm;
  StopSignalTo stop_signal_to = StopSignalTo::kProcess;
  NoticeSignal notice_signal = NoticeSignal::kUsr1;

  [[nodiscard]] const TaskSpec* find(std::string_view type) const;
  [[nodiscard]] const Command& command_of(const TaskSpec& task) const;
  // Empty: it runs in none.
  [[nodiscard]] const std::string& image_of(const TaskSpec& task) const {
    return task.image ? *task.image : image;
  }
  // Absent: neither names any.
  [[nodiscard]] const std::optional<std::vector<std::string>>& outputs_of(
      const TaskSpec& task) const {
    return task.outputs ? task.outputs : outputs;
  }
  // The job's and the type's own, which win by name.
  [[nodiscard]] std::map<std::string, std::string> archives_of(const TaskSpec& task) const;
  // Without spares.
  [[nodiscard]] int task_count() const;
  // All tasks in the order of the spec, by index within a type; a type's spares come last.
  [[nodiscard]] std::vector<TaskId> task_ids() const;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// The policy that a known type name has by default: service for "ps", observer for "evaluator",
// sidecar for "tensorboard", else tracked.
Policy default_policy(std::string_view type);

// The policies as they count for this job: a job of observers only has them as its tracked tasks.
Policy effective_policy(const JobSpec& job, const TaskSpec& task);

}  // namespace gangrun::job
