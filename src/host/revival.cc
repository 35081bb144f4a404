#include <fcntl.h>

#include <algorithm>

#include "base/files.h"
#include "host/processes.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::host {

namespace {

using base::Result;

// How often a new master's lock is looked for: taking it tells nobody.
constexpr base::milliseconds kLookInterval(5);
constexpr std::size_t kMaxEnvironmentBytes = std::size_t{4} << 20U;
// The descriptor on which the supervisor is given the pipe.
constexpr int kSupervisorToldFd = 3;

}  // namespace

Result<pid_t> start_supervisor(const std::string& program, const JobPaths& paths, int told_fd) {
  GANGRUN_ASSIGN(const std::string environment,
                 base::read_file(paths.environment(), kMaxEnvironmentBytes));
  // Without a log (a full disk) it does its work all the same.
  const auto log = base::open_file(paths.master_log(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  process::SpawnOptions options;
  options.argv = {program, "supervise", paths.folder,
                  std::to_string(told_fd < 0 ? -1 : kSupervisorToldFd)};
  if (told_fd >= 0) options.inherited = {{told_fd, kSupervisorToldFd}};
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = environment.find('\0', at);
    options.environment.push_back(environment.substr(at, end - at));
    at = end == std::string::npos ? environment.size() : end + 1;
  }
  options.standard_error = log.ok() ? log->get() : -1;
  options.working_folder = paths.folder;
  options.new_group = process::NewGroup::kSession;
  // It is not waited for: when we end, it is somebody else's child.
  GANGRUN_ASSIGN(const process::Child supervisor, process::spawn(options));
  return supervisor.pid();
}

Result<> revive(const std::string& program, const JobPaths& paths, base::Instant deadline) {
  GANGRUN_TRY(start_supervisor(program, paths, -1));
  while (!has_master(paths)) {
    const base::Instant now = std::chrono::steady_clock::now();
    if (now >= deadline) return base::deadline_exceeded("no new master started in time");
    (void)process::wait_any_readable({}, std::min(deadline, now + kLookInterval));
  }
  return {};
}

}  // namespace gangrun::host
