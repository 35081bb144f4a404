#include "process/spawn_child.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "base/letters.h"

// Runs in the parent's memory on a stack of its own: nothing here allocates, locks, throws or
// relies on an instrumented stack. System calls are made directly, so that no interceptor gets in
// between.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GANGRUN_PLAIN __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define GANGRUN_PLAIN
#endif

namespace gangrun::process::spawn_child {

namespace {

// Whole words: the kernel looks at all of them where it wants a long.
GANGRUN_PLAIN long word(long value) { return value; }
GANGRUN_PLAIN const void* word(const void* pointer) { return pointer; }

template <typename... Arguments>
GANGRUN_PLAIN long call(long number, Arguments... arguments) {
  return ::syscall(number, word(arguments)...);
}

GANGRUN_PLAIN void default_signals() {
  // Handlers of ours must not run here once signals are unblocked; ignored ones would stay ignored.
  // The kernel's own struct, as glibc's wrapper refuses the two signals that it keeps for itself.
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } action{};
  for (int number = 1; number <= 64; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    call(SYS_rt_sigaction, number, &action, nullptr, sizeof(std::uint64_t));
  }
}

GANGRUN_PLAIN bool fail(Plan& plan, Step step) {
  plan.failed = step;
  plan.error_number = errno;
  return false;
}

GANGRUN_PLAIN bool join_groups(Plan& plan) {
  if (plan.new_group == 2 && call(SYS_setsid) < 0) return fail(plan, Step::kGroup);
  if (plan.new_group == 1 && call(SYS_setpgid, 0, 0) < 0) return fail(plan, Step::kGroup);
  if (plan.parent_death_signal != 0) {
    if (call(SYS_prctl, PR_SET_PDEATHSIG, plan.parent_death_signal, 0L, 0L, 0L) < 0) {
      return fail(plan, Step::kParentDeathSignal);
    }
    // A parent that died before the call above would never be noticed.
    if (call(SYS_getppid) != plan.parent) return fail(plan, Step::kParentDied);
  }
  if (plan.cgroup_procs_fd >= 0 && call(SYS_write, plan.cgroup_procs_fd, "0", 1UL) != 1) {
    return fail(plan, Step::kCgroup);
  }
  if (plan.working_folder != nullptr && call(SYS_chdir, plan.working_folder) < 0) {
    return fail(plan, Step::kFolder);
  }
  return true;
}

GANGRUN_PLAIN bool is_target(const Plan& plan, int fd) {
  for (int i = 0; i < plan.mapping_count; ++i) {
    if (plan.mappings[i].as == fd) return true;
  }
  return false;
}

// Sources in the way of another's target move above all targets first.
GANGRUN_PLAIN bool map_descriptors(Plan& plan) {
  const int above = plan.mappings[plan.mapping_count - 1].as + 1;
  int null_device = -1;
  for (int i = 0; i < plan.mapping_count; ++i) {
    Mapping& mapping = plan.mappings[i];
    if (mapping.fd < 0) {
      if (null_device < 0) {
        null_device =
            static_cast<int>(call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0));
        if (null_device < 0) return fail(plan, Step::kNull);
        if (is_target(plan, null_device)) {
          null_device = static_cast<int>(call(SYS_fcntl, null_device, F_DUPFD_CLOEXEC, above));
          if (null_device < 0) return fail(plan, Step::kDescriptors);
        }
      }
      mapping.fd = null_device;
    } else if (mapping.fd != mapping.as && is_target(plan, mapping.fd)) {
      mapping.fd = static_cast<int>(call(SYS_fcntl, mapping.fd, F_DUPFD_CLOEXEC, above));
      if (mapping.fd < 0) return fail(plan, Step::kDescriptors);
    }
  }
  for (int i = 0; i < plan.mapping_count; ++i) {
    const Mapping& mapping = plan.mappings[i];
    const long done = mapping.fd == mapping.as ? call(SYS_fcntl, mapping.fd, F_SETFD, 0)
                                               : call(SYS_dup3, mapping.fd, mapping.as, 0);
    if (done < 0) return fail(plan, Step::kDescriptors);
  }
  return true;
}

GANGRUN_PLAIN bool take_terminal(Plan& plan) {
  if (!plan.takes_terminal || call(SYS_ioctl, STDIN_FILENO, TIOCSCTTY, 0) == 0) return true;
  return fail(plan, Step::kTerminal);
}

GANGRUN_PLAIN bool close_others(Plan& plan) {
  unsigned int from = 0;
  for (int i = 0; i <= plan.mapping_count; ++i) {
    const unsigned int next =
        i < plan.mapping_count ? static_cast<unsigned int>(plan.mappings[i].as) : UINT_MAX;
    const unsigned int last = i < plan.mapping_count ? next - 1 : UINT_MAX;
    if (next > from && call(SYS_close_range, from, last, 0U) < 0) {
      if (close_others_on_exec(plan.mappings, plan.mapping_count)) return true;
      return fail(plan, Step::kDescriptors);
    }
    from = next + 1;
  }
  return true;
}

GANGRUN_PLAIN void write_listen_pid(char* digits) {
  char reversed[16];
  int count = 0;
  for (long pid = call(SYS_getpid); pid > 0; pid /= 10) {
    reversed[count++] = static_cast<char>('0' + pid % 10);
  }
  while (count > 0) *digits++ = reversed[--count];
  *digits = '\0';
}

GANGRUN_PLAIN bool exec(Plan& plan) {
  int worst = ENOENT;
  for (const char* const* program = plan.programs; *program != nullptr; ++program) {
    call(SYS_execve, *program, plan.argv, plan.environment);
    // As a shell does: a folder of PATH without the program is passed over; one that has it
    // but may not be used is told in the end if nothing better comes.
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
    if (errno == EACCES) worst = EACCES;
    errno = worst;
  }
  return fail(plan, Step::kExec);
}

// The layout that getdents64 fills, which glibc does not declare.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

GANGRUN_PLAIN void close_on_exec(const char* name, const Mapping* mappings, int count) {
  if (!base::is_digit(*name)) return;
  int fd = 0;
  for (const char* digit = name; *digit != '\0'; ++digit) fd = fd * 10 + (*digit - '0');
  for (int i = 0; i < count; ++i) {
    if (mappings[i].as == fd) return;
  }
  call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace

GANGRUN_PLAIN bool close_others_on_exec(const Mapping* mappings, int count) {
  const int folder = static_cast<int>(
      call(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (folder < 0) return false;
  alignas(Entry) char buffer[4096];
  while (true) {
    const long got = call(SYS_getdents64, folder, buffer, sizeof buffer);
    if (got <= 0) {
      call(SYS_close, folder);
      return got == 0;
    }
    for (long at = 0; at < got;) {
      const char* entry = buffer + at;
      close_on_exec(entry + offsetof(Entry, name), mappings, count);
      std::uint16_t length = 0;
      __builtin_memcpy(&length, entry + offsetof(Entry, length), sizeof length);
      at += length;
    }
  }
}

GANGRUN_PLAIN int run(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  default_signals();
  if (join_groups(plan) && map_descriptors(plan) && take_terminal(plan) && close_others(plan)) {
    if (plan.listen_pid_digits != nullptr) write_listen_pid(plan.listen_pid_digits);
    const std::uint64_t none = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    // Lowering a soft limit does not fail, and what is open above it stays open.
    if (plan.open_files != nullptr) {
      call(SYS_prlimit64, 0, RLIMIT_NOFILE, plan.open_files, nullptr);
    }
    exec(plan);
  }
  call(SYS_exit_group, 127);
  return 127;
}

}  // namespace gangrun::process::spawn_child
