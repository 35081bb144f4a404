#include "ssh/node/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/strings.h"
#include "net/digests.h"
#include "process/agent_processes.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"
#include "process/wait_for.h"
#include "ssh/node/work_folder.h"

namespace gangrun::ssh::node {

namespace {

namespace fs = std::filesystem;

// An older keeper gives the lock up in no time, and killed agents end as fast.
constexpr std::chrono::milliseconds kLookAgain(20);
// The time that a killed keeper may take to be gone.
constexpr std::chrono::seconds kKilledHolderLimit(2);
constexpr auto kKept = std::chrono::hours(24);
constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un{}.sun_path) - 1;
constexpr std::size_t kMaxHolderBytes = 1024;
// The longest part of a host's name in that of an agent, which is a part of a cgroup's name.
constexpr std::size_t kMaxHostInName = 64;
constexpr std::size_t kHashDigits = 16;
// The folder of the socket if the folder itself is too deep.
constexpr const char* kSocketFolder = "/tmp/gangrun-XXXXXX";

constexpr const char* kLock = "/lock";
// In a folder that stays until it is removed, and in one that stays for a day.
constexpr const char* kKeptMark = "/kept";
constexpr const char* kLeftMark = "/left";
// In one that is being removed: a part of it may be gone, so no keeper takes it.
constexpr const char* kGoingMark = "/going";

// The text in the lock: "PID TICKS MACHINE HOST", the host as its user calls it.
struct Holder {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string machine;
  std::string host;
};

std::string this_machine() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

base::UniqueFd open_lock(const std::string& path, int flags) {
  return base::UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600));
}

bool try_lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

// Whether it was not removed meanwhile by who had it.
bool is_at(const std::string& path, int fd) {
  struct stat own {};
  struct stat there {};
  return ::fstat(fd, &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

std::optional<Holder> holder_of(int fd) {
  char text[kMaxHolderBytes + 1] = {};
  if (::pread(fd, text, kMaxHolderBytes, 0) <= 0) return std::nullopt;
  const auto words = base::split(text, ' ');
  if (words.size() != 4) return std::nullopt;
  const auto pid = base::parse_integer(words[0]);
  const auto ticks = base::parse_integer(words[1]);
  if (!pid || !ticks) return std::nullopt;
  return Holder{static_cast<pid_t>(*pid), static_cast<std::uint64_t>(*ticks), words[2], words[3]};
}

void tell_holder(int fd, int number) {
  const auto holder = holder_of(fd);
  if (!holder) return;
  const auto process = process::ProcessHandle::open(holder->pid, holder->start_ticks);
  // One that has ended has given it up.
  if (process.ok()) (void)process->signal(number);
}

// Whether the keeper that has had it last is gone, though somebody has its lock: who looks after
// folders has that for a moment, and of what a killed keeper had, its signs of life may go before
// its lock.
bool is_held_by_no_keeper(const std::string& path) {
  const base::UniqueFd lock = open_lock(path + kLock, 0);
  if (!lock.valid()) return false;
  const auto holder = holder_of(lock.get());
  // A keeper names itself with the lock held.
  if (!holder) return true;
  if (holder->machine != this_machine()) return false;
  const auto stat = process::read_stat(holder->pid);
  return !stat || !stat->alive() || stat->is_ending || stat->start_ticks != holder->start_ticks;
}

// It writes over the old text, and cuts then: a full disk has room for that.
base::Result<> name_holder(int fd, const std::string& host) {
  const auto own = process::read_stat(::getpid());
  const std::string text =
      base::format("{} {} {} {}", ::getpid(), own ? own->start_ticks : 0, this_machine(), host);
  if (::lseek(fd, 0, SEEK_SET) != 0) {
    return base::from_errno(errno, "write the lock of the job's folder");
  }
  GANGRUN_TRY(base::write_all(fd, text, "the lock of the job's folder"));
  if (::ftruncate(fd, static_cast<off_t>(text.size())) == 0) return {};
  return base::from_errno(errno, "write the lock of the job's folder");
}

// The last change of the folder, the logs in it, and what its keepers write.
base::WallTime last_change(const std::string& path) {
  base::WallTime last{};
  const auto look = [&last](const std::string& each) {
    struct stat info {};
    if (::stat(each.c_str(), &info) != 0) return;
    last = std::max(last, std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec));
  };
  for (const char* inside : {"", kLock, "/agent.log", "/brought"}) look(path + inside);
  std::error_code failed;
  for (const auto& log : fs::directory_iterator(path + "/logs", failed)) look(log.path().string());
  return last;
}

bool is_all_of(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

// "SHA256.PID" or "try.PID", as the login's script makes them (ssh/ssh_command.h).
bool is_part_of_agent(std::string_view name) {
  constexpr std::size_t kSha256Digits = 64;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view what = name.substr(0, dot);
  const bool is_hash = what.size() == kSha256Digits && is_all_of(what, "0123456789abcdef");
  return (is_hash || what == "try") && is_all_of(name.substr(dot + 1), "0123456789");
}

bool is_there(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

base::Result<> cannot_be_removed(const std::string& path, const std::error_code& why) {
  return base::unavailable(base::format("{} cannot be removed: {}", path, why.message()));
}

base::Result<> remove_all_but_lock(const std::string& path) {
  base::Result<> removed;
  std::error_code failed;
  const fs::directory_iterator entries(path, failed);
  if (failed == std::errc::no_such_file_or_directory) return {};
  if (failed) return cannot_be_removed(path, failed);
  for (const auto& entry : entries) {
    const fs::path name = entry.path().filename();
    if (name == fs::path(kLock).filename() || name == fs::path(kGoingMark).filename()) continue;
    fs::remove_all(entry.path(), failed);
    if (failed) removed = cannot_be_removed(entry.path().string(), failed);
  }
  return removed;
}

// The lock goes last: where this is cut short, whoever finds the lock free goes on with it. A
// process that a task has left may still write there, so it is tried until the deadline, and once
// after that.
base::Result<> remove_with_lock(const std::string& path, base::Instant deadline) {
  while (true) {
    const bool is_last = std::chrono::steady_clock::now() > deadline;
    auto removed = remove_all_but_lock(path);
    if (removed.ok()) break;
    if (is_last) return removed;
    (void)process::wait_any_readable({}, std::chrono::steady_clock::now() + kLookAgain);
  }
  const auto holder = base::read_file(path + kLock, kMaxHolderBytes);
  (void)::unlink((path + kLock).c_str());
  // Files that were written there just now go too.
  std::error_code failed;
  fs::remove_all(path, failed);
  if (!failed) return {};
  // More was written meanwhile: without a lock nobody could tell that nobody has the folder.
  if (holder.ok()) (void)base::write_file_atomically(path + kLock, *holder, 0600);
  return cannot_be_removed(path, failed);
}

// A copy that nothing comes of any more was given up by its client long before.
void sweep_agents(const std::string& base, base::WallTime now) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(base + "/agents", failed)) {
    if (!is_part_of_agent(entry.path().filename().string())) continue;
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const auto changed = std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec);
    if (now - changed >= kAbandonedFor) (void)::unlink(entry.path().c_str());
  }
}

}  // namespace

