#include "agent/key_requests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "job/spec.h"
#include "job/task_id.h"

namespace gangrun::agent {

namespace {

using wire::KeyAction;

constexpr std::string_view kKeys = "/kv";
constexpr std::string_view kBarriers = "/barrier/";
constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kGone = 410;
constexpr int kTooLarge = 413;
constexpr int kTimeIsOver = 504;
constexpr std::size_t kMaxNamedTasks = 20;

base::Result<std::chrono::milliseconds> seconds_in(std::string_view text, std::string_view name) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const double most = std::chrono::duration<double>(wire::kMaxKeyWait).count();
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
      seconds > most) {
    return base::invalid_argument(
        base::format("{}={}: must be seconds, from 0 to {}", name, base::printable(text), most));
  }
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

// The number that stands there, or the default where nothing does.
base::Result<int> number_in(const net::HttpRequest& request, const std::string& name, int least,
                            int most, int otherwise) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return otherwise;
  const auto number = base::parse_integer(found->second);
  if (number && *number >= least && *number <= most) return static_cast<int>(*number);
  return base::invalid_argument(base::format("{}={}: must be a number from {} to {}", name,
                                             base::printable(found->second), least, most));
}

base::Result<> only(const net::HttpRequest& request, const std::vector<std::string>& allowed) {
  if (!request.repeated.empty()) {
    return base::invalid_argument(base::format("{}: the parameter is given twice",
                                               base::printable(request.repeated.front())));
  }
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(allowed, name) != allowed.end()) continue;
    const std::string all =
        allowed.empty() ? "none" : base::format("{}", base::join(allowed, ", "));
    return base::invalid_argument(
        base::format("{}: there is no such parameter; allowed: {}", base::printable(name), all));
  }
  return {};
}

base::Error not_a_key(std::string_view text) {
  const std::string shown = text.empty() ? "''" : base::printable(text);
  return base::invalid_argument(base::format("{}: must be {}", shown, wire::kKeyForm));
}

bool is_list(std::string_view path) { return path == kKeys || path == "/kv/"; }

// A HEAD is a GET whose answer has no body.
bool is_get(const net::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

// The methods of what is at a path; none: nothing is.
std::vector<std::string> methods_at(std::string_view path) {
  if (is_list(path)) return {"GET", "HEAD"};
  if (path.starts_with("/kv/")) return {"GET", "HEAD", "PUT", "DELETE"};
  if (path.starts_with(kBarriers)) return {"POST"};
  return {};
}

bool is_other_method(const net::HttpRequest& request) {
  const auto methods = methods_at(request.path);
  return !methods.empty() && std::ranges::find(methods, request.method) == methods.end();
}

base::Result<KeyRequest> list_request(const net::HttpRequest& request) {
  GANGRUN_TRY(only(request, {"prefix", "after"}));
  wire::KeyQuestion question{.action = KeyAction::kList};
  for (const auto& [name, text] : request.query) {
    if (!text.empty() && !wire::is_key(text)) return not_a_key(text);
    (name == "prefix" ? question.key : question.after) = text;
  }
  return KeyRequest{.key = std::move(question)};
}

base::Result<KeyRequest> one_key_request(const net::HttpRequest& request, std::string key,
                                         const KeyRun& run) {
  if (!wire::is_key(key)) return not_a_key(key);
  KeyRequest asked{.key = wire::KeyQuestion{.key = std::move(key), .attempt = run.attempt}};
  wire::KeyQuestion& question = *asked.key;
  if (is_get(request)) {
    GANGRUN_TRY(only(request, {"wait"}));
    const auto wait = request.query.find("wait");
    question.action = wait == request.query.end() ? KeyAction::kGet : KeyAction::kWait;
    if (wait != request.query.end()) {
      GANGRUN_ASSIGN(asked.wait, seconds_in(wait->second, wait->first));
    }
    return asked;
  }
  GANGRUN_TRY(only(request, {}));
  if (request.method == "PUT") {
    question.action = KeyAction::kPut;
    if (request.body.size() > wire::kMaxValueBytes) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{}: the value has {} bytes; allowed: {}", question.key,
                                      request.body.size(), wire::kMaxValueBytes)};
    }
    question.value = request.body;
    return asked;
  }
  question.action = KeyAction::kDelete;
  return asked;
}

