#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "client/prepare.h"
#include "client/task_keys.h"
#include "job/choice.h"
#include "job/units.h"

// The commands of a task's processes: keys of the job, and barriers.
namespace gangrun::cli {

namespace {

using client::TaskKeys;

constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::minutes(10);

struct KvOptions {
  std::string action;
  std::string key;
  std::string value;
  std::vector<std::string> words;  // after "--": KEY and VALUE, or VALUE
  std::optional<std::string> timeout;
  bool json = false;
};

struct BarrierOptions {
  std::string name;
  std::optional<std::string> tasks;
  std::optional<std::string> timeout;
};

base::Result<std::chrono::milliseconds> timeout_of(const std::optional<std::string>& text) {
  if (!text) return kDefaultTimeout;
  GANGRUN_ASSIGN(const auto timeout, job::parse_duration(*text).context("--timeout"));
  if (timeout <= client::kMaxTaskWait) return timeout;
  return base::invalid_argument(base::format("--timeout {}: must be at most {}", *text,
                                             base::to_words(client::kMaxTaskWait)));
}

base::Result<> show_list(const TaskKeys& keys, const std::string& prefix, bool as_json,
                         client::Context& context) {
  GANGRUN_ASSIGN(const auto list, keys.list(prefix));
  if (as_json) {
    context.console.out(base::dump_json({{"keys", list}}) + "\n");
    return {};
  }
  for (const std::string& key : list) context.console.out(key + "\n");
  return {};
}

// With the words after "--" in their places. Such a VALUE is one though it is empty or "-".
struct KeyAndValue {
  std::string key;
  std::optional<std::string> value;
};
base::Result<KeyAndValue> key_and_value(const KvOptions& options) {
  KeyAndValue given{options.key, std::nullopt};
  if (!options.value.empty() && options.value != "-") given.value = options.value;
  std::vector<std::string> words = options.words;
  if (given.key.empty() && !words.empty()) {
    given.key = words.front();
    words.erase(words.begin());
  }
  if (words.empty()) return given;
  if (words.size() > 1 || !options.value.empty()) {
    return base::invalid_argument(
        base::format("unexpected argument '{}'; kv put takes KEY and VALUE", words.back()));
  }
  given.value = words.front();
  return given;
}

base::Result<> act(const KvOptions& options, client::Context& context) {
  const std::string& action = options.action;
  const bool is_list = action == "list";
  if (action != "put" && action != "get" && action != "wait" && action != "delete" && !is_list) {
    return job::not_one_of(action, "an action", {"put", "get", "wait", "delete", "list"});
  }
  GANGRUN_ASSIGN(const KeyAndValue given, key_and_value(options));
  if (given.key.empty() && !is_list) {
    return base::invalid_argument(base::format("kv {} needs a KEY", action));
  }
  if ((given.value || !options.value.empty()) && action != "put") {
    return base::invalid_argument(base::format("kv {} takes no VALUE", action));
  }
  if (options.timeout && action != "wait") {
    return base::invalid_argument("--timeout is for kv wait");
  }
  if (options.json && !is_list) return base::invalid_argument("--json is for kv list");
  GANGRUN_ASSIGN(const TaskKeys keys, TaskKeys::of(context));
  if (is_list) return show_list(keys, given.key, options.json, context);
  if (action == "delete") return keys.erase(given.key);
  if (action == "put") {
    if (given.value) return keys.put(given.key, *given.value);
    auto value = base::read_input("/dev/stdin", client::kMaxTaskValueBytes);
    if (!value.ok()) return client::as_bad_input(value.error());
    return keys.put(given.key, *std::move(value));
  }
  base::Result<std::string> value = std::string();
  if (action == "get") {
    value = keys.get(given.key);
  } else {
    GANGRUN_ASSIGN(const auto timeout, timeout_of(options.timeout));
    value = keys.wait(given.key, timeout);
  }
  if (!value.ok()) return value.error();
  context.console.out(*value);
  return {};
}

// Status 1: there is no such key, or not so many tasks as are to come to the barrier.
client::ExitStatus status_of(const base::Result<>& done, client::Context& context) {
  if (done.ok()) return client::ExitStatus::kSuccess;
  if (done.error().code != base::Code::kNotFound) return fail(context, done.error());
  return fail(context, done.error(), client::ExitStatus::kJobFailed);
}

base::Result<> wait_at(const BarrierOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto timeout, timeout_of(options.timeout));
  std::optional<int> tasks;
  if (options.tasks) {
    constexpr int kMostTasks = 100'000;
    GANGRUN_ASSIGN(tasks, job::parse_count(*options.tasks, 1, kMostTasks).context("--tasks"));
  }
  GANGRUN_ASSIGN(const TaskKeys keys, TaskKeys::of(context));
  return keys.barrier(options.name, tasks, timeout);
}

}  // namespace

void add_kv(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "kv", "Inside a task: put a value for the job's tasks, or get one.");
  const auto options = std::make_shared<KvOptions>();
  add_positional(*command, "ACTION", options->action, true);
  add_positional(*command, "KEY", options->key, false);
  add_positional(*command, "VALUE", options->value, false);
  add_value(*command, "--timeout", options->timeout, "TIME",
            "kv wait: give up after this time, with status 124 (default: 10m)");
  add_flag(*command, "--json", options->json, "kv list: print one JSON object");
  add_footer(*command,
             "Actions:\n"
             "  put KEY [VALUE]   set a key; without VALUE, to what standard input has\n"
             "  get KEY           print the value; status 1: there is no such key\n"
             "  wait KEY          the same, once there is one\n"
             "  delete KEY        remove a key; status 1: there is no such key\n"
             "  list [PREFIX]     print the keys, or those that begin so\n\n"
             "After -- a KEY or VALUE may begin with a dash, and a VALUE may be empty.\n"
             "A key has at most 200 printable characters, a value at most 256 KiB, a job at most\n"
             "10,000 keys and 64 MiB. Keys last as long as the job.\n\n"
             "Example:\n  gangrun kv put address \"$HOSTNAME:8080\"\n"
             "  gangrun kv wait address --timeout 1m\n");
  on_chosen(*command, [&request, options] {
    request.action = [&request, options](client::Context& context) {
      options->words = request.command;
      return status_of(act(*options, context), context);
    };
  });
}

void add_barrier(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "barrier", "Inside a task: wait until the other tasks have come too.");
  const auto options = std::make_shared<BarrierOptions>();
  add_positional(*command, "NAME", options->name, true);
  add_value(*command, "--tasks", options->tasks, "N",
            "Go on when so many tasks wait (default: all that are tracked)");
  add_value(*command, "--timeout", options->timeout, "TIME",
            "Give up after this time, with status 124, and say who has not come (default: 10m)");
  add_footer(*command,
             "A task has come when all of its processes have. A barrier may be used again, and "
             "belongs\nto one start of the gang. A process that has ended does not wait any "
             "more.\nStatus 1: a task that is waited for has ended, so it cannot come.\n\n"
             "Example:\n  gangrun barrier data-is-there --timeout 5m\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) {
      return status_of(wait_at(*options, context), context);
    };
  });
}

}  // namespace gangrun::cli
