#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "process/child.h"
#include "process/containment.h"

namespace gangrun::agent {

// The hidden command of this program that looks.
inline constexpr std::string_view kLookCommand = "look";

// Looks at the stacks of all processes of a task, for whoever asks. A process of its own looks, as
// that may hang where the one that it looks at does.
class Stacks {
 public:
  // {"processes": [StackLook…]}
  using Reply = std::function<void(base::Result<base::Json>)>;

  // `processes`: those of the task.
  Stacks(net::EventLoop& loop, const process::Containment& containment,
         std::function<std::vector<pid_t>()> processes)
      : loop_(loop), containment_(containment), processes_(std::move(processes)) {}
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  // `about`: a process::StackQuestion. `reply` is called once, here or later from the loop, within
  // `limit`. One look at a time.
  void look(std::chrono::milliseconds limit, const base::Json& about, Reply reply);
  // The processes that look now, which this reaps itself.
  [[nodiscard]] std::vector<pid_t> own_children() const;

 private:
  struct Look {
    process::Child child;
    base::UniqueFd output;
    Reply reply;
    std::string text{};
    net::Watch readable{};
    net::Timer limit{};
  };

  // One that has answered, and ends when its programs have let their processes go.
  struct Leaving {
    process::Child child;
    net::Watch ended{};
    net::Timer limit{};
  };

  void read();
  void finish(base::Result<base::Json> said);
  void end(std::list<Leaving>::iterator leaving);

  net::EventLoop& loop_;
  const process::Containment& containment_;
  const std::function<std::vector<pid_t>()> processes_;
  std::optional<Look> look_;
  std::list<Leaving> leaving_;
};

// The hidden command: prints within LIMIT_MS what is seen of processes, as JSON. A process that is
// not looked at by then is told as such; ASKED_MS is for its words. Returns the status.
//   gangrun-agent look LIMIT_MS ASKED_MS one|all PID...             of these
//   gangrun-agent look LIMIT_MS ASKED_MS one|all in ENGINE NAME...  of those in its containers
//   gangrun-agent look LIMIT_MS ASKED_MS one|all                    of those in this container
int run_look(const std::vector<std::string>& arguments);

}  // namespace gangrun::agent