std::string job_id_on_host(const std::string& job_id, const std::string& host) {
  std::string name = host;
  if (name.size() > kMaxHostInName) {
    net::Sha256Stream hash;
    hash.put(host);
    name = base::format("{}-{}", host.substr(0, kMaxHostInName - kHashDigits - 1),
                        base::to_hex(hash.finish()).substr(0, kHashDigits));
  }
  // No name has an "@", so that none is the beginning of another.
  return base::format("{}@{}@", job_id, name);
}

RunFolder::RunFolder(const std::string& path)
    : path_(path), name_(fs::path(path).filename().string()) {}

base::Result<RunFolder> RunFolder::open(const std::string& base, const std::string& job_id,
                                        const std::string& host, const std::string& name,
                                        base::Instant deadline, const OnPath& on_path) {
  if (name.find('/') != std::string::npos) {
    return base::invalid_argument(base::format("'{}' is no folder of a job", name));
  }
  RunFolder folder(base::format("{}/jobs/{}", base, name));
  folder.job_id_on_host_ = job_id_on_host(job_id, host);
  bool is_ours = false;
  if (!name.empty()) {
    GANGRUN_ASSIGN(is_ours, folder.lock(deadline));
  }
  if (!is_ours) {
    folder.name_ = base::format("{}-{}", job_id, base::to_hex(net::random_bytes(4)));
    folder.path_ = base::format("{}/jobs/{}", base, folder.name_);
    if (on_path) GANGRUN_TRY(on_path(folder.path_));
    if (auto made = folder.make(host); !made.ok()) {
      std::error_code ignored;
      fs::remove_all(folder.path_, ignored);
      return made.error();
    }
  } else {
    GANGRUN_TRY(name_holder(folder.lock_.get(), host));
    if (on_path) GANGRUN_TRY(on_path(folder.path_));
  }
  GANGRUN_TRY(folder.find_socket());
  return folder;
}

