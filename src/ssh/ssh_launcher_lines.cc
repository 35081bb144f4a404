#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "ssh/log_room.h"
#include "ssh/ssh_launcher_internal.h"

// The lines of tasks, and those of them that come when the tasks have ended already.
namespace gangrun::ssh {

namespace {

// The part that is kept of what a host's agents say of themselves.
constexpr std::uint64_t kMaxAgentLog = std::uint64_t{2} << 20U;
// Lines that are missing are waited for as long as some come, and so long in silence.
constexpr std::chrono::seconds kLinesSilence(30);
// More than a keeper of ours sends before it gets an acknowledgement.
constexpr std::uint64_t kMaxUntaken = std::uint64_t{4} << 20U;
// How many tasks a sentence names.
constexpr std::size_t kMaxNamed = 5;
// How often it is looked whether there is room again: nobody tells.
constexpr std::chrono::seconds kLookForRoom(1);
// How much has come before the keeper is told so: it has four times that on the way, or more.
constexpr std::uint64_t kTellTaken = std::uint64_t{4} << 10U;

base::Result<> put_at(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  GANGRUN_ASSIGN(const base::UniqueFd file, base::open_file(path, O_WRONLY | O_CREAT, 0600));
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return base::from_errno(errno, base::format("write {}", path));
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

// Longer lines of agents come as several.
constexpr std::size_t kMaxLine = std::size_t{16} << 10U;

// The words of agents on a host about themselves, as lines that are printable whoever is that host;
// `part` is what has come of the last one.
std::string printable_lines(std::string& part, std::string_view bytes) {
  std::string lines;
  for (const char letter : bytes) {
    if (letter != '\n') part += letter;
    if (letter != '\n' && part.size() < kMaxLine) continue;
    lines += base::printable(part) + '\n';
    part.clear();
  }
  return lines;
}

base::Result<> append(const std::string& path, std::string_view bytes) {
  GANGRUN_ASSIGN(const base::UniqueFd file,
                 base::open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600));
  return base::write_all(file.get(), bytes, path);
}

}  // namespace

// Lines that nobody wants are acknowledged, too: or else its keeper would send no more of the rest.
void SshLauncher::on_log(Host& host, const LogFrame& frame) {
  const bool is_wanted = keep_lines(host, frame);
  heard_lines(host, frame.content.size());
  if (is_wanted && !tails_.empty()) look_at_tails();
}

// False: they are none of a task that is known, or too many.
bool SshLauncher::keep_lines(Host& host, const LogFrame& frame) {
  base::Result<> kept;
  std::string path = options_.master_log;
  if (frame.agent == 0) {
    const std::uint64_t end = std::min(frame.offset, kMaxAgentLog) + frame.content.size();
    if (end > kMaxAgentLog && !std::exchange(host.is_agent_log_full, true)) {
      logger_.warning("host {}: of what its agents say of themselves only the first {} are kept",
                      host.name(), base::size_text(kMaxAgentLog));
    }
    if (end <= host.agent_log_seen || end > kMaxAgentLog) return false;
    // Another keeper begins again.
    const std::uint64_t known = std::max(host.agent_log_seen, frame.offset) - frame.offset;
    host.agent_log_seen = end;
    kept = append(path, printable_lines(host.agent_log_part, frame.content.substr(known)));
  } else {
    Agent* agent = find(host, frame.agent);
    const auto tail = tails_.find(frame.agent);
    if (agent == nullptr && tail != tails_.end() && tail->second->host == &host) {
      agent = tail->second.get();
    }
    if (agent == nullptr) return false;
    path = log_path(agent->task, frame.is_error);
    Agent::Log& log = agent->logs[frame.is_error];
    // Or else a few bytes would make a file of any size.
    if (frame.offset > log.told) {
      host.link->give_up("leaves out a part of a log");
      return false;
    }
    const std::uint64_t end = frame.offset + frame.content.size();
    if (agent->is_superseded) agent->late_bytes += beyond(log.told, end);
    log.told = std::max(log.told, end);
    if (agent->is_superseded) return true;
    times_.try_emplace(path, path)
        .first->second.note(log.base + frame.offset, frame.content, base::SystemClock().wall_now());
    kept = put_at(path, log.base + frame.offset, frame.content);
  }
  if (!kept.ok() && broken_logs_.insert(path).second) {
    const std::string sentence =
        base::format("lines of tasks on host {} could not be kept, and are lost: {}", host.name(),
                     kept.error().message);
    logger_.error("{}", sentence);
    emit(cluster::Remark{sentence});
  }
  return true;
}

// Once for each agent.
void SshLauncher::on(Host& host, const LogsGoneMessage& message) {
  if (message.is_folder_gone && std::exchange(host.is_folder_gone, true)) {
    return refuse_message(host, "logs_gone");
  }
  std::vector<std::string> tasks;
  for (const std::uint32_t number : message.agents) {
    Agent* agent = find(host, number);
    if (agent == nullptr || std::exchange(agent->are_logs_gone, true)) continue;
    tasks.push_back(base::format("{} after the first {} bytes", job::to_string(agent->task),
                                 agent->logs[0].told + agent->logs[1].told));
  }
  if (tasks.empty() && !message.is_folder_gone) return;
  std::string sentence =
      message.is_folder_gone
          ? base::format("host {}'s folder {} was removed while the job ran", host.name(),
                         host.folder_path)
          : base::format("logs on host {} were removed or cut while the job ran", host.name());
  if (!tasks.empty()) {
    sentence += base::format("; lines of {} are missing", base::first_and_more(tasks, kMaxNamed));
  }
  logger_.error("{}", sentence);
  emit(cluster::Remark{std::move(sentence)});
}

void SshLauncher::heard_lines(Host& host, std::uint64_t bytes) {
  host.log_bytes += bytes;
  host.all_log_bytes += bytes;
  all_log_bytes_ += bytes;
  if (host.log_bytes > kMaxUntaken) return host.link->give_up("sends more of its logs than it may");
  take_lines(host);
}

// A keeper sends no more before it is told that what it has sent was taken. So where there is no
// room, lines wait on their host.
void SshLauncher::take_lines(Host& host) {
  if (host.log_bytes < kTellTaken) return;
  const auto room = cluster::disk_room(options_.log_folder);
  // If it cannot be told, writing will tell.
  if (!room.ok() || may_send_more(*room, host.all_log_bytes, all_log_bytes_, hosts_.size())) {
    return host.link->send(LogsTakenMessage{std::exchange(host.log_bytes, 0)});
  }
  if (!std::exchange(host.has_said_room, true)) {
    emit(cluster::Remark{
        base::format("this machine has {} left for logs: more lines of the tasks on host {} "
                     "wait there until there is room",
                     base::size_text(room->free), host.name())});
  }
  room_look_ = loop_.after(kLookForRoom, [this] {
    for (const auto& each : hosts_) take_lines(*each);
  });
}

// Lines in the agent's logs that have not come yet are awaited, though the agent has ended.
void SshLauncher::keep_tail(Host& host, Agent& agent, const EndedMessage& end) {
  agent.logs[0].size = end.out_size;
  agent.logs[1].size = end.error_size;
  if (agent.is_told()) return tell_late(agent);
  auto tail = std::make_unique<Agent>(agent);
  tail->host = &host;
  tails_[agent.number] = std::move(tail);
  look_at_tails();
}

void SshLauncher::tell_late(const Agent& agent) {
  if (agent.late_bytes == 0) return;
  emit(cluster::Remark{
      base::format("{} bytes that {} wrote on host {} came when its next run had begun, and are "
                   "not in its log",
                   agent.late_bytes, job::to_string(agent.task), agent.host->name())});
}

// Nobody knows how much they were.
void SshLauncher::tell_lost_lines(const Host& host, const std::vector<Key>& lost) {
  std::vector<std::string> tasks;
  for (const Key& key : lost) {
    const Agent& agent = *agents_.at(key);
    if (agent.state == Agent::State::kRuns && !agent.are_logs_gone) {
      tasks.push_back(job::to_string(agent.task));
    }
  }
  if (tasks.empty()) return;
  emit(cluster::Remark{
      base::format("what {} wrote on host {} after it was not reached any more is lost",
                   base::first_and_more(tasks, kMaxNamed), host.name())});
}

// Each byte that comes gives it more time.
void SshLauncher::look_at_tails() {
  const auto is_whole = [this](const auto& entry) {
    const Agent& tail = *entry.second;
    if (!tail.is_told()) return false;
    tell_late(tail);
    return true;
  };
  const bool is_changed = std::erase_if(tails_, is_whole) > 0;
  if (tails_.empty()) return tails_over();
  lines_limit_ = loop_.after(kLinesSilence, [this] { give_up_tails(nullptr); });
  if (is_changed) look_for_places();
}

// Those of one host, or all.
void SshLauncher::give_up_tails(const Host* only) {
  for (auto next = tails_.begin(); next != tails_.end();) {
    const Agent* tail = next->second.get();
    if (only != nullptr && tail->host != only) {
      ++next;
      continue;
    }
    const std::uint64_t out = tail->logs[0].missing();
    // A host may say any size.
    const std::uint64_t missing = out + std::min(tail->logs[1].missing(), ~out);
    emit(cluster::Remark{
        base::format("the last {} bytes that {} wrote on host {} have not come, and are lost",
                     missing, job::to_string(tail->task), tail->host->name())});
    tell_late(*tail);
    next = tails_.erase(next);
  }
  if (tails_.empty()) tails_over();
}

void SshLauncher::tails_over() {
  lines_limit_.reset();
  if (std::exchange(are_lines_awaited_, false)) bring_outputs();
  look_for_places();
}

bool SshLauncher::has_tail(const job::TaskId& task) const {
  return std::ranges::any_of(tails_, [&](const auto& entry) { return entry.second->task == task; });
}

}  // namespace gangrun::ssh
