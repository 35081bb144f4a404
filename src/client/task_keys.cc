#include "client/task_keys.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "frameworks/environment.h"
#include "job/choice.h"
#include "job/units.h"
#include "net/fetch.h"
#include "wire/key_messages.h"

namespace gangrun::client {

namespace {

using base::Result;
using frameworks::kKeysVariable;
using std::chrono::milliseconds;

constexpr milliseconds kDefaultTimeout = std::chrono::minutes(10);
// An agent may take so much beyond the time of a request, while the job has no master.
constexpr std::chrono::seconds kAllowance(70);
constexpr int kGone = 410;
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20U;

struct Call {
  std::string method = "GET";
  std::string path;
  std::map<std::string, std::string> query{};
  std::string body{};
  milliseconds wait{0};
};

// The address at which the agent answers. kFailedPrecondition: this is no task, or one that has no
// agent.
Result<std::string> agent_address(const Context& context) {
  std::string address = context.variable(kKeysVariable);
  if (!address.empty()) return address;
  return base::Error{
      base::Code::kFailedPrecondition,
      context.variable("GANGRUN_TASK_TYPE").empty()
          ? base::format("{} is not set: this command works inside a task of gangrun",
                         kKeysVariable)
          : base::format("{} is not set: this task has no agent that could be asked (a "
                         "pod may have none)",
                         kKeysVariable)};
}

// kNotFound where there is no such key, or not so many tasks can come; kDeadlineExceeded after the
// time to wait.
Result<std::string> ask(const std::string& address, Call call) {
  net::FetchRequest request;
  request.method = std::move(call.method);
  const std::string target = net::make_target(call.path, call.query);
  request.url = base::format("http://{}{}", address, target);
  request.body = std::move(call.body);
  net::FetchOptions options;
  options.deadline = std::chrono::steady_clock::now() + call.wait + kAllowance;
  options.idle_limit = call.wait + kAllowance;
  options.max_response_bytes = kMaxAnswerBytes;
  GANGRUN_ASSIGN(auto response,
                 net::fetch(request, options)
                     .context(base::format("the task's agent at {}={} does not answer",
                                           kKeysVariable, address)));
  if (response.status == 200) return std::move(response.body);
  if (response.status == kGone) return base::not_found(std::string(base::trim(response.body)));
  return base::Error{net::code_of_status(response.status), std::string(base::trim(response.body))};
}

Result<milliseconds> timeout_of(const std::optional<std::string>& text) {
  if (!text) return kDefaultTimeout;
  return job::parse_duration(*text, wire::kMaxKeyWait).context("--timeout");
}

std::string seconds(milliseconds time) {
  return base::format("{:.3f}", std::chrono::duration<double>(time).count());
}

Result<std::vector<std::string>> list_keys(const std::string& address, const std::string& prefix) {
  std::vector<std::string> keys;
  for (bool more = true; more;) {
    Call call{.path = "/kv", .query = {{"prefix", prefix}}};
    if (!keys.empty()) call.query["after"] = keys.back();
    GANGRUN_ASSIGN(const std::string text, ask(address, std::move(call)));
    GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxAnswerBytes));
    GANGRUN_ASSIGN(const auto next, base::from_json<wire::ListedKeys>(json));
    keys.insert(keys.end(), next.keys.begin(), next.keys.end());
    more = next.more && !next.keys.empty();
  }
  return keys;
}

// With the words after "--" in their places. Such a VALUE is one though it is "-".
struct KeyAndValue {
  std::string key;
  std::optional<std::string> value;
};
Result<KeyAndValue> key_and_value(const KvOptions& options) {
  KeyAndValue given{options.key.value_or(""), std::nullopt};
  if (options.value != "-") given.value = options.value;
  std::vector<std::string> words = options.words;
  if (!options.key && !words.empty()) {
    given.key = words.front();
    words.erase(words.begin());
  }
  if (words.empty()) return given;
  if (words.size() > 1 || options.value) {
    return base::invalid_argument(
        base::format("unexpected argument '{}'; kv put takes KEY and VALUE", words.back()));
  }
  given.value = words.front();
  return given;
}

// Somebody who means `kv put k v` would wait for standard input.
Result<> check_key_without_value(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {};
  std::string right = "gangrun kv put KEY VALUE";
  if (wire::is_key(word) && equals > 0) {
    const std::string_view value = word.substr(equals + 1);
    right =
        base::format("gangrun kv put {} {}{}, or for standard input gangrun kv put {} -",
                     base::shell_quote(word.substr(0, equals)), value.starts_with('-') ? "-- " : "",
                     base::shell_quote(value), base::shell_quote(word));
  }
  return base::invalid_argument(
      base::format("{} is given as KEY, and no VALUE; use {}", job::in_quotes(word), right));
}

