#include "agents/call_back.h"

#include "base/check.h"
#include "wire/rest_client.h"

namespace gangrun::agents {

namespace {

// Another program has the agent's port by now, or the agent knows of a master after this one:
// asking again changes neither.
bool is_final(const base::Result<>& answer) {
  if (answer.ok()) return false;
  return answer.error().code == base::Code::kUnauthenticated ||
         answer.error().code == base::Code::kAlreadyExists;
}

}  // namespace

CallBack::CallBack(net::EventLoop& loop, base::Logger& logger,
                   std::function<bool(const job::TaskId&)> is_connected, base::Duration again)
    : loop_(loop),
      logger_(logger),
      is_connected_(std::move(is_connected)),
      again_(again),
      workers_(loop, kMaxCallsAtOnce) {}

CallBack::~CallBack() = default;

void CallBack::begin(Caller caller, std::map<job::TaskId, net::Endpoint> agents,
                     base::Instant until) {
  caller_ = std::move(caller);
  until_ = until;
  agents_ = std::move(agents);
  if (agents_.empty()) return;
  logger_.info("calls {} agents back, to {}", agents_.size(), job::to_string(caller_.address));
  for (const auto& [task, agent] : agents_) due_.emplace(loop_.now(), task);
  call_next();
}

void CallBack::call_next() {
  while (calls_ < kMaxCallsAtOnce && !due_.empty()) {
    const auto [at, task] = *due_.begin();
    if (at > loop_.now()) {
      timer_ = loop_.at(at, [this] { call_next(); });
      return;
    }
    due_.erase(due_.begin());
    if (is_connected_(task)) {
      agents_.erase(task);
    } else {
      call(task, agents_.at(task));
    }
  }
}

void CallBack::call(const job::TaskId& task, const net::Endpoint& agent) {
  ++calls_;
  const auto submitted = workers_.run(
      [agent, caller = caller_] {
        return wire::call_back(agent, caller.secret, caller.address, caller.attempt,
                               std::chrono::steady_clock::now() + kCallTimeout);
      },
      [this, task](const base::Result<>& answer) { on_answer(task, answer); });
  static_assert(net::kMaxQueuedJobs >= kMaxCallsAtOnce);
  GANGRUN_CHECK(submitted.ok(), job::to_string(task));
}

void CallBack::on_answer(const job::TaskId& task, const base::Result<>& answer) {
  --calls_;
  const base::Instant again = loop_.now() + again_;
  if (is_connected_(task)) {
    agents_.erase(task);
  } else if (is_final(answer) || again >= until_) {
    give_up(task, answer);
  } else {
    due_.emplace(again, task);
  }
  call_next();
}

void CallBack::give_up(const job::TaskId& task, const base::Result<>& answer) {
  logger_.warning("{} did not come back: {}", job::to_string(task),
                  answer.ok() ? "it was told where its master is" : answer.error().message);
  agents_.erase(task);
}

}  // namespace gangrun::agents