// Only caretakers of ours know its name. Its lock comes last, and never names nobody: whose such a
// folder is, and whether tasks live there, could not be told.
base::Result<> RunFolder::make(const std::string& host) {
  for (const char* inside : {"", "/logs", "/work"}) {
    GANGRUN_TRY(base::make_folders(path_ + inside, 0700));
  }
  const base::UniqueFd turn = open_lock(path_ + kTurn, O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!turn.valid()) return base::from_errno(errno, base::format("make {}{}", path_, kTurn));
  const std::string path = path_ + kLock;
  const std::string nameless = path + ".new";
  lock_ = open_lock(nameless, O_CREAT);
  if (!lock_.valid() || !try_lock(lock_.get())) {
    return base::from_errno(errno, base::format("lock {}", nameless));
  }
  GANGRUN_TRY(name_holder(lock_.get(), host));
  if (::rename(nameless.c_str(), path.c_str()) == 0) return {};
  return base::from_errno(errno, base::format("make {}", path));
}

base::Result<bool> RunFolder::lock(base::Instant deadline) {
  const std::string path = path_ + kLock;
  lock_ = open_lock(path, 0);
  if (!lock_.valid() && errno == ENOENT) return false;
  if (!lock_.valid()) return base::from_errno(errno, base::format("open {}", path));
  while (!try_lock(lock_.get())) {
    const base::Instant now = std::chrono::steady_clock::now();
    if (now > deadline + kKilledHolderLimit) {
      return base::unavailable("another keeper has this job and does not give it up");
    }
    // One that is stopped hears nothing. The job's agents live without it.
    tell_holder(lock_.get(), now > deadline ? SIGKILL : SIGTERM);
    // A lock can only be waited for without a limit.
    (void)process::wait_any_readable({}, std::chrono::steady_clock::now() + kLookAgain);
  }
  if (!is_at(path, lock_.get())) return false;
  if (is_there(path_ + kGoingMark)) {
    // Whoever was killed while he removed it has caretakers, who go on.
    lock_.reset();
    return false;
  }
  (void)::unlink((path_ + kLeftMark).c_str());
  return true;
}

// A later keeper of the folder finds it again, as agents know it.
base::Result<> RunFolder::find_socket() {
  socket_ = path_ + "/master.sock";
  if (socket_.size() <= kMaxSocketPath) return {};
  read_socket_folder();
  if (socket_folder_.empty()) {
    std::string made = kSocketFolder;
    if (::mkdtemp(made.data()) == nullptr) {
      return base::from_errno(errno, base::format("make a folder {}", kSocketFolder));
    }
    socket_folder_ = made;
    GANGRUN_TRY(base::write_private_file(path_ + "/socket", socket_folder_));
  }
  socket_ = socket_folder_ + "/master.sock";
  return {};
}

// As long as the other.
std::string RunFolder::starter_socket() const {
  return fs::path(socket_).replace_filename("agents.sock").string();
}

std::string RunFolder::log_prefix(const job::TaskId& task, int attempt) const {
  return base::format("{}/logs/{}-{}.{}", path_, task.type, task.index, attempt);
}

bool RunFolder::take_back() {
  const std::string path = path_ + kLock;
  lock_ = open_lock(path, 0);
  if (lock_.valid() && try_lock(lock_.get()) && is_at(path, lock_.get())) return true;
  lock_.reset();
  return false;
}

base::Result<> RunFolder::remove(base::Instant deadline) {
  while (!process::agent_processes(job_id_on_host_).empty()) {
    const base::Instant now = std::chrono::steady_clock::now();
    if (now > deadline) return base::unavailable(base::format("{}: a task lives", path_));
    // Nobody tells the end of processes that are not ours.
    (void)process::wait_any_readable({}, now + kLookAgain);
  }
  // If there is no room for it, it is removed all the same.
  (void)base::write_file_atomically(path_ + kGoingMark, "", 0600);
  std::error_code ignored;
  if (!socket_folder_.empty()) fs::remove_all(socket_folder_, ignored);
  return remove_with_lock(path_, deadline);
}

void RunFolder::leave() {
  (void)base::write_file_atomically(path_ + kLeftMark, "", 0600);
  // From now on the day counts.
  (void)::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
  lock_.reset();
}

void RunFolder::keep(bool until_removed) {
  std::error_code ignored;
  if (!socket_folder_.empty()) fs::remove_all(socket_folder_, ignored);
  for (const char* name : {"logs", "agent.log", "master.sock", "agents.sock", "socket"}) {
    fs::remove_all(fs::path(path_) / name, ignored);
  }
  if (until_removed) (void)base::write_file_atomically(path_ + kKeptMark, "", 0600);
  leave();
}

