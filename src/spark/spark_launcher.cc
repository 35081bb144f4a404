#include "spark/spark_launcher.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "cluster/place_part.h"
#include "net/hosts.h"

namespace gangrun::spark {

namespace {

job::Why agent_ended(std::string detail) {
  return {.reason = job::Reason::kAgentEnded, .detail = std::move(detail)};
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || net::is_loopback_address(host);
}

}  // namespace

std::string to_words(const wire::JoinRequest& who) {
  const std::string from = who.executor.empty() ? "" : base::format(" from {}", who.executor);
  return base::format("{}{} on {} (attempt {})", job::to_string(who.task), from, who.host,
                      who.attempt);
}

SparkLauncher::SparkLauncher(net::EventLoop& loop, std::string master_host)
    : loop_(loop), outbox_(loop), master_host_(std::move(master_host)) {}

void SparkLauncher::on_event(std::function<void(cluster::LaunchEvent)> listener) {
  outbox_.on_event(std::move(listener));
}

void SparkLauncher::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  Member& member = members_[task];
  member.attempt = attempt;
  if (member.state != State::kAwaited) {
    // Whoever brought the first one has gone on.
    return emit(
        job::AgentEnded{task, attempt, agent_ended("its executor comes only once"), loop_.now()});
  }
  member.agent_config = std::move(launch.agent_config);
  tell_waiting();
}

// There is no next master: the job ends with the one that the tasks came to.
void SparkLauncher::adopt(const job::TaskId& task, int attempt, const base::Json&) {
  emit(job::AgentEnded{task, attempt, agent_ended("it belongs to another master"), loop_.now()});
}

void SparkLauncher::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  const auto found = members_.find(task);
  if (found == members_.end() || found->second.attempt != attempt) return;
  Member& member = found->second;
  if (member.state == State::kAwaited) return end(task, "no executor has joined", loop_.now());
  if (grace.count() == 0) member.is_stopped = true;
}

wire::JoinAnswer SparkLauncher::join(const wire::JoinRequest& request) {
  using wire::JoinState;
  const auto found = members_.find(request.task);
  if (found == members_.end()) {
    return {JoinState::kUnknownTask,
            {},
            base::format("the job has no task {}", job::to_string(request.task))};
  }
  Member& member = found->second;
  if (member.state == State::kEnded && member.who.host.empty()) {
    return {JoinState::kJobHasEnded,
            {},
            base::format("{} is no longer expected", job::to_string(request.task))};
  }
  if (member.state != State::kAwaited) {
    const bool has_ended = member.state == State::kEnded;
    return {
        has_ended ? JoinState::kWasThere : JoinState::kThere,
        {},
        base::format("{} came first{}", to_words(member.who), has_ended ? ", and has ended" : "")};
  }
  member.state = State::kJoined;
  member.who = request;
  member.limit = loop_.after(kFirstReport, [this, task = request.task] {
    end(task,
        base::format("it has joined, but did not report within {}", base::to_words(kFirstReport)),
        loop_.now());
  });
  emit(cluster::AgentAllocated{request.task,
                               member.attempt,
                               request.host,
                               {{"executor", request.executor}, {"attempt", request.attempt}}});
  tell_waiting();
  remark_on_loopback();
  base::Json config = std::exchange(member.agent_config, base::Json());
  cluster::set(
      {.host = request.host, .host_reason = request.host_reason, .master_host = master_host_},
      config);
  return {JoinState::kJoined, std::move(config), {}};
}

// The place gives them their addresses, and whether two of them are one machine is not known here.
void SparkLauncher::remark_on_loopback() {
  const wire::JoinRequest* near = nullptr;
  const wire::JoinRequest* far = nullptr;
  for (const auto& [task, member] : members_) {
    if (member.who.host.empty()) continue;
    (is_loopback(member.who.host) ? near : far) = &member.who;
  }
  if (near == nullptr || far == nullptr || std::exchange(has_remarked_, true)) return;
  emit(cluster::Remark{
      base::format("{} is known to the others by the loopback address {}{}, which {} on {} "
                   "cannot reach from another machine",
                   job::to_string(near->task), near->host,
                   near->host_reason.empty() ? "" : ", " + near->host_reason,
                   job::to_string(far->task), far->host)});
}

bool SparkLauncher::on_session_open(const job::TaskId& task) {
  const auto found = members_.find(task);
  if (found == members_.end()) return false;
  Member& member = found->second;
  if (member.state == State::kJoined || member.state == State::kBroken) {
    member.state = State::kHere;
    member.limit.reset();
  }
  return member.state == State::kHere && !member.is_stopped;
}

void SparkLauncher::on_session_lost(const job::TaskId& task,
                                    const std::optional<std::string>& farewell) {
  const auto found = members_.find(task);
  if (found == members_.end() || found->second.state != State::kHere) return;
  const base::Instant now = loop_.now();
  if (farewell) return end(task, *farewell, now);
  Member& member = found->second;
  member.state = State::kBroken;
  member.broken_at = now;
  member.limit = loop_.after(kBrokenConnection, [this, task] {
    end(task,
        base::format("its connection broke and did not come back within {}",
                     base::to_words(kBrokenConnection)),
        members_.at(task).broken_at);
  });
}

void SparkLauncher::end(const job::TaskId& task, std::string detail, base::Instant at) {
  Member& member = members_.at(task);
  member.state = State::kEnded;
  member.agent_config = base::Json();
  emit(job::AgentEnded{task, member.attempt, agent_ended(std::move(detail)), at});
  // Last: it may be what calls us.
  net::Timer ended = std::move(member.limit);
}

// Many come in one turn of the loop.
void SparkLauncher::tell_waiting() {
  if (waiting_timer_.pending()) return;
  waiting_timer_ =
      loop_.after(base::Duration(0), [this] { emit(gang::ClusterWaiting{waiting_words()}); });
}

std::string SparkLauncher::waiting_words() const {
  std::vector<std::string> missing;
  std::vector<std::string> here;
  for (const auto& [task, member] : members_) {
    if (member.state == State::kAwaited) {
      missing.push_back(job::to_string(task));
    } else if (!member.who.host.empty()) {
      here.push_back(to_words(member.who));
    }
  }
  if (missing.empty()) return {};
  std::string words =
      base::format("no executor has joined for {}; {} of {} have joined",
                   base::first_and_more(missing, kMaxNamed), here.size(), members_.size());
  if (!here.empty()) words += base::format(": {}", base::first_and_more(here, kMaxNamed));
  return words;
}

}  // namespace gangrun::spark
