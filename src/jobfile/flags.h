#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/field.h"
#include "jobfile/job_fields.h"
#include "jobfile/ports.h"
#include "jobfile/task_fields.h"

namespace gangrun::jobfile {

// The flags of a command as the user wrote them; a list has an element for each time that the flag
// was given. What they may be is in docs/job.md. (The braces let a part of them be named alone.)
struct Flags {
  std::vector<std::string> roles{};  // -r "ps:2,worker:4"
  // By the path of the field of task types that it gives: "memory" is of -m, {"4g", "ps:2g"}.
  std::map<std::string, std::vector<std::string>, std::less<>> fields{};
  // The same of the job's fields: "yarn.master.memory" is of --master-memory, "1g"; what may be
  // given several times; what has no value.
  std::map<std::string, std::optional<std::string>, std::less<>> job_fields{};
  std::map<std::string, std::vector<std::string>, std::less<>> job_lists{};
  std::map<std::string, bool, std::less<>> job_switches{};
  std::vector<std::string> resources{};        // --resource "NAME=1", "ps:NAME=1", "ps[0]:NAME=1"
  std::vector<std::string> ports{};            // --ports "2", "worker:http+grpc"
  std::vector<std::string> env{};              // -e "NAME=value", "worker:NAME=value"
  std::vector<std::string> timeouts{};         // --timeout "allocation=10m,job=2h"
  std::vector<std::string> zookeeper{};        // --zookeeper "h1:2181,h2:2181"
  bool mirrors_in_zookeeper = false;           // the same with the hosts of Hadoop's configuration
  std::optional<std::string> framework{};      // "tensorflow,pytorch"
  std::optional<std::string> restarts{};       // "3", "3:gang"
  std::optional<std::string> restart_pause{};  // "2s", "2s:5min"
  std::optional<std::string> queue{};          // of the job's place
  std::vector<std::string> hosts{};            // --hosts "h1:2,h2:2"
  std::optional<std::string> tensorboard{};    // the folder that a tensorboard task shows
  std::vector<std::string> command{};          // what stands after "--"
  std::optional<std::string> command_line{};   // or one line for a shell
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

// The amount of one of Resources::others.
struct OtherResource {
  std::string name;
  std::int64_t amount = 0;
};

struct Variable {
  std::string name;
  std::string value;
};

// The value of a flag for one field of task types.
struct FieldAssignments {
  const TaskField* field = nullptr;
  std::vector<Assignment<FieldValue>> assignments;
};

// The flags read, each by itself: whether the job has such types and tasks is not known here.
struct ParsedFlags {
  std::vector<std::pair<std::string, int>> roles;
  std::vector<FieldAssignments> fields;  // in the order of the table
  std::vector<std::pair<const JobField*, FieldValue>> job_fields;
  std::vector<std::pair<const JobField*, std::vector<std::string>>> job_lists;
  std::vector<Assignment<OtherResource>> others;
  std::vector<Assignment<PortsGiven>> ports;
  std::vector<Assignment<Variable>> env;
  std::optional<std::vector<std::string>> zookeeper_hosts;
  std::map<std::string, FieldValue> timeouts;  // by their keys
  std::optional<std::vector<job::Framework>> frameworks;
  std::optional<job::Restarts> restarts;
  std::optional<std::chrono::milliseconds> pause;  // between restarts
  std::optional<std::chrono::milliseconds> max_pause;
  std::optional<std::vector<job::Host>> hosts;
};

// The error is one line that begins with the flag: "-m: 'worker:4gg': '4gg' is not …; allowed: …".
// The result points into `job_fields`: plain_job_fields(), or those of the places.
base::Result<ParsedFlags> parse_flags(const Flags& flags, const std::vector<JobField>& job_fields);

// "--env: 'A': has no '='": what is wrong with one value of a flag.
base::Error flag_error(std::string_view flag, std::string_view item, std::string_view text);

}  // namespace gangrun::jobfile
