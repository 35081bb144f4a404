#include "process/proc_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace gangrun::process {

namespace {

// The longest chain of parents that is followed; deeper trees are not ours.
constexpr int kMaxAncestors = 4096;
// Programs that begin and end processes all the time give no last walk.
constexpr int kMaxWalks = 8;
// The largest list of children that is read.
constexpr std::size_t kMaxChildrenBytes = std::size_t{4} << 20U;
// The largest other file of a process: its environment may be long.
constexpr std::size_t kMaxFileBytes = std::size_t{8} << 20U;
constexpr std::string_view kSpaces = " \t\n";
// PF_EXITING of the kernel's include/linux/sched.h.
constexpr std::uint64_t kExiting = 0x4;

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return found;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    found.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Names of a folder that are whole numbers: pids, threads, descriptors.
std::vector<pid_t> numbered_entries(const std::string& path) {
  std::vector<pid_t> found;
  const base::Folder folder = base::open_folder(path);
  if (!folder) return found;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream that no other thread has
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto value = parse_number(static_cast<const char*>(entry->d_name))) {
      found.push_back(static_cast<pid_t>(*value));
    }
  }
  return found;
}

std::optional<std::vector<pid_t>> listed_children(pid_t pid) {
  std::vector<pid_t> found;
  bool listed = false;
  for (const pid_t thread : numbered_entries(fmt::format("/proc/{}/task", pid))) {
    const auto text =
        base::read_file(fmt::format("/proc/{}/task/{}/children", pid, thread), kMaxChildrenBytes);
    if (!text.ok()) continue;
    listed = true;
    for (const pid_t child : parse_pids(*text)) found.push_back(child);
  }
  if (!listed) return std::nullopt;
  return found;
}

// A process without that file has ended or belongs to a kernel that does not list children. Our own
// can only mean the latter.
bool kernel_lists_children() {
  const std::string path = fmt::format("/proc/self/task/{}/children", ::gettid());
  return ::access(path.c_str(), R_OK) == 0;
}

// One walk down from `ancestor`, parents before their children.
template <typename Below>
std::vector<pid_t> walk_down(pid_t ancestor, const Below& right_below) {
  std::vector<pid_t> found;
  std::set<pid_t> seen{ancestor};
  const auto add_children = [&](pid_t parent) {
    for (const pid_t child : right_below(parent)) {
      if (seen.insert(child).second) found.push_back(child);
    }
  };
  add_children(ancestor);
  std::size_t next = 0;
  while (next < found.size()) add_children(found[next++]);  // which adds to them
  return found;
}

bool has_ended(pid_t pid) {
  const auto stat = read_stat(pid);
  return !stat || !stat->alive() || stat->is_ending;
}

// Whoever is below `ancestor`. The children of one that ends move up, to a reaper whose children
// may have been read already: so a walk that meets new processes, or new ends, is not the last.
template <typename Walk>
std::vector<pid_t> all_below(const Walk& walk) {
  std::vector<pid_t> found;
  std::set<pid_t> known;
  std::set<pid_t> ended;
  for (int walks = 0; walks < kMaxWalks; ++walks) {
    bool is_news = false;
    for (const pid_t pid : walk()) {
      if (known.insert(pid).second) {
        found.push_back(pid);
        is_news = true;
      }
      if (has_ended(pid)) is_news |= ended.insert(pid).second;
    }
    if (!is_news) break;
  }
  return found;
}

// Asks the kernel without looking through /proc.
bool has_no_child() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno == ECHILD;
}

}  // namespace

std::string read_proc(pid_t pid, std::string_view file, const std::string& proc) {
  auto text = base::read_file(fmt::format("{}/{}/{}", proc, pid, file), kMaxFileBytes);
  return text.ok() ? *std::move(text) : std::string();
}

std::string_view status_value(std::string_view status, std::string_view key) {
  const std::string beginning = fmt::format("\n{}:", key);
  std::size_t at = status.find(beginning);
  if (at == std::string_view::npos) return {};
  at += beginning.size();
  return base::trim(status.substr(at, status.find('\n', at) - at));
}