base::Result<KeyRequest> barrier_request(const net::HttpRequest& request, std::string name,
                                         const KeyRun& run) {
  if (!wire::is_key(name)) return not_a_key(name);
  GANGRUN_TRY(only(request, {"tasks", "timeout", "process"}));
  KeyRequest asked{.barrier = wire::BarrierQuestion{.name = std::move(name),
                                                    .generation = run.generation,
                                                    .processes = run.processes},
                   .wait = kDefaultKeyWait};
  GANGRUN_ASSIGN(asked.barrier->tasks,
                 number_in(request, "tasks", 1, wire::kMaxBarrierTasks, run.tasks));
  // So many could never come, and a barrier belongs to one start of the gang.
  if (asked.barrier->tasks > run.all) {
    return base::invalid_argument(base::format("tasks={}: the job has {}", asked.barrier->tasks,
                                               base::count_text(run.all, "task")));
  }
  // A number that is that of all tasks says the same, where all are tracked.
  const bool is_of_all = run.tasks == run.all && asked.barrier->tasks == run.all;
  asked.barrier->tracked = !run.tracked.empty() && (!request.query.contains("tasks") || is_of_all);
  asked.barrier->of = asked.barrier->tracked ? run.tasks : run.all;
  GANGRUN_ASSIGN(asked.barrier->process, number_in(request, "process", 0, run.processes - 1, 0));
  if (const auto timeout = request.query.find("timeout"); timeout != request.query.end()) {
    GANGRUN_ASSIGN(asked.wait, seconds_in(timeout->second, timeout->first));
  }
  return asked;
}

net::HttpResponse json_response(const base::Json& json) {
  net::HttpResponse response;
  response.body = base::dump_json(json) + "\n";
  return response;
}

std::vector<job::TaskId> names_of(const std::vector<KeyRun::Group>& groups) {
  std::vector<job::TaskId> names;
  for (const auto& [type, count, members] : groups) {
    for (int place = 0; place < count; ++place) {
      names.push_back({type, members.empty() ? place : members[static_cast<std::size_t>(place)]});
    }
  }
  return names;
}

// "; missing: worker:2, worker:3 (1 of 2 processes has come) and 5 more", or, where not all of them
// are needed, "; 1 more of these is needed: …"; and who is not missing but over.
std::string who_has_not_come(const wire::BarrierQuestion& question,
                             const wire::BarrierAnswer& answer, const KeyRun& run) {
  const std::ptrdiff_t needed = question.tasks - std::ssize(answer.come);
  if (!question.tracked && needed <= 0) return {};
  std::vector<job::TaskId> awaited = names_of(run.tracked);
  if (!question.tracked) {
    const auto others = names_of(run.others);
    awaited.insert(awaited.end(), others.begin(), others.end());
  }
  std::map<job::TaskId, int> partly;
  for (const auto& [task, processes] : answer.partly) partly[task] = processes;
  std::vector<std::string> missing;
  std::vector<std::string> ended;
  const std::set<job::TaskId> come(answer.come.begin(), answer.come.end());
  const std::set<job::TaskId> gone(answer.gone.begin(), answer.gone.end());
  for (const job::TaskId& task : awaited) {
    if (come.contains(task) || partly.contains(task)) continue;
    (gone.contains(task) ? ended : missing).push_back(job::to_string(task));
  }
  for (const auto& [task, processes] : partly) {
    missing.push_back(base::format("{} ({} of {} processes {} come)", job::to_string(task),
                                   processes, run.processes, processes == 1 ? "has" : "have"));
  }
  const std::string cannot =
      ended.empty() ? std::string()
                    : base::format("; {} {} ended", base::first_and_more(ended, kMaxNamedTasks),
                                   ended.size() == 1 ? "has" : "have");
  if (missing.empty()) return cannot;
  const std::string names = base::first_and_more(missing, kMaxNamedTasks);
  if (question.tracked || std::ssize(missing) <= needed) {
    return base::format("; missing: {}{}", names, cannot);
  }
  return base::format("; {} more of these {} needed: {}{}", needed, needed == 1 ? "is" : "are",
                      names, cannot);
}

}  // namespace

