#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "ssh/node/keeper_internal.h"

// How a job ends on its host, and what is kept of it there.
namespace gangrun::ssh::node {

namespace {

using base::Result;

// The time that killed processes have to end before the job's folder is removed.
constexpr std::chrono::seconds kKilledLimit(2);
// And a client to take what is said last.
constexpr std::chrono::seconds kLastWordLimit(2);

bool is_writable(int fd, base::Duration limit) {
  pollfd entry = {fd, POLLOUT, 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  return ms > 0 && ::poll(&entry, 1, static_cast<int>(ms)) > 0;
}

}  // namespace

// Removes the files of a job that has ended, for a client that has no other business here.
Result<> Keeper::remove(const ssh::RemoveMessage& message) {
  if (job_) return base::invalid_argument("the job has begun already");
  GANGRUN_TRY(check_place(options_));
  const auto removal =
      RunFolder::remove_all(options_.folder, message.job_id, clock_.now() + kKilledLimit);
  tell(ssh::RemovedMessage{removal.folders, removal.left});
  return {};
}

Result<> Keeper::bring(const ssh::BringMessage& message) {
  if (!message.run_folder.empty()) {
    GANGRUN_TRY(open_kept(message.run_folder));
    if (!folder_) {
      ssh::BroughtMessage gone;
      gone.is_gone = true;
      tell(gone);
      return {};
    }
  }
  outputs_.emplace(*work_, [this](const ssh::Frame& frame) { send(frame); });
  outputs_->begin(message);
  outputs_->send(kMaxWaiting);
  return {};
}

// Brings the files of a job that has ended, for a client that could not have them at its end.
Result<> Keeper::open_kept(const std::string& run_folder) {
  if (job_ || folder_) return base::invalid_argument("the job has begun already");
  GANGRUN_TRY(check_place(options_));
  GANGRUN_ASSIGN(folder_, RunFolder::open_kept(options_.folder, run_folder));
  if (!folder_) return {};
  is_of_the_past_ = true;
  work_.emplace(folder_->path());
  return {};
}

// The client is done with the job. It kills what is left, as its own machine's cluster would. What
// cannot be removed: empty where nothing is to be there any more.
std::string Keeper::end(ssh::Kept kept) {
  has_client_ = false;
  launcher_.reset();
  relay_entrance_.reset();
  relay_.reset();
  loop_.stop();
  if (is_of_the_past_ && kept == ssh::Kept::kWritten) return {};
  const bool is_kept =
      kept == ssh::Kept::kFolder || (kept == ssh::Kept::kWritten && work_ && work_->has_new());
  if (folder_ && is_kept) folder_->keep(kept == ssh::Kept::kFolder);
  if (!folder_ || is_kept) return {};
  const auto removed = folder_->remove(clock_.now() + kKilledLimit);
  return removed.ok() ? std::string() : removed.error().message;
}

// The end of the connection does not tell it: another process of the login may hold that.
void Keeper::say_last(const ssh::KeeperMessage& message) {
  out_ += ssh::to_bytes(ssh::MessageFrame{ssh::to_json(message)});
  const base::Instant deadline = clock_.now() + kLastWordLimit;
  while (!out_.empty() && is_writable(STDOUT_FILENO, deadline - clock_.now())) {
    const ssize_t put = ::write(STDOUT_FILENO, out_.data(), out_.size());
    if (put < 0 && errno != EAGAIN && errno != EINTR) return;
    if (put > 0) out_.erase(0, static_cast<std::size_t>(put));
  }
}

void Keeper::lose_client(bool is_link_whole) {
  if (has_client_ && is_link_whole) say_last(ssh::LeavingMessage{});
  const bool outlives = !job_ || job_->outlives_us;
  if (outlives || !is_link_whole) lines_kept_until_ = clock_.now() + kLinesKept;
  let_go();
  // It has died, and with it what must not outlive it. Where the link is cut it may come back.
  if (is_link_whole && !outlives) {
    for (const auto& [number, agent] : agents_) {
      if (agent.has_ended) continue;
      launcher_->stop(agent.task, agent.attempt, std::chrono::milliseconds(0));
    }
  }
  forget_told();
}

// Whoever comes next may have the job; the agents that are ours to wait for may not.
void Keeper::let_go() {
  if (!std::exchange(has_client_, false)) return;
  readable_.reset();
  writable_.reset();
  silence_.reset();
  out_.clear();
  relay_entrance_.reset();
  relay_.reset();
  // An agent that waits for its GPUs is not known to have started: the client starts it again.
  for (const auto& [number, agent] : agents_) {
    if (agent.is_allocated) continue;
    launcher_->stop(agent.task, agent.attempt, std::chrono::milliseconds(0));
  }
  if (folder_) folder_->give_up();
  // ssh waits for the end of these.
  const base::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)::dup2(null.get(), fd);
  caretakers_.link.reset();
}

void Keeper::leave_if_done() {
  if (!agents_.empty()) return;
  launcher_.reset();
  // Files that were kept before stay as they were.
  if (!is_of_the_past_ && folder_ && folder_->take_back()) {
    // Nobody is there to bring it to; a client that comes again finds it.
    const bool has_new = work_->has_new();
    if (has_new) folder_->leave();
    // Nobody is there to hear of what cannot be removed.
    if (!has_new) (void)folder_->remove(clock_.now() + kKilledLimit);
  }
  loop_.stop();
}

}  // namespace gangrun::ssh::node