// The text that an action prints; empty: none.
Result<std::string> act(const KvOptions& options, const Context& context) {
  const std::string& action = options.action;
  const bool is_list = action == "list";
  if (action != "put" && action != "get" && action != "wait" && action != "delete" && !is_list) {
    return job::not_one_of(action, "an action", {"put", "get", "wait", "delete", "list"});
  }
  GANGRUN_ASSIGN(const KeyAndValue given, key_and_value(options));
  if (given.key.empty() && !is_list) {
    // As from a variable that is not set: who sees that a KEY was given looks there.
    const bool is_given = options.key || !options.words.empty();
    return base::invalid_argument(
        is_given ? base::format("kv {}: the KEY is empty; allowed: {}", action, wire::kKeyForm)
                 : base::format("kv {} needs a KEY", action));
  }
  if ((given.value || options.value) && action != "put") {
    return base::invalid_argument(base::format("kv {} takes no VALUE", action));
  }
  if (action == "put" && !given.value && !options.value) {
    GANGRUN_TRY(check_key_without_value(given.key));
  }
  if (options.timeout && action != "wait") {
    return base::invalid_argument("--timeout is for kv wait");
  }
  if (options.json && !is_list) return base::invalid_argument("--json is for kv list");
  GANGRUN_ASSIGN(const std::string address, agent_address(context));
  if (is_list) {
    GANGRUN_ASSIGN(const auto keys, list_keys(address, given.key));
    if (options.json) return base::dump_json({{"keys", keys}}) + "\n";
    std::string lines;
    for (const std::string& key : keys) lines += key + "\n";
    return lines;
  }
  Call call{.path = "/kv/" + given.key};
  if (action == "wait") {
    GANGRUN_ASSIGN(call.wait, timeout_of(options.timeout));
    call.query = {{"wait", seconds(call.wait)}};
  }
  if (action == "get" || action == "wait") return ask(address, std::move(call));
  call.method = action == "put" ? "PUT" : "DELETE";
  if (action == "put" && given.value) call.body = *given.value;
  if (action == "put" && !given.value) {
    auto value = base::read_input("/dev/stdin", wire::kMaxValueBytes);
    if (!value.ok()) return as_bad_input(value.error());
    call.body = *std::move(value);
  }
  GANGRUN_TRY(ask(address, std::move(call)));
  return std::string();
}

Result<ExitStatus> tell(const Result<std::string>& answer, Context& context) {
  if (answer.ok()) {
    context.console.out(*answer);
    return ExitStatus::kSuccess;
  }
  if (answer.error().code != base::Code::kNotFound) return answer.error();
  return fail(context, answer.error(), ExitStatus::kJobFailed);
}

// The agent names the parameter of the request.
Result<std::string> in_words_of_flags(Result<std::string> answer) {
  constexpr std::string_view kTasks = "tasks=";
  if (answer.ok()) return std::string();
  base::Error error = std::move(answer).error();
  if (error.message.starts_with(kTasks)) error.message.replace(0, kTasks.size(), "--tasks ");
  return error;
}

Result<std::string> wait_for_tasks(const BarrierOptions& options, const Context& context) {
  if (!context.variable(frameworks::kExecVariable).empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       "a barrier is for the processes of a task, and not for a command beside it "
                       "(gangrun exec), which would count as one of them"};
  }
  if (!wire::is_key(options.name)) {
    return base::invalid_argument(base::format("{} cannot be a barrier's name; allowed: {}",
                                               job::in_quotes(options.name), wire::kKeyForm));
  }
  Call call{.method = "POST", .path = "/barrier/" + options.name};
  GANGRUN_ASSIGN(call.wait, timeout_of(options.timeout));
  call.query = {{"timeout", seconds(call.wait)}};
  if (options.tasks) {
    GANGRUN_ASSIGN(const int tasks,
                   job::parse_count(*options.tasks, 1, wire::kMaxBarrierTasks).context("--tasks"));
    call.query["tasks"] = base::format("{}", tasks);
  }
  GANGRUN_ASSIGN(const std::string address, agent_address(context));
  const std::string process = context.variable("GANGRUN_PROCESS");
  if (!process.empty()) call.query["process"] = process;
  return in_words_of_flags(ask(address, std::move(call)));
}

}  // namespace

Result<ExitStatus> use_keys(const KvOptions& options, Context& context) {
  return tell(act(options, context), context);
}

Result<ExitStatus> wait_at_barrier(const BarrierOptions& options, Context& context) {
  return tell(wait_for_tasks(options, context), context);
}

}  // namespace gangrun::client
