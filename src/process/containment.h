#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/cgroup.h"
#include "process/engine.h"
#include "process/levels.h"
#include "process/spawn.h"

namespace gangrun::process {

// The guarantee that nothing a task started outlives it, whatever is killed and when.
//
// Every task has two processes of ours: the *guardian*, which the master started and which does
// nothing but wait, and below it the *agent*, which starts the user's processes. When either
// ends, however it ends, everything of the task is killed, also what forked twice, called setsid
// and ignores SIGTERM. Where a *starter* (starter.h) is the first process of the job's PID
// namespace on a host, it stands in for the guardians of all its agents.
//
// What each level covers:
//   pid_namespace  The agent is the first process of a PID namespace, and the kernel kills the
//   whole
//                  namespace with it. The guardian's death kills the agent. Nothing escapes.
//   cgroup         The user's processes are in a cgroup of the task, which is killed whole by the
//                  one of guardian and agent that is left. Not covered: both killed at the same
//                  instant (the process that the agent started dies by its parent-death signal,
//                  its own daemons live on); a process with the right to move itself to another
//                  cgroup is still found as a descendant, as at the next level.
//   subreaper      Orphans become children of the agent, and of the guardian when it is gone, so
//                  that they are found as descendants and killed until none is left. Not
//                  covered: both killed at the same instant, as above; a process that forks and
//                  ends faster than it can be found, for as long as it does so; another user's
//                  (setuid) processes, which we have no right to kill.
// At no level: what was started by somebody else on the task's behalf (a systemd or cron job, a
// program on another host). Containers that an engine runs for the task are removed by their names:
// by the agent, and by a process that waits for the end of both (container_remover.h).

struct ContainOptions {
  Level level = Level::kSubreaper;
  // Names the task for people: part of the cgroup's folder name.
  std::string name;
  // The end of the process that started the guardian ends the task at once. (The master's, where it
  // runs on the same machine. It is the end of the *thread* that called spawn() that counts. Ask
  // for SpawnOptions::parent_death_signal = SIGTERM there, which covers the time until this call.)
  bool die_with_parent = false;
  // Descriptors above 3, and of those that the program was started with, which guardian and agent
  // keep until they end, and no process of the task gets: locks on what the task uses.
  std::vector<int> lasting_fds{};
  // Those that the task may have.
  EngineContainers containers{};
  // A folder that the guardian removes with all that is in it, last of all; empty: none.
  std::string removed_at_end{};
};

// The agent's side.
class Containment {
 public:
  Containment(Containment&&) = default;
  Containment& operator=(Containment&&) = delete;
  // Without a guardian the agent is the last: kills and removes what is left.
  ~Containment();

  [[nodiscard]] Level level() const { return level_; }

  // Readable (end of file) when the guardian is gone, or ends the task because its own parent is
  // gone: the agent must then call kill_all() and end, within three seconds. At kPidNamespace it
  // is killed without being asked.
  [[nodiscard]] int guardian_gone_fd() const { return guardian_.get(); }

  // Fills in what a process of the task needs: its cgroup, its parent-death signal. Start it from
  // the thread that lives as long as the agent.
  void confine(SpawnOptions& options) const;

  // The task's living processes: all but agent and guardian.
  [[nodiscard]] std::vector<pid_t> processes() const;

  // Orphans of the task become our children; reaps those that have ended. To be called now and then
  // and after a child's end. `own_children` are those that the caller reaps itself.
  void reap_orphans(const std::vector<pid_t>& own_children) const;

  [[nodiscard]] const EngineContainers& containers() const { return containers_; }

  // The /proc of the namespace outside, where the task is in one of its own; else -1.
  [[nodiscard]] int outer_proc_fd() const { return outer_proc_.get(); }

  // Kills all processes of the task with SIGKILL, removes its containers, and returns when none is
  // alive; zombies among
  // `own_children` are left to the caller. The agent's other children die too. kDeadlineExceeded
  // names survivors. May be called again; new processes can be started afterwards.
  [[nodiscard]] base::Result<> kill_all(base::Instant deadline,
                                        const std::vector<pid_t>& own_children) const;

 private:
  friend base::Result<Containment> contain(const ContainOptions& options);
  friend base::Result<Containment> contain_as_first_process();
  friend base::Result<Containment> contain_in_starter(base::UniqueFd outer_proc);
  Containment(Level level, base::UniqueFd guardian, std::optional<TaskCgroup> cgroup,
              EngineContainers containers, base::UniqueFd remover)
      : level_(level),
        guardian_(std::move(guardian)),
        cgroup_(std::move(cgroup)),
        containers_(std::move(containers)),
        remover_(std::move(remover)) {}

  Level level_;
  base::UniqueFd guardian_;
  std::optional<TaskCgroup> cgroup_;
  EngineContainers containers_;
  // A pipe whose other end waits for both of us to be gone.
  base::UniqueFd remover_;
  base::UniqueFd outer_proc_;
};

// Splits this process in two. To be called first in main, with one thread and no child. The caller
// goes on as the agent, in a new process. The old one is the guardian and never returns: it passes
// on every signal to end and every notice (signals.h) to the agent, waits for its end, kills
// what is left, and ends as the agent ended. It keeps no descriptor but the standard ones.
//
// As the first process of a PID namespace the agent is spared signals that it has no handler for.
// After an error there may be one process or two; either way the caller tells the error and ends.
base::Result<Containment> contain(const ContainOptions& options);

// In an agent that a starter (starter.h) has forked: that one takes the guardian's place.
base::Result<Containment> contain_in_starter(base::UniqueFd outer_proc);

// In the first process of a container, whose end takes all that is in it.
base::Result<Containment> contain_as_first_process();

}  // namespace gangrun::process
