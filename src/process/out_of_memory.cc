#include "process/out_of_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>

#include "base/files.h"
#include "base/strings.h"
#include "process/cgroup.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr std::string_view kKey = "oom_kill";
constexpr std::size_t kMaxCountsBytes = std::size_t{256} << 10U;
// The kernel counts, then kills, then logs: the record may come a moment after the end.
constexpr base::milliseconds kMaxLogDelay(100);
// From a kill until its process has ended for whoever waits for it: some gigabytes take a second.
constexpr base::seconds kLongestDeath(10);
// A flood in the log is followed only so far.
constexpr int kMaxRecords = 20'000;
// The inode of the first PID namespace, fixed in the kernel.
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

std::optional<std::uint64_t> read_count(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto text = base::read_file(path, kMaxCountsBytes);
  if (!text.ok()) return std::nullopt;
  return parse_count(*text, kKey);
}

// The log names processes by their number in the first PID namespace.
bool in_first_pid_namespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == kFirstPidNamespace;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text, std::string_view key) {
  for (const std::string& line : base::split(text, '\n')) {
    if (line.size() <= key.size() || !line.starts_with(key) || line[key.size()] != ' ') continue;
    const auto value = base::parse_integer(base::trim(std::string_view(line).substr(key.size())));
    if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
  }
  return std::nullopt;
}

std::optional<pid_t> parse_killed_process(std::string_view kmsg_record) {
  // "priority,sequence,time,flags;message", where the priority holds the sender: 0 is the kernel.
  constexpr int kPriorities = 8;
  constexpr std::string_view kKilledWords = "Killed process ";
  int priority = -1;
  const char* end = kmsg_record.data() + kmsg_record.size();
  const auto parsed = std::from_chars(kmsg_record.data(), end, priority);
  if (parsed.ec != std::errc() || priority < 0 || priority >= kPriorities) return std::nullopt;
  const std::size_t message = kmsg_record.find(';');
  if (message == std::string_view::npos) return std::nullopt;
  const std::size_t words = kmsg_record.find(kKilledWords, message);
  if (words == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  const auto number = std::from_chars(kmsg_record.data() + words + kKilledWords.size(), end, pid);
  if (number.ec != std::errc() || pid <= 0) return std::nullopt;
  return pid;
}

bool counts_increased(const OutOfMemoryCounts& before, const OutOfMemoryCounts& after) {
  const auto increased = [](const auto& earlier, const auto& later) {
    return earlier && later && *later > *earlier;
  };
  if (increased(before.cgroup_2, after.cgroup_2) || increased(before.cgroup_1, after.cgroup_1)) {
    return true;
  }
  if (after.cgroup_2 || after.cgroup_1) return false;
  return increased(before.host, after.host);
}

OutOfMemoryWatch OutOfMemoryWatch::start() {
  OutOfMemoryWatch watch;
  if (const auto own = OwnCgroups::read(); own.ok()) {
    if (const auto folder = own->folder(); folder.ok()) {
      watch.cgroup_2_file_ = *folder + "/memory.events";
    }
    if (const auto folder = own->folder("memory"); folder.ok()) {
      watch.cgroup_1_file_ = *folder + "/memory.oom_control";
    }
  }
  if (in_first_pid_namespace()) {
    watch.log_.reset(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  if (watch.log_.valid() && ::lseek(watch.log_.get(), 0, SEEK_END) < 0) watch.log_.reset();
  watch.refresh(std::chrono::steady_clock::now());
  return watch;
}

void OutOfMemoryWatch::refresh(base::Instant now) {
  read_log(now);
  looks_.push_back({now, read_counts()});
  const base::Instant oldest = now - kLongestDeath;
  while (looks_.size() > 1 && looks_[1].at <= oldest) looks_.pop_front();
  std::erase_if(named_, [&](const Named& named) { return named.at <= oldest; });
  if (log_gap_ && *log_gap_ <= oldest) log_gap_.reset();
}

OutOfMemoryCounts OutOfMemoryWatch::read_counts() const {
  OutOfMemoryCounts counts{.cgroup_2 = read_count(cgroup_2_file_),
                           .cgroup_1 = read_count(cgroup_1_file_),
                           .host = std::nullopt};
  // A long text, which the kernel makes for each reader.
  if (!counts.cgroup_2 && !counts.cgroup_1) counts.host = read_count("/proc/vmstat");
  return counts;
}

void OutOfMemoryWatch::read_log(base::Instant now) {
  if (!log_.valid()) return;
  std::array<char, 8192> record{};
  for (int i = 0; i < kMaxRecords; ++i) {
    const ssize_t got = ::read(log_.get(), record.data(), record.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EPIPE) {
      // Records were overwritten before we read them.
      log_gap_ = now;
      continue;
    }
    if (got <= 0) return;
    const auto pid = parse_killed_process({record.data(), static_cast<std::size_t>(got)});
    if (pid) named_.push_back({*pid, now});
  }
  log_gap_ = now;
}

bool OutOfMemoryWatch::names(pid_t pid) const {
  return std::ranges::find(named_, pid, &Named::pid) != named_.end();
}

bool OutOfMemoryWatch::killed(pid_t pid, const Exit& exit) {
  if (exit.signal != SIGKILL) return false;
  read_log(std::chrono::steady_clock::now());
  if (names(pid)) return true;
  if (!counts_increased(looks_.front().counts, read_counts())) return false;
  const base::Instant deadline = std::chrono::steady_clock::now() + kMaxLogDelay;
  while (log_is_whole() && wait_readable(log_.get(), deadline)) {
    read_log(std::chrono::steady_clock::now());
    if (names(pid)) return true;
  }
  return !log_is_whole();
}

}  // namespace gangrun::process
