#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/checked_maps.h"
#include "kubernetes/pods/agent_part_maps.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/job_objects.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// Makes all of a detached job but its pods, and starts its master last: a client that dies before
// leaves nothing for longer than its lease.
class JobMaking {
 public:
  // All that lives no longer than what it makes borrows this.
  struct Plan {
    const pods::Manifests& manifests;
    base::Json owner;  // with the master's pod, which it does not make yet
    // The objects that belong to it beside those of the manifests.
    std::function<base::Result<std::vector<base::Json>>(const pods::Owner& owner)> records;
    std::chrono::seconds lease{0};    // until the master is started
    std::chrono::seconds renewal{0};  // of that
    std::chrono::seconds life{0};     // from then on, at most
    CheckedMaps& checked_maps;
  };
  struct Callbacks {
    std::function<void(const pods::Owner& owner)> on_owner;  // the owner is there, nothing else yet
    std::function<void()> on_made;                           // the cluster has the job
    // It never will be, or somebody has removed it.
    std::function<void(const std::string& sentence)> on_gone;
  };

  JobMaking(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client, Plan plan,
            Callbacks callbacks);

  void begin();
  // "the job's objects", and what they wait for.
  [[nodiscard]] std::string waiting_for() const;
  // Deletes the owner, and waits until all is gone; the error names what is left.
  void take_away(std::function<void(base::Result<>)> done);
  // The objects that are still there then.
  [[nodiscard]] std::string left() const;

 private:
  void make(base::Json object, std::function<void(const base::Json& made)> then);
  void find(base::Json object, std::function<void(const base::Json& found)> then);
  void on_owner(const base::Json& job);
  void made_one();
  void switch_on_if_due();
  void switch_on();
  void on_switched_on(const ApiAnswer& answer);
  void renew();
  void on_renewed(const ApiAnswer& answer);
  [[nodiscard]] kubernetes::Request patch_of_owner(base::Json body) const;
  void end();
  void gone(const std::string& sentence);

  net::EventLoop& loop_;
  base::Logger& logger_;
  kubernetes::Client& client_;
  Plan plan_;
  const Callbacks callbacks_;
  pods::Errands errands_;
  pods::Owner owner_;
  pods::LeaseClock clock_;
  std::size_t missing_ = 0;
  bool is_renewing_ = false;
  bool has_ended_ = false;
  net::Timer renew_timer_;
  std::unique_ptr<pods::AgentPartMaps> part_maps_;
  std::unique_ptr<pods::JobRemoval> removal_;
};

}  // namespace gangrun::kubernetes::commands
