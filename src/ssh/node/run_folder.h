#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "job/task_id.h"

// The folder of a job on a host.
namespace gangrun::ssh::node {

// If no keeper is there any more, lines that were not told are kept so long for a client that comes
// again.
inline constexpr std::chrono::seconds kLinesKept(60);
// A client whose link is cut comes again far sooner than this, if it lives and the link comes back;
// and one that comes later begins again.
inline constexpr std::chrono::minutes kAbandonedFor(10);

// A job's folder on its host. The keeper that has the job holds its lock; what else the folder has
// is removed by whoever finds the lock free and no agent alive.
class RunFolder {
 public:
  // Each has this file, by which the caretakers of its keeper take turns.
  static constexpr const char* kTurn = "/caretaker";

  // `base` is the folder of this user on the host; `name` that of a folder which was made before,
  // or empty. Takes the lock from an older keeper, which may not know yet that its client is gone:
  // SIGTERM tells it, and it releases the lock. Where it has removed the folder, the new one has
  // another name, which tells the client that what it had put there is gone. `host`: as the user
  // calls it. `on_path` hears where it is before a new one is made: whoever looks after it has to
  // know it before it can be left behind.
  using OnPath = std::function<base::Result<>(const std::string& path)>;
  static base::Result<RunFolder> open(const std::string& base, const std::string& job_id,
                                      const std::string& host, const std::string& name,
                                      base::Instant deadline, const OnPath& on_path = nullptr);

  [[nodiscard]] const std::string& name() const { return name_; }
  // The socket at which the agents find their master: a path that is short enough for a socket.
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // Likewise, where the starter of the agents waits for the next keeper.
  [[nodiscard]] std::string starter_socket() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string agent_log() const { return path_ + "/agent.log"; }
  [[nodiscard]] std::string log_prefix(const job::TaskId& task, int attempt) const;

  // From here on another keeper may have it.
  void give_up() { lock_.reset(); }
  // Takes the lock again, if nobody has it.
  bool take_back();
  // All of it, with the lock held. Agents of the job that were killed have until the deadline to
  // end; where one lives on, another keeper waits for it and removes the folder. An error says what
  // is still there, and why.
  base::Result<> remove(base::Instant deadline);
  // Leaves it, without its logs, for a day, or until it is removed by its job's name.
  void keep(bool until_removed);
  // One that was kept of a job that is over, with its lock; none: it is not there any more.
  // kUnavailable: the job may not be over on this host, or another keeper has it.
  static base::Result<std::optional<RunFolder>> open_kept(const std::string& base,
                                                          const std::string& name);
  // Leaves it for a day as it is, for a keeper that may come.
  void leave();
  // The folder of a job, wherever its keepers have gone.
  struct Removal {
    std::uint64_t folders = 0;
    std::string left;  // a folder that is still there, and why; empty: none
  };
  static Removal remove_all(const std::string& base, const std::string& job_id,
                            base::Instant deadline);

  // The state of a job's folder, for a process that does not have its lock. Several machines may
  // have one folder of a user, and each can tell of its own only.
  enum class State {
    kNotOurs,    // it is gone, a keeper has it, it is another machine's, or it stays as it is
    kBusy,       // somebody who is no keeper has its lock, for a moment
    kHasAgents,  // no keeper has it, and agents of the job live
    kAbandoned,
  };
  static State state_of(const std::string& path);
  // Removes what a keeper that was killed has left while it made the folder or removed it: it has
  // no lock. False: it has one.
  static bool remove_without_lock(const std::string& path);
  // Does for an abandoned one what a keeper does at its end: removes it, or leaves it for a day,
  // where tasks have written to it. What was found, before that.
  static State end_abandoned(const std::string& path);

  // Ends folders of jobs whose keepers were killed with all that they had on this machine: those
  // that are abandoned, where nothing was written for kAbandonedFor before `now`. Removes those
  // that were left, when their day is over. Likewise parts of agents that killed logins have
  // left.
  static void sweep(const std::string& base, base::WallTime now);

 private:
  explicit RunFolder(const std::string& path);
  base::Result<> make(const std::string& host);
  // False: there is none any more.
  base::Result<bool> lock(base::Instant deadline);
  // False: nobody has held it, or another machine.
  bool read_holder();
  void read_socket_folder();
  // With the lock, where it is this machine's; none: there is no such folder.
  static std::optional<RunFolder> take(const std::string& path);
  base::Result<> find_socket();

  std::string path_;
  std::string name_;
  std::string job_id_on_host_;
  std::string socket_;
  std::string socket_folder_;  // that is not in the folder, as its path is too long; empty: none
  base::UniqueFd lock_;
};

// The id by which the agents of a job on this host are known among its processes: several hosts of
// a job may be one machine.
std::string job_id_on_host(const std::string& job_id, const std::string& host);

}  // namespace gangrun::ssh::node
