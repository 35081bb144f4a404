#include "process/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <limits>

#include "base/files.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"

namespace gangrun::process {

namespace {

// Groups inside a task's group are not followed deeper than this.
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20U;
constexpr std::string_view kPrefix = "gangrun-";

std::vector<std::string> groups_below(const std::string& folder) {
  std::vector<std::string> found;
  const base::Folder opened = base::open_folder(folder);
  if (!opened) return found;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream that no other thread has
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    found.push_back(fmt::format("{}/{}", folder, name));
  }
  return found;
}

void add_processes(const std::string& folder, int depth, std::vector<pid_t>& found) {
  const auto text = base::read_file(folder + "/cgroup.procs", kMaxFileBytes);
  if (text.ok()) {
    for (const pid_t pid : parse_pids(*text)) found.push_back(pid);
  }
  if (depth == kMaxDepth) return;
  for (const std::string& below : groups_below(folder)) add_processes(below, depth + 1, found);
}

bool remove_tree(const std::string& folder, int depth) {
  if (depth < kMaxDepth) {
    for (const std::string& below : groups_below(folder)) remove_tree(below, depth + 1);
  }
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

// The inode of the namespace in which our process number is ours; 0 if it is not known.
std::int64_t own_pid_namespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? static_cast<std::int64_t>(info.st_ino) : 0;
}

// Whether the folder's name tells of a maker that we can judge and that is no more.
bool is_abandoned(const std::string& folder, std::int64_t pid_namespace) {
  const std::string name = folder.substr(folder.rfind('/') + 1);
  const auto fields = base::split(name, '.');
  if (!name.starts_with(kPrefix) || fields.size() < 3) return false;
  const auto makers_namespace = base::parse_integer(fields[fields.size() - 2]);
  const auto maker = base::parse_integer(fields.back());
  if (!makers_namespace || *makers_namespace != pid_namespace) return false;
  if (!maker || *maker < 1 || *maker > std::numeric_limits<pid_t>::max()) return false;
  return ::kill(static_cast<pid_t>(*maker), 0) != 0 && errno == ESRCH;
}

// mountinfo writes a blank as \040 and so on.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool octal =
        text[i] == '\\' && i + 3 < text.size() &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    text.begin() + static_cast<std::ptrdiff_t>(i) + 4, base::is_octal_digit);
    if (!octal) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0')));
    i += 3;
  }
  return plain;
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  // id parent device root folder options [optional …] - type source super-options
  constexpr std::size_t kRoot = 3;
  constexpr std::size_t kFolder = 4;
  std::vector<CgroupMount> mounts;
  for (const std::string& line : base::split(mountinfo, '\n')) {
    const auto fields = base::split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.end() - dash < 4 || dash - fields.begin() < 6) continue;
    const std::string& type = *(dash + 1);
    if (type != "cgroup" && type != "cgroup2") continue;
    CgroupMount mount;
    mount.root = unescape(fields[kRoot]);
    mount.folder = unescape(fields[kFolder]);
    mount.version_2 = type == "cgroup2";
    if (!mount.version_2) mount.controllers = base::split(*(dash + 3), ',');
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::optional<std::string> parse_own_cgroup(std::string_view text, std::string_view controller) {
  // hierarchy:controllers:path, where version 2 is hierarchy 0 and names no controller
  for (const std::string& line : base::split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto names =
        base::split(std::string_view(line).substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) == names.end()) continue;
    return line.substr(second + 1);
  }
  return std::nullopt;
}

base::Result<OwnCgroups> OwnCgroups::read() {
  GANGRUN_ASSIGN(std::string own, base::read_file("/proc/self/cgroup", kMaxFileBytes));
  GANGRUN_ASSIGN(const std::string mounts, base::read_file("/proc/self/mountinfo", kMaxFileBytes));
  return OwnCgroups(std::move(own), mounts);
}

