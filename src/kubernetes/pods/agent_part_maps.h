#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/pause.h"
#include "job/reason.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/agent_parts.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/turns.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

struct PartMapLimits {
  // How long a server that refuses for now is asked again before that is told as what is waited
  // for.
  base::Duration patience = std::chrono::seconds(3);
  // How long no map becomes right, on such a server, before this gives up.
  base::Duration progress = std::chrono::seconds(60);
  // How long a map that is being deleted may take until it is gone.
  base::Duration deletion = std::chrono::seconds(30);
};

// Sees to it that all config maps of the agent's parts are in the namespace, have the right bytes
// and have the job among their owners, so that they stay as long as the job does. Shares them with
// other jobs, which may do the same at the same time, and with the garbage collector.
class AgentPartMaps {
 public:
  struct Callbacks {
    std::function<void()> on_ready;  // once: all is so
    // It never will be, or is not any more.
    std::function<void(const std::string& sentence, job::Reason reason)> on_gone;
    // Whether on_checked was ever told of this uid, also by an earlier client: as the bytes of an
    // immutable map never change, some megabytes are not read again then.
    std::function<bool(const std::string& uid)> is_checked;
    std::function<void(const std::string& name, const std::string& uid)> on_checked;
  };

  // `parts` is borrowed.
  AgentPartMaps(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                const AgentParts& parts, std::string name_space, Callbacks callbacks,
                PartMapLimits limits = {});

  // The owner is there.
  void begin(Owner owner);
  // Calls `then` after everything was looked at once more, from now on, and what was missing was
  // made again; before on_ready it comes with it. For a pod that waits for a map: the collector may
  // have removed one that it looked at just before the job became its owner.
  void check_again(std::function<void()> then);
  // Nothing is made any more, and nothing called back.
  void end();
  // "the agent's config maps: 2 of 6 are there", and what keeps the others.
  [[nodiscard]] std::string waiting_for() const;

 private:
  struct Map {
    bool is_there = false;
    int patches = 0;
    std::optional<base::Instant> deleting_since;
    base::Pause pause;
    net::Timer again;
    Turns::Turn turn;  // to be made
    std::string trouble;
  };

  void look_at_all();
  void look(std::size_t index, bool is_whole = false);
  void look_again(std::size_t index, std::string trouble);
  void on_found(std::size_t index, const ApiAnswer& answer, bool is_whole);
  void on_deleting(std::size_t index, const base::Json& map);
  void create(std::size_t index);
  void on_created(std::size_t index, const ApiAnswer& answer);
  void add_owner(std::size_t index, const base::Json& map);
  void on_owner_added(std::size_t index, const ApiAnswer& answer);
  // Repeats what may succeed later; else it is the end.
  void on_refused(std::size_t index, std::string_view what, const ApiAnswer& answer);
  void settle(std::size_t index);
  void finish();
  void gone(const std::string& sentence, job::Reason reason);
  [[nodiscard]] bool is_checked(const std::string& uid) const;
  void set_checked(std::size_t index, const std::string& uid);
  [[nodiscard]] kubernetes::Request request_of(std::size_t index) const;
  [[nodiscard]] std::size_t count_there() const;

  net::EventLoop& loop_;
  base::Logger& logger_;
  const AgentParts& parts_;
  const std::string name_space_;
  const Callbacks callbacks_;
  const PartMapLimits limits_;
  Errands errands_;
  Turns creations_;
  Owner owner_;
  std::vector<Map> maps_;
  std::set<std::string> checked_;  // uids
  base::Instant limit_;
  bool is_looking_ = false;
  bool has_to_look_again_ = false;
  bool was_ready_ = false;
  bool has_ended_ = false;
  std::vector<std::function<void()>> waiting_;  // for the end of a look
};

}  // namespace gangrun::kubernetes::pods