pid_t innermost_pid(std::string_view status) {
  const std::string_view numbers = status_value(status, "NSpid");
  const auto last = parse_number(numbers.substr(numbers.find_last_of(" \t") + 1));
  return static_cast<pid_t>(last.value_or(0));
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool write_to(const char* path, std::string_view text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error_number = errno;
  ::close(fd);
  errno = error_number;
  return written;
}

std::optional<ProcessStat> parse_stat(std::string_view text, std::int64_t ticks_per_second) {
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  // The 3rd field (state) is the first after the name.
  const auto fields = words(text.substr(close + 1));
  constexpr std::size_t kFieldsNeeded = 22;
  if (fields.size() < kFieldsNeeded || fields[0].size() != 1 || ticks_per_second <= 0) {
    return std::nullopt;
  }
  const auto pid = parse_number(text.substr(0, open));
  const auto parent = parse_number(fields[1]);
  const auto start = parse_number(fields[19]);
  if (!pid || !parent || !start) return std::nullopt;
  const auto ticks = [&](std::size_t index) {
    // Times of reaped children are signed in the kernel's format but never negative in fact.
    const std::uint64_t value = parse_number(fields[index]).value_or(0);
    return base::Duration(std::chrono::seconds(1)) * static_cast<std::int64_t>(value) /
           ticks_per_second;
  };
  ProcessStat stat;
  stat.pid = static_cast<pid_t>(*pid);
  stat.name = std::string(text.substr(open + 2, close - open - 2));
  stat.state = fields[0][0];
  stat.is_ending = (parse_number(fields[6]).value_or(0) & kExiting) != 0;
  stat.parent = static_cast<pid_t>(*parent);
  stat.group = static_cast<pid_t>(parse_number(fields[2]).value_or(0));
  stat.session = static_cast<pid_t>(parse_number(fields[3]).value_or(0));
  stat.cpu = ticks(11) + ticks(12);
  stat.children_cpu = ticks(13) + ticks(14);
  stat.threads = parse_number(fields[17]).value_or(0);
  stat.start_ticks = *start;
  stat.resident_pages = parse_number(fields[21]).value_or(0);
  return stat;
}

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> found;
  for (const std::string_view word : words(text)) {
    if (const auto value = parse_number(word)) found.push_back(static_cast<pid_t>(*value));
  }
  return found;
}

std::optional<ProcessStat> read_stat(pid_t pid) {
  // Read by hand and not with read_file(): this is done for every process, many times.
  std::array<char, 32> path{};
  fmt::format_to_n(path.data(), path.size() - 1, "/proc/{}/stat", pid);
  const base::UniqueFd fd(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::array<char, 2048> text{};
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got <= 0) return std::nullopt;
  return parse_stat({text.data(), static_cast<std::size_t>(got)}, ::sysconf(_SC_CLK_TCK));
}

std::vector<pid_t> all_processes(const std::string& proc) { return numbered_entries(proc); }

std::vector<pid_t> children_of(pid_t pid) {
  if (auto listed = listed_children(pid)) return *std::move(listed);
  std::vector<pid_t> found;
  if (kernel_lists_children()) return found;
  for (const pid_t candidate : all_processes()) {
    const auto stat = read_stat(candidate);
    if (stat && stat->parent == pid) found.push_back(candidate);
  }
  return found;
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  if (ancestor == ::getpid() && has_no_child()) return {};
  if (!kernel_lists_children()) return descendants_by_parents(ancestor);
  const auto listed = [](pid_t parent) {
    return listed_children(parent).value_or(std::vector<pid_t>{});
  };
  return all_below([&] { return walk_down(ancestor, listed); });
}

std::vector<pid_t> descendants_by_parents(pid_t ancestor) {
  return all_below([ancestor] {
    std::map<pid_t, std::vector<pid_t>> children;
    for (const pid_t candidate : all_processes()) {
      if (const auto stat = read_stat(candidate)) children[stat->parent].push_back(candidate);
    }
    return walk_down(ancestor, [&children](pid_t parent) { return children[parent]; });
  });
}

pid_t branch_of(pid_t pid, pid_t ancestor) {
  for (int step = 0; step < kMaxAncestors && pid > 0; ++step) {
    const auto stat = read_stat(pid);
    if (!stat) return 0;
    if (stat->parent == ancestor) return pid;
    pid = stat->parent;
  }
  return 0;
}

bool is_descendant(pid_t pid, pid_t ancestor) { return branch_of(pid, ancestor) != 0; }

std::vector<int> open_descriptors() { return numbered_entries("/proc/self/fd"); }

void close_descriptors(int first, int last) {
  if (first > last) return;
  const auto from = static_cast<unsigned int>(first);
  if (::syscall(SYS_close_range, from, static_cast<unsigned int>(last), 0U) == 0) return;
  // Before Linux 5.9. The folder's own descriptor is listed too, and closed by then.
  for (const int fd : open_descriptors()) {
    if (fd >= first && fd <= last) ::close(fd);
  }
}

std::vector<std::uint64_t> socket_inodes(pid_t pid, const std::string& proc) {
  std::vector<std::uint64_t> found;
  constexpr std::string_view kSocketPrefix = "socket:[";
  for (const pid_t fd : numbered_entries(fmt::format("{}/{}/fd", proc, pid))) {
    std::array<char, 64> target{};
    const std::string path = fmt::format("{}/{}/fd/{}", proc, pid, fd);
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) continue;
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    if (!text.starts_with(kSocketPrefix) || !text.ends_with(']')) continue;
    const auto inode =
        parse_number(text.substr(kSocketPrefix.size(), text.size() - kSocketPrefix.size() - 1));
    if (inode) found.push_back(*inode);
  }
  return found;
}

std::string process_name(pid_t pid, const std::string& proc) {
  const std::string name(base::trim(read_proc(pid, "comm", proc)));
  return name.empty() ? "?" : name;
}

Usage usage_of(const std::vector<pid_t>& processes) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Usage usage;
  for (const pid_t pid : processes) {
    const auto stat = read_stat(pid);
    if (!stat) continue;
    usage.memory_bytes += stat->resident_pages * page_bytes;
    usage.cpu_seconds += std::chrono::duration<double>(stat->cpu + stat->children_cpu).count();
  }
  return usage;
}

}  // namespace gangrun::process
