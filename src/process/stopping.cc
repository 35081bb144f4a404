#include "process/stopping.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/process_handle.h"

namespace gangrun::process {

namespace {

constexpr std::array<std::string_view, 9> kShells{"sh",    "bash", "dash", "ash",    "ksh",
                                                  "ksh93", "mksh", "zsh",  "busybox"};

// By the program, as a script gives its process its own name.
bool is_shell(pid_t pid) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink(base::format("/proc/{}/exe", pid), failed);
  return !failed &&
         std::find(kShells.begin(), kShells.end(), program.filename().string()) != kShells.end();
}

// A shell may end at the signal, or hold it back until what it runs has ended: that is told beside
// it, and found before the shell is gone.
std::vector<pid_t> with_what_shells_run(pid_t top) {
  std::vector<pid_t> found{top};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!is_shell(found[i])) continue;
    const std::vector<pid_t> children = children_of(found[i]);
    found.insert(found.end(), children.begin(), children.end());
  }
  return found;
}

}  // namespace

void Stopping::tell(const std::vector<pid_t>& leaders) {
  for (const pid_t leader : leaders) {
    if (!leaders_.insert(leader).second) continue;
    if (how_.to_group) {
      (void)::kill(-leader, how_.number);
    } else {
      for (const pid_t pid : with_what_shells_run(leader)) tell_one(pid);
    }
  }
}

void Stopping::tell_rest(const std::vector<pid_t>& left) {
  for (const pid_t pid : left) {
    const auto stat = read_stat(pid);
    if (!stat) continue;
    if (how_.to_group) {
      if (!leaders_.contains(stat->group)) tell_one(pid);
    } else if (stat->parent == ::getpid()) {
      for (const pid_t each : with_what_shells_run(pid)) tell_one(each);
    }
  }
}

void Stopping::tell_one(pid_t pid) {
  // First, so that the number cannot become somebody else's between look and signal.
  const ProcessHandle handle = ProcessHandle::open(pid);
  const auto stat = read_stat(pid);
  if (!handle.valid() || !stat || !stat->alive()) return;
  if (told_.emplace(pid, stat->start_ticks).second) (void)handle.signal(how_.number);
}

}  // namespace gangrun::process