KeyRun key_run_of(const wire::AgentConfig& config, const job::ClusterSpec& spec) {
  KeyRun run{.attempt = config.attempt,
             .generation = spec.generation,
             .processes = config.spec.find(config.task.type)->processes,
             .tasks = 0,
             .all = 0};
  for (const job::TaskSpec& task : config.spec.tasks) {
    const auto addresses = spec.tasks.find(task.type);
    // Sidecars are in no cluster spec.
    const int count =
        addresses == spec.tasks.end() ? task.instances : static_cast<int>(addresses->second.size());
    run.all += count;
    const auto members = spec.members.find(task.type);
    const KeyRun::Group group{task.type, count,
                              members == spec.members.end() ? std::vector<int>() : members->second};
    const bool is_tracked = job::effective_policy(config.spec, task) == job::Policy::kTracked;
    (is_tracked ? run.tracked : run.others).push_back(group);
    if (is_tracked) run.tasks += count;
  }
  if (run.tasks == 0) run.tasks = 1;
  return run;
}

base::Result<KeyRequest> key_request(const net::HttpRequest& request, const KeyRun& run) {
  const std::string_view path = request.path;
  if (is_other_method(request)) {
    return base::invalid_argument(
        base::format("{} {}: the methods here are {}", base::printable(request.method),
                     base::printable(path), base::join(methods_at(path), ", ")));
  }
  if (is_list(path)) return list_request(request);
  if (path.starts_with("/kv/")) {
    return one_key_request(request, request.path.substr(kKeys.size() + 1), run);
  }
  if (path.starts_with(kBarriers)) {
    return barrier_request(request, request.path.substr(kBarriers.size()), run);
  }
  return base::not_found(
      base::format("{}: there are /kv, /kv/KEY and /barrier/NAME", base::printable(path)));
}

net::HttpResponse key_response(const KeyRequest& request, const wire::KeyAnswer& answer) {
  const wire::KeyQuestion& question = *request.key;
  if (question.action == KeyAction::kList) {
    return json_response(base::to_json(wire::ListedKeys{answer.keys, answer.more}));
  }
  if (!answer.found && question.action == KeyAction::kWait) {
    return key_error(kTimeIsOver, base::format("no task has put {} within {}", question.key,
                                               base::to_words(request.wait)));
  }
  if (!answer.found) {
    return key_error(kNotFound, base::format("there is no key {}", question.key));
  }
  net::HttpResponse response;
  response.status = kOk;
  response.content_type = "application/octet-stream";
  response.body = answer.value;
  return response;
}

net::HttpResponse barrier_response(const KeyRequest& request, const wire::BarrierAnswer& answer,
                                   const KeyRun& run) {
  if (answer.is_complete) return json_response({{"round", answer.round}});
  if (!answer.ended.empty()) {
    return key_error(
        kGone, base::format("barrier {} waits for {}, and so many cannot come any more: {}",
                            request.barrier->name, base::count_text(request.barrier->tasks, "task"),
                            answer.ended));
  }
  std::string sentence =
      base::format("barrier {}: {} of {} had come after {}{}", request.barrier->name,
                   answer.come.size(), base::count_text(request.barrier->tasks, "task"),
                   base::to_words(request.wait), who_has_not_come(*request.barrier, answer, run));
  if (std::ssize(answer.come) >= request.barrier->tasks) {
    sentence += ", but not all at once: some had given up before others came";
  }
  return key_error(kTimeIsOver, sentence);
}

net::HttpResponse key_refusal(const net::HttpRequest& request, const base::Error& error) {
  if (is_other_method(request)) {
    net::HttpResponse response = key_error(kMethodNotAllowed, error.message);
    response.headers.add("Allow", base::format("{}", base::join(methods_at(request.path), ", ")));
    return response;
  }
  const bool is_too_large = error.code == base::Code::kResourceExhausted;
  return key_error(is_too_large ? kTooLarge : net::status_of(error.code), error.message);
}

net::HttpResponse key_error(int status, std::string_view sentence) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = base::format("{}\n", sentence);
  return response;
}

}  // namespace gangrun::agent
