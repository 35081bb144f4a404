#include "local/agent_book.h"

#include <algorithm>

#include "base/described_json.h"
#include "base/format.h"

namespace gangrun::local {

AgentBook::AgentBook(Options options, AgentBookOutput& output)
    : options_(std::move(options)), output_(output), hosts_(options_.hosts) {}

void AgentBook::start(const job::TaskId& task, int attempt, cluster::Launch launch,
                      base::Instant now) {
  const AgentKey key{task, attempt};
  entries_[key].waiting = std::move(launch);
  // While others wait, it is tried together with them.
  if (!look_again_at_) wait_for(try_start(key, now), now);
}

// Missing resources may come without anybody telling us: other jobs hold GPUs, a host comes back.
void AgentBook::start_waiting(base::Instant now) {
  std::vector<AgentKey> waiting;
  for (const auto& [key, entry] : entries_) {
    if (entry.waiting) waiting.push_back(key);
  }
  std::string reason;
  for (const AgentKey& key : waiting) {
    std::string missing = try_start(key, now);
    if (!missing.empty()) reason = std::move(missing);
  }
  wait_for(std::move(reason), now);
}

void AgentBook::wait_for(std::string missing, base::Instant now) {
  if (!missing.empty() && missing != waits_for_) output_.tell(gang::ClusterWaiting{missing});
  waits_for_ = std::move(missing);
  if (!waits_for_.empty()) look_again_at_ = now + kLookAgain;
}

// Why it cannot be started yet; empty where it was started, or has ended.
std::string AgentBook::try_start(const AgentKey& key, base::Instant now) {
  Entry& entry = entries_.at(key);
  const cluster::Launch& launch = *entry.waiting;
  auto host = hosts_.take(launch.wanted, launch.avoided,
                          [this](const std::string& name) { return output_.look_at(name); });
  if (!host.ok()) return host.error().message;
  const auto gpus = take_gpus(launch.resources.gpus);
  if (!gpus.ok()) {
    output_.let_go();
    hosts_.give_back(*host);
    return gpus.error().message;
  }
  const auto started = output_.spawn(key, launch, *gpus);
  output_.let_go();
  entry.host = *std::move(host);
  if (started.ok()) {
    entry.waiting.reset();
    if (*started) on_started(key, **started);
    return {};
  }
  forget(key);
  output_.tell(
      job::AgentEnded{key.first,
                      key.second,
                      {.reason = job::Reason::kCouldNotStart, .detail = started.error().message},
                      now});
  return {};
}

void AgentBook::on_started(const AgentKey& key, AgentMark mark) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  mark.host = found->second.host;
  output_.tell(cluster::AgentAllocated{
      key.first, key.second, mark.host.empty() ? options_.host : mark.host, base::to_json(mark)});
}

// All that are wanted, or none.
base::Result<std::vector<job::Gpu>> AgentBook::take_gpus(int wanted) {
  std::vector<job::Gpu> taken;
  for (const job::Gpu& gpu : options_.gpus) {
    if (static_cast<int>(taken.size()) == wanted) break;
    if (output_.hold(gpu)) taken.push_back(gpu);
  }
  if (static_cast<int>(taken.size()) == wanted) return taken;
  return base::unavailable(
      base::format("other jobs hold GPUs of this machine ({} in all)", options_.gpus.size()));
}

void AgentBook::adopt(const job::TaskId& task, int attempt, const base::Json& handle,
                      base::Instant now) {
  const AgentKey key{task, attempt};
  auto mark = base::from_json<AgentMark>(handle);
  const std::string host = mark.ok() ? std::exchange(mark->host, {}) : std::string();
  if (!mark.ok() || !output_.take_over(key, *mark)) {
    job::AgentEnded ended{
        task,
        attempt,
        {.reason = job::Reason::kAgentEnded, .detail = "it ended before a new master came"},
        now};
    if (mark.ok()) output_.add_last_words(*mark, ended);
    return output_.tell(std::move(ended));
  }
  Entry entry;
  if (hosts_.take_back(host)) entry.host = host;
  entries_[key] = std::move(entry);
}

void AgentBook::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace,
                     base::Instant now) {
  const AgentKey key{task, attempt};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  if (found->second.waiting) {
    forget(key);
    return output_.tell(job::AgentEnded{task, attempt, job::not_begun(), now});
  }
  if (grace.count() > 0) {
    output_.ask_to_end(key);
  } else {
    output_.end_at_once(key);
  }
  // Asking again never gives it more time.
  const base::Instant kill_at = now + grace + kStopAllowance;
  const auto known = kill_at_.try_emplace(key, kill_at).first;
  known->second = std::min(known->second, kill_at);
}

void AgentBook::on_ended(job::AgentEnded ended) {
  const AgentKey key{ended.task, ended.attempt};
  if (!entries_.contains(key)) return;
  forget(key);
  output_.tell(std::move(ended));
}

void AgentBook::forget(const AgentKey& key) {
  const auto found = entries_.find(key);
  hosts_.give_back(found->second.host);
  entries_.erase(found);
  kill_at_.erase(key);
}

std::optional<base::Instant> AgentBook::next_deadline() const {
  std::optional<base::Instant> next = look_again_at_;
  for (const auto& [key, at] : kill_at_) {
    if (!next || at < *next) next = at;
  }
  return next;
}

void AgentBook::on_time(base::Instant now) {
  std::vector<AgentKey> late;
  for (const auto& [key, at] : kill_at_) {
    if (at <= now) late.push_back(key);
  }
  for (const AgentKey& key : late) {
    kill_at_.erase(key);
    output_.kill(key);
  }
  if (!look_again_at_ || now < *look_again_at_) return;
  look_again_at_.reset();
  start_waiting(now);
}

}  // namespace gangrun::local
