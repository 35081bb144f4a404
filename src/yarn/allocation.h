#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/all_or_nothing.h"
#include "hadoop/application_master.h"
#include "hadoop/records.h"

namespace gangrun::yarn {

// Entries of all asks together that name a host: each costs the scheduler memory and time.
inline constexpr std::size_t kMaxHostEntries = 5'000;
// How long after a refusal by the placement handler the same is asked again.
inline constexpr std::chrono::seconds kRejectedPause{1};

// The wishes for one task's container.
struct ContainerWish {
  hadoop::Resource resource;
  std::optional<std::string> label{};  // of the node; none: what the queue decides
  bool one_per_node = false;           // not beside another of the same tag
  std::string tag{};
  std::string host{};  // where it would best be; empty: anywhere
  std::vector<std::string> avoided{};
};

// Which containers are requested, held and given back, by task number (which is YARN's
// allocation_request_id). Pure: it is told what the ResourceManager has answered and when.
//
// All or nothing (cluster/all_or_nothing.h): containers are handed on when there is one for every
// task that waits. Who has held some for `hold` without getting all gives them back.
class Allocation {
 public:
  struct Options {
    bool all_or_nothing = true;
    std::chrono::milliseconds hold{std::chrono::minutes(1)};
    std::function<double()> random;  // from 0 to 1, for the pause
  };

  explicit Allocation(Options options);

  // The nodes that can be requested by name. Without any, asks are for "*" only, which a scheduler
  // that works by heartbeats grants one by one.
  void set_hosts(const std::vector<hadoop::NodeReport>& nodes);

  void want(std::int64_t number, ContainerWish wish);
  // The ask is off; a container that is held for it is given back.
  void forget(std::int64_t number);
  // Gives back a container that was granted, or is another attempt's.
  void release(const hadoop::ContainerId& id);

  // New containers. Returned are those that are to be used now; what nobody wants is given back.
  std::vector<hadoop::Container> on_allocated(const std::vector<hadoop::Container>& containers,
                                              base::Instant now);
  // One has ended. If it was held, it is requested again.
  void on_completed(const hadoop::ContainerId& id);
  void on_rejected(std::int64_t number, base::Instant now);
  // The ResourceManager knows nothing of what was asked and given back before.
  void on_resync();

  // The requests and releases since the last time. The caller sends it until it has
  // succeeded, before it takes the next.
  hadoop::AllocateRequest take_request();
  // Whether take_request() has something to say.
  [[nodiscard]] bool has_request() const;

  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

  [[nodiscard]] std::size_t wanted() const { return wishes_.size(); }
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  // "2 of 6 containers; asked for: 3 of 2048 MiB, 1 vcore; 1 of …"; empty: nothing is wanted.
  [[nodiscard]] std::string waiting_for(base::Instant now) const;

 private:
  struct Wish {
    ContainerWish wish;
    bool asked = false;  // by what was last taken
    std::vector<std::string> named{};
    std::optional<base::Instant> ask_at{};  // not before
  };

  [[nodiscard]] bool is_pausing() const { return parts_.ask_again_at().has_value(); }
  [[nodiscard]] bool should_ask(std::int64_t number, const Wish& wish) const;
  [[nodiscard]] bool wants_constraint() const;
  void give_back_held();
  std::vector<hadoop::Container> grant_all();
  void add_asks(std::int64_t number, Wish& wish, int containers, hadoop::AllocateRequest& request);
  void deny_hosts(hadoop::AllocateRequest& request);
  std::vector<std::string> hosts_for(std::int64_t number, const ContainerWish& wish) const;

  Options options_;
  cluster::AllOrNothing parts_;
  std::map<std::string, std::string> rack_of_;  // by host
  std::vector<std::string> hosts_;
  std::map<std::int64_t, Wish> wishes_;
  // Asks that are taken back with the next request.
  std::map<std::int64_t, Wish> withdrawn_;
  std::map<std::int64_t, hadoop::Container> held_;
  std::set<hadoop::ContainerId> to_release_;
  std::set<hadoop::ContainerId> released_;  // and not yet seen to have ended
  std::set<std::string> denied_;            // as the ResourceManager knows them
};

}  // namespace gangrun::yarn
