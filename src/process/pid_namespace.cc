#include "process/pid_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"
#include "process/core_files.h"

namespace gangrun::process::pid_namespace {

namespace {

bool write_file(const char* path, std::string_view text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error_number = errno;
  ::close(fd);
  errno = error_number;
  return written;
}

Failure failed(Step step) { return {.step = step, .error_number = errno}; }

}  // namespace

IdMaps own_id_maps() {
  IdMaps maps;
  maps.may_use_user_namespace = ::geteuid() != 0;
  fmt::format_to_n(maps.user.data(), maps.user.size() - 1, "{0} {0} 1\n", ::geteuid());
  fmt::format_to_n(maps.group.data(), maps.group.size() - 1, "{0} {0} 1\n", ::getegid());
  return maps;
}

Failure unshare_children(const IdMaps& maps) {
  if (::unshare(CLONE_NEWPID) == 0) return {};
  if (errno != EPERM || !maps.may_use_user_namespace) return failed(Step::kUnshare);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return failed(Step::kUnshare);
  const OwnFilesInProc writable;
  // The kernel wants the first before an unprivileged group map.
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", maps.user.data()) ||
      !write_file("/proc/self/gid_map", maps.group.data())) {
    return failed(Step::kUserMap);
  }
  return {};
}

Failure become_init() {
  if (::unshare(CLONE_NEWNS) != 0) return failed(Step::kMountNamespace);
  // What the host mounts later is seen here; what we mount is not seen there.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return failed(Step::kMounts);
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return failed(Step::kProc);
  }
  return {};
}

base::UniqueFd open_outer_proc() {
  return base::UniqueFd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void number_from_outside(const base::UniqueFd& outer_proc) {
  // A link to the reader's own number, as that /proc counts.
  std::array<char, 16> own{};
  if (::readlinkat(outer_proc.get(), "self", own.data(), own.size() - 1) <= 0) return;
  const base::UniqueFd last(::open("/proc/sys/kernel/ns_last_pid", O_RDWR | O_CLOEXEC));
  std::array<char, 16> inside{};
  if (!last.valid() || ::pread(last.get(), inside.data(), inside.size() - 1, 0) <= 0) return;
  const auto outer = base::parse_integer(own.data());
  const auto highest = base::parse_integer(base::trim(inside.data()));
  if (!outer || !highest || *highest >= *outer) return;
  // Where it may not be written, numbers stay as the kernel gives them.
  (void)!::pwrite(last.get(), own.data(), std::strlen(own.data()), 0);
}

std::string words(const Failure& failure) {
  const std::string_view reason = ::strerrordesc_np(failure.error_number);
  switch (failure.step) {
    case Step::kUnshare: return fmt::format("cannot make a PID namespace: {}", reason);
    case Step::kUserMap: return fmt::format("cannot map the user into a namespace: {}", reason);
    case Step::kMountNamespace: return fmt::format("cannot make a mount namespace: {}", reason);
    case Step::kMounts: return fmt::format("cannot separate its mounts: {}", reason);
    case Step::kProc: return fmt::format("cannot mount a /proc of its own: {}", reason);
    case Step::kNone: break;
  }
  return "";
}

}  // namespace gangrun::process::pid_namespace
