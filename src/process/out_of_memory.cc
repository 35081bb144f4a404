#include "process/out_of_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/cgroup.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr std::string_view kKey = "oom_kill";
constexpr std::size_t kMaxCountsBytes = std::size_t{256} << 10U;
// The kernel counts, then kills, then logs: the record may come a moment after the end.
constexpr base::milliseconds kMaxLogDelay(100);
// A flood in the log is not followed for ever.
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
  constexpr std::string_view kWords = "Killed process ";
  int priority = -1;
  const char* end = kmsg_record.data() + kmsg_record.size();
  const auto parsed = std::from_chars(kmsg_record.data(), end, priority);
  if (parsed.ec != std::errc() || priority < 0 || priority >= kPriorities) return std::nullopt;
  const std::size_t message = kmsg_record.find(';');
  if (message == std::string_view::npos) return std::nullopt;
  const std::size_t words = kmsg_record.find(kWords, message);
  if (words == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  const auto number = std::from_chars(kmsg_record.data() + words + kWords.size(), end, pid);
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
  if (const auto folder = own_cgroup_folder(); folder.ok()) {
    watch.cgroup_2_file_ = *folder + "/memory.events";
  }
  if (const auto folder = own_cgroup_folder("memory"); folder.ok()) {
    watch.cgroup_1_file_ = *folder + "/memory.oom_control";
  }
  if (in_first_pid_namespace()) {
    watch.log_.reset(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  watch.refresh();
  return watch;
}

void OutOfMemoryWatch::refresh() {
  before_ = read_counts();
  if (log_.valid() && ::lseek(log_.get(), 0, SEEK_END) < 0) log_.reset();
}

OutOfMemoryCounts OutOfMemoryWatch::read_counts() const {
  return {.cgroup_2 = read_count(cgroup_2_file_),
          .cgroup_1 = read_count(cgroup_1_file_),
          .host = read_count("/proc/vmstat")};
}

OutOfMemoryWatch::Log OutOfMemoryWatch::read_log(pid_t pid) {
  if (!log_.valid()) return Log::kUnknown;
  std::array<char, 8192> record{};
  Log found = Log::kSilent;
  for (int i = 0; i < kMaxRecords; ++i) {
    const ssize_t got = ::read(log_.get(), record.data(), record.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EPIPE) {
      // Records were overwritten before we read them.
      found = Log::kUnknown;
      continue;
    }
    if (got <= 0) return found;
    if (parse_killed_process({record.data(), static_cast<std::size_t>(got)}) == pid) {
      return Log::kNamesIt;
    }
  }
  return Log::kUnknown;
}

bool OutOfMemoryWatch::killed(pid_t pid, const Exit& exit) {
  if (exit.kind != Exit::Kind::kSignaled || exit.signal != SIGKILL) return false;
  Log log = read_log(pid);
  if (log == Log::kNamesIt) return true;
  if (!counts_increased(before_, read_counts())) return false;
  const base::Instant deadline = std::chrono::steady_clock::now() + kMaxLogDelay;
  while (log == Log::kSilent && wait_readable(log_.get(), deadline)) log = read_log(pid);
  return log != Log::kSilent;
}

}  // namespace gangrun::process
