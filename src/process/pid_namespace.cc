#include "process/pid_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/core_files.h"
#include "process/proc_fs.h"

namespace gangrun::process::pid_namespace {

namespace {

// Below, the kernel gives numbers only once (RESERVED_PIDS of kernel/pid.c).
constexpr pid_t kFirstNumber = 300;
// In the order of Step.
constexpr std::string_view kSteps[] = {
    "",
    "make a PID namespace",
    "map the user into a namespace",
    "make a mount namespace",
    "separate its mounts",
    "mount a /proc of its own",
};

StepFailure failed(Step step) { return {.step = step, .error_number = errno}; }

}  // namespace

IdMaps own_id_maps() {
  IdMaps maps;
  maps.may_use_user_namespace = ::geteuid() != 0;
  fmt::format_to_n(maps.user.data(), maps.user.size() - 1, "{0} {0} 1\n", ::geteuid());
  fmt::format_to_n(maps.group.data(), maps.group.size() - 1, "{0} {0} 1\n", ::getegid());
  return maps;
}

StepFailure unshare_children(const IdMaps& maps) {
  if (::unshare(CLONE_NEWPID) == 0) return {};
  if (errno != EPERM || !maps.may_use_user_namespace) return failed(Step::kUnshare);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return failed(Step::kUnshare);
  const OwnFilesInProc writable;
  // The kernel wants the first before an unprivileged group map.
  if (!write_to("/proc/self/setgroups", "deny") ||
      !write_to("/proc/self/uid_map", maps.user.data()) ||
      !write_to("/proc/self/gid_map", maps.group.data())) {
    return failed(Step::kUserMap);
  }
  return {};
}

StepFailure become_init() {
  if (::unshare(CLONE_NEWNS) != 0) return failed(Step::kMountNamespace);
  // Later mounts of the host are seen here; ours are not seen there.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return failed(Step::kMounts);
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return failed(Step::kProc);
  }
  return {};
}

base::UniqueFd open_outer_proc() {
  return base::UniqueFd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

pid_t first_number(pid_t outer, pid_t end) {
  const std::int64_t count = end - kFirstNumber;
  if (count < 2 || outer < kFirstNumber || outer >= end) return outer;
  // The golden ratio's share of them keeps neighbours apart; the step has to reach all of them.
  std::int64_t step = count * 618'033'989 / 1'000'000'000;
  while (std::gcd(step, count) != 1) ++step;
  return static_cast<pid_t>(kFirstNumber + (outer - kFirstNumber) * step % count);
}

void spread_numbers(const base::UniqueFd& outer_proc) {
  // A link to the reader's own number, as that /proc counts.
  std::array<char, 16> own{};
  if (::readlinkat(outer_proc.get(), "self", own.data(), own.size() - 1) <= 0) return;
  const auto outer = base::parse_integer(own.data());
  const auto end = base::read_file("/proc/sys/kernel/pid_max", 32);
  const auto limit = end.ok() ? base::parse_integer(base::trim(*end)) : std::nullopt;
  if (!outer || !limit) return;
  const pid_t first = first_number(static_cast<pid_t>(*outer), static_cast<pid_t>(*limit));
  // If it may not be written, numbers stay as the kernel gives them.
  (void)write_to("/proc/sys/kernel/ns_last_pid", std::to_string(first - 1));
}

std::string words(const StepFailure& failure) {
  if (!failure.happened()) return "";
  return fmt::format("cannot {}: {}", kSteps[static_cast<std::size_t>(failure.step)],
                     ::strerrordesc_np(failure.error_number));
}

}  // namespace gangrun::process::pid_namespace