base::Result<std::string> OwnCgroups::folder(std::string_view controller) const {
  const std::string wanted =
      controller.empty() ? "cgroup version 2" : fmt::format("the {} cgroup", controller);
  const auto path = parse_own_cgroup(own_, controller);
  if (!path) return base::not_found(fmt::format("this host has no {}", wanted));
  for (const CgroupMount& mount : mounts_) {
    const bool right = controller.empty()
                           ? mount.version_2
                           : std::find(mount.controllers.begin(), mount.controllers.end(),
                                       controller) != mount.controllers.end();
    const std::string root = mount.root == "/" ? "" : mount.root;
    if (!right || !path->starts_with(root)) continue;
    std::string folder = mount.folder + path->substr(root.size());
    while (folder.ends_with('/')) folder.pop_back();
    if (::access((folder + "/cgroup.procs").c_str(), F_OK) == 0) return folder;
  }
  return base::not_found(fmt::format("{} is not mounted where we could see our own", wanted));
}

base::Result<std::string> own_cgroup_folder(std::string_view controller) {
  GANGRUN_ASSIGN(const OwnCgroups own, OwnCgroups::read());
  return own.folder(controller);
}

base::Result<TaskCgroup> TaskCgroup::create(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name.size() > 200) {
    return base::invalid_argument(fmt::format("'{}' cannot be part of a cgroup's name", name));
  }
  GANGRUN_ASSIGN(const std::string own, own_cgroup_folder());
  std::string folder =
      fmt::format("{}/{}{}.{}.{}", own, kPrefix, name, own_pid_namespace(), ::getpid());
  if (::mkdir(folder.c_str(), 0755) != 0) {
    return base::from_errno(errno, fmt::format("cannot make the cgroup {}", folder));
  }
  base::UniqueFd procs(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!procs.valid()) {
    const int error_number = errno;
    ::rmdir(folder.c_str());
    return base::from_errno(error_number, fmt::format("cannot use the cgroup {}", folder));
  }
  return TaskCgroup(std::move(folder), std::move(procs));
}

std::vector<pid_t> TaskCgroup::processes() const {
  std::vector<pid_t> found;
  add_processes(folder_, 0, found);
  return found;
}

void TaskCgroup::kill_all() const {
  if (!write_to((folder_ + "/cgroup.kill").c_str(), "1")) kill_one_by_one();
}

void TaskCgroup::kill_one_by_one() const {
  // Killing works on stopped ones too. Without the freezer (Linux 5.2) a fork may slip through; the
  // caller comes again until none is left.
  const std::string freezer = folder_ + "/cgroup.freeze";
  write_to(freezer.c_str(), "1");
  for (const pid_t pid : processes()) {
    const ProcessHandle handle = ProcessHandle::open(pid);
    if (!handle.valid()) continue;
    const auto members = processes();
    if (std::find(members.begin(), members.end(), pid) == members.end()) continue;
    (void)handle.signal(SIGKILL);
  }
  write_to(freezer.c_str(), "0");
}

base::Result<> TaskCgroup::remove(base::Instant deadline) const {
  const base::UniqueFd events(::open((folder_ + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  while (!remove_tree(folder_, 0)) {
    const int error_number = errno;
    if (std::chrono::steady_clock::now() >= deadline) {
      return base::from_errno(error_number, fmt::format("cannot remove the cgroup {}", folder_));
    }
    // The kernel tells of the last process's end here; the time limit is for a group below it that
    // was made meanwhile.
    constexpr int kLongestWaitMs = 20;
    pollfd changed{.fd = events.get(), .events = POLLPRI, .revents = 0};
    ::poll(&changed, 1, kLongestWaitMs);
  }
  return {};
}

int remove_abandoned_cgroups() {
  const auto own = own_cgroup_folder();
  const std::int64_t pid_namespace = own_pid_namespace();
  if (!own.ok() || pid_namespace == 0) return 0;
  int removed = 0;
  for (const std::string& folder : groups_below(*own)) {
    if (!is_abandoned(folder, pid_namespace)) continue;
    std::vector<pid_t> left;
    add_processes(folder, 0, left);
    // The kernel refuses to remove a group that somebody has entered since.
    if (left.empty() && remove_tree(folder, 0)) ++removed;
  }
  return removed;
}

}  // namespace gangrun::process
