#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "hadoop/application_master.h"
#include "hadoop/records.h"
#include "job/ends.h"
#include "job/spec.h"
#include "yarn/allocation.h"

namespace gangrun::yarn {

// How many answers of the ResourceManager an adopted container may be missing from before it is
// taken for gone: what ended meanwhile is told with the first ones.
inline constexpr int kLooksForAdopted = 3;

// The action at a node for which YARN has given a token.
struct StartContainer {
  job::TaskId task;
  cluster::Launch launch;
  hadoop::Container container;
};
struct StopContainer {
  hadoop::NodeId node;
  hadoop::ContainerId id;
};

// In their order.
using ContainerAction = std::variant<StartContainer, StopContainer, cluster::LaunchEvent>;

// Which container belongs to which task of an application, from the ask to the end. Pure: it is
// told what tasks want, what YARN answers and when; what is to be done comes out. Allocation
// decides which containers are requested and given back.
class ContainerBook {
 public:
  struct Options {
    job::JobSpec spec;
    // The nodes as the client saw them, for asks that name hosts.
    std::vector<hadoop::NodeReport> nodes{};
    std::function<double()> random;  // from 0 to 1
    // From the ResourceManager's notice of a preemption to the preemption; and how long it may be
    // until we hear of the notice.
    std::chrono::milliseconds preemption_wait{std::chrono::seconds(15)};
    std::chrono::milliseconds longest_poll{std::chrono::seconds(1)};
  };

  explicit ContainerBook(Options options);

  // Cluster's.
  void start(const job::TaskId& task, int attempt, cluster::Launch launch);
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle, base::Instant now);
  void release_others();
  // False where there is nothing to stop.
  bool stop(const job::TaskId& task, int attempt, base::Instant now);

  // Before each call to the ResourceManager.
  void on_time(base::Instant now) { allocation_.on_time(now); }
  // The request for it. It stays the same until one of the next three is called.
  const hadoop::AllocateRequest& request();
  void on_allocated(const hadoop::AllocateResponse& response, base::Instant now);
  // It knows nothing any more of what was asked.
  void on_restarted();
  // It refuses the request. One ask that can never be granted makes it refuse all that goes with
  // it, so nothing of that is asked again.
  void on_refused();
  // Whether there is more to ask than what was asked last.
  [[nodiscard]] bool has_more_to_ask() const { return allocation_.has_request(); }

  void on_registered(const hadoop::Registered& registered);
  // A node has not taken what StartContainer was for; it may have started it all the same.
  void on_not_started(const hadoop::ContainerId& id, const base::Error& error, base::Instant now);

  // Whether a task has it, and its end has not been told.
  [[nodiscard]] bool has(const hadoop::ContainerId& id) const { return running_.contains(id); }
  [[nodiscard]] std::vector<ContainerAction> take_actions() { return std::exchange(actions_, {}); }

 private:
  using Key = std::pair<job::TaskId, int>;
  struct Asked {
    Key key;
    cluster::Launch launch;
  };
  struct Running {
    Key key;
    hadoop::NodeId node;
    bool adopted = false;
    int looks = 0;  // answers of the ResourceManager without it, for an adopted one
    std::optional<base::Instant> preempted_at{};  // as was told
  };

  [[nodiscard]] ContainerWish wish_of(const job::TaskId& task, const cluster::Launch& launch) const;
  void tell(cluster::LaunchEvent event) { actions_.emplace_back(std::move(event)); }
  void know(const std::vector<hadoop::NodeToken>& tokens);
  void take_over(const std::vector<hadoop::Container>& containers);
  void launch(const hadoop::Container& container, base::Instant now);
  void on_completed(const hadoop::ContainerStatus& status, base::Instant now);
  void look_for_adopted(base::Instant now);
  void tell_preemption(const std::vector<hadoop::ContainerId>& marked, base::Instant now);
  void tell_waiting(const hadoop::AllocateResponse& response, base::Instant now);
  void end(const hadoop::ContainerId& id, job::Why why, base::Instant now,
           std::optional<job::RunEnd> run = std::nullopt);

  const Options options_;
  std::map<job::TaskId, std::int64_t> numbers_;
  Allocation allocation_;
  std::optional<hadoop::AllocateRequest> unsent_;  // until it has succeeded
  std::map<std::int64_t, Asked> asked_;
  std::map<hadoop::ContainerId, Running> running_;
  std::set<hadoop::ContainerId> others_;  // live containers of earlier attempts that nobody adopted
  bool others_are_released_ = false;
  std::set<hadoop::NodeId> nodes_;  // for which there is a token
  std::string queue_;               // as YARN calls it
  std::string waits_for_;
  std::vector<ContainerAction> actions_;
};

}  // namespace gangrun::yarn
