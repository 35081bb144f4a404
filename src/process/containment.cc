#include "process/containment.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/format.h"
#include "process/guardian.h"
#include "process/kill_processes.h"
#include "process/pid_namespace.h"
#include "process/pipe.h"
#include "process/signals.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr base::seconds kMaxRemoving(5);
constexpr base::seconds kMaxKillingAtEnd(10);

base::Error level_error(Level level, const pid_namespace::StepFailure& failure) {
  return {base::Code::kFailedPrecondition,
          fmt::format("level {} is not possible here: {}", to_string(level),
                      pid_namespace::words(failure))};
}

base::Result<> become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) != 0) {
    return base::from_errno(errno, "cannot become a subreaper");
  }
  return {};
}

bool is_gone(int guardian_pipe) {
  return wait_readable(guardian_pipe, std::chrono::steady_clock::now());
}

// The steps of the old process before the fork.
base::Result<GuardianState> prepare_guardian(const ContainOptions& options, pid_t parent) {
  GuardianState state;
  state.level = options.level;
  if (options.level == Level::kPidNamespace) {
    const auto failure = pid_namespace::unshare_children(pid_namespace::own_id_maps());
    if (failure.happened()) return level_error(options.level, failure);
  } else {
    GANGRUN_TRY(become_subreaper());
  }
  if (options.die_with_parent) {
    // After the namespace, as a change of rights sheds it. A signal that is not passed on: it comes
    // at the end of the parent's thread too, which is before the other threads' when it is killed.
    if (::prctl(PR_SET_PDEATHSIG, SIGCHLD, 0L, 0L, 0L) != 0) {
      return base::from_errno(errno, "cannot ask for a signal at the parent's death");
    }
    if (::getppid() != parent) {
      return base::Error{base::Code::kCancelled, "the process that started this one has ended"};
    }
    state.parent_to_die_with = parent;
  }
  // Last, as it leaves something behind.
  if (options.level == Level::kCgroup) {
    GANGRUN_ASSIGN(state.cgroup, TaskCgroup::create(options.name));
  }
  return state;
}

// The first steps of the new process.
base::Result<> prepare_agent(Level level, int guardian_pipe, const base::UniqueFd& outer_proc) {
  if (level == Level::kPidNamespace) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L) != 0) {
      return base::from_errno(errno, "cannot ask for a signal at the guardian's death");
    }
  } else {
    GANGRUN_TRY(become_subreaper());
  }
  if (is_gone(guardian_pipe)) {
    return base::Error{base::Code::kCancelled, "the guardian has ended already"};
  }
  if (level == Level::kPidNamespace) {
    const auto failure = pid_namespace::become_init();
    if (failure.happened()) return level_error(level, failure);
    pid_namespace::spread_numbers(outer_proc);
  }
  return {};
}

}  // namespace

base::Result<Containment> contain(const ContainOptions& options) {
  const pid_t parent = ::getppid();
  GANGRUN_ASSIGN(Pipe guardian, make_pipe());
  // Ignored, children would vanish without a status.
  ::signal(SIGCHLD, SIG_DFL);
  const sigset_t blocked = awaited_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  // Before there is a PID namespace for our children, and before they are our descendants.
  auto remover = start_container_remover(options.containers);
  if (!remover.ok()) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return remover.error();
  }
  auto state = prepare_guardian(options, parent);
  if (!state.ok()) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return state.error();
  }
  const pid_t agent = ::fork();
  if (agent < 0) {
    const int error_number = errno;
    if (state->cgroup && !state->cgroup->remove(std::chrono::steady_clock::now()).ok()) {
      return base::from_errno(error_number, "fork (and its cgroup is left behind)");
    }
    return base::from_errno(error_number, "fork");
  }
  if (agent > 0) {
    guardian.read.reset();
    state->agent = agent;
    state->alive = std::move(guardian.write);
    state->lasting_fds = options.lasting_fds;
    state->removed_at_end = options.removed_at_end;
    state->remover = std::move(*remover);
    run_guardian(*std::move(state));
  }
  guardian.write.reset();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int fd : options.lasting_fds) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  Containment containment(options.level, std::move(guardian.read), std::move(state->cgroup),
                          options.containers, std::move(remover->order));
  if (options.level == Level::kPidNamespace) {
    containment.outer_proc_ = pid_namespace::open_outer_proc();
  }
  GANGRUN_TRY(
      prepare_agent(options.level, containment.guardian_gone_fd(), containment.outer_proc_));
  return containment;
}

base::Result<Containment> contain_as_first_process() {
  GANGRUN_TRY(become_subreaper());
  // Never readable: there is no guardian that could go.
  base::UniqueFd never(::eventfd(0, EFD_CLOEXEC));
  if (!never.valid()) return base::from_errno(errno, "eventfd");
  return Containment(Level::kSubreaper, std::move(never), std::nullopt, {}, {});
}

// The starter is the first process of its namespace.
base::Result<Containment> contain_in_starter(base::UniqueFd outer_proc) {
  GANGRUN_ASSIGN(Containment containment, contain_as_first_process());
  containment.outer_proc_ = std::move(outer_proc);
  return containment;
}

Containment::~Containment() {
  // The processes of a PID namespace die with the agent, and its containers with their lifeline.
  if (level_ == Level::kPidNamespace || !guardian_.valid() || !is_gone(guardian_.get())) return;
  // Nobody is left to hear of a failure.
  (void)kill_all(std::chrono::steady_clock::now() + kMaxKillingAtEnd, {});
}

void Containment::confine(SpawnOptions& options) const {
  if (cgroup_) options.cgroup_procs_fd = cgroup_->procs_fd();
  options.parent_death_signal = SIGKILL;
}

std::vector<pid_t> Containment::processes() const {
  return living(victims_of(level_, cgroup_, ::getpid()).list());
}

void Containment::reap_orphans(const std::vector<pid_t>& own_children) const {
  process::reap_orphans(own_children);
}

base::Result<> Containment::kill_all(base::Instant deadline,
                                     const std::vector<pid_t>& own_children) const {
  GANGRUN_TRY(kill_processes(victims_of(level_, cgroup_, ::getpid()), own_children, deadline));
  // Their clients are dead by now.
  GANGRUN_TRY(remove_containers(containers_, base::Duration::zero(), deadline));
  // Else the guardian removes it when we have ended.
  if (cgroup_ && is_gone(guardian_.get())) {
    return cgroup_->remove(std::chrono::steady_clock::now() + kMaxRemoving);
  }
  return {};
}

}  // namespace gangrun::process
