#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "process/child.h"
#include "process/exit.h"
#include "process/packet_socket.h"
#include "process/process_handle.h"
#include "process/spawn.h"
#include "process/starter_messages.h"

namespace gangrun::local {

// A cluster's connection to the starter of its job on this machine (process/starter.h). Agents have
// keys, which the cluster chooses. Destroying it kills starter, agents and tasks, and waits for it.
class StarterLink {
 public:
  // A starter that kills what it can tells within a second who survives.
  static constexpr base::Duration kSilence = std::chrono::seconds(3);

  struct Callbacks {
    // The number is this process's of the agent.
    std::function<void(const std::string& key, pid_t pid)> on_started;
    // Everything of the task is gone, or `survivors` could not be killed. Without an exit it is not
    // known how the agent has ended; `words` say what is.
    std::function<void(const std::string& key, std::optional<process::Exit> exit,
                       const std::string& words)>
        on_ended;
    // Nothing comes any more. Must not destroy the link.
    std::function<void()> on_over;
  };
  struct Start {
    std::string agent_program;
    std::string path;  // of a socket for later clusters; empty: it ends with us
    int log_fd = -1;
  };

  static base::Result<std::unique_ptr<StarterLink>> start(net::EventLoop& loop, const Start& start,
                                                          Callbacks callbacks);
  // To one that an earlier cluster has started. kUnavailable where there is none (any more).
  static base::Result<std::unique_ptr<StarterLink>> find(net::EventLoop& loop,
                                                         const std::string& path,
                                                         Callbacks callbacks);
  // For start() and find().
  StarterLink(net::EventLoop& loop, base::UniqueFd socket, Callbacks callbacks);
  ~StarterLink();

  // False once it is ending: it takes no more agents.
  [[nodiscard]] bool is_open() const { return socket_.has_value(); }

  // Nothing comes any more.
  [[nodiscard]] bool is_over() const { return !end_.active(); }

  // `fds` are copied.
  base::Result<> start_agent(const std::string& key, const std::vector<std::string>& arguments,
                             const std::vector<process::InheritedFd>& fds);
  void watch_agent(const std::string& key);
  void ask_to_end(const std::string& key);
  void kill(const std::string& key);
  // The same for what was killed and has not ended; a starter that does not answer within `silence`
  // is killed.
  void give_up(const std::string& key, base::Duration silence = kSilence);

 private:
  void send(const process::starter::Order& order, std::vector<base::UniqueFd> fds = {});
  void flush();
  void go_on(const base::Result<>& sent);
  void hear();
  void on(const process::Packet& packet);
  void on(const process::starter::EndReport& ended);
  void tell_end(const std::string& key, const std::optional<process::Exit>& exit,
                const std::string& words);
  void close();
  void on_end();
  void end_with(const std::string& words);
  void kill_starter();

  net::EventLoop& loop_;
  Callbacks callbacks_;
  std::optional<process::PacketSocket> socket_;
  // One of them: its guardian, a child of ours, or itself.
  std::optional<process::Child> guardian_;
  process::ProcessHandle starter_;
  std::string path_;            // of the starter's socket; empty: it has none
  bool is_replaced_ = false;    // the starter goes on for another
  std::string killed_because_;  // by us; empty: it was not
  std::set<std::string> keys_;  // of agents whose ends are to be told
  net::Watch readable_;
  net::Watch writable_;
  net::Timer again_;
  net::Watch end_;
  net::Timer silence_;
};

}  // namespace gangrun::local
