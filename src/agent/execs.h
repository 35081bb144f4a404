#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/frame_pipe.h"
#include "agent/task_process.h"
#include "base/result.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "process/child.h"
#include "process/containment.h"

namespace gangrun::agent {

// The properties that a command beside the task has in common with the task's own.
struct ExecPlace {
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;
  // Not empty: what starts a program in the task's container, in front of that program.
  std::vector<std::string> engine_argv{};
};

// The task's environment without the files that say something in its name.
ExecPlace exec_place(const Variables& variables, const std::string& folder,
                     const process::EngineContainers& containers);

// The value of the variable that all has which the command with this number has started: its own.
std::string exec_mark(std::uint64_t number);

// The commands that users run beside the task: each by a process of its own (exec_helper.h), in the
// task's containment, and with a channel to its user. Nothing of them is told to the master.
class Execs {
 public:
  // `own_children`: all that the agent itself reaps.
  Execs(net::EventLoop& loop, const process::Containment& containment,
        std::function<std::vector<pid_t>()> own_children)
      : loop_(loop), containment_(containment), all_own_children_(std::move(own_children)) {}
  Execs(const Execs&) = delete;
  Execs& operator=(const Execs&) = delete;
  ~Execs();

  // The task's process runs, in this place.
  void begin(ExecPlace place) { place_ = std::move(place); }
  // It ends, or is to: no command outlives it. Their users are told why.
  void end(std::string_view why);

  // None: take() can have one more.
  [[nodiscard]] std::optional<base::Error> refusal() const;
  void take(std::unique_ptr<net::Channel> channel);

  // The processes that we reap ourselves.
  [[nodiscard]] std::vector<pid_t> own_children() const;
  // All that is not the task's own.
  [[nodiscard]] std::vector<pid_t> processes() const;

 private:
  using Id = std::uint64_t;
  struct Exec {
    std::unique_ptr<net::Channel> channel;  // null: its user is gone
    std::optional<process::Child> helper{};
    std::string mark{};  // of all that the command starts
    std::unique_ptr<FramePipe> pipe{};
    bool has_told_exit = false;
    bool is_read = false;  // nothing comes from the helper any more
    net::Watch ended{};
    net::Timer limit{};
    net::Timer finished{};
  };

  [[nodiscard]] std::size_t running() const;
  void on_message(Id id, std::string_view message);
  base::Result<> start(Id id, std::string_view begin);
  void refuse(Id id, const base::Error& error);
  void on_user_gone(Id id);
  void on_helper_ended(Id id);
  void kill_rest(const Exec& exec);
  void finish(Id id);

  net::EventLoop& loop_;
  const process::Containment& containment_;
  const std::function<std::vector<pid_t>()> all_own_children_;
  std::optional<ExecPlace> place_;
  Id next_ = 1;
  std::map<Id, Exec> execs_;
};

}  // namespace gangrun::agent
