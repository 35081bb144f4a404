#include "client/task_keys.h"

#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "net/fetch.h"

namespace gangrun::client {

namespace {

constexpr const char* kVariable = "GANGRUN_KV";
// An agent may take so much beyond the time of a request, while the job has no master.
constexpr std::chrono::seconds kAllowance(70);
constexpr int kGone = 410;
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20U;

std::string seconds(std::chrono::milliseconds time) {
  return base::format("{:.3f}", std::chrono::duration<double>(time).count());
}

}  // namespace

base::Result<TaskKeys> TaskKeys::of(const Context& context) {
  const std::string address = context.variable(kVariable);
  if (!address.empty()) return TaskKeys(address, context.variable("GANGRUN_PROCESS"));
  return base::Error{
      base::Code::kFailedPrecondition,
      context.variable("GANGRUN_TASK_TYPE").empty()
          ? base::format("{} is not set: this command works inside a task of gangrun", kVariable)
          : base::format("{} is not set: this task has no agent that could be asked (on "
                         "Kubernetes none has)",
                         kVariable)};
}

base::Result<std::string> TaskKeys::ask(Call call) const {
  net::FetchRequest request;
  request.method = std::move(call.method);
  std::string target = net::make_target(call.path, call.query);
  request.url = base::format("http://{}{}", address_, target);
  request.body = std::move(call.body);
  net::FetchOptions options;
  options.deadline = std::chrono::steady_clock::now() + call.wait + kAllowance;
  options.idle_limit = call.wait + kAllowance;
  options.max_response_bytes = kMaxAnswerBytes;
  GANGRUN_ASSIGN(auto response, net::fetch(request, options));
  if (response.status == 200) return std::move(response.body);
  if (response.status == kGone) return base::not_found(std::string(base::trim(response.body)));
  return base::Error{net::code_of_status(response.status), std::string(base::trim(response.body))};
}

base::Result<> TaskKeys::put(const std::string& key, std::string value) const {
  const auto done = ask({.method = "PUT", .path = "/kv/" + key, .body = std::move(value)});
  return done.ok() ? base::Result<>() : base::Result<>(done.error());
}

base::Result<std::string> TaskKeys::get(const std::string& key) const {
  return ask({.path = "/kv/" + key});
}

base::Result<std::string> TaskKeys::wait(const std::string& key,
                                         std::chrono::milliseconds timeout) const {
  return ask({.path = "/kv/" + key, .query = {{"wait", seconds(timeout)}}, .wait = timeout});
}

base::Result<> TaskKeys::erase(const std::string& key) const {
  const auto done = ask({.method = "DELETE", .path = "/kv/" + key});
  return done.ok() ? base::Result<>() : base::Result<>(done.error());
}

base::Result<std::vector<std::string>> TaskKeys::list(const std::string& prefix) const {
  std::vector<std::string> keys;
  for (bool more = true; more;) {
    Call call{.path = "/kv", .query = {{"prefix", prefix}}};
    if (!keys.empty()) call.query["after"] = keys.back();
    GANGRUN_ASSIGN(const std::string text, ask(std::move(call)));
    GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxAnswerBytes));
    GANGRUN_ASSIGN(const auto next, base::json_member<std::vector<std::string>>(json, "keys"));
    keys.insert(keys.end(), next.begin(), next.end());
    GANGRUN_ASSIGN(more, base::json_member<bool>(json, "more"));
    if (next.empty()) break;
  }
  return keys;
}

base::Result<> TaskKeys::barrier(const std::string& name, std::optional<int> tasks,
                                 std::chrono::milliseconds timeout) const {
  Call call{.method = "POST",
            .path = "/barrier/" + name,
            .query = {{"timeout", seconds(timeout)}},
            .wait = timeout};
  if (tasks) call.query["tasks"] = base::format("{}", *tasks);
  if (!process_.empty()) call.query["process"] = process_;
  const auto done = ask(std::move(call));
  return done.ok() ? base::Result<>() : base::Result<>(done.error());
}

}  // namespace gangrun::client