RunFolder::Removal RunFolder::remove_all(const std::string& base, const std::string& job_id,
                                         base::Instant deadline) {
  Removal removal;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(base + "/jobs", failed)) {
    RunFolder folder(entry.path().string());
    if (folder.name_.substr(0, folder.name_.rfind('-')) != job_id) continue;
    if (!folder.take_back()) {
      removal.left = base::format("{}: the job has not ended there", folder.path_);
      continue;
    }
    if (!holder_of(folder.lock_.get())) {
      removal.left =
          base::format("{}: its lock is damaged, so that nobody can tell whether tasks live there",
                       folder.path_);
      continue;
    }
    // Another host that has the same home removes its own.
    if (!folder.read_holder()) continue;
    folder.read_socket_folder();
    if (const auto removed = folder.remove(deadline); !removed.ok()) {
      removal.left = removed.error().message;
    } else {
      ++removal.folders;
    }
  }
  return removal;
}

base::Result<std::optional<RunFolder>> RunFolder::open_kept(const std::string& base,
                                                            const std::string& name) {
  if (name.find('/') != std::string::npos || name.starts_with('.')) {
    return base::invalid_argument(base::format("'{}' is no folder of a job", name));
  }
  RunFolder folder(base::format("{}/jobs/{}", base, name));
  if (!is_there(folder.path_ + kLock) || is_there(folder.path_ + kGoingMark)) {
    return std::optional<RunFolder>();
  }
  if (!folder.take_back()) {
    return base::unavailable(base::format(
        "{}: the job has not ended there, or another command brings its files", folder.path_));
  }
  if (!folder.read_holder()) {
    return base::unavailable(base::format("{} is another machine's", folder.path_));
  }
  if (!process::agent_processes(folder.job_id_on_host_).empty()) {
    return base::unavailable(base::format("{}: tasks of the job live there", folder.path_));
  }
  folder.read_socket_folder();
  return std::optional<RunFolder>(std::move(folder));
}

void RunFolder::read_socket_folder() {
  if (const auto known = base::read_file(path_ + "/socket", kMaxSocketPath); known.ok()) {
    socket_folder_ = *known;
  }
}

bool RunFolder::read_holder() {
  const auto holder = holder_of(lock_.get());
  if (!holder || holder->machine != this_machine()) return false;
  job_id_on_host_ = job_id_on_host(name_.substr(0, name_.rfind('-')), holder->host);
  return true;
}

std::optional<RunFolder> RunFolder::take(const std::string& path) {
  RunFolder folder(path);
  if (!folder.take_back() || !folder.read_holder()) return std::nullopt;
  folder.read_socket_folder();
  return folder;
}

RunFolder::State RunFolder::state_of(const std::string& path) {
  for (const char* mark : {kKeptMark, kLeftMark}) {
    if (!is_there(path + kGoingMark) && is_there(path + mark)) return State::kNotOurs;
  }
  auto folder = take(path);
  if (!folder) return is_held_by_no_keeper(path) ? State::kBusy : State::kNotOurs;
  // We only look, and must not be taken for a keeper: the processes of a machine may be many.
  folder->give_up();
  const bool is_over = process::agent_processes(folder->job_id_on_host_).empty();
  return is_over ? State::kAbandoned : State::kHasAgents;
}

bool RunFolder::remove_without_lock(const std::string& path) {
  if (is_there(path + kLock)) return false;
  // Another one may be at it.
  std::error_code failed;
  fs::remove_all(path, failed);
  return true;
}

RunFolder::State RunFolder::end_abandoned(const std::string& path) {
  const State state = state_of(path);
  if (state != State::kAbandoned) return state;
  auto folder = take(path);
  if (!folder) return State::kBusy;
  if (!is_there(path + kGoingMark) && WorkFolder(path).has_new()) {
    folder->leave();
  } else {
    (void)folder->remove(std::chrono::steady_clock::now());
  }
  return state;
}

void RunFolder::sweep(const std::string& base, base::WallTime now) {
  sweep_agents(base, now);
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(base + "/jobs", failed)) {
    const std::string path = entry.path().string();
    if (is_there(path + kKeptMark)) continue;
    const bool was_left = is_there(path + kLeftMark);
    if (now - last_change(path) < (was_left ? base::Duration(kKept) : kAbandonedFor)) continue;
    if (remove_without_lock(path)) continue;
    if (!was_left) {
      end_abandoned(path);
    } else if (auto folder = take(path)) {
      (void)folder->remove(std::chrono::steady_clock::now());
    }
  }
}

}  // namespace gangrun::ssh::node
